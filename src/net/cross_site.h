// What a web page of somebody else could make a browser ask, whose user has a way to this agent that needs
// no word of his own: the UNIX socket forwarded to a port, a client certificate, a door on loopback.
//
// Requests that change something (CSRF): a browser sends Origin with each that a page makes, and without
// asking first it sends only bodies that are called something else than JSON. Either is refused. A body of
// no type is taken, since programs send it so; a browser that does sends an Origin.
//
// A name of the page's site that suddenly means this host (DNS rebinding): then all that the agent answers
// is the page's to read, and Host has that name. By TLS the certificate has no such name, and the browser
// goes no further. Behind the UNIX socket and on loopback nobody looks but us. A door without TLS on another
// address is open to the network, by whatever name it is known there.
#pragma once
#include "base/result.h"
#include "net/http.h"

namespace spotter::net {

// Of a request that changes something. Errors: denied, unsupported (the type of its body).
Result<void> check_no_page(const HttpRequest& request);

// Of a request to a door for this host. Taken are IP addresses, names without a dot (localhost, spotter),
// which no site in the internet has, `own_name`, and none at all. Errors: denied.
Result<void> check_host(const HttpRequest& request, std::string_view own_name);

bool is_loopback(const std::string& address);  // of an IP address

}  // namespace spotter::net

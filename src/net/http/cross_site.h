// What a web page of somebody else could make a browser ask, whose user has a way to this agent that needs
// no word of his own: the UNIX socket forwarded to a port, a client certificate, a door on loopback.
//
// Requests that change something (CSRF): a browser sends Origin with each that a page makes, and without
// asking first it sends only bodies that are called something else than JSON. Refused are any other origin
// than that of our own page, which is where the request goes, and such bodies. A body of no type is taken,
// since programs send it so; a browser that does sends an Origin.
//
// A name of the page's site that suddenly means this host (DNS rebinding): then all that the agent answers
// is the page's to read, and Host has that name. By TLS the certificate has no such name, and the browser
// goes no further. Behind the UNIX socket and on loopback nobody looks but us. A door without TLS on another
// address is open to the network, by whatever name it is known there.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/http.h"

namespace spotter::net {

// Of every request for data. `scheme`: by which our own page is shown here. Errors: denied.
Result<void> check_fetch(const HttpRequest& request, std::string_view scheme);

// Of the body of a request that changes something. Errors: unsupported.
Result<void> check_type(const HttpRequest& request);

// Of a request to a door for this host. Taken are IP addresses, names without a dot (localhost, spotter),
// which no site in the internet has, `own_name`, and none at all. Errors: denied.
Result<void> check_host(const HttpRequest& request, std::string_view own_name);

// Of a Host: without the port, and in lower case; of an IPv6 address what is in the brackets.
std::string name_in_host(std::string_view host);

bool is_loopback(const std::string& address);  // of an IP address

}  // namespace spotter::net

#include "net/http/cross_site.h"

#include <arpa/inet.h>

#include "base/text/utf8.h"

namespace spotter::net {
namespace {

std::string shown(const std::string& text) {
  constexpr size_t kShown = 100;
  return to_printable(text.substr(0, kShown));
}

bool is_ip(const std::string& text, int family) {
  in6_addr address;
  return inet_pton(family, text.c_str(), &address) == 1;
}

// Without parameters ("; charset=utf-8").
std::string media_type(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  return ascii_lower(type.substr(0, type.find_last_not_of(" \t") + 1));
}

}  // namespace

Result<void> check_fetch(const HttpRequest& request, std::string_view scheme) {
  const std::string own = fmt::format("{}://{}", scheme, ascii_lower(request.host));
  if (!request.origin.empty() && (request.host.empty() || ascii_lower(request.origin) != own))
    return fail(Code::denied, "a web page of another site ({}) may not ask for this", shown(request.origin));
  if (ascii_lower(request.sec_fetch_site) == "cross-site")
    return fail(Code::denied,
                "a web page of another site may not ask for this: Sec-Fetch-Site is cross-site");
  return {};
}

Result<void> check_type(const HttpRequest& request) {
  const std::string type = media_type(request.content_type);
  if (!request.content_type.empty() && type != "application/json" && type != "application/cloudevents+json")
    return fail(Code::unsupported, "the body is called {}; send it with Content-Type: application/json",
                shown(request.content_type));
  return {};
}

Result<void> check_host(const HttpRequest& request, std::string_view own_name) {
  const std::string name = name_in_host(request.host);
  if (name.find('.') == name.npos && name.find(':') == name.npos) return {};
  if (is_ip(name, AF_INET) || is_ip(name, AF_INET6) || name == ascii_lower(own_name)) return {};
  return fail(Code::denied,
              "this is for who is on this host, and {} is no name of it: ask for localhost or an IP address",
              shown(request.host));
}

std::string name_in_host(std::string_view host) {
  if (host.starts_with('[')) return ascii_lower(host.substr(1, host.find(']') - 1));
  return ascii_lower(host.substr(0, host.find(':')));
}

bool is_loopback(const std::string& address) {
  in_addr v4;
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr v6;
  return inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace spotter::net

#include "net/http/url.h"

#include <algorithm>

#include "base/text/quantity.h"

namespace spotter::net {
namespace {

constexpr u16 kHttpPort = 80, kHttpsPort = 443;

bool is_in_line(char c) { return c > ' ' && c < 127; }

}  // namespace

Result<Url> parse_url(const std::string& text) {
  const auto wrong = [&](const char* why) {
    return fail(Code::invalid, "\"{}\" is no URL such as http://localhost:4318: {}", text, why);
  };
  if (!std::ranges::all_of(text, is_in_line)) return wrong("it has a blank or a letter beyond ASCII");
  const size_t colon = text.find("://");
  const std::string_view scheme = std::string_view(text).substr(0, std::min(colon, text.size()));
  Url url;
  url.is_plain = scheme == "http";
  if (!url.is_plain && scheme != "https") return wrong("it does not begin with http:// or https://");
  std::string_view rest = std::string_view(text).substr(colon + 3);
  const size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  url.path = std::string(rest.substr(slash));
  if (url.path.find('#') != url.path.npos) return wrong("a part of a page makes no sense here");
  if (!url.path.starts_with('/')) url.path = "/" + url.path;
  rest = rest.substr(0, slash);
  if (rest.find('@') != rest.npos) return wrong("a name and password go into the header authorization");
  std::string_view port;
  if (rest.starts_with('[')) {
    const size_t end = rest.find(']');
    if (end == rest.npos) return wrong("there is no ] behind the address");
    url.host = std::string(rest.substr(1, end - 1));
    port = rest.substr(end + 1);
  } else {
    const size_t end = std::min(rest.find(':'), rest.size());
    url.host = std::string(rest.substr(0, end));
    port = rest.substr(end);
  }
  if (url.host.empty()) return wrong("there is no host");
  url.port = url.is_plain ? kHttpPort : kHttpsPort;
  if (port.empty()) return url;
  const auto number = port.starts_with(':') ? whole_number(port.substr(1)) : std::nullopt;
  if (!number || *number < 1 || *number > UINT16_MAX) return wrong("the port is no number from 1 to 65535");
  url.port = static_cast<u16>(*number);
  return url;
}

}  // namespace spotter::net

#include "net/http/browser_headers.h"

#include <utility>

namespace spotter::net {

void add_browser_headers(std::string_view policy, HttpAnswer& answer) {
  constexpr std::pair<const char*, const char*> kHeaders[] = {
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      // Not same-origin: then the tab of a timeline viewer that the page opens never answers.
      {"Cross-Origin-Opener-Policy", "same-origin-allow-popups"},
      {"Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"},
      {"Cache-Control", "private, no-cache"},
  };
  for (const auto& [name, value] : kHeaders) answer.headers.emplace_back(name, value);
  answer.headers.emplace_back("Content-Security-Policy", policy);
}

}  // namespace spotter::net

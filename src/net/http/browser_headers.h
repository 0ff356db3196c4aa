// What an answer says to a browser beside what it is: headers that keep it from being used by other sites.
#pragma once
#include <string_view>

#include "net/http/http.h"

namespace spotter::net {

// Adds them. `policy`: Content-Security-Policy.
void add_browser_headers(std::string_view policy, HttpAnswer& answer);
inline constexpr std::string_view kDataPolicy = "default-src 'none'; frame-ancestors 'none'";

}  // namespace spotter::net

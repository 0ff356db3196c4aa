// The addresses of this host, of whatever interface of this network namespace.
#pragma once
#include <string>

namespace spotter::net {

// `text`: an IP address; what is none is not this host's. Loopback addresses are.
bool is_own_address(const std::string& text);

}  // namespace spotter::net

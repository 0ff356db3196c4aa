// Where a server is, as people write it: "n1", "n1:1779", "10.0.0.1", "[::1]:1779", "fe80::1".
#pragma once
#include <string>

#include "net/http/http_client.h"

namespace spotter::net {

// Errors: invalid.
Result<HttpAddress> parse_address(const std::string& word, u16 usual_port);

}  // namespace spotter::net

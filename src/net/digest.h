// Digests.
#pragma once
#include <string>
#include <string_view>

namespace spotter::net {

// 64 hexadecimal digits in lower case.
std::string sha256(std::string_view bytes);

// 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

}  // namespace spotter::net

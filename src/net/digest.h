// Digests, and base64 as they are written in headers.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace spotter::net {

// 64 hexadecimal digits in lower case.
std::string sha256(std::string_view bytes);

// 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);  // nullopt: it is none

}  // namespace spotter::net

// Base64 (RFC 4648, section 4).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace spotter {

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);  // nullopt: it is none

}  // namespace spotter

// Bytes as one zstd frame with a checksum, and back.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace spotter {

std::string zstd_frame(std::string_view bytes, int level);

// None where it is no such frame, is damaged, or holds more than `most` bytes.
std::optional<std::string> from_zstd_frame(std::string_view frame, size_t most);

}  // namespace spotter

#include "base/text/base64.h"

#include <algorithm>

#include "base/types.h"

namespace spotter {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    u32 three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<u8>(bytes[at + i]) : 0u);
    const size_t digits = std::min<size_t>(3, bytes.size() - at) + 1;
    for (size_t i = 0; i < 4; ++i) out += i < digits ? kDigits[three >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  std::string bytes;
  u32 bits = 0;
  int have = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) return std::nullopt;
    bits = bits << 6 | static_cast<u32>(digit);
    have += 6;
    if (have >= 8) bytes += static_cast<char>(bits >> (have -= 8));
  }
  return bytes;
}

}  // namespace spotter

// What others wrote, printable and of a bounded length.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "base/text/utf8.h"

namespace spotter {

// At most so many bytes of it; no character is cut in two.
inline std::string printable_within(std::string_view text, size_t most) {
  std::string all = to_printable(text.substr(0, std::min(text.size(), most)));
  if (all.size() <= most) return all;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(all[end]) & 0xC0) == 0x80) --end;
  all.resize(end);
  return all;
}

}  // namespace spotter

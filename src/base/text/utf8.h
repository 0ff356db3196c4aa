// UTF-8: checking, mending and measuring text that others wrote. Definition of well-formed text: The Unicode
// Standard, table 3-7; a maximal subpart of an ill-formed sequence becomes one U+FFFD (section 3.9).
#pragma once
#include <string>
#include <string_view>

#include "base/types.h"

namespace spotter {

inline constexpr char32_t kReplacement = 0xFFFD;

struct CodePoint {
  char32_t value = kReplacement;
  u8 bytes = 0;      // how many the text begins with; of an ill-formed sequence its maximal subpart
  bool good = true;  // false: ill-formed, value is kReplacement
};

CodePoint first_code_point(std::string_view text);  // of a text that is not empty

bool is_valid_utf8(std::string_view text);
std::string to_valid_utf8(std::string_view text);

std::string ascii_lower(std::string_view text);  // A-Z alone change

// Valid UTF-8 on one line that cannot steer a terminal: control characters (C0, DEL, C1) and the marks that
// turn the direction of writing become U+FFFD, tabs and line ends a space.
std::string to_printable(std::string_view text);

// Columns of a terminal: East Asian wide and emoji 2, combining marks and other zero-width characters 0,
// else 1. By ranges, so it is near enough, not exact, for rare scripts.
int display_width(char32_t code_point);
int display_width(std::string_view text);

}  // namespace spotter

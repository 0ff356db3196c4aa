// Sizes, times, numbers and lists as people write them. Errors: invalid.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter {

std::optional<i64> whole_number(std::string_view text);  // digits alone, from 0 on
Result<i64> parse_size(const std::string& text);         // "8G" -> bytes
Result<i64> parse_duration_ms(const std::string& text);  // "500ms", "1.5s", "2m" -> milliseconds
Result<i64> parse_duration_ns(const std::string& text);  // the same, and "100us", "250ns" -> nanoseconds
Result<i64> parse_number(const std::string& text, i64 least, i64 most);
// The words between commas, without the blanks around them; empty ones are none.
std::vector<std::string> split_commas(std::string_view text);

}  // namespace spotter

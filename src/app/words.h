// Words of the command line -> values. Errors: invalid.
#pragma once
#include <string>
#include <vector>

#include "analyze/run.h"
#include "base/result.h"

namespace spotter {

Result<std::vector<Range>> parse_ranges(const std::string& text);  // "0,3-7" -> {0,0},{3,7}
Result<Range> parse_range(const std::string& text);                // "2-5", "3"
Result<i64> parse_size(const std::string& text);                   // "8G" -> bytes
Result<i64> parse_duration_ms(const std::string& text);            // "500ms", "1.5s", "2m" -> milliseconds
Result<i64> parse_duration_ns(const std::string& text);  // the same, and "100us", "250ns" -> nanoseconds
Result<i64> parse_number(const std::string& text, i64 least, i64 most);

std::string flag_of(const Param& param);     // --consecutive-kernel-delay-ns
std::string default_of(const Param& param);  // " (default 20)", for its help; empty for a text without one

}  // namespace spotter

#include "sink/checks.h"

#include "base/quantity.h"

namespace spotter::sink {

Result<void> is_duration(const std::string& value) {
  TRY(parse_duration_ns(value));
  return {};
}

Result<void> is_size(const std::string& value) {
  TRY(parse_size(value));
  return {};
}

Result<void> is_count(const std::string& value) {
  TRY(parse_number(value, 1, kMostQueue));
  return {};
}

Result<void> is_small_count(const std::string& value) {
  TRY(parse_number(value, 0, 1000));
  return {};
}

Result<void> is_path(const std::string& value) {
  if (value.empty()) return fail(Code::invalid, "there is no path");
  return {};
}

}  // namespace spotter::sink

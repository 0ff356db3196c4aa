#include "render/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace spotter::render {

void append_json_value(std::string& out, const Value& value) {
  if (const i64* whole = std::get_if<i64>(&value)) {
    fmt::format_to(std::back_inserter(out), "{}", *whole);
  } else if (const double* real = std::get_if<double>(&value); real && std::isfinite(*real)) {
    fmt::format_to(std::back_inserter(out), "{}", *real);  // the shortest that reads back the same
  } else if (const bool* flag = std::get_if<bool>(&value)) {
    out += *flag ? "true" : "false";
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    append_json_text(out, *text);
  } else {
    out += "null";
  }
}

}  // namespace spotter::render

#include "store/json_row.h"

#include <cmath>

#include "base/text/utf8.h"

namespace spotter::store {
namespace {

void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : to_valid_utf8(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_value(std::string& out, const Value& value) {
  if (const i64* whole = std::get_if<i64>(&value)) {
    out += std::to_string(*whole);
  } else if (const double* real = std::get_if<double>(&value); real && std::isfinite(*real)) {
    out += fmt::format("{}", *real);
  } else if (const bool* flag = std::get_if<bool>(&value)) {
    out += *flag ? "true" : "false";
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    append_text(out, *text);
  } else {
    out += "null";
  }
}

}  // namespace

std::string json_row(const Block& block, size_t row, const std::function<bool(const StoredField&)>& wanted) {
  std::string out = "{";
  for (size_t i = 0; i < block.columns.size(); ++i) {
    const StoredField& field = block.schema->fields[i];
    if (!wanted(field)) continue;
    if (out.size() > 1) out += ',';
    append_text(out, field.name);
    out += ':';
    append_value(out, block.at(row, i));
  }
  return out + '}';
}

}  // namespace spotter::store

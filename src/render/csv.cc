// CSV after RFC 4180, with "\n" line ends: a header line per table, no notes; several tables are separated by
// an empty line and begin with "# name". A null and a number that is none are empty; an empty text is "".
#include <fmt/format.h>

#include <cmath>

#include "base/utf8.h"
#include "render/list.h"

namespace spotter::render {
namespace {

std::string quoted(std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) return to_valid_utf8(text);
  std::string out = "\"";
  for (const char c : to_valid_utf8(text)) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string cell_of(const Value& value) {
  if (const i64* whole = std::get_if<i64>(&value)) return fmt::format("{}", *whole);
  if (const double* real = std::get_if<double>(&value))
    return std::isfinite(*real) ? fmt::format("{}", *real) : "";
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string_view>(&value)) return quoted(*text);
  return "";
}

void append_line(std::string& out, size_t cells, auto&& cell) {
  for (size_t c = 0; c < cells; ++c) {
    if (c > 0) out += ',';
    out += cell(c);
  }
  out += '\n';
}

std::string render_csv(const Document& document, const TextStyle&) {
  std::string out;
  for (const Table& table : document.tables) {
    if (!out.empty()) out += '\n';
    if (document.tables.size() > 1) out += fmt::format("# {}\n", table.name());
    append_line(out, table.columns(), [&](size_t c) { return quoted(table.schema()[c].name); });
    for (size_t row = 0; row < table.rows(); ++row)
      append_line(out, table.columns(), [&](size_t c) { return cell_of(table.at(row, c)); });
  }
  return out;
}

}  // namespace

const Format kCsv = {.name = "csv",
                     .help = "raw nanoseconds, the notes on standard error",
                     .ending = ".csv",
                     .render = render_csv};

}  // namespace spotter::render

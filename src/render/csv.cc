// CSV after RFC 4180, with "\n" line ends: a header line per table, no notes; several tables are separated by
// an empty line and begin with "# name". A null and a number that is none are empty; an empty text is "".
//
// Texts are those of traces, which somebody else may have made: control characters are pictures of themselves
// (U+2400 and on), so that none steers a terminal, and a text that a spreadsheet would take for a formula has
// a ' before it. Numbers are never touched. JSON and Arrow have the texts as they are.
#include <fmt/format.h>

#include <cmath>

#include "base/text/utf8.h"
#include "render/list.h"

namespace spotter::render {
namespace {

constexpr std::string_view kFormulas = "=+-@";

// The picture of a control character; empty: it is none.
std::string_view picture_of(char32_t c, std::string& room) {
  constexpr char32_t kDelete = 0x7F, kFirstC1 = 0x80, kLastC1 = 0x9F;
  if (c >= ' ' && c != kDelete && (c < kFirstC1 || c > kLastC1)) return {};
  if (c >= kFirstC1) return "\uFFFD";
  room = "\u2400";  // of NUL; the others follow, but for DEL's
  room.back() = static_cast<char>(room.back() + (c == kDelete ? 0x21 : static_cast<char>(c)));
  return room;
}

std::string quoted(std::string_view text) {
  const std::string valid = to_valid_utf8(text);
  std::string out, room;
  if (!valid.empty() && kFormulas.find(valid.front()) != kFormulas.npos) out += '\'';
  for (std::string_view rest = valid; !rest.empty();) {
    const CodePoint point = first_code_point(rest);
    const std::string_view picture = picture_of(point.value, room);
    if (rest.front() == '"') out += '"';
    out += picture.empty() ? rest.substr(0, point.bytes) : picture;
    rest.remove_prefix(point.bytes);
  }
  return !out.empty() && out.find_first_of(",\"") == out.npos ? out : '"' + out + '"';
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

// Text: aligned columns for a terminal or a pipe.
#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "render/render.h"

namespace spotter {
namespace {

constexpr int kGap = 2;         // blanks between columns
constexpr int kLeastText = 30;  // a text column is not shortened below this

constexpr const char* kBold = "1";
constexpr const char* kDim = "2";
constexpr const char* kRed = "31";
constexpr const char* kYellow = "33";

struct Column {
  std::string header;
  std::vector<std::string> cells;
  bool is_left = false;  // text and flags; numbers are to the right
  bool is_text = false;  // may be shortened
  bool is_key = false;   // must not be dropped
  int width = 0, least = 0;
};

std::string painted(std::string_view text, const char* color, const TextStyle& style) {
  return style.color ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : std::string(text);
}

// Cells show their unit, so the header need not.
std::string header_of(const Field& field) {
  std::string name = field.name;
  const auto replace_end = [&](std::string_view end, std::string_view with) {
    if (name.size() > end.size() && name.ends_with(end))
      name.replace(name.size() - end.size(), end.size(), with);
  };
  switch (field.unit) {
    case Unit::ns:
      replace_end("_ns", "");
      break;
    case Unit::bytes:
      replace_end("_bytes", "");
      break;
    case Unit::bytes_per_s:
      replace_end("_bytes_per_s", "/s");
      break;
    case Unit::ratio:
      replace_end("_ratio", " %");
      break;
    case Unit::none:
    case Unit::count:
      break;
  }
  return name;
}

Column column_of(const Table& table, size_t index) {
  const Field& field = table.schema()[index];
  Column column;
  column.header = header_of(field);
  column.is_text = field.type == Type::text;
  column.is_left = column.is_text || field.type == Type::flag;
  column.is_key = field.role == Role::key;
  column.width = display_width(column.header);
  column.least = std::max(kLeastText, column.width);
  for (size_t row = 0; row < table.rows(); ++row) {
    column.cells.push_back(human(table.at(row, index), field.unit, field.role));
    column.width = std::max(column.width, display_width(column.cells.back()));
  }
  if (!column.is_text || column.least > column.width) column.least = column.width;
  return column;
}

int sum_of(const std::vector<Column>& columns, int Column::* width) {
  int sum = -kGap;
  for (const Column& column : columns) sum += column.*width + kGap;
  return sum;
}

// The last column that may go: keys stay, and one column beside them, else the table says nothing.
std::vector<Column>::iterator last_value(std::vector<Column>& columns) {
  if (std::ranges::count_if(columns, [](const Column& c) { return !c.is_key; }) < 2) return columns.end();
  return std::find_if(columns.rbegin(), columns.rend(), [](const Column& c) { return !c.is_key; }).base() - 1;
}

// Makes the columns fit and returns how many it had to drop.
int fit(std::vector<Column>& columns, int limit) {
  int dropped = 0;
  while (sum_of(columns, &Column::least) > limit) {
    const auto victim = last_value(columns);
    if (victim == columns.end()) break;
    columns.erase(victim);
    ++dropped;
  }
  // The widest gives first, so that the columns end as even as they can.
  for (int excess = sum_of(columns, &Column::width) - limit; excess > 0; --excess) {
    const auto spare = [](const Column& c) { return c.width > c.least ? c.width : 0; };
    const auto widest = std::ranges::max_element(columns, {}, spare);
    if (widest == columns.end() || spare(*widest) == 0) break;
    --widest->width;
  }
  return dropped;
}

// Keeps the beginning and the end, which tell most names apart, and puts an ellipsis for the middle. The
// beginning of a kernel's name says more than the end of its argument list, so it gets two thirds.
std::string shortened(const std::string& text, int width) {
  if (display_width(text) <= width) return text;
  std::vector<std::pair<std::string_view, int>> points;  // each code point and its width
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint c = first_code_point(rest);
    points.emplace_back(rest.substr(0, c.bytes), display_width(c.value));
    rest.remove_prefix(c.bytes);
  }
  int head_room = width * 2 / 3, tail_room = width - 1 - head_room;
  std::string head;
  size_t first = 0, end = points.size();
  for (; points[first].second <= head_room; ++first) {
    head += points[first].first;
    head_room -= points[first].second;
  }
  for (; points[end - 1].second <= tail_room; --end) tail_room -= points[end - 1].second;
  std::string_view tail = text;
  for (size_t i = 0; i < end; ++i) tail.remove_prefix(points[i].first.size());
  return fmt::format("{}…{}", head, tail);
}

std::string line_of(const std::vector<Column>& columns, auto&& cell_of) {
  std::string line;
  int pending = 0;  // blanks that wait for a next cell, so that no line ends in some
  for (const Column& column : columns) {
    const std::string cell = shortened(cell_of(column), column.width);
    const int blanks = column.width - display_width(cell);
    line.append(static_cast<size_t>(pending + (column.is_left ? 0 : blanks)), ' ');
    line += cell;
    pending = kGap + (column.is_left ? blanks : 0);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string render_text_table(const Table& table, const TextStyle& style) {
  std::vector<Column> columns;
  for (size_t i = 0; i < table.columns(); ++i) columns.push_back(column_of(table, i));
  const int dropped = style.width > 0 ? fit(columns, style.width) : 0;

  std::string out = painted(line_of(columns, [](const Column& c) { return c.header; }), kBold, style) + '\n';
  for (size_t row = 0; row < table.rows(); ++row)
    out += line_of(columns, [&](const Column& c) { return c.cells[row]; }) + '\n';
  if (table.rows() == 0) out += painted("no rows", kDim, style) + '\n';
  if (dropped > 0) {
    const auto hint = fmt::format("+{} column{}: --format json or a wider terminal shows {}", dropped,
                                  dropped == 1 ? "" : "s", dropped == 1 ? "it" : "them");
    out += painted(hint, kDim, style) + '\n';
  }
  return out;
}

std::string render_text_notes(const Notes& notes, const TextStyle& style) {
  std::string out;
  for (const Note& note : notes.all()) {
    const char* color = note.severity == Severity::loss     ? kRed
                        : note.severity == Severity::repair ? kYellow
                                                            : kDim;
    const auto line = fmt::format("{}: {}", severity_name(note.severity), to_printable(to_text(note)));
    out += painted(line, color, style) + '\n';
  }
  return out;
}

}  // namespace spotter

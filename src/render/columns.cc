#include "render/columns.h"

#include <algorithm>

#include "base/text/utf8.h"
#include "render/names.h"

namespace spotter::render {
namespace {

constexpr int kGap = 2;                             // blanks between columns
constexpr int kReadableText = 30, kLeastText = 16;  // cells that a text column keeps, at first and at last
constexpr int kMostText = 160;                      // of a name, whatever room there is
constexpr int kMostWhole = 4000;                    // of any text: no reason and no path is longer

// Cells show their unit, so the title need not.
std::string title_of(const Field& field) {
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
    case Unit::celsius:
      replace_end("_celsius", "");
      break;
    case Unit::watts:
      replace_end("_watts", "");
      break;
    case Unit::joules:
      replace_end("_joules", "");
      break;
    case Unit::hertz:
      replace_end("_hertz", "");
      break;
    case Unit::per_s:
      replace_end("_per_s", "");
      break;
    case Unit::none:
    case Unit::count:
      break;
  }
  return name;
}

int widest(const std::vector<std::string>& texts) {
  int width = 0;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  return width;
}

void set_header(TextColumn& column, std::vector<std::string> lines) {
  column.header = std::move(lines);
  column.width = std::max(widest(column.header), column.cell_width);
}

TextColumn column_of(const Table& table, size_t index, const TextStyle& style) {
  const Field& field = table.schema()[index];
  TextColumn column;
  column.index = index;
  column.title = title_of(field);
  column.is_whole = field.type == Type::text && field.is_whole;
  column.is_text = field.type == Type::text && !column.is_whole;
  column.is_left = field.type == Type::text || field.type == Type::flag;
  column.role = field.role;
  column.is_empty = table.rows() > 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    const Value value = table.at(row, index);
    column.is_empty &= is_null(value);
    column.cells.push_back(human(shown_time(value, field, style), field.unit, field.role));
  }
  if (column.is_text) column.cells = plain_names(column.cells);
  column.cell_width = widest(column.cells);
  const int most = column.is_whole ? kMostWhole : kMostText;
  if (column.is_left && column.cell_width > most) {
    column.cells = shortened(column.cells, most);
    column.cell_width = widest(column.cells);
  }
  set_header(column, {column.title});
  return column;
}

// The lines of "host_wait_count" over cells of 5: host, wait, count.
std::vector<std::string> broken_title(const TextColumn& column) {
  const std::string& title = column.title;
  std::vector<size_t> ends;  // of the words
  int width = column.cell_width;
  for (size_t begin = 0; begin <= title.size(); begin = ends.back() + 1) {
    ends.push_back(std::min(title.find_first_of("_ ", begin), title.size()));
    width = std::max(width, static_cast<int>(ends.back() - begin));
  }
  std::vector<std::string> lines;
  size_t begin = 0;  // of the line
  for (size_t i = 0; i < ends.size(); ++i) {
    const bool is_last = i + 1 == ends.size();
    if (!is_last && static_cast<int>(ends[i + 1] - begin) <= width) continue;
    lines.push_back(title.substr(begin, ends[i] - begin));
    begin = ends[i] + 1;
  }
  return lines;
}

int least(const TextColumn& column, int least_text) {
  if (!column.is_text) return column.width;
  return std::min(column.width, std::max(least_text, widest(column.header)));
}

bool fits(const Layout& layout, int limit, int least_text) {
  int sum = -kGap;
  for (const TextColumn& column : layout.columns) sum += least(column, least_text) + kGap;
  return sum <= limit;
}

// Those that save the most go first.
void break_titles(Layout& layout, int limit) {
  const auto saving = [](const TextColumn& c) {
    return c.width - std::max(widest(broken_title(c)), c.cell_width);
  };
  while (!fits(layout, limit, kReadableText)) {
    const auto best = std::ranges::max_element(layout.columns, {}, saving);
    if (best == layout.columns.end() || saving(*best) == 0) return;
    set_header(*best, broken_title(*best));
  }
}

// The widest go first, until the others fit.
void move_below(Layout& layout, int limit) {
  const auto freed = [](const TextColumn& c) { return c.is_whole && !c.is_empty ? c.width : 0; };
  for (;;) {
    Layout broken = layout;
    break_titles(broken, limit);
    const auto widest = std::ranges::max_element(layout.columns, {}, freed);
    if (fits(broken, limit, kReadableText) || widest == layout.columns.end() || freed(*widest) == 0) {
      layout = std::move(broken);
      return;
    }
    layout.below.push_back(std::move(*widest));
    layout.columns.erase(widest);
  }
}

// Leaves out columns of this role, or those of them that say nothing, from the right until the others fit;
// but one that is no key stays.
void leave_out(Layout& layout, Role role, bool empty_only, int limit, int least_text) {
  auto& columns = layout.columns;
  const auto is_key = [](const TextColumn& c) { return c.role == Role::key; };
  for (size_t i = columns.size(); i-- > 0 && !fits(layout, limit, least_text);) {
    const auto others = static_cast<std::ptrdiff_t>(columns.size()) - std::ranges::count_if(columns, is_key);
    if (columns[i].role != role || others < 2 || (empty_only && !columns[i].is_empty)) continue;
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// The widest gives first, so that the columns end as even as they can.
void shorten_texts(std::vector<TextColumn>& columns, int limit, int least_text) {
  int excess = -limit - kGap;
  for (const TextColumn& column : columns) excess += column.width + kGap;
  for (; excess > 0; --excess) {
    const auto spare = [&](const TextColumn& c) { return c.width > least(c, least_text) ? c.width : 0; };
    const auto it = std::ranges::max_element(columns, {}, spare);
    if (it == columns.end() || spare(*it) == 0) break;
    --it->width;
  }
  for (TextColumn& column : columns) {
    if (column.is_text) column.cells = shortened(column.cells, column.width);
  }
}

}  // namespace

Layout lay_out(const Table& table, const TextStyle& style) {
  const int width = style.width;
  Layout layout;
  for (size_t i = 0; i < table.columns(); ++i) layout.columns.push_back(column_of(table, i, style));
  if (width <= 0) return layout;
  move_below(layout, width);
  for (const Role role : {Role::detail, Role::time, Role::value, Role::counter})
    leave_out(layout, role, true, width, kReadableText);
  leave_out(layout, Role::detail, false, width, kReadableText);
  const int least_text = fits(layout, width, kReadableText) ? kReadableText : kLeastText;
  for (const Role role : {Role::time, Role::value, Role::counter})
    leave_out(layout, role, false, width, least_text);
  shorten_texts(layout.columns, width, least_text);
  std::ranges::sort(layout.below, {}, &TextColumn::index);
  for (size_t i = 0; i < table.columns(); ++i) {
    const auto has = [&](const std::vector<TextColumn>& columns) {
      return std::ranges::find(columns, i, &TextColumn::index) != columns.end();
    };
    if (!has(layout.columns) && !has(layout.below)) layout.left_out.push_back(title_of(table.schema()[i]));
  }
  return layout;
}

}  // namespace spotter::render

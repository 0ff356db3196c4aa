#include "render/columns.h"

#include <algorithm>

#include "base/utf8.h"
#include "render/names.h"
#include "render/render.h"

namespace spotter {
namespace {

constexpr int kGap = 2;                             // blanks between columns
constexpr int kReadableText = 30, kLeastText = 16;  // cells that a text column keeps, at first and at last

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

void set_width(TextColumn& column) { column.width = std::max(widest(column.header), widest(column.cells)); }

TextColumn column_of(const Table& table, size_t index) {
  const Field& field = table.schema()[index];
  TextColumn column;
  column.title = title_of(field);
  column.header = {column.title};
  column.is_text = field.type == Type::text;
  column.is_left = column.is_text || field.type == Type::flag;
  column.role = field.role;
  for (size_t row = 0; row < table.rows(); ++row)
    column.cells.push_back(human(table.at(row, index), field.unit, field.role));
  if (column.is_text) column.cells = plain_names(column.cells);
  set_width(column);
  return column;
}

// "host_wait_count" over cells of 5: host, wait, count.
void break_title(TextColumn& column) {
  std::vector<std::string> words(1);
  for (const char c : column.title) {
    if (c == '_' || c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  const int width = std::max(widest(column.cells), widest(words));
  column.header.clear();
  size_t at = 0;  // of the line in the title, so that its own separators stay
  size_t size = 0;
  for (const std::string& word : words) {
    const size_t longer = size == 0 ? word.size() : size + 1 + word.size();
    if (size > 0 && display_width(column.title.substr(at, longer)) > width) {
      column.header.push_back(column.title.substr(at, size));
      at += size + 1;
      size = word.size();
    } else {
      size = longer;
    }
  }
  column.header.push_back(column.title.substr(at, size));
  set_width(column);
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
  while (!fits(layout, limit, kReadableText)) {
    TextColumn* best = nullptr;
    TextColumn broken;
    for (TextColumn& column : layout.columns) {
      TextColumn narrow = column;
      break_title(narrow);
      if (column.width - narrow.width <= (best ? best->width - broken.width : 0)) continue;
      best = &column;
      broken = std::move(narrow);
    }
    if (!best) return;
    *best = std::move(broken);
  }
}

// Leaves out columns of this role from the right until the others fit, but one that is no key stays.
void leave_out(Layout& layout, Role role, int limit, int least_text) {
  auto& columns = layout.columns;
  const auto is_key = [](const TextColumn& c) { return c.role == Role::key; };
  for (size_t i = columns.size(); i-- > 0 && !fits(layout, limit, least_text);) {
    const auto others = static_cast<std::ptrdiff_t>(columns.size()) - std::ranges::count_if(columns, is_key);
    if (columns[i].role != role || others < 2) continue;
    layout.left_out.insert(layout.left_out.begin(), columns[i].title);
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

Layout lay_out(const Table& table, int width) {
  Layout layout;
  for (size_t i = 0; i < table.columns(); ++i) layout.columns.push_back(column_of(table, i));
  if (width <= 0) return layout;
  break_titles(layout, width);
  leave_out(layout, Role::detail, width, kReadableText);
  const int least_text = fits(layout, width, kReadableText) ? kReadableText : kLeastText;
  for (const Role role : {Role::time, Role::value}) leave_out(layout, role, width, least_text);
  shorten_texts(layout.columns, width, least_text);
  return layout;
}

}  // namespace spotter

#include "collect/key_values.h"

#include <algorithm>

#include "collect/values.h"
#include "collect/words.h"

namespace spotter::collect {

KeyValues::KeyValues(std::span<const KeyField> fields) : fields_(fields), columns_(fields.size()) {
  for (size_t column = 0; column < fields.size(); ++column) {
    std::string_view keys = fields[column].keys;
    while (true) {
      const std::string_view key = next_word(keys);
      if (key.empty()) break;
      keys_.push_back({key, column});
    }
  }
  std::ranges::sort(keys_, {}, &Key::name);
}

void KeyValues::clear() { std::ranges::fill(columns_, Column()); }

void KeyValues::add(std::string_view key, std::optional<i64> value) {
  const auto it = std::ranges::lower_bound(keys_, key, {}, &Key::name);
  if (it == keys_.end() || it->name != key) return;
  Column& column = columns_[it->column];
  column.has_come = true;
  const auto number = scaled(value, fields_[it->column].scale);
  if (!number || __builtin_add_overflow(column.sum, *number, &column.sum)) column.is_broken = true;
}

void KeyValues::add_lines(std::string_view text) {
  text = whole_lines(text);
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const std::string_view key = next_word(line);
    add(key, to_integer(next_word(line)));
  }
}

bool KeyValues::empty() const { return std::ranges::none_of(columns_, &Column::has_come); }

void KeyValues::append_to(std::vector<Value>& row) const {
  for (const Column& column : columns_)
    row.push_back(column.has_come && !column.is_broken ? Value(column.sum) : Value());
}

}  // namespace spotter::collect

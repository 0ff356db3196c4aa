#include "collect/key_values.h"

#include <algorithm>

#include "base/text/words.h"
#include "collect/values.h"

namespace spotter::collect {

KeyValues::KeyValues(std::span<const KeyField> fields) : fields_(fields), columns_(fields.size()) {
  for (size_t column = 0; column < fields.size(); ++column) {
    std::string_view keys = fields[column].keys;
    while (true) {
      const std::string_view key = next_word(keys);
      if (key.empty()) break;
      keys_.push_back({key, static_cast<u16>(column)});
    }
  }
  std::ranges::sort(keys_, {}, &Key::name);
}

void KeyValues::clear() {
  std::ranges::fill(columns_, Column());
  next_ = 0;
}

u16 KeyValues::find(std::string_view key) const {
  const auto it = std::ranges::lower_bound(keys_, key, {}, &Key::name);
  return it == keys_.end() || it->name != key ? kNone : it->column;
}

u16 KeyValues::column_of(std::string_view key) {
  if (next_ >= kMostSeen) return find(key);
  if (next_ < seen_.size()) {
    const Place& place = seen_[next_];
    if (std::string_view(seen_keys_).substr(place.begin, place.end - place.begin) == key) {
      ++next_;
      return place.column;
    }
    // Another one: what came behind it the last time is of no use any more.
    seen_keys_.resize(place.begin);
    seen_.resize(next_);
  }
  const auto begin = static_cast<u32>(seen_keys_.size());
  seen_keys_ += key;
  seen_.push_back({begin, static_cast<u32>(seen_keys_.size()), find(key)});
  ++next_;
  return seen_.back().column;
}

void KeyValues::add(std::string_view key, std::string_view number, i64 factor) {
  const u16 place = column_of(key);
  if (place == kNone) return;
  Column& column = columns_[place];
  column.has_come = true;
  const auto value = scaled(scaled(to_integer(number), fields_[place].scale), factor);
  if (!value || __builtin_add_overflow(column.sum, *value, &column.sum)) column.is_broken = true;
}

void KeyValues::add_lines(std::string_view text) {
  text = whole_lines(text);
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const std::string_view key = next_word(line);
    add(key, next_word(line));
  }
}

bool KeyValues::empty() const { return std::ranges::none_of(columns_, &Column::has_come); }

void KeyValues::append_to(std::vector<Value>& row) const {
  row.reserve(row.size() + columns_.size());
  for (const Column& column : columns_)
    row.push_back(column.has_come && !column.is_broken ? Value(column.sum) : Value());
}

}  // namespace spotter::collect

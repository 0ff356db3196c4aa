// KeyValues: the columns of a row whose numbers stand in the kernel's files under keys, as in /proc/meminfo
// and /proc/vmstat. Which keys make which column is data.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "table/table.h"

namespace spotter::collect {

struct KeyField {
  const char* keys;  // parted by blanks; of several, those that are there are added up
  i64 scale;         // what a one in the file is in the unit of the column
  Field field;
};

template <size_t N>
constexpr std::array<Field, N> fields_of(const KeyField (&keyed)[N]) {
  std::array<Field, N> fields{};
  for (size_t i = 0; i < N; ++i) fields[i] = keyed[i].field;
  return fields;
}

class KeyValues {
 public:
  explicit KeyValues(std::span<const KeyField> fields);

  void clear();
  // Keys that make no column are left out. A value that is none makes its column null. factor: what a one in
  // the text is of what the column's scale is for.
  void add(std::string_view key, std::string_view number, i64 factor = 1);
  // Of lines "key value", as far as they are whole.
  void add_lines(std::string_view text);
  bool empty() const;  // no key of any column has come since clear()
  // A cell for each field, in their order; null where none of its keys came.
  void append_to(std::vector<Value>& row) const;

 private:
  static constexpr u16 kNone = 0xffff;
  static constexpr size_t kMostSeen = 4096;  // more are no file of the kernel's
  struct Key {
    std::string_view name;
    u16 column;
  };
  // A key that came in this place the last time: mostly it comes there again, and is not looked up.
  struct Place {
    u32 begin, end;  // in `seen_keys_`
    u16 column;      // kNone: it makes none
  };
  struct Column {
    i64 sum = 0;
    bool has_come = false, is_broken = false;
  };

  u16 column_of(std::string_view key);
  u16 find(std::string_view key) const;

  std::span<const KeyField> fields_;
  std::vector<Key> keys_;  // by name
  std::vector<Column> columns_;
  std::string seen_keys_;
  std::vector<Place> seen_;
  size_t next_ = 0;  // in `seen_`
};

}  // namespace spotter::collect

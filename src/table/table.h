// Table: a schema and rows of typed cells; the one currency of everything that leaves the system. A cell may
// be null. Text is dictionary-coded. Build by append(), then treat as constant: readers need no lock. Rows
// lie one after the other, since the agent makes tables of one wide row all the time; those of many tables
// that wait together may be packed.
//
// Ratios are 0..1 and times integer nanoseconds inside; humanising happens in render/ only.
#pragma once
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/notes.h"
#include "base/types.h"

namespace spotter {

enum class Type : u8 { integer, real, text, flag };
enum class Unit : u8 { none, ns, bytes, ratio, count, bytes_per_s, celsius, watts, joules, hertz, per_s };
enum class Role : u8 {
  key,      // says what the row is about: rank, stream, kernel name
  value,    // a measured or computed number
  counter,  // a total since some beginning that only grows; smaller than before means that it began anew
  time,     // a position in time (ns), not a duration
  detail,   // more about the row, left out first where there is no room
};

// What a counter that is there at the first look has counted since, as far as anybody can know.
enum class Since : u8 {
  boot,   // of the machine, or before
  agent,  // who looks counts himself
};

const char* type_name(Type type);
const char* unit_name(Unit unit);
const char* role_name(Role role);
std::optional<Type> type_of(std::string_view name);  // nullopt: there is none of that name
std::optional<Unit> unit_of(std::string_view name);
std::optional<Role> role_of(std::string_view name);

// What counters of one row are parts of, for systems that tell parts apart by a label and not by name.
struct Total {
  const char* name;   // as a column: "cpu_ns"
  const char* label;  // of what tells the parts apart: "mode"
  const char* help;   // one sentence
};

struct Field {
  const char* name;  // with its unit where it has one: "idle_ns"
  Type type;
  Unit unit;
  Role role;
  const char* help;  // one sentence
  Since since = Since::boot;
  const Total* total = nullptr;  // that it is a part of
  const char* part = nullptr;    // which one: "user"
  bool is_whole = false;  // a text that is read or copied as it is, a reason or a path: text output never
                          // shortens it
};
constexpr Field whole(Field field) {
  field.is_whole = true;
  return field;
}

// For fields that are only known at run time: a copy of the text that lives as long as the program, one for
// each distinct text. Any thread.
const char* lasting_text(std::string_view text);

// A cell on its way in or out. monostate is null. Text views point into the caller (in) or into the Table
// (out).
using Value = std::variant<std::monostate, i64, double, bool, std::string_view>;

inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }
template <class T>
Value or_null(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}
// An empty text is null.
inline Value or_null(std::string_view text) { return text.empty() ? Value() : Value(text); }

class Table {
 public:
  Table() = default;
  // The schema is not copied: it lives as long as the program.
  Table(std::string name, std::span<const Field> schema);
  // With a schema of its own, which it and its copies keep.
  Table(std::string name, std::vector<Field> schema);

  const std::string& name() const { return name_; }
  std::span<const Field> schema() const { return schema_; }
  // Where the schema lies if it lives as long as the program: tables of one such place have the same columns,
  // for those who look at many. Else null.
  const Field* lasting_schema() const { return own_schema_ ? nullptr : schema_.data(); }
  size_t rows() const { return rows_; }
  size_t columns() const { return schema_.size(); }
  size_t column(std::string_view name) const;  // index; CHECKs that it exists

  // Values in schema order; each null or of the column's type (an integer is accepted where a real is
  // wanted).
  void append(std::span<const Value> row);
  void append(std::initializer_list<Value> row) { append(std::span<const Value>(row.begin(), row.size())); }

  // Takes each cell's memory down to the bytes that its column's numbers differ in: a third for the tables of
  // ranks, whose numbers are small or close together. For tables that nothing is appended to any more.
  void pack();

  Table empty_like() const;                                      // the same but for its rows
  size_t text_bytes() const;                                     // of its distinct texts
  std::span<const std::string> words() const { return words_; }  // the distinct texts of all its columns

  Value at(size_t row, size_t column) const;
  size_t word(size_t row, size_t column) const;  // which of words() a text is; CHECKs that it is one
  // Shorthands for cells known to be non-null and of that type.
  i64 integer(size_t row, size_t column) const { return std::get<i64>(at(row, column)); }
  double real(size_t row, size_t column) const { return std::get<double>(at(row, column)); }
  std::string_view text(size_t row, size_t column) const {
    return std::get<std::string_view>(at(row, column));
  }

  Notes notes;
  // Its rows happened once each, and are told once: they are never thinned out, folded, or made rates of.
  // When says the first column of Role::time, and where there is none the batch.
  bool is_events = false;

 private:
  // Of a packed column: a cell is `base` and the number that `mask` leaves of the eight bytes at `offset` in
  // its row.
  struct Packing {
    u64 base, mask;
    u32 offset;
  };

  u64 cell_of(Type type, const Value& value);
  u64 word_of(std::string_view text);
  u64 cell(size_t row, size_t column) const;

  std::string name_;
  std::span<const Field> schema_;
  std::shared_ptr<const std::vector<Field>> own_schema_;  // null: it lives as long as the program
  std::vector<u64> cells_;                       // i64, bits of a double, bool, or index into `words_`
  std::vector<Packing> packing_;                 // per column of a packed table, which has no `cells_`
  std::vector<u8> packed_;                       // its rows, and what a look at the last cell reads behind it
  size_t row_bytes_ = 0;                         // of each of them
  std::vector<u8> valid_;                        // empty while no cell is null
  std::vector<std::string> words_;               // distinct texts
  std::unordered_map<std::string, u32> places_;  // of the texts; empty while they are few
  size_t rows_ = 0;
};

}  // namespace spotter

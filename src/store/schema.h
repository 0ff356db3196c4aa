// Schema: what the columns of a stored table are. The catalogue keeps each distinct one as bytes, so that
// what another version wrote can be read by its own description.
//
// A table of a coarser step has the schema that folding_of() gives: a measured number becomes its mean, with
// its least and greatest value beside it as NAME_min and NAME_max; of all else the last value is kept.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "table/table.h"

namespace spotter::store {

// What one row of a coarser step says of the rows that it stands for.
enum class Fold : u8 {
  last,   // counters, texts, flags, times
  mean,   // unweighted, of those that were told; at most seven digits, except where all were the same
  least,  // NAME_min
  most,   // NAME_max
};

struct StoredField {
  std::string name;
  Type type = Type::integer;
  Unit unit = Unit::none;
  Role role = Role::value;
  Fold fold = Fold::last;
  std::string help;

  bool operator==(const StoredField&) const = default;
};

inline constexpr size_t kMostFields = 4096;  // of a schema that can be stored

struct Schema {
  std::string table;
  bool is_folded = false;  // of a coarser step
  std::vector<StoredField> fields;
  bool is_events = false;  // as Table::is_events

  bool operator==(const Schema&) const = default;
  bool is_of(const Table& other) const;  // the same columns, as they were sampled, of the same kind of rows
  size_t find(std::string_view name) const;  // fields.size() if there is none
};
using SharedSchema = std::shared_ptr<const Schema>;

Schema schema_of(const Table& table);

std::string encode(const Schema& schema);
Result<Schema> decode_schema(std::string_view bytes);

struct Folding {
  SharedSchema target;
  std::vector<size_t> from;  // of each column of the target: the one of the source that it is made of
};
Folding folding_of(const Schema& source);

// The column in which the metric is that this one belongs to: that of the mean for a minimum.
std::string_view metric_column(const StoredField& field);

// For the schema of a Table: its texts live as long as the program. There are as many as distinct schemas.
Field lasting_field(const StoredField& field);

}  // namespace spotter::store

// What a metric is, and what it is called among all tables: the one rule that every door and sink has in
// common. A column is a Field, or what has a name and a role as it has.
#pragma once
#include <string>
#include <string_view>

#include "table/table.h"

namespace spotter::table {

template <class Column>
bool is_metric(const Column& column) {
  return column.role == Role::value || column.role == Role::counter;
}

// A number or a flag.
inline bool is_numeric_metric(const Field& field) { return is_metric(field) && field.type != Type::text; }

// "disk_read_bytes" of the column read_bytes of the table disk; what begins with the table's name keeps it
// once.
inline std::string metric_name(std::string_view table, std::string_view column) {
  std::string name(table);
  name += '_';
  if (column == table || column.starts_with(name)) return std::string(column);
  return name.append(column);
}

// The column in which the metric is that this one belongs to: itself, as it was sampled.
inline std::string_view metric_column(const Field& field) { return field.name; }

}  // namespace spotter::table

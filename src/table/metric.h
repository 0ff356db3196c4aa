// What a column is called among all tables: the one rule that every door and sink has in common.
#pragma once
#include <string>
#include <string_view>

namespace spotter {

// "disk_read_bytes" of the column read_bytes of the table disk; what begins with the table's name keeps it
// once.
inline std::string metric_name(std::string_view table, std::string_view column) {
  std::string name(table);
  name += '_';
  if (column.starts_with(name)) return std::string(column);
  return name.append(column);
}

}  // namespace spotter

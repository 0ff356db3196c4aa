// The name of a metric: that of its table and its column, "disk_read_bytes"; a column that begins with the
// table's name keeps it once.
#pragma once
#include <string>
#include <string_view>

namespace spotter {

inline std::string metric_name(std::string_view table, std::string_view column) {
  std::string prefix = std::string(table) + '_';
  return column.starts_with(prefix) ? std::string(column) : prefix.append(column);
}

}  // namespace spotter

// For tests: a collector of a machine, and what it says of one column.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "collect/list.h"
#include "collect/test_machine.h"

namespace spotter::collect {

inline std::unique_ptr<Collector> open(const char* name, const TestMachine& machine) {
  auto collector = find_collector(name)->open({.host = machine.host()});
  EXPECT_TRUE(collector) << collector.error().message;
  return std::move(*collector);
}

// The first table's cells of one column, parted by blanks.
inline std::string column(Collector& collector, const char* name) {
  const auto tables = collector.sample();
  if (!tables) return tables.error().message;
  const Table& table = tables->front();
  std::string cells;
  for (size_t row = 0; row < table.rows(); ++row) {
    const Value value = table.at(row, table.column(name));
    if (row > 0) cells += " ";
    if (is_null(value)) cells += "null";
    if (const auto* text = std::get_if<std::string_view>(&value)) cells += *text;
    if (const auto* number = std::get_if<i64>(&value)) cells += std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value)) cells += fmt::format("{}", *number);
    if (const auto* flag = std::get_if<bool>(&value)) cells += *flag ? "true" : "false";
  }
  return cells;
}

}  // namespace spotter::collect

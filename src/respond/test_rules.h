// A host whose samples are made up: tables with the columns that a rule looks at, and no others.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "respond/rules.h"

namespace spotter::respond::test {

struct Cell {
  const char* column;
  Value value;
};
using Cells = std::vector<Cell>;

inline Type type_of(const Value& value) {
  if (std::holds_alternative<i64>(value)) return Type::integer;
  if (std::holds_alternative<double>(value)) return Type::real;
  return std::holds_alternative<bool>(value) ? Type::flag : Type::text;
}

// Rows of the same columns.
inline Table table_of(const char* name, const std::vector<Cells>& rows) {
  std::vector<Field> schema;
  for (const Cell& cell : rows.at(0))
    schema.push_back({cell.column, type_of(cell.value), Unit::none, Role::value, ""});
  Table table(name, std::move(schema));
  for (const Cells& cells : rows) {
    std::vector<Value> row;
    for (const Cell& cell : cells) row.push_back(cell.value);
    table.append(row);
  }
  return table;
}

class Machine {
 public:
  explicit Machine(RuleSettings settings = {}) : rules_({.settings = std::move(settings), .host = "n1"}) {}

  // The next second, with these tables.
  std::vector<Condition> second(std::vector<Table> tables) {
    at += kSecond;
    const Batch batch{.unix_ns = at, .period_ns = kSecond, .tables = std::move(tables)};
    auto changes = rules_.add(batch);
    for (const Condition& change : changes) all.push_back(change);
    return changes;
  }
  // So many seconds, all with the table that `make` makes of the number of each.
  template <class Make>
  void seconds(int count, Make make) {
    for (int i = 0; i < count; ++i) second({make(i)});
  }
  std::vector<std::string> firing() const {
    std::vector<std::string> names;
    for (const Condition& condition : rules_.firing()) names.push_back(condition.rule);
    return names;
  }

  Ns at = 1'795'000'000 * kSecond;
  std::vector<Condition> all = {};  // every change
  Rules rules_;
};

using Names = std::vector<std::string>;

}  // namespace spotter::respond::test

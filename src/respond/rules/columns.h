// Columns: cells of tables by the names of their columns, which are looked up once for all tables of one
// schema. A column that is not there (a history of an older agent) has no values.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "table/table.h"

namespace spotter::respond {

class Columns {
 public:
  // The names live as long as this; cells are asked for by their places among them.
  explicit Columns(std::span<const char* const> names) : names_(names) {}

  void find(const Table& table);  // the table that is asked from now on, which lives until then

  std::optional<i64> integer(size_t row, size_t name) const;  // of means in a history, too, rounded
  std::optional<double> real(size_t row, size_t name) const;  // of integers, too
  std::optional<bool> flag(size_t row, size_t name) const;
  std::string_view text(size_t row, size_t name) const;  // empty: null

 private:
  Value at(size_t row, size_t name) const;

  std::span<const char* const> names_;
  const Table* table_ = nullptr;
  const Field* schema_ = nullptr;
  std::vector<std::optional<size_t>> places_;
};

}  // namespace spotter::respond

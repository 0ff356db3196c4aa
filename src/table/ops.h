// The few operators on tables. Pure functions; ties keep the earlier row first, so results do not depend on
// the sort.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "table/table.h"

namespace spotter::table {

struct SortKey {
  std::string_view column;
  bool descending = false;
};

// Stable. Nulls come last and not-a-numbers just before them, ascending or descending; text compares by
// bytes.
Table sort(const Table& table, const std::vector<SortKey>& keys);
Table head(const Table& table, size_t rows);                      // the first `rows` rows
Table pick(const Table& table, const std::vector<size_t>& rows);  // these rows in this order
Table project(const Table& table,
              const std::vector<std::string_view>& columns);  // these columns in this order

// The rows of `part` below those of `all`; both have the same columns.
void append(Table& all, const Table& part);

// One row for each distinct combination of `keys`, in order of first appearance, with the sums of the integer
// columns `values` (nulls count as 0).
Table sum_by(const Table& table, const std::vector<std::string_view>& keys,
             const std::vector<std::string_view>& values);

// Of a column of integers; nulls count as 0.
i64 sum_of(const Table& table, std::string_view column);

// A cell of a column of integers.
std::optional<i64> optional_integer(const Table& table, size_t row, std::string_view column);
// A cell of a column of text; empty where it is null.
std::string_view text_or_empty(const Table& table, size_t row, std::string_view column);

// Quantile q in 0..1 of sorted values, linear interpolation between neighbours (the rule of numpy's default).
// Not a number where there are no values.
double quantile(std::span<const i64> sorted, double q);

}  // namespace spotter::table

#include "table/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/result.h"
#include "base/saturated.h"

namespace spotter::table {
namespace {

// 0: a value; 1: not a number; 2: null. Later classes sort last in both directions.
int class_of(const Value& value) {
  if (is_null(value)) return 2;
  const double* real = std::get_if<double>(&value);
  return real && std::isnan(*real) ? 1 : 0;
}

// Less than, equal to or greater than 0 as `a` comes before, with or after `b`.
int compare(const Value& a, const Value& b, bool descending) {
  const int class_a = class_of(a), class_b = class_of(b);
  if (class_a != class_b) return class_a < class_b ? -1 : 1;
  if (class_a != 0) return 0;
  // Equal classes of one column hold one alternative, so the variant's own order is that of the values.
  if (a < b) return descending ? 1 : -1;
  if (b < a) return descending ? -1 : 1;
  return 0;
}

}  // namespace

Table pick(const Table& table, const std::vector<size_t>& rows) {
  Table result = table.empty_like();
  std::vector<Value> cells(table.columns());
  for (const size_t row : rows) {
    for (size_t c = 0; c < cells.size(); ++c) cells[c] = table.at(row, c);
    result.append(cells);
  }
  return result;
}

Table head(const Table& table, size_t rows) {
  std::vector<size_t> first(std::min(rows, table.rows()));
  std::iota(first.begin(), first.end(), size_t{0});
  return pick(table, first);
}

Table sort(const Table& table, const std::vector<SortKey>& keys) {
  std::vector<size_t> columns;
  for (const SortKey& key : keys) columns.push_back(table.column(key.column));

  std::vector<size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  std::sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
    for (size_t k = 0; k < keys.size(); ++k) {
      const int order = compare(table.at(a, columns[k]), table.at(b, columns[k]), keys[k].descending);
      if (order != 0) return order < 0;
    }
    return a < b;  // stable; the library's stable sort uses a function that Clang rejects as deprecated
  });
  return pick(table, rows);
}

Table project(const Table& table, const std::vector<std::string_view>& columns) {
  std::vector<size_t> from;
  std::vector<Field> schema;
  for (const std::string_view name : columns) {
    from.push_back(table.column(name));
    schema.push_back(table.schema()[from.back()]);
  }
  Table result(table.name(), std::move(schema));
  result.notes = table.notes;
  result.is_events = table.is_events;
  std::vector<Value> cells(from.size());
  for (size_t row = 0; row < table.rows(); ++row) {
    for (size_t c = 0; c < from.size(); ++c) cells[c] = table.at(row, from[c]);
    result.append(cells);
  }
  return result;
}

void append(Table& all, const Table& part) {
  CHECK(all.columns() == part.columns());
  std::vector<Value> row(part.columns());
  for (size_t r = 0; r < part.rows(); ++r) {
    for (size_t c = 0; c < part.columns(); ++c) row[c] = part.at(r, c);
    all.append(row);
  }
}

Table sum_by(const Table& table, const std::vector<std::string_view>& keys,
             const std::vector<std::string_view>& values) {
  const Table wanted = project(table, keys);
  std::map<std::vector<Value>, size_t> group_of;
  std::vector<std::vector<Value>> groups;
  std::vector<std::vector<i64>> sums;
  for (size_t row = 0; row < table.rows(); ++row) {
    std::vector<Value> key;
    for (size_t c = 0; c < keys.size(); ++c) key.push_back(wanted.at(row, c));
    const auto [it, is_new] = group_of.try_emplace(key, groups.size());
    if (is_new) {
      groups.push_back(key);
      sums.emplace_back(values.size());
    }
    for (size_t v = 0; v < values.size(); ++v) {
      const Value cell = table.at(row, table.column(values[v]));
      if (!is_null(cell)) sums[it->second][v] = add_saturated(sums[it->second][v], std::get<i64>(cell));
    }
  }
  std::vector<std::string_view> columns = keys;
  columns.insert(columns.end(), values.begin(), values.end());
  Table result = project(head(table, 0), columns);
  result.is_events = false;
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<Value> row = groups[g];
    row.insert(row.end(), sums[g].begin(), sums[g].end());
    result.append(row);
  }
  return result;
}

std::optional<i64> optional_integer(const Table& table, size_t row, std::string_view column) {
  const Value value = table.at(row, table.column(column));
  return is_null(value) ? std::nullopt : std::optional(std::get<i64>(value));
}

i64 sum_of(const Table& table, std::string_view column) {
  i64 sum = 0;
  for (size_t row = 0; row < table.rows(); row++)
    sum = add_saturated(sum, optional_integer(table, row, column).value_or(0));
  return sum;
}

std::string_view text_or_empty(const Table& table, size_t row, std::string_view column) {
  const Value cell = table.at(row, table.column(column));
  return is_null(cell) ? std::string_view() : std::get<std::string_view>(cell);
}

double quantile(std::span<const i64> sorted, double q) {
  CHECK(q >= 0 && q <= 1);
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  // The difference first, in integers: neighbours near 2^60 differ by less than a double there can tell. From
  // the nearer end, so that a share of 1 gives its neighbour exactly.
  const auto step = static_cast<double>(static_cast<u64>(sorted[above]) - static_cast<u64>(sorted[below]));
  if (share < 0.5) return static_cast<double>(sorted[below]) + step * share;
  return static_cast<double>(sorted[above]) - step * (1 - share);
}

}  // namespace spotter::table

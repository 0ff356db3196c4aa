// ArrowTable: a table by columns, as Arrow lays them out in memory (Arrow columnar format 1.5, "Physical
// memory layout"). A Table lies by rows, so it is copied, once; then the copy is constant and shared by all
// who point into it.
//
//   integer  int64, times too: nanoseconds, since their sums and ratios are numbers
//   real     float64
//   flag     bits
//   text     int32 indices into a dictionary of UTF-8: the column's distinct texts, in order of appearance
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "table/table.h"

namespace spotter::render {

using ArrowBuffer = std::vector<u8>;
using ArrowMetadata = std::vector<std::pair<std::string, std::string>>;

struct ArrowColumn {
  std::string name;
  Type type = Type::integer;
  ArrowMetadata metadata;  // spotter.unit, spotter.role, spotter.help
  i64 nulls = 0;
  ArrowBuffer valid;   // a bit a row, the lowest first; empty where no cell is null
  ArrowBuffer values;  // of a text its index
  i64 words = 0;       // of the dictionary
  ArrowBuffer offsets, text;
  bool has_long_offsets = false;  // of 64 bits instead of 32
};

struct ArrowTable {
  ArrowMetadata metadata;  // spotter.table, spotter.version, spotter.notes (as in JSON documents)
  i64 rows = 0;
  std::vector<ArrowColumn> columns;
};
using SharedArrowTable = std::shared_ptr<const ArrowTable>;

// `notes` stand for the table's own. A dictionary with more than `most_short` bytes has long offsets.
SharedArrowTable arrow_table(const Table& table, const Notes& notes, size_t most_short = INT32_MAX);

}  // namespace spotter::render

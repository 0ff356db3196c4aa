// RowQuery: which rows and columns of a table somebody wants, as people write it.
//
//   where    COLUMN OPERATOR VALUE, of several all, with " and " between them: rank=3 and dur_ns>1000
//            = and !=: in a text * and ? stand for any text and any one byte; of whole numbers also lists and
//            ranges (rank=0-3,7). < <= > >=: of numbers. null is an empty cell, which nothing else is equal
//            to.
//   sort     COLUMN, or -COLUMN for the largest first
//   columns  names, with commas between
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/table.h"

namespace spotter::table {

struct RowQuery {
  std::string where = {}, sort = {};
  std::vector<std::string> columns = {};  // none: all
  std::optional<i64> limit = {};          // rows
  bool is_all() const { return where.empty() && sort.empty() && columns.empty() && !limit; }
};

// The rows that it is about, all of them, in its order and with all columns. Errors: invalid (a column that
// there is none of, with those that there are; a condition that is none).
Result<Table> chosen_rows(const Table& table, const RowQuery& query);
// Its columns of these rows. Errors: invalid.
Result<Table> chosen_columns(const Table& table, const RowQuery& query);
// All of it.
Result<Table> chosen(const Table& table, const RowQuery& query);

}  // namespace spotter::table

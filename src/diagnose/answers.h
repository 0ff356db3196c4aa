// Reading what analyses answered: the one that is meant, and its cells.
#pragma once
#include <algorithm>
#include <span>
#include <string_view>

#include "analyze/analysis.h"
#include "base/result.h"
#include "table/ops.h"

namespace spotter::diagnose {

// It has to be among them.
inline const Table& answer_of(const Analysis& analysis, std::span<const Table> answers) {
  const auto it = std::ranges::find(answers, std::string_view(analysis.name), &Table::name);
  CHECK(it != answers.end());
  return *it;
}

// 0 where the cell is null.
inline i64 integer(const Table& t, size_t row, std::string_view column) {
  return table::optional_integer(t, row, column).value_or(0);
}

}  // namespace spotter::diagnose

// What changed from one job to another: their event_totals, name by name.
#pragma once
#include "table/table.h"

namespace spotter::analyze {

struct DiffOptions {
  bool by_rank = false;  // ranks are told apart; else the sums over all ranks are compared
  bool by_function =
      false;  // kernels of one function (function_name.h) are one, whatever its template arguments
};

// Of the answers of event_totals. One row per side, kind and name that occurs in either, the largest change
// of time first.
Table trace_diff(const Table& before, const Table& after, DiffOptions options);

// Whether a row of it shows no change: as many as before, and in time less than what text shows as 0.1 %.
bool is_unchanged(const Table& diff, size_t row);

}  // namespace spotter::analyze

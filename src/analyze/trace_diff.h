// What changed from one job to another: their event_totals, name by name.
#pragma once
#include "table/table.h"

namespace spotter {

// Of the answers of event_totals. `by_rank`: ranks are told apart; else the sums over all ranks are compared.
// One row per side, kind and name that occurs in either, the largest change of time first.
Table trace_diff(const Table& before, const Table& after, bool by_rank);

}  // namespace spotter

// Times of tables, for people.
#pragma once
#include <span>
#include <vector>

#include "table/table.h"

namespace spotter::app {

// The tables with what is of Role::time, Unix time, as a clock shows it here; the day, too, where it may be
// another one.
std::vector<Table> with_local_times(std::span<const Table> tables, bool with_day);

}  // namespace spotter::app

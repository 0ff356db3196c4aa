// The columns of the tables that agents answer with.
#pragma once
#include <span>

#include "table/table.h"

namespace spotter::wire {

std::span<const Field> processes_columns();
std::span<const Field> status_columns();
std::span<const Field> captures_columns();
std::span<const Field> hosts_columns();

}  // namespace spotter::wire

// Whose a GPU or a control group is: what all its processes have in common.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "collect/process/identities.h"
#include "collect/values.h"
#include "table/table.h"

namespace spotter::collect {

// Empty where the processes differ, or where there is none. A process of which nothing is known does not
// count.
Who owner_of(std::span<const Who> processes);

// Fills the columns that SPOTTER_OWNER_COLUMNS declares; `first` is that of "job". The cells point into
// `who`.
void set_owner(std::span<Value> row, size_t first, const Who& who);

}  // namespace spotter::collect

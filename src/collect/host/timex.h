// timex: how well the machine's clock is kept, as adjtimex(2) tells it.
#pragma once
#include <sys/timex.h>

#include "table/table.h"

namespace spotter::collect {

// The one row of it. state: what adjtimex() returned. Pure function.
Table timex_table(const ::timex& clock, int state);

}  // namespace spotter::collect

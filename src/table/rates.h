// Counters as rates. Pure function.
#pragma once
#include <string_view>

#include "table/table.h"

namespace spotter::table {

// Of a table of samples, whose rows are in order of their keys and then of time (its column of Role::time,
// ns): the same with what each counter grew by a second, since the row before it of the same keys. Null for
// the first one, where the counter began anew, where no time has passed, and across a gap of more than
// five times the usual distance. busy_ns becomes busy_ratio, the share of the time that has passed; processor
// time, of which more than a second may be used in a second, becomes user_cores: so many processors' worth.
// rx_bytes becomes rx_bytes_per_s, energy_joules energy_watts, all else reads_per_s. A table of events stays
// as it is.
Table rates(const Table& samples);

// As rates() calls the column of a counter.
Field rate_field(const Field& counter);

}  // namespace spotter::table

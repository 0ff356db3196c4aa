// Small numbers that several analyses give: ratios, means, spreads, quartiles.
#pragma once
#include <span>

#include "base/types.h"
#include "table/table.h"

namespace spotter::analyze {

// part / whole, null where the whole is 0.
Value ratio(i64 part, i64 whole);

struct Statistics {
  i64 count = 0;
  Ns sum = 0, min = 0, max = 0;
  double mean = 0, std = 0;  // std: of a sample (n - 1), 0 for one value
  double p25 = 0, median = 0, p75 = 0;
};

// Of at least one value; quantiles by the rule of table/ops.h. Reorders the values.
Statistics statistics_of(std::span<Ns> values);

// Of count values that have this sum of squared deviations from their mean.
double sample_std(i64 count, double squared_deviations);

}  // namespace spotter::analyze

#include "analyze/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/result.h"
#include "table/ops.h"

namespace spotter::analyze {

Value ratio(i64 part, i64 whole) {
  if (whole == 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

double sample_std(i64 count, double squared_deviations) {
  return count < 2 ? 0.0 : std::sqrt(squared_deviations / static_cast<double>(count - 1));
}

namespace {

double unsorted_quantile(std::span<Ns> values, double q) {
  // quantile() reads the two places around q * (n - 1) only, so these are all that has to be in order.
  const auto place = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  const auto at = values.begin() + place;
  std::nth_element(values.begin(), at, values.end());
  if (at + 1 != values.end()) std::iter_swap(at + 1, std::min_element(at + 1, values.end()));
  return table::quantile(values, q);
}

}  // namespace

Statistics statistics_of(std::span<Ns> values) {
  CHECK(!values.empty());
  Statistics s;
  s.count = static_cast<i64>(values.size());
  s.min = s.max = values[0];
  i128 sum = 0;  // of thousands of bandwidths, too
  for (Ns v : values) {
    sum += v;
    s.min = std::min(s.min, v);
    s.max = std::max(s.max, v);
  }
  s.sum =
      static_cast<Ns>(std::clamp<i128>(sum, std::numeric_limits<Ns>::min(), std::numeric_limits<Ns>::max()));
  s.mean = static_cast<double>(sum) / static_cast<double>(s.count);
  double squares = 0;
  for (Ns v : values) {
    const double deviation = static_cast<double>(v) - s.mean;
    squares += deviation * deviation;
  }
  s.std = sample_std(s.count, squares);
  s.p25 = unsorted_quantile(values, 0.25);
  s.median = unsorted_quantile(values, 0.5);
  s.p75 = unsorted_quantile(values, 0.75);
  return s;
}

}  // namespace spotter::analyze

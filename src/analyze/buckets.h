// Buckets: the time from the first to the last device work of a trace, cut into equal parts, and what happens
// on a device in each part.
#pragma once
#include <algorithm>
#include <vector>

#include "analyze/analysis.h"
#include "base/result.h"
#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

// A height from `start` to `end`, in whole units.
struct Piece {
  Ns start = 0, end = 0;
  i64 height = 0;
};

struct Buckets {
  Ns start = 0, end = 0, width = 1;
  size_t count() const { return start == end ? 0 : static_cast<size_t>((end - start - 1) / width + 1); }
  Ns begin_of(size_t i) const { return start + static_cast<Ns>(i) * width; }
  Ns end_of(size_t i) const { return begin_of(i) + std::min(width, end - begin_of(i)); }  // the last is short
};

inline constexpr i64 kMostBuckets = 1'000'000;
inline constexpr Param kBucketParams[] = {
    {"bucket_ns", 0,
     "length of a bucket of time; 0: a thousandth of the time of device work, at least 10 us"}};

// `width` 0: a thousandth of the time, but 10 us or more. All devices have the same buckets. Errors: invalid
// (so narrow that there would be more than kMostBuckets).
Result<Buckets> buckets_of(const trace::DeviceWork& work, Ns width);

// The mean height of each bucket, in units. The pieces may overlap (they add up).
std::vector<double> means(const Buckets& buckets, const std::vector<Piece>& pieces);

// Appends the rows of a series: device, Unix time of the bucket's start, mean / whole; at last 0 at the end
// of the last bucket. `base`: what to add for Unix time.
void append_series(const Buckets& buckets, i64 device, Ns base, const std::vector<double>& means, i64 whole,
                   Table& table);

}  // namespace spotter::analyze

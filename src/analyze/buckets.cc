#include "analyze/buckets.h"

namespace spotter::analyze {

Result<Buckets> buckets_of(const trace::DeviceWork& work, Ns width) {
  constexpr Ns kLeastWidth = 10'000;
  Buckets buckets;
  if (work.event.empty()) return buckets;
  buckets.start = *std::min_element(work.start.begin(), work.start.end());
  buckets.end = *std::max_element(work.end.begin(), work.end.end());
  const Ns whole = buckets.end - buckets.start;
  buckets.width = width > 0 ? width : std::max(kLeastWidth, whole / 1000);
  if (whole / buckets.width >= kMostBuckets)
    return fail(
        Code::invalid,
        "buckets of {} ns are too narrow: {} ns of device work would need more than {}; choose {} ns or "
        "more",
        buckets.width, whole, kMostBuckets, whole / kMostBuckets + 1);
  return buckets;
}

std::vector<double> means(const Buckets& buckets, const std::vector<Piece>& pieces) {
  std::vector<i128> sums(buckets.count());
  for (const Piece& piece : pieces) {
    const Ns start = std::max(piece.start, buckets.start), end = std::min(piece.end, buckets.end);
    if (start >= end) continue;
    for (size_t i = static_cast<size_t>((start - buckets.start) / buckets.width);
         i < sums.size() && buckets.begin_of(i) < end; ++i)
      sums[i] +=
          i128{piece.height} * (std::min(end, buckets.end_of(i)) - std::max(start, buckets.begin_of(i)));
  }
  std::vector<double> means(sums.size());
  for (size_t i = 0; i < sums.size(); ++i)
    means[i] = static_cast<double>(sums[i]) / static_cast<double>(buckets.end_of(i) - buckets.begin_of(i));
  return means;
}

void append_series(const Buckets& buckets, i64 device, Ns base, const std::vector<double>& means, i64 whole,
                   Table& table) {
  for (size_t i = 0; i < means.size(); ++i)
    table.append({device, base + buckets.begin_of(i), means[i] / static_cast<double>(whole)});
  table.append({device, base + buckets.end, 0.0});
}

}  // namespace spotter::analyze

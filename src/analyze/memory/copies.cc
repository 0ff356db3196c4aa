#include "analyze/memory/copies.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/saturated.h"
#include "base/stable_sort.h"

namespace spotter::analyze {
namespace {

// "Memcpy HtoD (Pageable -> Device)": what it is made of stays away.
std::string_view type_of(std::string_view name) {
  constexpr std::string_view kSet = "Memset", kCopy = "Memcpy", kUnknown = "Memcpy Unknown";
  constexpr size_t kCopyType = 11;
  if (name.starts_with(kSet)) return kSet;
  return name.starts_with(kCopy) ? name.substr(0, kCopyType) : kUnknown;
}

// The trace has GB/s. A rate that no device has is a wrong one.
Bandwidth bandwidth_of(const Trace& trace, EventId event, bool& is_known) {
  constexpr double kPerGB = 1e9 * kUnitsPerByte, kMost = 1e5;
  const std::optional<double> rate = trace.real(event, Arg::memory_bandwidth);
  is_known = rate && *rate >= 0 && *rate <= kMost;
  return is_known ? std::llround(*rate * kPerGB) : 0;
}

}  // namespace

std::vector<CopyType> copies_by_type(const Trace& trace) {
  const trace::DeviceWork& work = trace.device_work();
  std::map<std::pair<i64, std::string_view>, CopyType> types;
  for (const trace::Stream& stream : work.streams) {
    for (u32 row = stream.begin; row < stream.end; ++row) {
      if (work.kind[row] != trace::WorkKind::memory) continue;
      const EventId event = work.event[row];
      CopyType& type = types[{stream.device, type_of(trace.name_of(event))}];
      bool is_known = false;
      type.copies.push_back({work.start[row], work.end[row], bandwidth_of(trace, event, is_known)});
      type.bytes = add_saturated(type.bytes, std::max<i64>(0, trace.integer(event, Arg::bytes).value_or(0)));
      type.without_bandwidth += !is_known;
    }
  }
  std::vector<CopyType> list;
  for (auto& [key, type] : types) {
    type.device = key.first;
    type.name = key.second;
    stable_sort(type.copies, [](const Copy& a, const Copy& b) { return a.start < b.start; });
    list.push_back(std::move(type));
  }
  return list;
}

std::vector<BandwidthPoint> bandwidth_points(const CopyType& type, Ns least) {
  std::vector<BandwidthPoint> begins, ends, points;
  for (const Copy& copy : type.copies) {
    begins.push_back({copy.start, copy.bandwidth});
    ends.push_back({std::max(copy.end, copy.start + least), -copy.bandwidth});
  }
  const auto earlier = [](const BandwidthPoint& a, const BandwidthPoint& b) { return a.time < b.time; };
  stable_sort(ends, earlier);
  points.reserve(2 * begins.size());
  std::merge(begins.begin(), begins.end(), ends.begin(), ends.end(), std::back_inserter(points), earlier);
  i128 sum = 0;  // more than the largest point can say only where a file says nonsense
  for (BandwidthPoint& point : points) {
    sum += point.bandwidth;
    point.bandwidth = static_cast<Bandwidth>(std::min<i128>(sum, std::numeric_limits<Bandwidth>::max()));
  }
  return points;
}

void note_without_bandwidth(const std::vector<CopyType>& types, Table& table) {
  i64 count = 0;
  for (const CopyType& type : types) count += type.without_bandwidth;
  if (count > 0)
    table.notes.add(
        "no_bandwidth", Severity::info,
        "copies and sets have no bandwidth in the trace; they count as 0 where what is in flight is added up",
        -1, count);
}

}  // namespace spotter::analyze

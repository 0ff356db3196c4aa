#include "analyze/time/device_gaps.h"

#include <algorithm>
#include <limits>

#include "analyze/time/intervals.h"

namespace spotter::analyze {
namespace {

constexpr Ns kNever = std::numeric_limits<Ns>::max();

// When any work runs; rows without duration that come first or last are intervals of no length.
Union working_time(const trace::DeviceWork& work) {
  Ns first = work.start[0], last = work.end[0];
  std::vector<Union> by_stream;
  for (const trace::Stream& stream : work.streams) {
    Union& own = by_stream.emplace_back();
    for (u32 row = stream.begin; row < stream.end; ++row) {
      extend(own, work.start[row], work.end[row]);
      first = std::min(first, work.start[row]);
      last = std::max(last, work.end[row]);
    }
  }
  Union all = unite(std::move(by_stream));
  if (all.empty() || all.front().start != first) all.insert(all.begin(), {first, first});
  if (all.back().end != last) all.push_back({last, last});
  return all;
}

// When the first of the rows that begin at one time was launched.
struct FirstLaunch {
  Ns known = kNever;  // by those whose launch is in the trace
  EventId launch = kNone;
  Ns latest = kNever;  // by all: it may have been earlier, where launches are not in the trace
};

// Of the rows that start at one time, asked for ascending times.
class Starts {
 public:
  explicit Starts(const trace::DeviceWork& work) : work_(work) {
    for (const trace::Stream& stream : work_.streams) next_.push_back(stream.begin);
  }

  FirstLaunch launched_at(Ns time) {
    FirstLaunch first;
    for (size_t s = 0; s < next_.size(); ++s) {
      u32& row = next_[s];
      const u32 end = work_.streams[s].end;
      while (row < end && work_.start[row] < time) ++row;
      for (u32 at = row; at < end && work_.start[at] == time; ++at) {
        first.latest = std::min(first.latest, work_.launched[at]);
        if (work_.launch[at] == kNone || work_.launched[at] >= first.known) continue;
        first.known = work_.launched[at];
        first.launch = work_.launch[at];
      }
    }
    return first;
  }

 private:
  const trace::DeviceWork& work_;
  std::vector<u32> next_;  // of each stream
};

}  // namespace

const char* device_gap_category_name(DeviceGapCategory category) {
  constexpr const char* kNames[] = {"host_wait", "kernel_wait", "other", "unknown"};
  return kNames[static_cast<size_t>(category)];
}

std::vector<DeviceGap> device_gaps(const Trace& trace, Ns consecutive_kernel_delay) {
  std::vector<DeviceGap> gaps;
  const trace::DeviceWork& work = trace.device_work();
  if (work.event.empty()) return gaps;
  const Union working = working_time(work);
  Starts starts(work);
  for (size_t i = 1; i < working.size(); ++i) {
    DeviceGap gap{working[i - 1].end, working[i].start, DeviceGapCategory::unknown, kNone};
    const FirstLaunch first = starts.launched_at(gap.end);
    const bool is_in_time = first.latest <= gap.start;
    gap.launch = first.launch;
    gap.category = !is_in_time && first.launch != kNone             ? DeviceGapCategory::host_wait
                   : gap.end - gap.start < consecutive_kernel_delay ? DeviceGapCategory::kernel_wait
                   : is_in_time                                     ? DeviceGapCategory::other
                                                                    : DeviceGapCategory::unknown;
    gaps.push_back(gap);
  }
  return gaps;
}

}  // namespace spotter::analyze

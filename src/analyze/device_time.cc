#include "analyze/device_time.h"

#include <numeric>

#include "analyze/intervals.h"

namespace spotter {

static_assert(kWorkKinds == 3);

void note_no_device_work(Table& table) {
  table.notes.add("no_device_work", Severity::info, "traces without device work have no rows here");
}

Ns DeviceTime::busy() const { return std::accumulate(by_kinds.begin() + 1, by_kinds.end(), Ns{0}); }

Ns DeviceTime::of(WorkKind kind) const {
  Ns sum = 0;
  for (size_t m = 1; m < by_kinds.size(); ++m)
    if (m & kind_bit(kind)) sum += by_kinds[m];
  return sum;
}

DeviceTime device_time(const DeviceWork& work) {
  DeviceTime time;
  if (work.event.empty()) return time;
  time.first_start = work.start[0];
  time.last_end = work.end[0];
  std::array<std::vector<Union>, kWorkKinds> by_stream;
  for (const Stream& stream : work.streams) {
    Unions unions;
    for (u32 row = stream.begin; row < stream.end; ++row) {
      time.first_start = std::min(time.first_start, work.start[row]);
      time.last_end = std::max(time.last_end, work.end[row]);
      extend(unions[static_cast<size_t>(work.kind[row])], work.start[row], work.end[row]);
    }
    for (size_t k = 0; k < kWorkKinds; ++k)
      if (!unions[k].empty()) by_stream[k].push_back(std::move(unions[k]));
  }
  Unions unions;
  for (size_t k = 0; k < kWorkKinds; ++k) unions[k] = unite(std::move(by_stream[k]));
  time.by_kinds = time_by_set(unions);
  return time;
}

}  // namespace spotter

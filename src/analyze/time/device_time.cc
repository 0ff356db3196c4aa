#include "analyze/time/device_time.h"

#include <numeric>

#include "analyze/time/intervals.h"
#include "trace/links.h"

namespace spotter::analyze {

static_assert(trace::kWorkKinds == 3);

void note_no_device_work(Table& table) {
  table.notes.add("no_device_work", Severity::info, "traces without device work have no rows here");
}

void note_links(const Trace& trace, Table& table) {
  if (trace.links().of_other_processes > 0)
    table.notes.add("correlation_of_other_process", Severity::repair,
                    "host calls have the correlation number of a call of another process; device work with "
                    "it was given to the earlier one",
                    -1, trace.links().of_other_processes);
  if (trace.links().unlaunched > 0)
    table.notes.add(
        "unlaunched_device_work", Severity::info,
        "pieces of device work have no launch in the trace; operators, launches and queues leave them out",
        -1, trace.links().unlaunched);
}

void note_inferred_launches(const Trace& trace, Table& table) {
  if (trace.device_work().inferred_launches > 0)
    table.notes.add("inferred_launches", Severity::info,
                    "pieces of device work have no launch in the trace; they are taken to be launched before "
                    "what comes after them on their stream",
                    -1, trace.device_work().inferred_launches);
}

void note_launches_outside_operators(i64 count, Table& table) {
  if (count > 0)
    table.notes.add(
        "launch_outside_operators", Severity::info,
        "launches were made outside any operator; what they started on the device is in no row of "
        "operators",
        -1, count);
}

Ns DeviceTime::busy() const { return std::accumulate(by_kinds.begin() + 1, by_kinds.end(), Ns{0}); }

Ns DeviceTime::of(trace::WorkKind kind) const {
  Ns sum = 0;
  for (size_t m = 1; m < by_kinds.size(); ++m)
    if (m & kind_bit(kind)) sum += by_kinds[m];
  return sum;
}

DeviceTime device_time(const trace::DeviceWork& work) {
  DeviceTime time;
  if (work.event.empty()) return time;
  time.first_start = work.start[0];
  time.last_end = work.end[0];
  std::array<std::vector<Union>, trace::kWorkKinds> by_stream;
  for (const trace::Stream& stream : work.streams) {
    Unions unions;
    for (u32 row = stream.begin; row < stream.end; ++row) {
      time.first_start = std::min(time.first_start, work.start[row]);
      time.last_end = std::max(time.last_end, work.end[row]);
      extend(unions[static_cast<size_t>(work.kind[row])], work.start[row], work.end[row]);
    }
    for (size_t k = 0; k < trace::kWorkKinds; ++k)
      if (!unions[k].empty()) by_stream[k].push_back(std::move(unions[k]));
  }
  Unions unions;
  for (size_t k = 0; k < trace::kWorkKinds; ++k) unions[k] = unite(std::move(by_stream[k]));
  time.by_kinds = time_by_set(unions);
  return time;
}

}  // namespace spotter::analyze

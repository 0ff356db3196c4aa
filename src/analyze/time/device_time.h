// What the analyses of device work share: the arguments to load, the note where there is no such work, and
// the time in which each set of kinds of work is running.
#pragma once
#include <array>

#include "table/table.h"
#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

// Says in `table` that the trace gives no rows because no device worked.
void note_no_device_work(Table& table);
// Says in `table` how much device work has no known launch, if there is some; where rows are left out for
// that. Also where launches may be those of another process.
void note_links(const Trace& trace, Table& table);
// Says of how much device work the launch is inferred from that of later work (DeviceWork::launched), where
// the answer counts on it.
void note_inferred_launches(const Trace& trace, Table& table);
// Says how many launches with device work no operator encloses.
void note_launches_outside_operators(i64 count, Table& table);

// Device time of one trace, over all its devices and streams. Several rows at once count once.
struct DeviceTime {
  Ns first_start = 0, last_end = 0;
  std::array<Ns, 8> by_kinds{};  // element m: exactly the kinds k with bit 1 << k set in m are running

  Ns window() const { return last_end - first_start; }
  Ns busy() const;
  Ns of(trace::WorkKind kind) const;  // this kind is running, whatever else is
};

DeviceTime device_time(const trace::DeviceWork& work);

inline constexpr size_t kind_bit(trace::WorkKind kind) { return size_t{1} << static_cast<size_t>(kind); }

}  // namespace spotter::analyze

// Gaps in which none of a rank's devices works, on any stream, and what ended them.
#pragma once
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

enum class DeviceGapCategory : u8 {
  host_wait,    // the work that ends it was launched after all earlier work had ended
  kernel_wait,  // else: it is shorter than the given delay
  other,        // else: it had been launched
  unknown,      // else: its launch is not in the trace, and may have been late
};
inline constexpr size_t kDeviceGapCategories = 4;
const char* device_gap_category_name(DeviceGapCategory category);

struct DeviceGap {
  Ns start, end;
  DeviceGapCategory category;
  EventId launch;  // of the work that ends it, of several the first launch; kNone: not in the trace
};

// Between the first and the last device work, in order. Reads trace::kDeviceWorkArgs.
std::vector<DeviceGap> device_gaps(const Trace& trace, Ns consecutive_kernel_delay);

}  // namespace spotter::analyze

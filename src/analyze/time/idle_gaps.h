// Gaps between consecutive rows of a stream, and why the stream waited: what both idle analyses count.
#pragma once
#include <vector>

#include "analyze/analysis.h"
#include "trace/device_work.h"

namespace spotter::analyze {

enum class IdleCategory : u8 {
  host_wait,    // the later row was launched after the earlier ones had ended
  kernel_wait,  // it was launched in time, and the gap is shorter than the given delay
  other,        // it was launched in time, or its launch is unknown, and the gap is longer
};
inline constexpr size_t kIdleCategories = 3;
const char* idle_category_name(IdleCategory category);

struct Gap {
  IdleCategory category;
  bool overlap;  // the later row starts before the earlier ones end: a gap of 0, counted as kernel_wait
  Ns ns;
};

// One element per row but the first. "The earlier rows' end" is the largest end so far.
std::vector<Gap> idle_gaps(const Trace& trace, const trace::Stream& stream, Ns consecutive_kernel_delay);

inline constexpr Param kConsecutiveKernelDelay = {
    "consecutive_kernel_delay_ns", 30'000,
    "a gap shorter than this is kernel_wait: the pause between two kernels that were both launched in time"};

}  // namespace spotter::analyze

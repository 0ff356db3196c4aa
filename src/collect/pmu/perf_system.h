// PerfSystem: the kernel's performance counters, behind three calls, so that tests can be the kernel.
#pragma once
#include <linux/perf_event.h>
#include <sys/types.h>

#include <functional>
#include <span>

#include "base/system/host.h"
#include "base/types.h"

namespace spotter::collect {

struct PerfSystem {
  // Whether the host's /sys is the running kernel's: a recorded machine's counters cannot be opened.
  std::function<bool(const Host& host)> is_running;
  // Counts what happens on a processor, in all programs, from now on. group: the descriptor of the first
  // event of its group, -1 for the first. A descriptor that the caller closes, or -errno.
  std::function<int(const perf_event_attr& attributes, i64 cpu, int group)> open;
  // Bytes read, or -errno.
  std::function<ssize_t(int descriptor, std::span<u64> into)> read;
  size_t most_descriptors = 0;  // that the counters may have
};

PerfSystem perf_system();

}  // namespace spotter::collect

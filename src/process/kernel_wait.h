// What a process does as the kernel sees it: whether its first thread runs, sleeps, is stopped or waits for a
// device, and where in the kernel. Read of /proc, it stops nothing and waits for nothing that the process
// holds.
#pragma once
#include <string>
#include <vector>

#include "base/system/host.h"
#include "base/types.h"

namespace spotter::process {

struct KernelWait {
  char state = '?';                     // of process::ProcessStat; ?: there is no such process
  std::string function;                 // in which it waits; empty: it does not, or that may not be read
  std::vector<std::string> stack = {};  // the innermost first; empty likewise
};
KernelWait read_kernel_wait(const Host& host, i64 pid);

}  // namespace spotter::process

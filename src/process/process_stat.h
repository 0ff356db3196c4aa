// What /proc/PID/stat says: proc(5). It may be read of anybody's process.
#pragma once
#include <optional>
#include <string_view>

#include "base/system/host.h"
#include "base/types.h"

namespace spotter::process {

// A number that 63 bits cannot hold is the largest that they can.
struct ProcessStat {
  char state = '?';        // of its first thread: R, S, D, T, t, Z, X, I
  bool has_ended = false;  // all its threads have, and its parent was told, or is to be
  i64 parent = 0;
  i64 minor_faults = 0, major_faults = 0;
  i64 user_ticks = 0, system_ticks = 0;
  i64 threads = 0;
  i64 start_ticks = 0;  // after boot; with the pid the identity of the process
  i64 resident_pages = 0;
  // Another number after each exec: where the stack begins, which the kernel draws anew; of a process whose
  // memory is not ours to read, from its name. 0: it has no memory, since it is ending or is the kernel's.
  u64 program = 0;
};

// Nothing: the text is not as the kernel writes it.
std::optional<ProcessStat> parse_stat(std::string_view text);
std::optional<ProcessStat> read_stat(const Host& host, i64 pid);

}  // namespace spotter::process

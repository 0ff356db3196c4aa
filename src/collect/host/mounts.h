// Mounts: the file systems that are mounted, as /proc/*/mountinfo tells them. proc(5).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter::collect {

struct Mount {
  std::string mount_point, device, type;
  u32 major = 0, minor = 0;  // of the device, as stat() tells it of the files
  bool read_only = false;    // the file system, not only this view of it
  bool is_remote = false;    // asking may take for ever: it is on a network, or a process answers for it
};

// Those that hold data: without the kernel's pseudo file systems, those that containers are made of, and
// further mounts of the same file system, of which the one with the shortest path stays. In the order of
// mounting. Of a path with several mounts on it, the last, which covers the others.
std::vector<Mount> parse_mounts(std::string_view mountinfo);

// The kernel writes blanks, tabs, ends of lines and backslashes as \040 and so on, in all its lists of
// mounts.
std::string unescaped_mount_word(std::string_view word);

}  // namespace spotter::collect

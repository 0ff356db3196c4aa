// Lists of processors and NUMA nodes as the kernel writes them: "0-3,8,10-11".
#pragma once
#include <string_view>
#include <vector>

#include "base/system/host.h"
#include "base/types.h"

namespace spotter::collect {

// None of a word that is no such list; at most 65,536.
std::vector<i64> parse_cpu_list(std::string_view text);

// To which NUMA node each processor belongs: /sys/devices/system/node.
struct CpuNodes {
  std::vector<i64> node_of;     // by processor; -1: not known
  i64 count = 0, highest = -1;  // nodes
  i64 node(i64 cpu) const { return cpu >= 0 && cpu < static_cast<i64>(node_of.size()) ? node_of[cpu] : -1; }
};
CpuNodes read_cpu_nodes(const Host& host);

}  // namespace spotter::collect

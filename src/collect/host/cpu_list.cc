#include "collect/host/cpu_list.h"

#include <algorithm>

#include "base/system/file.h"
#include "base/text/words.h"

namespace spotter::collect {

std::vector<i64> parse_cpu_list(std::string_view text) {
  constexpr i64 kMost = 65536;
  std::vector<i64> cpus;
  text = trimmed(text);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t dash = part.find('-');
    const auto first = to_integer(part.substr(0, dash));
    const auto last = dash == part.npos ? first : to_integer(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMost) return {};
    for (i64 cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (cpus.size() > kMost) return {};
  }
  return cpus;
}

CpuNodes read_cpu_nodes(const Host& host) {
  constexpr size_t kMostText = size_t{1} << 16;
  const std::string folder = host.sys + "/devices/system/node";
  CpuNodes nodes;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with("node")) continue;
    const auto node = to_integer(std::string_view(name).substr(4));
    if (!node || *node < 0) continue;
    ++nodes.count;
    nodes.highest = std::max(nodes.highest, *node);
    for (const i64 cpu :
         parse_cpu_list(read_small_file(folder + "/" + name + "/cpulist", kMostText).value_or(""))) {
      if (cpu >= static_cast<i64>(nodes.node_of.size())) nodes.node_of.resize(cpu + 1, -1);
      nodes.node_of[cpu] = *node;
    }
  }
  return nodes;
}

}  // namespace spotter::collect

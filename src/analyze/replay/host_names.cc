#include "analyze/replay/host_names.h"

#include <fmt/format.h>

#include <map>

namespace spotter::analyze {
namespace {

using Ranks = std::vector<RankProgram*>;

bool is_everybodys(std::string_view name) { return name.starts_with("localhost"); }

bool has_repeated_device(const Ranks& ranks) {
  std::set<i64> devices;
  return !std::ranges::all_of(ranks,
                              [&](const RankProgram* rank) { return devices.insert(rank->device).second; });
}

// Ranks are placed host by host, one for each device, so that a host ends where the devices' numbers begin
// again. Empty: they are not placed so. Of the first host ranks may be missing before it, of the last one
// behind it.
std::vector<Ranks> placed(const Ranks& ranks) {
  const auto [least, most] = std::ranges::minmax(ranks, {}, &RankProgram::device);
  if (least->device == most->device) return {};
  std::vector<Ranks> hosts(1);
  for (RankProgram* rank : ranks) {
    if (!hosts.back().empty() && rank->device <= hosts.back().back()->device) {
      if (hosts.back().back()->device != most->device || rank->device != least->device) return {};
      hosts.emplace_back();
    }
    hosts.back().push_back(rank);
  }
  return hosts;
}

}  // namespace

void tell_hosts_apart(JobProgram& job) {
  std::map<std::string, Ranks> by_name;
  for (RankProgram& rank : job.ranks)
    if (!rank.host.empty() && rank.rank && rank.streams > 0) by_name[rank.host].push_back(&rank);
  for (auto& [name, ranks] : by_name) {
    std::ranges::sort(ranks, {}, [](const RankProgram* rank) { return *rank->rank; });
    if (!has_repeated_device(ranks)) continue;
    const std::vector<Ranks> hosts = placed(ranks);
    if (hosts.empty()) {
      if (!is_everybodys(name)) continue;
      for (RankProgram& rank : job.ranks)
        if (rank.host == name) rank.host.clear();
      job.notes.add("host_of_several", Severity::info,
                    fmt::format("which ranks called {} share a host is not known: their devices' numbers "
                                "repeat",
                                name));
      continue;
    }
    for (size_t h = 0; h < hosts.size(); ++h)
      for (RankProgram* rank : hosts[h]) rank->host = fmt::format("{}#{}", name, h + 1);
    job.notes.add("host_of_several", Severity::info,
                  fmt::format("host name {0} is of several hosts: by their devices' numbers these are {0}#1 "
                              "to {0}#{1}",
                              name, hosts.size()));
  }
}

}  // namespace spotter::analyze

#include "respond/incidents/ruled_out.h"

#include <fmt/format.h>

namespace spotter::respond {
namespace {

struct Exclusion {
  const char* rule;      // that has looked, and does not fire
  const char* sentence;  // {}: the host
};

constexpr Exclusion kExclusions[] = {
    {"link_errors", "network: no errors on the links of {}"},
    {"rdma_congestion", "network: no port of {} sends again more than the others"},
    {"gpu_throttled", "GPUs: no clock of {} is held down for heat or power"},
    {"gpu_shared", "GPUs: nobody else works on those of the job on {}"},
    {"rank_outlier", "GPUs: the clocks and PCIe links of {} are alike"},
    {"host_starved", "host: memory, processors and disks of {} are not short"},
    {"cpu_throttled", "host: no control group that is seen on {} is stopped for its share of processors"},
    {"storage_hangs", "storage: the file systems of {} answer"},
};

}  // namespace

std::vector<std::string> ruled_out(const std::set<std::string>& looked, const std::set<std::string>& firing,
                                   const std::string& host) {
  std::vector<std::string> sentences;
  for (const Exclusion& exclusion : kExclusions) {
    if (looked.contains(exclusion.rule) && !firing.contains(exclusion.rule))
      sentences.push_back(fmt::format(fmt::runtime(exclusion.sentence), host));
  }
  return sentences;
}

}  // namespace spotter::respond

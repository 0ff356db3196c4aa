// collect_bench [ROOT]: what a sample costs, by collector: processor time of this process, user and kernel,
// in the mean of many samples after the first. ROOT: the machine below it (tools/machine unpack) instead of
// this one. Prints a table; the last column is at the collectors' own periods.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "collect/list.h"
#include "collect/process/identities.h"

namespace spotter::bench {
namespace {

double cpu_us() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// Of one sample; below zero: it has no rows.
double cost_us(collect::Collector& collector) {
  constexpr int kWarm = 3, kSamples = 500;
  for (int i = 0; i < kWarm; ++i) {
    const auto tables = collector.sample();
    if (!tables || std::ranges::all_of(*tables, [](const Table& table) { return table.rows() == 0; }))
      return -1;
  }
  const double begin = cpu_us();
  for (int i = 0; i < kSamples; ++i) {
    if (!collector.sample()) return -1;
  }
  return (cpu_us() - begin) / kSamples;
}

void run(const std::string& root) {
  const Host host = Host::at(root);
  const auto identities = std::make_shared<collect::Identities>(host);
  double all = 0;
  fmt::print("{:<18}{:>14}{:>14}{:>18}\n", "collector", "us a sample", "period in s", "us of each second");
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    auto collector = kind->open({.host = host, .identities = identities});
    const double us = collector ? cost_us(**collector) : -1;
    if (us < 0) {
      fmt::print("{:<18}{:>14}\n", kind->name, "-");
      continue;
    }
    const double seconds = static_cast<double>(kind->period) / 1e9;
    all += us / seconds;
    fmt::print("{:<18}{:>14.1f}{:>14.0f}{:>18.1f}\n", kind->name, us, seconds, us / seconds);
  }
  fmt::print("{:<18}{:>46.1f}\n", "all", all);
}

}  // namespace
}  // namespace spotter::bench

int main(int argc, char** argv) {
  if (argc > 2) {
    fmt::print(stderr, "usage: collect_bench [ROOT]\n");
    return 2;
  }
  spotter::bench::run(argc == 2 ? argv[1] : "/");
}

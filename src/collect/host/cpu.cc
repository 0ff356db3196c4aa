// cpu: where the processors' time goes, of the whole machine, of each NUMA node and, on request, of each
// core. /proc/stat, Documentation/filesystems/proc.rst.
#include <algorithm>
#include <array>
#include <map>

#include "base/saturated.h"
#include "base/text/words.h"
#include "collect/host/cpu_list.h"
#include "collect/host/kernel_ticks.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/steady_counter.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

// The modes in the order of the file. The kernel counts guests within user and nice; here they are taken out
// of them, so that all modes together are the time that has passed.
constexpr size_t kUser = 0, kNice = 1, kGuest = 8, kGuestNice = 9, kModes = 10;
using Times = std::array<std::optional<i64>, kModes>;  // ns

// Null where one of them is.
std::optional<i64> sum(std::optional<i64> a, std::optional<i64> b) {
  return a && b ? std::optional(add_saturated(*a, *b)) : std::nullopt;
}
// Not below zero: both are rounded.
std::optional<i64> difference(std::optional<i64> a, std::optional<i64> b) {
  return a && b ? std::optional(std::max<i64>(subtract_saturated(*a, *b), 0)) : std::nullopt;
}

// The times of one row, from sample to sample.
class SteadyTimes {
 public:
  void add_to(std::vector<Value>& row, const Times& times, i64 processors) {
    for (size_t i = 0; i < kModes; ++i)
      row.push_back(times[i] ? Value(counters_[i].update(*times[i], processors)) : Value());
  }

 private:
  std::array<SteadyCounter, kModes> counters_;
};

constexpr Total kTime = {"ns", "mode",
                         "Time of processors by what they did; all modes together are the time that passed."};

#define MODE(name, help) \
  {#name "_ns", Type::integer, Unit::ns, Role::counter, help, Since::boot, &kTime, #name}
#define MODES                                                                                               \
  MODE(user, "Time in programs, without guests."),                                                          \
      MODE(nice, "Time in programs of low priority, without guests."), MODE(system, "Time in the kernel."), \
      MODE(idle, "Time without work."),                                                                     \
      MODE(iowait, "Time without work while a disk or network file system was waited for."),                \
      MODE(irq, "Time in interrupts."), MODE(softirq, "Time in soft interrupts, mostly of the network."),   \
      MODE(steal, "Time that the hypervisor gave to others."), MODE(guest, "Time in virtual machines."),    \
      MODE(guest_nice, "Time in virtual machines of low priority.")

constexpr Field kCpuColumns[] = {
    {"cpus", Type::integer, Unit::count, Role::value, "Processors that are online."},
    MODES,
    {"context_switches", Type::integer, Unit::count, Role::counter, "Switches between threads."},
    {"forks", Type::integer, Unit::count, Role::counter, "Threads and processes that were begun."},
    {"running_threads", Type::integer, Unit::count, Role::value, "Threads that run or could run."},
    {"blocked_threads", Type::integer, Unit::count, Role::value, "Threads that wait for a disk or the like."},
};
constexpr Field kNodeColumns[] = {
    {"node", Type::integer, Unit::none, Role::key, "NUMA node."},
    {"cpus", Type::integer, Unit::count, Role::value, "Processors of the node that are online."},
    MODES,
};
constexpr Field kCoreColumns[] = {
    {"cpu", Type::integer, Unit::none, Role::key, "Processor, as the kernel counts."},
    MODES,
};
#undef MODES
#undef MODE

constexpr TableKind kTables[] = {
    {"cpu", "/proc/stat", "The machine's processors together.", kCpuColumns},
    {"cpu_node", "/proc/stat", "A NUMA node; only where there are several.", kNodeColumns},
    {"cpu_core", "/proc/stat", "A processor; only on request.", kCoreColumns},
};

struct Counts {
  Times all{};
  std::vector<std::pair<i64, Times>> cores;
  std::optional<i64> context_switches, forks, running, blocked;
};

class Cpu : public Collector {
 public:
  explicit Cpu(const Surroundings& s) : stat_(s.host.proc + "/stat"), per_core_(s.per_core) {
    node_of_ = read_cpu_nodes(s.host);
  }

  Result<std::vector<Table>> sample() override {
    TRY_ASSIGN(const Counts counts, read());
    std::vector<Table> tables;
    Table& all = tables.emplace_back("cpu", kCpuColumns);
    std::vector<Value> row;
    row.reserve(std::size(kCpuColumns));
    row.emplace_back(static_cast<i64>(counts.cores.size()));
    all_.add_to(row, counts.all, std::ssize(counts.cores));
    for (const auto& value : {counts.context_switches, counts.forks, counts.running, counts.blocked})
      row.push_back(or_null(value));
    all.append(row);
    if (node_of_.count > 1) tables.push_back(nodes(counts));
    if (per_core_) tables.push_back(cores(counts));
    return tables;
  }

 private:
  Result<Counts> read() {
    TRY_ASSIGN(std::string_view text, stat_.read());
    text = whole_lines(text);
    Counts counts;
    bool has_all = false, has_interrupts = false;
    while (!text.empty()) {
      std::string_view line = next_line(text);
      const std::string_view word = next_word(line);
      if (word == "cpu") {
        counts.all = times(line);
        has_all = true;
      } else if (word.starts_with("cpu")) {
        if (const auto number = to_integer(word.substr(3))) counts.cores.emplace_back(*number, times(line));
      } else if (word == "intr") {
        has_interrupts = true;
      } else if (word == "ctxt") {
        counts.context_switches = to_integer(next_word(line));
      } else if (word == "processes") {
        counts.forks = to_integer(next_word(line));
      } else if (word == "procs_running") {
        counts.running = to_integer(next_word(line));
      } else if (word == "procs_blocked") {
        counts.blocked = to_integer(next_word(line));
      }
    }
    if (!has_all) return fail(Code::corrupt, "{} has no line \"cpu\"", stat_.path());
    // It comes behind the processors: without it some of them may be missing in the sums.
    if (!has_interrupts) return fail(Code::corrupt, "{} has no line \"intr\"", stat_.path());
    return counts;
  }

  Times times(std::string_view line) const {
    Times times;
    for (auto& time : times) time = scaled(to_integer(next_word(line)), ns_per_tick());
    times[kUser] = difference(times[kUser], times[kGuest]);
    times[kNice] = difference(times[kNice], times[kGuestNice]);
    return times;
  }

  Table nodes(const Counts& counts) {
    Table table("cpu_node", kNodeColumns);
    for (i64 node = 0; node <= node_of_.highest; ++node) {
      Times all;
      all.fill(0);
      i64 cpus = 0;
      for (const auto& [cpu, times] : counts.cores) {
        if (node_of_.node(cpu) != node) continue;
        ++cpus;
        for (size_t i = 0; i < kModes; ++i) all[i] = sum(all[i], times[i]);
      }
      if (cpus == 0) continue;
      std::vector<Value> row{node, cpus};
      nodes_[node].add_to(row, all, cpus);
      table.append(row);
    }
    return table;
  }

  Table cores(const Counts& counts) {
    Table table("cpu_core", kCoreColumns);
    for (const auto& [cpu, times] : counts.cores) {
      std::vector<Value> row{cpu};
      cores_[cpu].add_to(row, times, 1);
      table.append(row);
    }
    return table;
  }

  KernelFile stat_;
  bool per_core_;
  CpuNodes node_of_;
  SteadyTimes all_;
  std::map<i64, SteadyTimes> nodes_, cores_;
};

}  // namespace

const CollectorKind kCpu = {
    .name = "cpu",
    .help = "Where the processors' time goes.",
    .period = kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Cpu>(s);
    },
};

}  // namespace spotter::collect

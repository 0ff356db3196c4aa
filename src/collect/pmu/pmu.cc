// pmu: what the processors do: cycles, instructions, misses, memory traffic, and where their issue slots
// went. perf_event_open(2); which events these are is in pmu_events.h.
//
// Off by default: it takes counters that a person's profiler on this machine then shares, and reading a
// processor's counters interrupts that processor (docs/decisions/0018-pmu.md has the cost).
#include "collect/pmu/pmu.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "base/saturated.h"
#include "base/system/file.h"
#include "base/text/words.h"
#include "base/time.h"
#include "collect/host/cpu_list.h"
#include "collect/list.h"
#include "collect/pmu/pmu_counters.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Ns kFollowPeriod = kMinute;
constexpr size_t kMostText = size_t{64} << 10;
constexpr double kAllTheTime = 0.99;  // less is a group that took turns, and not one that was just opened

constexpr Field counts(const char* name, const char* help) {
  return {name, Type::integer, Unit::count, Role::counter, help, Since::agent};
}
constexpr Field kRead = {"memory_read_bytes",
                         Type::integer,
                         Unit::bytes,
                         Role::counter,
                         "Read from memory, as the memory controllers count.",
                         Since::agent};
constexpr Field kWritten = {"memory_write_bytes",
                            Type::integer,
                            Unit::bytes,
                            Role::counter,
                            "Written to memory, as the memory controllers count.",
                            Since::agent};

// In the order of PmuColumn.
constexpr Field kCounters[] = {
    counts("cycles", "Cycles in which a processor did not sleep."),
    counts("instructions", "Instructions done."),
    counts("ref_cycles", "The same as cycles, at a constant frequency."),
    counts("branch_misses", "Branches that were predicted wrong."),
    counts("l1d_misses", "Lines that the first cache of data had to get."),
    counts("l2_misses", "Lines that the second cache had to get."),
    counts("llc_misses", "Lines that the last cache had to get from memory or another socket."),
    counts("dtlb_misses", "Walks of the page table for data."),
    counts("itlb_misses", "Walks of the page table for instructions."),
    counts("slots", "Slots in which an operation could have been issued; each of them is one of the next."),
    counts("retiring_slots", "Slots of operations whose results were used."),
    counts("bad_speculation_slots", "Slots of operations that were in vain."),
    counts("frontend_bound_slots", "Slots for which no operation had been fetched."),
    counts("backend_bound_slots", "Slots that waited for memory or a unit."),
    counts("smt_contention_slots", "Slots that the core's other thread had."),
    kRead,
    kWritten,
    counts("context_switches", "Switches between threads."),
    counts("cpu_migrations", "Threads that moved to another processor."),
    counts("page_faults", "Page faults."),
    counts("minor_faults", "Page faults that needed no disk."),
    counts("major_faults", "Page faults that needed a disk."),
};
static_assert(std::size(kCounters) == kPmuColumns);

constexpr Field kTail[] = {
    {"cpus", Type::integer, Unit::count, Role::value, "Processors that are online."},
    {"running_ratio", Type::real, Unit::ratio, Role::value,
     "Share of the time for which the group of events that had the least counted; the rest is extrapolated."},
    {"quality", Type::text, Unit::none, Role::detail,
     "exact; multiplexed: events took turns and are extrapolated; partial: some processors are not counted; "
     "software: the processors show no counters."},
    {"model", Type::text, Unit::none, Role::detail, "Whose list of events it is."},
};
constexpr auto kColumns = [] {
  std::array<Field, kPmuColumns + std::size(kTail)> columns{};
  std::ranges::copy(kCounters, columns.begin());
  std::ranges::copy(kTail, columns.begin() + kPmuColumns);
  return columns;
}();
constexpr Field kSocketColumns[] = {
    {"socket", Type::integer, Unit::none, Role::key, "Processor package."},
    kRead,
    kWritten,
};
constexpr PmuColumn kOfCore[] = {PmuColumn::cycles, PmuColumn::instructions, PmuColumn::ref_cycles,
                                 PmuColumn::branch_misses, PmuColumn::l2_misses};
constexpr auto kCoreColumns = [] {
  std::array<Field, 1 + std::size(kOfCore)> columns{
      Field{"cpu", Type::integer, Unit::none, Role::key, "Processor, as the kernel counts."}};
  for (size_t i = 0; i < std::size(kOfCore); ++i) columns[1 + i] = kCounters[static_cast<size_t>(kOfCore[i])];
  return columns;
}();
constexpr TableKind kTables[] = {
    {"pmu", "perf_event_open", "The processors together, since the agent began.", kColumns},
    {"pmu_socket", "perf_event_open", "A processor package; where its memory controllers can be counted.",
     kSocketColumns},
    {"pmu_core", "perf_event_open", "A processor; only on request.", kCoreColumns},
};

std::vector<i64> online_cpus(const Host& host) {
  return parse_cpu_list(read_small_file(host.sys + "/devices/system/cpu/online", kMostText).value_or(""));
}

class Pmu : public Collector {
 public:
  Pmu(const Surroundings& s, const PerfSystem& system, PmuPlan plan)
      : host_(s.host),
        per_core_(s.per_core),
        model_(std::move(plan.model)),
        counters_(system, std::move(plan.groups)) {
    follow();
  }

  // Nothing can be counted: why.
  std::optional<Error> refusal() const {
    if (counters_.has_hardware() || counters_.has_software()) return std::nullopt;
    return pmu_refusal(host_, counters_.first_error());
  }

  Result<std::vector<Table>> sample() override {
    if (host_.steady_now() - followed_ >= kFollowPeriod) follow();
    counters_.read();
    std::vector<Table> tables;
    tables.push_back(all());
    if (Table table = sockets(); table.rows() > 0) tables.push_back(std::move(table));
    if (per_core_) tables.push_back(cores());
    return tables;
  }

 private:
  void follow() {
    followed_ = host_.steady_now();
    counters_.follow(online_cpus(host_));
  }

  Table all() {
    Table table("pmu", kColumns);
    std::vector<Value> row;
    for (size_t i = 0; i < kPmuColumns; ++i)
      row.push_back(or_null(counters_.total(static_cast<PmuColumn>(i))));
    const auto ratio = counters_.running_ratio();
    row.insert(row.end(),
               {static_cast<i64>(counters_.cpus().size()), or_null(ratio), quality(ratio), or_null(model_)});
    table.append(row);
    // What the person who runs it should know once.
    if (!std::exchange(has_told_, true) && !counters_.has_hardware())
      table.notes.add("no_hardware_counters", Severity::info,
                      pmu_refusal(host_, model_.empty() ? ENOENT : counters_.first_error()).message);
    if (counters_.left_out() > 0)
      table.notes.add("events_left_out", Severity::loss, pmu_refusal(host_, EMFILE).message, -1,
                      static_cast<i64>(counters_.left_out()));
    return table;
  }

  std::string_view quality(std::optional<double> ratio) const {
    const bool is_multiplexed = ratio && *ratio < kAllTheTime;
    if (counters_.is_partial()) return is_multiplexed ? "partial, multiplexed" : "partial";
    if (!counters_.has_hardware()) return "software";
    return is_multiplexed ? "multiplexed" : "exact";
  }

  Table sockets() {
    Table table("pmu_socket", kSocketColumns);
    std::map<i64, std::pair<std::optional<i64>, std::optional<i64>>> sums;
    const auto read = [&](i64 cpu) { return counters_.total(PmuColumn::memory_read_bytes, cpu); };
    const auto written = [&](i64 cpu) { return counters_.total(PmuColumn::memory_write_bytes, cpu); };
    if (counters_.cpus().empty()) return table;
    for (const i64 cpu : counters_.cpus()) {
      const auto of_cpu = std::pair(read(cpu), written(cpu));
      if (!of_cpu.first && !of_cpu.second) continue;
      const auto socket = socket_of(cpu);
      if (!socket) continue;
      auto& sum = sums[*socket];
      if (of_cpu.first) sum.first = add_saturated(sum.first.value_or(0), *of_cpu.first);
      if (of_cpu.second) sum.second = add_saturated(sum.second.value_or(0), *of_cpu.second);
    }
    for (const auto& [socket, sum] : sums) table.append({socket, or_null(sum.first), or_null(sum.second)});
    return table;
  }

  Table cores() const {
    Table table("pmu_core", kCoreColumns);
    for (const i64 cpu : counters_.cpus()) {
      std::vector<Value> row{cpu};
      for (const PmuColumn column : kOfCore) row.push_back(or_null(counters_.total(column, cpu)));
      table.append(row);
    }
    return table;
  }

  std::optional<i64> socket_of(i64 cpu) {
    const auto known = sockets_.find(cpu);
    if (known != sockets_.end()) return known->second;
    const std::string path =
        fmt::format("{}/devices/system/cpu/cpu{}/topology/physical_package_id", host_.sys, cpu);
    const auto socket = to_integer(trimmed(read_small_file(path, kMostText).value_or("")));
    return sockets_[cpu] = socket;
  }

  Host host_;
  bool per_core_;
  std::string model_;
  PmuCounters counters_;
  std::map<i64, std::optional<i64>> sockets_;
  Ns followed_ = 0;
  bool has_told_ = false;
};

}  // namespace

Result<std::unique_ptr<Collector>> open_pmu(const Surroundings& surroundings, const PerfSystem& system) {
  if (!system.is_running(surroundings.host))
    return fail(Code::not_found, "{} is not of the kernel that runs, which counts its own processors only",
                surroundings.host.sys);
  auto pmu = std::make_unique<Pmu>(surroundings, system, plan_pmu(surroundings.host));
  if (auto refusal = pmu->refusal()) return tl::unexpected<Error>(std::move(*refusal));
  return pmu;
}

const CollectorKind kPmu = {
    .name = "pmu",
    .help =
        "What the processors do: instructions, misses, memory traffic; takes hardware counters from profilers.",
    .period = 10 * kSecond,
    .is_on = false,
    .tables = kTables,
    .open = [](const Surroundings& s) { return open_pmu(s, perf_system()); },
};

}  // namespace spotter::collect

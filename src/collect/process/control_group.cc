#include "collect/process/control_group.h"

#include <algorithm>

#include "base/saturated.h"
#include "base/system/file.h"
#include "base/text/words.h"
#include "base/time.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {
    {"cgroup", Type::text, Unit::none, Role::key, "Path of the control group."},
    {"job", Type::text, Unit::none, Role::detail, "Job of its processes."},
    {"rank", Type::integer, Unit::none, Role::detail,
     "Rank in the job, where all of its processes are of one."},
    {"user", Type::text, Unit::none, Role::detail, "User of its processes."},
    {"container", Type::text, Unit::none, Role::detail, "Container: the first digits of its id."},
    {"container_name", Type::text, Unit::none, Role::detail, "Its name in the pod."},
    {"pod", Type::text, Unit::none, Role::detail, "Pod of Kubernetes."},
    {"pod_namespace", Type::text, Unit::none, Role::detail, "Namespace of the pod."},
    {"cpu_ns", Type::integer, Unit::ns, Role::counter, "Processor time."},
    {"cpu_limit_cores", Type::real, Unit::count, Role::value, "Processors' worth of time that it may use."},
    {"cpu_periods", Type::integer, Unit::count, Role::counter, "Periods in which its time was limited."},
    {"cpu_throttled_periods", Type::integer, Unit::count, Role::counter,
     "Periods in which it had to stop, having used its time."},
    {"cpu_throttled_ns", Type::integer, Unit::ns, Role::counter,
     "Time it was stopped, all processors together."},
    {"memory_bytes", Type::integer, Unit::bytes, Role::value, "Memory, page cache among it."},
    {"memory_limit_bytes", Type::integer, Unit::bytes, Role::value, "Memory that it may use."},
    {"swap_bytes", Type::integer, Unit::bytes, Role::value, "Memory on swap devices."},
    {"memory_limit_hits", Type::integer, Unit::count, Role::counter,
     "How often it was at the limit of memory."},
    {"oom_kills", Type::integer, Unit::count, Role::counter,
     "Processes that were killed for want of memory; of a container that has gone with them, as its pod tells."},
    {"processes", Type::integer, Unit::count, Role::value, "Processes and threads."},
    {"processes_limit", Type::integer, Unit::count, Role::value, "Processes and threads that it may have."},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter, "Read from block devices."},
    {"write_bytes", Type::integer, Unit::bytes, Role::counter, "Written to block devices."},
    {"cpu_stalled_ns", Type::integer, Unit::ns, Role::counter,
     "Time in which some of it waited for a processor."},
    {"memory_stalled_ns", Type::integer, Unit::ns, Role::counter,
     "Time in which some of it waited for memory."},
    {"io_stalled_ns", Type::integer, Unit::ns, Role::counter, "Time in which some of it waited for disks."},
};

constexpr i64 kNoLimit = i64{1} << 60;  // version 1 writes a number near 2^63

// The files of a group by version; the order is that of the enums below.
enum V2 {
  cpu_stat,
  cpu_max,
  memory_current,
  memory_max,
  memory_swap,
  memory_events,
  pids_current,
  pids_max,
  io_stat,
  cpu_pressure,
  memory_pressure,
  io_pressure
};
constexpr const char* kV2[] = {
    "cpu.stat",     "cpu.max",  "memory.current", "memory.max",   "memory.swap.current", "memory.events",
    "pids.current", "pids.max", "io.stat",        "cpu.pressure", "memory.pressure",     "io.pressure"};
enum V1 {
  v1_usage,
  v1_stat,
  v1_quota,
  v1_period,
  v1_memory,
  v1_limit,
  v1_failures,
  v1_oom,
  v1_pids,
  v1_pids_max
};
constexpr std::pair<const char*, const char*> kV1[] = {{"cpuacct", "cpuacct.usage"},
                                                       {"cpu", "cpu.stat"},
                                                       {"cpu", "cpu.cfs_quota_us"},
                                                       {"cpu", "cpu.cfs_period_us"},
                                                       {"memory", "memory.usage_in_bytes"},
                                                       {"memory", "memory.limit_in_bytes"},
                                                       {"memory", "memory.failcnt"},
                                                       {"memory", "memory.oom_control"},
                                                       {"pids", "pids.current"},
                                                       {"pids", "pids.max"}};

std::string_view text_of(KernelFile& file) { return file.read().value_or(std::string_view()); }

// The number behind a name, on a line of its own.
std::optional<i64> named(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (next_word(line) == name) return to_integer(next_word(line));
  }
  return std::nullopt;
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234", microseconds
std::optional<i64> stalled_ns(std::string_view text) {
  constexpr std::string_view kTotal = "total=";
  const std::string_view line = next_line(text);
  const size_t at = line.find(kTotal);
  if (!line.starts_with("some ") || at == line.npos) return std::nullopt;
  const auto us = to_integer(line.substr(at + kTotal.size()));
  return scaled(us, kMicrosecond);
}

// Sums over the devices of "8:0 rbytes=1 wbytes=2 ...".
std::pair<std::optional<i64>, std::optional<i64>> read_and_written(std::string_view text) {
  std::optional<i64> read, written;
  const auto add = [](std::optional<i64>& sum, std::string_view word, std::string_view name) {
    if (word.starts_with(name))
      sum = add_saturated(sum.value_or(0), to_integer(word.substr(name.size())).value_or(0));
  };
  while (!text.empty()) {
    std::string_view line = next_line(text);
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      add(read, word, "rbytes=");
      add(written, word, "wbytes=");
    }
  }
  return {read, written};
}

Value cores(std::optional<i64> quota, std::optional<i64> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return {};
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// The group around a container's, where that is a pod's: ".../pod<uid>/<container>", or
// ".../kubepods-pod<uid>.slice/<container>".
std::string pod_of(const std::string& path, const Who& who) {
  if (who.container.empty()) return {};
  const std::string around = path.substr(0, path.rfind('/'));
  return around.find("pod", around.rfind('/') + 1) == around.npos ? std::string() : around;
}

}  // namespace

std::span<const Field> control_group_columns() { return kColumns; }

std::string limiting_group(const Who& who) {
  const std::string& path = who.cgroup;
  const auto until = [&](size_t at) { return path.substr(0, std::min(path.find('/', at), path.size())); };
  if (!who.container.empty()) {
    if (const size_t at = path.find(who.container); at != path.npos) return until(at);
  }
  constexpr std::string_view kJob = "/job_";
  if (const size_t at = path.find(kJob); at != path.npos) return until(at + 1);
  // "/.." begins what is outside of the agent's own namespace of groups, which it cannot see.
  return path == "/" || path.starts_with("/..") ? std::string() : path;
}

ControlGroup::ControlGroup(const Host& host, std::string path, Who who)
    : path_(std::move(path)), who_(std::move(who)) {
  mount_ = host.sys + "/fs/cgroup";
  is_v2_ = read_small_file(mount_ + "/cgroup.controllers", size_t{1} << 16).has_value();
  if (is_v2_) {
    for (const char* name : kV2) files_.emplace_back(fmt::format("{}{}/{}", mount_, path_, name));
    if (const std::string pod = pod_of(path_, who_); !pod.empty())
      pod_.emplace(fmt::format("{}{}/{}", mount_, pod, kV2[memory_events]));
  } else {
    for (const auto& [controller, name] : kV1)
      files_.emplace_back(fmt::format("{}/{}{}/{}", mount_, controller, path_, name));
  }
}

void ControlGroup::set_leaves(const std::set<std::string>& paths) {
  if (is_v2_) return;
  // One that is empty may get processes again.
  for (auto it = leaves_.begin(); it != leaves_.end();) {
    auto& [path, leaf] = *it;
    const bool is_gone = !paths.contains(path) && !named(text_of(leaf.file), "oom_kill");
    if (is_gone) killed_in_gone_ += leaf.killed;
    it = is_gone ? leaves_.erase(it) : std::next(it);
  }
  for (const std::string& path : paths) {
    const auto [controller, name] = kV1[v1_oom];
    if (path != path_)
      leaves_.try_emplace(
          path, Leaf{.file = KernelFile(fmt::format("{}/{}{}/{}", mount_, controller, path, name))});
  }
}

// Its own count while it is there; then what its pod has counted since the last row.
std::optional<i64> ControlGroup::killed_v2(std::optional<i64> own) {
  const auto in_pod = pod_ ? named(text_of(*pod_), "oom_kill") : std::nullopt;
  if (is_there_)
    killed_ = own;
  else if (killed_ && in_pod && killed_in_pod_)
    *killed_ += std::max<i64>(0, *in_pod - *killed_in_pod_);
  killed_in_pod_ = in_pod;
  return killed_;
}

// What version 1 counts in a group is not counted in those around it.
std::optional<i64> ControlGroup::killed_v1() {
  const auto own = named(text_of(files_[v1_oom]), "oom_kill");
  bool is_known = own.has_value();
  i64 all = own.value_or(0) + killed_in_gone_;
  for (auto& [path, leaf] : leaves_) {
    const auto killed = named(text_of(leaf.file), "oom_kill");
    is_known = is_known || killed;
    leaf.killed = killed.value_or(leaf.killed);
    all += leaf.killed;
  }
  return is_known ? std::optional(all) : std::nullopt;
}

// Of one that has gone only what is known of its pod.
void ControlGroup::append_to(Table& table) {
  std::vector<Value> row{std::string_view(path_), or_null(who_.job),          or_null(who_.rank),
                         or_null(who_.user),      or_null(who_.container),    or_null(who_.container_name),
                         or_null(who_.pod),       or_null(who_.pod_namespace)};
  is_v2_ ? read_v2(row) : read_v1(row);
  if (!is_there_ && !pod_) return;
  row.resize(table.columns());
  table.append(row);
}

void ControlGroup::read_v2(std::vector<Value>& row) {
  const std::string_view stat = text_of(files_[cpu_stat]);
  is_there_ = !stat.empty();
  row.push_back(or_null(scaled(named(stat, "usage_usec"), kMicrosecond)));
  std::string_view max = text_of(files_[cpu_max]);  // "QUOTA PERIOD", "max PERIOD"
  const auto quota = to_integer(next_word(max));
  row.push_back(cores(quota, to_integer(trimmed(max))));
  row.push_back(or_null(named(stat, "nr_periods")));
  row.push_back(or_null(named(stat, "nr_throttled")));
  row.push_back(or_null(scaled(named(stat, "throttled_usec"), kMicrosecond)));
  for (const V2 file : {memory_current, memory_max, memory_swap})
    row.push_back(or_null(files_[file].read_number()));
  const std::string_view events = text_of(files_[memory_events]);
  row.push_back(or_null(named(events, "max")));
  row.push_back(or_null(killed_v2(named(events, "oom_kill"))));
  for (const V2 file : {pids_current, pids_max}) row.push_back(or_null(files_[file].read_number()));
  const auto [read, written] = read_and_written(text_of(files_[io_stat]));
  row.push_back(or_null(read));
  row.push_back(or_null(written));
  for (const V2 file : {cpu_pressure, memory_pressure, io_pressure})
    row.push_back(or_null(stalled_ns(text_of(files_[file]))));
}

void ControlGroup::read_v1(std::vector<Value>& row) {
  const auto usage = files_[v1_usage].read_number();
  is_there_ = usage || files_[v1_memory].read_number();
  row.push_back(or_null(usage));
  row.push_back(cores(files_[v1_quota].read_number(), files_[v1_period].read_number()));
  const std::string_view stat = text_of(files_[v1_stat]);
  row.push_back(or_null(named(stat, "nr_periods")));
  row.push_back(or_null(named(stat, "nr_throttled")));
  row.push_back(or_null(named(stat, "throttled_time")));  // ns
  row.push_back(or_null(files_[v1_memory].read_number()));
  const auto limit = files_[v1_limit].read_number();
  row.push_back(limit && *limit < kNoLimit ? Value(*limit) : Value());
  row.emplace_back();
  row.push_back(or_null(files_[v1_failures].read_number()));
  row.push_back(or_null(killed_v1()));
  for (const V1 file : {v1_pids, v1_pids_max}) row.push_back(or_null(files_[file].read_number()));
}

}  // namespace spotter::collect

#include "collect/process/job_totals.h"

#include <algorithm>

#include "base/saturated.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {
    {"job", Type::text, Unit::none, Role::key, "Job of the scheduler or launcher."},
    {"rank", Type::integer, Unit::none, Role::key, "Rank in the job."},
    {"user", Type::text, Unit::none, Role::key, "Whose processes they are."},
    {"container", Type::text, Unit::none, Role::key, "Container: the first digits of its id."},
    {"pod", Type::text, Unit::none, Role::key, "Pod of Kubernetes."},
    {"pod_namespace", Type::text, Unit::none, Role::key, "Namespace of the pod."},
    {"world_size", Type::integer, Unit::none, Role::value, "Ranks of the job."},
    {"processes", Type::integer, Unit::count, Role::value, "Processes, workers among them."},
    {"threads", Type::integer, Unit::count, Role::value, "Threads."},
    {"cpu_user_ns", Type::integer, Unit::ns, Role::counter,
     "Processor time in programs, since the agent looks at them.", Since::agent, &kProcessorTime, "user"},
    {"cpu_system_ns", Type::integer, Unit::ns, Role::counter, "Processor time in the kernel.", Since::agent,
     &kProcessorTime, "system"},
    {"resident_bytes", Type::integer, Unit::bytes, Role::value,
     "Memory that is held; what processes share counts for each."},
    {"minor_faults", Type::integer, Unit::count, Role::counter, "Page faults that no disk was read for.",
     Since::agent},
    {"major_faults", Type::integer, Unit::count, Role::counter, "Page faults that a disk was read for.",
     Since::agent},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter,
     "Read from disks and network file systems; of each process asked at every tenth sample.", Since::agent},
    {"write_bytes", Type::integer, Unit::bytes, Role::counter,
     "Written to disks and network file systems; of each process asked at every tenth sample.", Since::agent},
};

i64 growth(i64 now, i64 before) { return std::max<i64>(subtract_saturated(now, before), 0); }

void add_to(i64& total, i64 more) { total = add_saturated(total, more); }

void add_growth(std::optional<i64>& total, const std::optional<i64>& now, const std::optional<i64>& before) {
  if (now) total = add_saturated(total.value_or(0), before ? growth(*now, *before) : 0);
}

}  // namespace

std::span<const Field> job_columns() { return kColumns; }

JobTotals::Total& JobTotals::total_of(const Who& who) {
  Total& total = totals_[{who.job, who.rank, who.user, who.container, who.pod, who.pod_namespace}];
  if (who.world_size) total.world_size = who.world_size;
  return total;
}

void JobTotals::enter(const Who& who, const ProcessTimes& now) {
  Total& total = total_of(who);
  ++total.processes;
  add_to(total.threads, now.threads);
  add_to(total.resident_bytes, now.resident_bytes);
  // Null as long as no process may be asked.
  add_growth(total.read_bytes, now.read_bytes, now.read_bytes);
  add_growth(total.written_bytes, now.written_bytes, now.written_bytes);
}

void JobTotals::add_used(const Who& who, const ProcessTimes& used) {
  ProcessTimes nothing;
  nothing.read_bytes = nothing.written_bytes = 0;
  add_growths(total_of(who), used, nothing);
}

void JobTotals::add(const Who& who, const ProcessTimes& now, const ProcessTimes& last) {
  Total& total = total_of(who);
  add_to(total.threads, subtract_saturated(now.threads, last.threads));
  add_to(total.resident_bytes, subtract_saturated(now.resident_bytes, last.resident_bytes));
  add_growths(total, now, last);
}

void JobTotals::add_growths(Total& total, const ProcessTimes& now, const ProcessTimes& last) {
  add_to(total.user_ns, growth(now.user_ns, last.user_ns));
  add_to(total.system_ns, growth(now.system_ns, last.system_ns));
  add_to(total.minor_faults, growth(now.minor_faults, last.minor_faults));
  add_to(total.major_faults, growth(now.major_faults, last.major_faults));
  add_growth(total.read_bytes, now.read_bytes, last.read_bytes);
  add_growth(total.written_bytes, now.written_bytes, last.written_bytes);
}

void JobTotals::leave(const Who& who, const ProcessTimes& last) {
  Total& total = total_of(who);
  --total.processes;
  add_to(total.threads, -last.threads);
  add_to(total.resident_bytes, -last.resident_bytes);
}

Table JobTotals::take() {
  Table table("job", kColumns);
  std::erase_if(totals_, [](const auto& entry) { return entry.second.processes == 0; });
  for (auto& [key, total] : totals_) {
    const auto& [job, rank, user, container, pod, pod_namespace] = key;
    table.append({or_null(job), or_null(rank), or_null(user), or_null(container), or_null(pod),
                  or_null(pod_namespace), or_null(total.world_size), total.processes, total.threads,
                  total.user_ns, total.system_ns, total.resident_bytes, total.minor_faults,
                  total.major_faults, or_null(total.read_bytes), or_null(total.written_bytes)});
  }
  return table;
}

}  // namespace spotter::collect

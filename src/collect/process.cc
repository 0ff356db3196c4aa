// process: the processes of jobs and those that hold GPUs, the same summed by job and rank, and the control
// groups that limit them. A process is looked at if it has a job or a rank, or somebody noticed it
// (Identities::notice).
#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/file.h"
#include "base/saturated.h"
#include "collect/control_group.h"
#include "collect/gpu_owner.h"
#include "collect/identities.h"
#include "collect/job_totals.h"
#include "collect/list.h"
#include "collect/process_files.h"
#include "collect/values.h"
#include "collect/words.h"

namespace spotter::collect {
namespace {

constexpr Field kProcessColumns[] = {
    {"pid", Type::integer, Unit::none, Role::key, "Process id, as the host counts."},
    {"job", Type::text, Unit::none, Role::detail, "Job of the scheduler or launcher."},
    {"rank", Type::integer, Unit::none, Role::detail, "Rank in the job."},
    {"user", Type::text, Unit::none, Role::detail, "Whose process it is."},
    {"program", Type::text, Unit::none, Role::detail, "What it runs."},
    {"is_helper", Type::flag, Unit::none, Role::detail,
     "Whether it is a launcher or a worker of another one."},
    {"container", Type::text, Unit::none, Role::detail, "Container: the first digits of its id."},
    {"container_name", Type::text, Unit::none, Role::detail, "Its name in the pod."},
    {"pod", Type::text, Unit::none, Role::detail, "Pod of Kubernetes."},
    {"pod_namespace", Type::text, Unit::none, Role::detail, "Namespace of the pod."},
    {"threads", Type::integer, Unit::count, Role::value, "Threads."},
    {"cpu_user_ns", Type::integer, Unit::ns, Role::counter, "Processor time in programs."},
    {"cpu_system_ns", Type::integer, Unit::ns, Role::counter, "Processor time in the kernel."},
    {"resident_bytes", Type::integer, Unit::bytes, Role::value,
     "Memory that it holds, shared memory among it."},
    {"minor_faults", Type::integer, Unit::count, Role::counter, "Page faults that no disk was read for."},
    {"major_faults", Type::integer, Unit::count, Role::counter, "Page faults that a disk was read for."},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter,
     "Read from disks and network file systems; null where the agent may not know."},
    {"write_bytes", Type::integer, Unit::bytes, Role::counter,
     "Written to disks and network file systems; null where the agent may not know."},
};

const TableKind kTables[] = {
    {"process", "/proc/PID", "A process of a job, or one that holds a GPU.", kProcessColumns, true},
    {"job", "/proc/PID", "The processes of one rank of a job on this host.", job_columns()},
    {"cgroup", "/sys/fs/cgroup", "A control group that limits processes of a job.", control_group_columns()},
};

constexpr Ns kScanEvery = 5 * kSecond;
constexpr Ns kSettled = 30 * kSecond;  // of a process that old it is known what it runs
constexpr size_t kMostNew = 100;       // looked up at one sample; each takes about 0.1 ms
constexpr size_t kMostRead = 512;      // read at one sample; more take turns
constexpr size_t kMostTracked = 8192, kMostGroups = 256;

class Processes : public Collector {
 public:
  explicit Processes(const Surroundings& s) : host_(s.host), identities_(s.identities) {}

  Result<std::vector<Table>> sample() override {
    const Ns now = host_.steady_now();
    if (last_scan_ == 0 || now - last_scan_ >= kScanEvery || !unseen_.empty()) TRY(scan(now));
    std::vector<Table> tables;
    Table& processes = tables.emplace_back("process", kProcessColumns);
    read(processes);
    tables.push_back(totals_.take());
    tables.push_back(groups());
    if (groups_left_out_ > 0)
      tables[2].notes.add("too_many_groups", Severity::loss, "control groups are not looked at", -1,
                          groups_left_out_);
    if (tracked_.size() > kMostRead)
      tables[0].notes.add("in_turns", Severity::info, "processes are read in turns, some at a time", -1,
                          static_cast<i64>(tracked_.size()));
    if (!left_out_.empty())
      tables[0].notes.add("too_many_processes", Severity::loss, "processes of jobs are not looked at", -1,
                          static_cast<i64>(left_out_.size()));
    return tables;
  }

 private:
  struct Tracked {
    Who who;
    bool is_settled = false;
    ProcessFiles files;
    std::optional<ProcessTimes> last;
  };

  // The names of /proc, every few seconds; and who those are that are new, some at a time: the newest first,
  // for jobs that begin just now.
  Result<void> scan(Ns now) {
    if (last_scan_ == 0 || now - last_scan_ >= kScanEvery) {
      last_scan_ = now;
      std::unordered_set<i64> alive;
      unseen_.clear();
      for (const std::string& name : names_in(host_.proc)) {
        const auto pid = to_integer(name);
        if (!pid) continue;
        alive.insert(*pid);
        if (!others_.contains(*pid) && !tracked_.contains(*pid)) unseen_.push_back(*pid);
      }
      if (alive.empty()) return fail(Code::io, "{} shows no processes", host_.proc);
      const auto has_ended = [&](i64 pid) { return !alive.contains(pid); };
      std::erase_if(others_, has_ended);
      std::erase_if(left_out_, has_ended);
      std::ranges::sort(unseen_);
      for (const i64 pid : identities_->noticed()) track(pid, identities_->who(pid));
      for (auto& [pid, tracked] : tracked_) settle(pid, tracked, now);
    }
    for (size_t i = 0; i < kMostNew && !unseen_.empty(); ++i) {
      const i64 pid = unseen_.back();
      unseen_.pop_back();
      const Who who = identities_->who(pid);
      if (!who.job.empty() || who.rank) {
        track(pid, who);
      } else if (identities_->is_settled(pid)) {
        others_.insert(pid);
      }
    }
    know_groups();
    return {};
  }

  void track(i64 pid, const Who& who) {
    if (tracked_.contains(pid)) return;
    if (tracked_.size() >= kMostTracked) {
      left_out_.insert(pid);
      return;
    }
    left_out_.erase(pid);
    tracked_.emplace(pid, Tracked{who, false, ProcessFiles(host_, pid), {}});
  }

  // What a process is may change until it has begun to run its own program.
  void settle(i64 pid, Tracked& tracked, Ns now) {
    if (tracked.is_settled || !tracked.last) return;
    tracked.who = identities_->who(pid);
    tracked.is_settled = subtract_saturated(now, tracked.last->start_ns) > kSettled;
  }

  void read(Table& table) {
    size_t count = std::min(tracked_.size(), kMostRead);
    auto next = tracked_.upper_bound(last_read_);
    std::vector<i64> ended;
    std::unordered_set<i64> read_now;
    for (; count > 0; --count, ++next) {
      if (next == tracked_.end()) next = tracked_.begin();
      auto& [pid, tracked] = *next;
      last_read_ = pid;
      const Result<ProcessTimes> times = tracked.files.read();
      if (!times) {
        ended.push_back(pid);
        continue;
      }
      read_now.insert(pid);
      totals_.add(tracked.who, *times, tracked.last ? *tracked.last : beginning(*times));
      tracked.last = *times;
      append(table, pid, tracked);
    }
    for (const i64 pid : ended) tracked_.erase(pid);
    for (const auto& [pid, tracked] : tracked_) {
      if (!read_now.contains(pid) && tracked.last) totals_.add_unchanged(tracked.who, *tracked.last);
    }
  }

  // What a process had used before it was first looked at counts only if it has just begun: totals that jump
  // by the life of a process look like work that was done in a second.
  ProcessTimes beginning(const ProcessTimes& now) const {
    if (subtract_saturated(host_.steady_now(), now.start_ns) > 2 * kScanEvery) return now;
    ProcessTimes nothing;
    nothing.read_bytes = nothing.written_bytes = 0;
    return nothing;
  }

  static void append(Table& table, i64 pid, const Tracked& tracked) {
    const Who& w = tracked.who;
    const ProcessTimes& t = *tracked.last;
    table.append({pid, or_null(w.job), or_null(w.rank), or_null(w.user), or_null(w.program), w.is_helper,
                  or_null(w.container), or_null(w.container_name), or_null(w.pod), or_null(w.pod_namespace),
                  t.threads, t.user_ns, t.system_ns, t.resident_bytes, t.minor_faults, t.major_faults,
                  or_null(t.read_bytes), or_null(t.written_bytes)});
  }

  // The groups of the processes that there are, each with what all its processes have in common.
  void know_groups() {
    std::map<std::string, std::vector<Who>> members;
    for (const auto& [pid, tracked] : tracked_) {
      const std::string path = limiting_group(tracked.who);
      if (!path.empty()) members[path].push_back(tracked.who);
    }
    std::map<std::string, ControlGroup> groups;
    groups_left_out_ = 0;
    for (const auto& [path, who] : members) {
      if (groups.size() >= kMostGroups) {
        ++groups_left_out_;
      } else if (auto known = groups_.extract(path); !known.empty()) {
        known.mapped().set_owner(owner_of(who));
        groups.insert(std::move(known));
      } else {
        groups.emplace(path, ControlGroup(host_, path, owner_of(who)));
      }
    }
    groups_ = std::move(groups);
  }

  Table groups() {
    Table table("cgroup", control_group_columns());
    for (auto& [path, group] : groups_) group.append_to(table);
    std::erase_if(groups_, [](const auto& entry) { return !entry.second.is_there(); });
    return table;
  }

  Host host_;
  std::shared_ptr<Identities> identities_;
  Ns last_scan_ = 0;
  std::vector<i64> unseen_;           // the highest last
  std::unordered_set<i64> others_;    // those that are nobody's job
  std::map<i64, Tracked> tracked_;    // by pid
  std::unordered_set<i64> left_out_;  // for which there is no room in `tracked_`
  i64 last_read_ = 0, groups_left_out_ = 0;
  JobTotals totals_;
  std::map<std::string, ControlGroup> groups_;  // by path
};

}  // namespace

const CollectorKind kProcess = {
    "process",
    "Processes of jobs, what each rank uses, and the control groups that limit them.",
    kSecond,
    true,  // what a process says of itself waits for its memory's lock, which a driver that hangs may hold
    true,
    kTables,
    [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Processes>(s);
    },
};

}  // namespace spotter::collect

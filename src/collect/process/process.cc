// process: the processes of jobs and those that hold GPUs, the same summed by job and rank, and the control
// groups that limit them. A process is looked at if it has a job or a rank, or somebody noticed it
// (Identities::notice).
#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/saturated.h"
#include "base/system/file.h"
#include "base/text/words.h"
#include "collect/gpu/owner.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/process/control_group.h"
#include "collect/process/identities.h"
#include "collect/process/job_details.h"
#include "collect/process/job_totals.h"
#include "collect/process/process_files.h"
#include "collect/values.h"

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
    {"cpu_user_ns", Type::integer, Unit::ns, Role::counter, "Processor time in programs.", Since::boot,
     &kProcessorTime, "user"},
    {"cpu_system_ns", Type::integer, Unit::ns, Role::counter, "Processor time in the kernel.", Since::boot,
     &kProcessorTime, "system"},
    {"resident_bytes", Type::integer, Unit::bytes, Role::value,
     "Memory that it holds, shared memory among it."},
    {"minor_faults", Type::integer, Unit::count, Role::counter, "Page faults that no disk was read for."},
    {"major_faults", Type::integer, Unit::count, Role::counter, "Page faults that a disk was read for."},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter,
     "Read from disks and network file systems; null where the agent may not know."},
    {"write_bytes", Type::integer, Unit::bytes, Role::counter,
     "Written to disks and network file systems; null where the agent may not know."},
};

constexpr i64 kTurns = 10;  // samples between two looks at a worker

const TableKind kTables[] = {
    {.name = "process",
     .source = "/proc/PID",
     .help = "A process of a job, or one that holds a GPU.",
     .columns = kProcessColumns,
     .is_unbounded = true,
     .every = kTurns},
    {"job", "/proc/PID", "The processes of one rank of a job on this host.", job_columns()},
    {"cgroup", "/sys/fs/cgroup", "A control group that limits processes of a job.", control_group_columns()},
    {.name = "job_allocation",
     .source = "/proc/PID/environ",
     .help = "A job, as its scheduler says to its processes.",
     .columns = allocation_columns(),
     .every = kTurns},
    {.name = "job_label",
     .source = "/proc/PID/environ",
     .help = "A variable that the processes of a job have; chosen by job_labels.",
     .columns = label_columns(),
     .every = kTurns},
};

constexpr Ns kScanEvery = 5 * kSecond, kListEvery = kMinute;
constexpr Ns kLongestWait = 1800 * kSecond;
constexpr Ns kMoreWait = 4;
constexpr size_t kMostNew = 100;  // looked up at one sample; each takes about 0.1 ms
constexpr size_t kMostMains = 64,
                 kMostOthers = 64;  // read at one sample; where there are more, turns are longer
constexpr size_t kMostTracked = 8192, kMostGroups = 256;

bool is_of_job(const Who& who) { return !who.job.empty() || who.rank; }

class Processes : public Collector {
 public:
  explicit Processes(const Surroundings& s)
      : host_(s.host), identities_(s.identities), load_(s.host.proc + "/loadavg") {}

  Result<std::vector<Table>> sample() override {
    const Ns now = host_.steady_now();
    if (last_scan_ == 0 || now - last_scan_ >= kScanEvery || !unknown_.empty()) TRY(scan(now));
    read();
    std::vector<Table> tables;
    const bool is_full = number_++ % kTurns == 0;
    if (is_full) tables.push_back(processes());
    tables.push_back(totals_.take());
    tables.push_back(groups());
    if (groups_left_out_ > 0)
      tables.back().notes.add("too_many_groups", Severity::loss, "control groups are not looked at", -1,
                              groups_left_out_);
    if (is_full) {
      tables.push_back(details_.allocations());
      tables.push_back(details_.labels());
    }
    return tables;
  }

 private:
  struct Tracked {
    Who who;
    bool is_settled = false;
    u64 program = 0;  // when it was asked who it is
    ProcessFiles files;
    std::optional<ProcessTimes> last = {};
    i64 looks = 0;
    i64 turns = 1, turn = 0;  // it is read at each sample whose number, by `turns`, leaves `turn`
    bool is_news = false;     // since the last table of processes
  };
  // It may yet execute a program of a job, mostly soon: each time it is left alone for four times as long.
  // Who then holds a GPU or asks for captures is noticed at once.
  struct Other {
    Ns wait = 0, next_look = 0, last_seen = 0;
  };

  // Which processes there are, as /proc names them. It takes the kernel long to make the list, so it is read
  // again only where a process or a thread has begun since: where the last number that was given is another.
  // That is the number of this process's own namespace, whichever /proc is read.
  Result<void> list(Ns now) {
    std::string_view words = load_.read().value_or("");
    std::string_view newest;
    for (std::string_view word = next_word(words); !word.empty(); word = next_word(words))
      newest = trimmed(word);
    const bool is_same = !newest.empty() && newest == newest_ && now - listed_ < kListEvery;
    if (is_same && has_own_proc_) return {};
    newest_.clear();
    present_.clear();
    for (const std::string& name : names_in(host_.proc)) {
      if (const auto pid = to_integer(name)) present_.push_back(*pid);
    }
    if (present_.empty()) return fail(Code::io, "{} shows no processes", host_.proc);
    newest_ = newest;
    listed_ = now;
    return {};
  }

  // Who there is, every few seconds; and who those are that are not known, some at a time: the newest
  // first, for jobs that begin just now.
  Result<void> scan(Ns now) {
    if (last_scan_ == 0 || now - last_scan_ >= kScanEvery) {
      last_scan_ = now;
      TRY(list(now));
      unknown_.clear();
      for (const i64 pid : present_) {
        const auto other = others_.find(pid);
        if (other != others_.end()) other->second.last_seen = now;
        if (other != others_.end() ? other->second.next_look <= now : !tracked_.contains(pid))
          unknown_.push_back(pid);
      }
      std::erase_if(others_, [&](const auto& entry) { return entry.second.last_seen != now; });
      std::ranges::sort(unknown_);
      std::erase_if(left_out_, [&](i64 pid) { return !std::ranges::binary_search(unknown_, pid); });
      // Those who were never looked at come first: they are taken from the end.
      std::ranges::sort(unknown_, {}, [&](i64 pid) { return std::pair(!others_.contains(pid), pid); });
      for (auto& [pid, tracked] : tracked_) ask_again(pid, tracked);
      const std::vector<i64> noticed = identities_->noticed();
      for (auto it = tracked_.begin(); it != tracked_.end();) {
        const bool matters = is_of_job(it->second.who) || std::ranges::binary_search(noticed, it->first);
        it = matters ? std::next(it) : forget(it);
      }
      for (const i64 pid : noticed) {
        if (!tracked_.contains(pid)) track(pid, identities_->who(pid));
      }
      take_turns(noticed);
    }
    for (size_t i = 0; i < kMostNew && !unknown_.empty(); ++i) {
      const i64 pid = unknown_.back();
      unknown_.pop_back();
      const Who who = identities_->who(pid);
      if (is_of_job(who)) {
        track(pid, who);
      } else if (!tracked_.contains(pid)) {
        Other& other = others_[pid];
        other.wait = other.wait == 0 ? kScanEvery : std::min(kMoreWait * other.wait, kLongestWait);
        other.next_look = now + other.wait;
        left_out_.erase(pid);
      }
    }
    know_groups();
    know_jobs();
    return {};
  }

  void track(i64 pid, const Who& who) {
    if (tracked_.contains(pid)) return;
    if (tracked_.size() >= kMostTracked) {
      left_out_.insert(pid);
      return;
    }
    left_out_.erase(pid);
    others_.erase(pid);
    tracked_.emplace(pid, Tracked{who, false, 0, ProcessFiles(host_, pid)});
  }

  // What a process is may change until it has settled, and when it executes another program.
  void ask_again(i64 pid, Tracked& tracked) {
    if (!tracked.last || tracked.last->program == 0 ||
        (tracked.is_settled && tracked.program == tracked.last->program))
      return;
    totals_.leave(tracked.who, *tracked.last);
    tracked.who = identities_->who(pid);
    totals_.enter(tracked.who, *tracked.last);
    tracked.is_settled = identities_->is_settled(pid);
    tracked.program = tracked.last->program;
  }

  // Of each rank the process that has used the most processor time, which mostly is the one that trains, and
  // who was noticed are read each time; workers and launchers take turns.
  void take_turns(std::span<const i64> noticed) {
    using Rank = std::tuple<std::string_view, std::optional<i64>, std::string_view, std::string_view>;
    const auto used = [](const Tracked& t) { return t.last ? t.last->user_ns + t.last->system_ns : 0; };
    std::map<Rank, i64> mains;
    for (const auto& [pid, tracked] : tracked_) {
      const Who& who = tracked.who;
      if (!who.rank || who.is_helper) continue;
      i64& main = mains.try_emplace({who.job, who.rank, who.user, who.container}, pid).first->second;
      if (used(tracked) > used(tracked_.at(main))) main = pid;
    }
    std::vector<i64> at_each(noticed.begin(), noticed.end());
    for (const auto& [rank, pid] : mains) at_each.push_back(pid);
    std::ranges::sort(at_each);
    std::vector<Tracked*> first, others;
    for (auto& [pid, tracked] : tracked_)
      (std::ranges::binary_search(at_each, pid) ? first : others).push_back(&tracked);
    longest_turn_ = std::max(share_out(first, kMostMains, 1), share_out(others, kMostOthers, kTurns));
  }

  // How many turns there are.
  static i64 share_out(std::span<Tracked* const> all, size_t most, i64 least_turns) {
    const i64 turns = std::max(least_turns, static_cast<i64>((all.size() + most - 1) / most));
    for (size_t i = 0; i < all.size(); ++i) {
      all[i]->turns = turns;
      all[i]->turn = static_cast<i64>(i) % turns;
    }
    return turns;
  }

  void read() {
    std::vector<std::pair<i64, Identities::Life>> lives;
    for (auto it = tracked_.begin(); it != tracked_.end();) {
      Tracked& tracked = it->second;
      if (tracked.last && number_ % tracked.turns != tracked.turn) {
        ++it;
        continue;
      }
      // What it reads and writes is asked as seldom of those that are looked at often.
      const bool is_whole = tracked.looks++ % std::max<i64>(kTurns / tracked.turns, 1) == 0;
      const Result<ProcessTimes> times = tracked.files.read(is_whole ? nullptr : &*tracked.last);
      if (!times || (times->has_ended && !tracked.last)) {
        it = forget(it);
        continue;
      }
      if (tracked.last) {
        totals_.add(tracked.who, *times, *tracked.last);
      } else {
        totals_.enter(tracked.who, *times);
        if (has_just_begun(*times)) totals_.add_used(tracked.who, *times);
      }
      tracked.last = *times;
      tracked.is_news = true;
      lives.push_back(
          {it->first,
           {.start_ticks = times->start_ticks, .program = times->program, .has_ended = times->has_ended}});
      it = times->has_ended ? forget(it) : std::next(it);
    }
    identities_->set_lives(std::move(lives));
  }

  std::map<i64, Tracked>::iterator forget(std::map<i64, Tracked>::iterator it) {
    if (it->second.last) totals_.leave(it->second.who, *it->second.last);
    return tracked_.erase(it);
  }

  // Those that were read since the table before.
  Table processes() {
    Table table("process", kProcessColumns);
    for (auto& [pid, tracked] : tracked_) {
      if (std::exchange(tracked.is_news, false)) append(table, pid, tracked);
    }
    if (longest_turn_ > kTurns)
      table.notes.add("in_turns", Severity::info, "processes are read in turns, some at a time", -1,
                      std::ssize(tracked_));
    if (!left_out_.empty())
      table.notes.add("too_many_processes", Severity::loss, "processes of jobs are not looked at", -1,
                      static_cast<i64>(left_out_.size()));
    return table;
  }

  // What a process had used before it was first looked at counts only if it has just begun: totals that jump
  // by the life of a process look like work that was done in a second.
  bool has_just_begun(const ProcessTimes& now) const {
    return subtract_saturated(host_.steady_now(), now.start_ns) <= 2 * kScanEvery;
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
    std::map<std::string, std::set<std::string>> leaves;
    for (const auto& [pid, tracked] : tracked_) {
      const std::string path = limiting_group(tracked.who);
      if (path.empty()) continue;
      members[path].push_back(tracked.who);
      leaves[path].insert(tracked.who.cgroup);
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
    for (auto& [path, group] : groups) group.set_leaves(leaves[path]);
    leaving_ = std::exchange(groups_, std::move(groups));
  }

  void know_jobs() {
    std::map<std::string, i64> processes;
    for (const auto& [pid, tracked] : tracked_) {
      if (!tracked.who.job.empty()) ++processes[tracked.who.job];
    }
    details_.know(processes, *identities_);
  }

  Table groups() {
    Table table("cgroup", control_group_columns());
    for (auto& [path, group] : groups_) group.append_to(table);
    for (auto& [path, group] : leaving_) group.append_to(table);
    leaving_.clear();
    std::erase_if(groups_, [](const auto& entry) { return !entry.second.is_there(); });
    return table;
  }

  Host host_;
  std::shared_ptr<Identities> identities_;
  KernelFile load_;
  const bool has_own_proc_ = host_.proc == Host().proc;
  std::string newest_;        // pid or thread, when `present_` was made
  std::vector<i64> present_;  // pids
  Ns listed_ = 0;
  Ns last_scan_ = 0;
  std::vector<i64> unknown_;               // to be looked up; those never looked at last
  std::unordered_map<i64, Other> others_;  // those that are nobody's job
  std::map<i64, Tracked> tracked_;         // by pid
  std::unordered_set<i64> left_out_;       // for which there is no room in `tracked_`
  i64 number_ = 0;                         // of samples
  i64 longest_turn_ = 1, groups_left_out_ = 0;
  JobTotals totals_;
  std::map<std::string, ControlGroup> groups_;   // by path
  std::map<std::string, ControlGroup> leaving_;  // without processes since the last sample: told once more
  JobDetails details_;
};

}  // namespace

const CollectorKind kProcess = {
    .name = "process",
    .help = "Processes of jobs, what each rank uses, and the control groups that limit them.",
    .period = kSecond,
    .may_block = true,  // what a process says of itself waits for its memory's lock, which a driver that
                        // hangs may hold
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Processes>(s);
    },
};

}  // namespace spotter::collect

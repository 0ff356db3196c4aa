// step: how long the steps of training take, by PyTorch's own hook (torch_step.h), with no change to the job.
// Looked at are the processes that somebody noticed (Identities::notice): they ask for captures, or hold a
// GPU. Of jobs in which no hook was called, what their logs tell (LoggedSteps).
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/lower_median.h"
#include "base/time.h"
#include "collect/list.h"
#include "collect/logs/logged_steps.h"
#include "collect/process/identities.h"
#include "collect/steps/step_probe.h"

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {
    {"job", Type::text, Unit::none, Role::key, "Job of the scheduler or launcher."},
    {"rank", Type::integer, Unit::none, Role::key, "Rank in the job."},
    {"user", Type::text, Unit::none, Role::key, "Whose process it is."},
    {"pid", Type::integer, Unit::none, Role::detail, "Process id, as the host counts."},
    {"source", Type::text, Unit::none, Role::detail,
     "Who tells of steps: profilerStep, PyTorch's own hook, of a rank; log:FORM, lines of a log, of the job."},
    {"step_ns", Type::integer, Unit::ns, Role::value,
     "Median time from one step of the optimizer to the next, since the sample before; null where none ended. "
     "A log may tell the mean of several."},
    {"step_error_ns", Type::integer, Unit::ns, Role::value,
     "By how much step_ns may be wrong, by the digits or the times of the lines that tell it; null of a hook, "
     "which is exact."},
    {"step_longest_ns", Type::integer, Unit::ns, Role::value, "The longest of them."},
    {"step_age_ns", Type::integer, Unit::ns, Role::value, "Time since the last step."},
    {"steps", Type::integer, Unit::count, Role::counter, "Steps, as far as they were seen.", Since::agent},
};
constexpr TableKind kTables[] = {
    {"step", "uprobe, log files", "The steps of one rank of a job on this host, or of the job.", kColumns}};

constexpr i64 kMostProbes = 256;
constexpr size_t kMostNew = 16;  // processes that are looked at for the first time in a sample
constexpr Ns kRetry = kMinute;
// What /proc tells of a process costs it and us more than its steps do: the kernel sums over all its threads.
// One that has called the hook since is the one that was probed.
constexpr Ns kLookAgain = 5 * kSecond;
// A process that has not stepped for so long (a notebook) makes room for others of the same name.
constexpr Ns kStays = kHour;

// A process of a row, and when it stepped last.
struct Stepper {
  i64 pid = 0;
  Ns last = 0;
};

// Of those that have one name a row is of the one that it was of before, so that its counter and its age are
// one process's; else of the one that stepped last.
bool is_rather(const Stepper& one, const Stepper& other, i64 before, Ns now) {
  const auto stays = [&](const Stepper& s) { return s.pid == before && now - s.last < kStays; };
  return stays(one) != stays(other) ? stays(one) : one.last > other.last;
}

class Steps : public Collector {
 public:
  Steps(const Surroundings& s, std::optional<Error> no_probes)
      : host_(s.host),
        identities_(s.identities),
        logged_(s.logged_steps),
        no_probes_(std::move(no_probes)),
        open_probe_(s.probe_opener) {
    if (!open_probe_)
      open_probe_ = [this](i64 thread, const TorchStep& step) {
        return open_step_probe(host_, thread, step);
      };
  }

  Result<std::vector<Table>> sample() override {
    const Ns now = host_.steady_now();
    if (!no_probes_) look_for_processes(now);
    take_steps(now);
    std::vector<Table> tables;
    Table& table = tables.emplace_back("step", kColumns);
    const size_t unnamed = append_probed(table, now) + append_logged(table, now);
    const Error* refusal = nullptr;  // of one, but first of all of who may not
    i64 refused = 0;
    for (const auto& [pid, process] : processes_) {
      if (!process.refusal) continue;
      ++refused;
      if (!refusal || process.refusal->code == Code::denied) refusal = &*process.refusal;
    }
    if (refused > 0 && refusal->code == Code::denied && probes() == 0 && table.rows() == 0)
      return within(*refusal, "no steps are seen");
    if (refused > 0)
      table.notes.add("no_step_probe", Severity::loss,
                      "processes whose steps are not seen: " + refusal->message, -1, refused);
    if (no_probes_)
      table.notes.add("no_probes", Severity::info, "only logs tell of steps: " + no_probes_->message);
    if (unnamed > 0)
      table.notes.add(
          "same_rank", Severity::loss,
          "processes that step have neither a job nor a rank of their own: another one's steps are shown", -1,
          static_cast<i64>(unnamed));
    return tables;
  }

 private:
  struct Process {
    std::optional<StepMarks> marks = {};
    std::optional<Error> refusal = {};  // why there are none though it has PyTorch
    u64 program = 0;                    // that it ran when it was probed: Identities::Life
    Ns next_try = 0;
    Who who = {};                    // as it was when it was asked for last
    Ns next_who = 0, next_look = 0;  // at that, and at whether it is still the same
    std::optional<Ns> last = {}, step = {}, longest = {};
    i64 steps = 0;
    bool has_gap = false;  // behind the last time others were lost
  };
  // What a row is of. Its counter goes on where one process follows another.
  using Key = std::tuple<std::string, std::optional<i64>, std::string>;  // job, rank, user
  struct Rank {
    i64 pid = 0, steps = 0;
    size_t processes = 0;  // that step now
    const Process* shown = nullptr;
    Stepper stepper = {};  // the one that is shown
    i64 grown = 0;         // its steps since the sample before
  };
  struct LoggedRow {
    i64 pid = 0, steps = 0;
    i64 seen = 0;  // of the process's own count
    const LoggedSteps* shown = nullptr;
  };

  i64 probes() const {
    return std::ranges::count_if(processes_, [](const auto& p) { return p.second.marks.has_value(); });
  }

  // How many have no row of their own: both.
  size_t append_probed(Table& table, Ns now) const {
    size_t unnamed = 0;
    for (const auto& [key, rank] : ranks_) {
      const auto& [job, number, user] = key;
      const Process& process = *rank.shown;
      table.append({or_null(std::string_view(job)), or_null(number), std::string_view(user), rank.pid,
                    "profilerStep", or_null(process.step), Value(), or_null(process.longest),
                    process.last ? Value(std::max<Ns>(0, now - *process.last)) : Value(), rank.steps});
      unnamed += rank.processes - 1;
    }
    return unnamed;
  }

  // Of a job whose steps are seen by probes a log says nothing more. Those of a user that have no job are one
  // row.
  size_t append_logged(Table& table, Ns now) {
    if (!logged_) return 0;
    const std::vector<LoggedSteps> all = logged_->take(now);
    const Ns unix_now = host_.unix_now();
    for (auto& [key, row] : logged_rows_) row.shown = nullptr;
    size_t unnamed = 0;
    for (const LoggedSteps& job : all) {
      const bool is_probed = std::ranges::any_of(ranks_, [&](const auto& rank) {
        return std::get<0>(rank.first) == job.job && std::get<2>(rank.first) == job.user;
      });
      if (is_probed) continue;
      LoggedRow& row = logged_rows_[{job.job, job.user}];
      const LoggedSteps* other = row.shown;
      if (other) ++unnamed;
      if (!other || is_rather({job.pid, job.last}, {other->pid, other->last}, row.pid, unix_now))
        row.shown = &job;
    }
    std::erase_if(logged_rows_, [](const auto& row) { return !row.second.shown; });
    for (auto& [key, row] : logged_rows_) {
      const LoggedSteps& job = *row.shown;
      count(row);
      std::vector<Ns> took, within;
      for (const respond::LoopStep& step : job.ended) {
        took.push_back(step.took);
        within.push_back(step.within);
      }
      const bool has_ended = !took.empty();
      table.append({or_null(std::string_view(job.job)), Value(), std::string_view(job.user), job.pid,
                    std::string_view(job.source), has_ended ? Value(lower_median(took)) : Value(),
                    has_ended ? Value(*std::ranges::max_element(within)) : Value(),
                    has_ended ? Value(*std::ranges::max_element(took)) : Value(),
                    std::max<Ns>(0, unix_now - job.last), row.steps});
    }
    return unnamed;
  }

  // Only growth of one process: another one has counted from elsewhere.
  static void count(LoggedRow& row) {
    const LoggedSteps& job = *row.shown;
    const bool is_other = row.pid != 0 && row.pid != job.pid && job.job.empty();
    if (is_other) row.seen = job.steps;
    if (job.steps < row.seen) row.seen = 0;
    row.steps += job.steps - std::exchange(row.seen, job.steps);
    row.pid = job.pid;
  }

  void look_for_processes(Ns now) {
    std::erase_if(processes_, [&](const auto& p) {
      if (!p.second.marks) return false;
      // By now the number is another process's, or that runs another program. One that steps has not ended.
      return (!p.second.step && p.second.marks->has_ended()) ||
             (now >= p.second.next_look && program_of(p.first) != p.second.program);
    });
    for (auto& [pid, process] : processes_) {
      if (now >= process.next_look) process.next_look = now + kLookAgain;
    }
    const u64 newcomers = identities_->newcomers();
    if (newcomers == newcomers_ && now < next_look_) return;
    newcomers_ = newcomers;
    next_look_ = now + kLookAgain;
    const std::vector<i64> noticed = identities_->noticed();
    std::erase_if(processes_, [&](const auto& p) { return !std::ranges::binary_search(noticed, p.first); });
    size_t tried = 0;
    for (const i64 pid : noticed) {
      Process& process = processes_[pid];
      if (process.marks || now < process.next_try) continue;
      if (tried == kMostNew) {
        next_look_ = now;
        break;
      }
      ++tried;
      process.next_try = now + kRetry;
      if (!begin(pid, process)) break;
    }
  }

  u64 program_of(i64 pid) const {
    const auto life = identities_->life(pid);
    return life ? life->program : 0;
  }

  // A process without PyTorch is none that is missed. False: whoever opens probes does not answer, and others
  // are not tried now.
  bool begin(i64 pid, Process& process) {
    process.refusal.reset();
    process.program = program_of(pid);
    const auto place = find_torch_step(host_, pid);
    if (!place) {
      if (place.error().code != Code::not_found) process.refusal = place.error();
      return true;
    }
    if (probes() >= kMostProbes) {
      process.refusal = Error{Code::busy, fmt::format("{} are probed already", kMostProbes)};
      return true;
    }
    auto probe = open_probe_(pid, *place);
    auto marks = probe ? StepMarks::of(std::move(*probe)) : tl::unexpected(probe.error());
    if (marks)
      process.marks.emplace(std::move(*marks));
    else
      process.refusal = marks.error();
    return marks || marks.error().code != Code::io;
  }

  void take_steps(Ns now) {
    for (auto& [key, rank] : ranks_) rank = {.pid = rank.pid, .steps = rank.steps};
    for (auto& [pid, process] : processes_) {
      if (!process.marks) continue;
      const i64 grown = read(process);
      if (process.steps == 0) continue;
      if (process.who.user.empty() || now >= process.next_who) {
        process.who = identities_->who(pid);
        process.next_who = now + kLookAgain;
      }
      const Who& who = process.who;
      if (who.user.empty()) continue;  // it has ended meanwhile
      Rank& rank = ranks_[{who.job, who.rank, who.user}];
      ++rank.processes;
      const Stepper stepper{pid, process.last.value_or(0)};
      if (rank.shown && !is_rather(stepper, rank.stepper, rank.pid, now)) continue;
      rank.shown = &process;
      rank.stepper = stepper;
      rank.grown = grown;
    }
    std::erase_if(ranks_, [](const auto& r) { return r.second.processes == 0; });
    for (auto& [key, rank] : ranks_) {
      rank.pid = rank.stepper.pid;
      rank.steps += rank.grown;
    }
  }

  // How many steps there were. Where there was no room for all times, those that are kept are the first ones:
  // what lies behind them is no step.
  static i64 read(Process& process) {
    const std::vector<Ns> times = process.marks->read();
    const i64 before = std::exchange(process.steps, process.marks->calls());
    std::vector<Ns> lengths;
    for (const Ns time : times) {
      if (process.last && !process.has_gap) lengths.push_back(time - *process.last);
      process.has_gap = false;
      process.last = time;
    }
    process.has_gap = process.steps > before + std::ssize(times);
    process.step = process.longest = std::nullopt;
    if (!lengths.empty()) {
      process.longest = *std::ranges::max_element(lengths);
      process.step = lower_median(lengths);
    }
    return process.steps - before;
  }

  const Host host_;
  const std::shared_ptr<Identities> identities_;
  const std::shared_ptr<LoggedStepsBoard> logged_;
  const std::optional<Error> no_probes_;  // why there can be none
  std::function<Result<Descriptor>(i64, const TorchStep&)> open_probe_;
  std::map<i64, Process> processes_;
  u64 newcomers_ = 0;  // of the identities, when all were looked at
  Ns next_look_ = 0;
  std::map<Key, Rank> ranks_;
  std::map<std::pair<std::string, std::string>, LoggedRow> logged_rows_;  // by job and user
};

}  // namespace

const CollectorKind kSteps = {
    .name = "step",
    .help = "How long the steps of training jobs take, as PyTorch tells; their code is not changed.",
    .period = kSecond,
    .may_block = true,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      const Result<void> uprobes = has_uprobes(s.host);
      if (!uprobes && !s.logged_steps) return tl::unexpected(uprobes.error());
      return std::make_unique<Steps>(s, uprobes ? std::nullopt : std::optional(uprobes.error()));
    },
};

}  // namespace spotter::collect

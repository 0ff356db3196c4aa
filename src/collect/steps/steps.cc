// step: how long the steps of training take, by PyTorch's own hook (torch_step.h), with no change to the job.
// Looked at are the processes that somebody noticed (Identities::notice): they ask for captures, or hold a
// GPU.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/lower_median.h"
#include "base/time.h"
#include "collect/list.h"
#include "collect/process/identities.h"
#include "collect/steps/step_probe.h"

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {
    {"job", Type::text, Unit::none, Role::key, "Job of the scheduler or launcher."},
    {"rank", Type::integer, Unit::none, Role::key, "Rank in the job."},
    {"user", Type::text, Unit::none, Role::key, "Whose process it is."},
    {"pid", Type::integer, Unit::none, Role::detail, "Process id, as the host counts."},
    {"source", Type::text, Unit::none, Role::detail, "Who tells of steps: profilerStep, PyTorch's own hook."},
    {"step_ns", Type::integer, Unit::ns, Role::value,
     "Median time from one step of the optimizer to the next, since the sample before; null where none ended."},
    {"step_longest_ns", Type::integer, Unit::ns, Role::value, "The longest of them."},
    {"step_age_ns", Type::integer, Unit::ns, Role::value, "Time since the last step."},
    {"steps", Type::integer, Unit::count, Role::counter, "Steps of the optimizer.", Since::agent},
};
constexpr TableKind kTables[] = {
    {"step", "uprobe", "The steps of one rank of a job on this host.", kColumns}};

constexpr size_t kMostProbes = 256,
                 kMostNew = 16;  // processes in all, and looked at for the first time in a sample
constexpr Ns kRetry = kMinute;

class Steps : public Collector {
 public:
  explicit Steps(const Surroundings& s)
      : host_(s.host), identities_(s.identities), open_probe_(s.probe_opener) {
    if (!open_probe_)
      open_probe_ = [this](i64 thread, const TorchStep& step) {
        return open_step_probe(host_, thread, step);
      };
  }

  Result<std::vector<Table>> sample() override {
    const Ns now = host_.steady_now();
    look_for_processes(now);
    std::vector<Table> tables;
    Table& table = tables.emplace_back("step", kColumns);
    std::set<std::string> refusals;
    size_t refused = 0, unnamed = 0;
    std::set<std::tuple<std::string, std::optional<i64>, std::string>> named;
    for (auto& [pid, process] : processes_) {
      if (!process.refusal.empty()) {
        ++refused;
        refusals.insert(process.refusal);
      }
      if (!process.marks) continue;
      read(process);
      if (process.steps == 0) continue;
      const Who who = identities_->who(pid);
      if (!named.emplace(who.job, who.rank, who.user).second) {
        ++unnamed;
        continue;
      }
      table.append({or_null(std::string_view(who.job)), or_null(who.rank),
                    or_null(std::string_view(who.user)), pid, "profilerStep", or_null(process.step),
                    or_null(process.longest),
                    process.last ? Value(std::max<Ns>(0, now - *process.last)) : Value(), process.steps});
    }
    if (refused > 0 && table.rows() == 0)
      return fail(Code::denied, "no steps are seen: {}", *refusals.begin());
    if (refused > 0 &&
        std::ranges::none_of(processes_, [](const auto& p) { return p.second.marks.has_value(); }))
      return fail(Code::denied, "no steps are seen: {}", *refusals.begin());
    if (refused > 0)
      table.notes.add("no_step_probe", Severity::loss,
                      "processes whose steps are not seen: " + *refusals.begin(), -1,
                      static_cast<i64>(refused));
    if (unnamed > 0)
      table.notes.add("same_rank", Severity::loss,
                      "processes that step have neither a job nor a rank of their own", -1,
                      static_cast<i64>(unnamed));
    if (left_out_ > 0)
      table.notes.add("too_many_processes", Severity::loss, "processes are not looked at", -1,
                      static_cast<i64>(left_out_));
    return tables;
  }

 private:
  struct Process {
    std::optional<StepMarks> marks = {};
    std::string refusal = {};  // why there are none though it has steps
    Ns next_try = 0;
    std::optional<Ns> last = {}, step = {}, longest = {};
    i64 steps = 0;
    bool has_gap = false;  // behind the last time others were lost
  };

  void look_for_processes(Ns now) {
    const std::vector<i64> noticed = identities_->noticed();
    std::erase_if(processes_, [&](const auto& p) { return !std::ranges::binary_search(noticed, p.first); });
    size_t tried = 0;
    left_out_ = 0;
    for (const i64 pid : noticed) {
      auto known = processes_.find(pid);
      if (known == processes_.end()) {
        if (processes_.size() >= kMostProbes) {
          ++left_out_;
          continue;
        }
        known = processes_.try_emplace(pid).first;
      }
      Process& process = known->second;
      if (process.marks && process.marks->has_ended()) {  // the number is another process's by now
        processes_.erase(known);
        continue;
      }
      if (process.marks || now < process.next_try || tried == kMostNew) continue;
      ++tried;
      begin(pid, process);
      process.next_try = now + kRetry;
    }
  }

  // A process without PyTorch is none that is missed.
  void begin(i64 pid, Process& process) {
    process.refusal.clear();
    const auto place = find_torch_step(host_, pid);
    if (!place) {
      if (place.error().code != Code::not_found) process.refusal = place.error().message;
      return;
    }
    auto probe = open_probe_(pid, *place);
    auto marks = probe ? StepMarks::of(std::move(*probe)) : tl::unexpected(probe.error());
    if (marks)
      process.marks.emplace(std::move(*marks));
    else
      process.refusal = marks.error().message;
  }

  // Where there was no room for all times, those that are kept are the first ones: what lies behind them is
  // no step.
  static void read(Process& process) {
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
  }

  const Host host_;
  const std::shared_ptr<Identities> identities_;
  std::function<Result<Descriptor>(i64, const TorchStep&)> open_probe_;
  std::map<i64, Process> processes_;
  size_t left_out_ = 0;
};

}  // namespace

const CollectorKind kSteps = {
    .name = "step",
    .help = "How long the steps of training jobs take, as PyTorch tells; their code is not changed.",
    .period = kSecond,
    .may_block = true,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      TRY(has_uprobes(s.host));
      return std::make_unique<Steps>(s);
    },
};

}  // namespace spotter::collect

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/critical_path/path_parts.h"
#include "analyze/critical_path/path_users.h"
#include "analyze/list.h"
#include "analyze/operators/threads.h"
#include "analyze/steps/step_windows.h"
#include "analyze/time/device_time.h"
#include "base/saturated.h"
#include "base/stable_sort.h"
#include "base/text/number.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    {"of", Type::text, Unit::none, Role::key, "job: a step of the job; rank: of one rank."},
    {"rank", Type::integer, Unit::none, Role::key,
     "Rank of the process, null for a file that has none; of the job the rank that ended last, whose path is divided."},
    kStepNumberField,
    kWindowStartField,
    {"dur_ns", Type::integer, Unit::ns, Role::value,
     "Length of the window; the times behind it, but for latency_ns, add up to it."},
    kStepPartFields[0],
    kStepPartFields[1],
    kStepPartFields[2],
    kStepPartFields[3],
    kStepPartFields[4],
    kStepPartFields[5],
    kStepPartFields[6],
    kStepPartFields[7],
    {"latency_ns", Type::integer, Unit::ns, Role::detail,
     "The part of other_ns in which the device's own latency counts: between a launch and its work, and between work and what waited for it."},
};

// One rank's part: a row per step. Where the job's step begins only the other ranks tell, so that it has what
// bounds each moment of the step; as text, which is a fifth of what rows would be.
const Field kPartColumns[] = {
    {"number", Type::integer, Unit::none, Role::key, "Number of the step."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start of its window, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Length of the window."},
    {"has_device_work", Type::flag, Unit::none, Role::detail, "Whether the trace has device work."},
    {"pieces", Type::text, Unit::none, Role::value,
     "What bounds it, one after the other: a letter for the part (k c s n r d h o in the order of the columns, l is latency), and its ns: h1500k20000."},
};
enum PartColumn : u8 { kNumber, kStart, kDur, kHasDeviceWork, kPieces };
constexpr std::string_view kLetters = "kcsnrdho";
constexpr char kLatency = 'l';
static_assert(kLetters.size() == kStepParts);

std::string text_of(const std::vector<PartPiece>& pieces) {
  std::string text;
  char digits[std::numeric_limits<Ns>::digits10 + 2];
  for (const PartPiece& piece : pieces) {
    text += piece.is_latency ? kLatency : kLetters[static_cast<size_t>(piece.part)];
    text.append(digits, std::to_chars(std::begin(digits), std::end(digits), piece.end - piece.start).ptr);
  }
  return text;
}

class User : public PathUser {
 public:
  explicit User(const Trace& trace) : trace_(trace), windows_(step_windows(trace)) {
    if (windows_.steps.empty()) return;
    parts_.emplace(trace);
    pieces_.resize(windows_.steps.size());
    is_divided_.resize(windows_.steps.size());
  }

  // Paths of steps that have a length, by start, as marks are. What a step's mark launched only in part its
  // path waits for, and its window does not: where they end at different times the window has another path.
  void use(const CriticalPath& path) override {
    if (!windows_.are_marked) return;
    const std::vector<StepWindow>& steps = windows_.steps;
    while (next_ < steps.size() && steps[next_].mark.start >= steps[next_].mark.end) ++next_;
    if (next_ == steps.size()) return;
    if (path.start + path.length == steps[next_].end) divide(next_, path);
    ++next_;
  }

  Table finish(WhatIf& nothing) override {
    Table table(kStepBudget.name, kPartColumns);
    note_step_windows(trace_, windows_, table.notes);
    if (windows_.steps.empty()) return table;
    note_inferred_launches(trace_, table);
    divide_others(nothing);
    const bool has_device_work = !trace_.device_work().event.empty();
    for (size_t s = 0; s < pieces_.size(); ++s) {
      const StepWindow& step = windows_.steps[s];
      table.append({step.number, trace_.info().base_ns + step.start, step.end - step.start, has_device_work,
                    std::string_view(pieces_[s])});
    }
    return table;
  }

 private:
  void divide(size_t s, const CriticalPath& path) {
    const StepWindow& step = windows_.steps[s];
    pieces_[s] = text_of(parts_->divide(path, step.start, step.end));
    is_divided_[s] = 1;
  }

  void divide_others(WhatIf& nothing) {
    std::vector<PathWindow> windows;
    std::vector<size_t> step_of;  // of each of them
    const u32 main = main_track(trace_);
    for (size_t s = 0; s < windows_.steps.size(); ++s) {
      const StepWindow& step = windows_.steps[s];
      if (is_divided_[s]) continue;
      divide(s, {});
      if (step.start >= step.end || step.mark.start >= step.mark.end) continue;
      step_of.push_back(s);
      windows.push_back({step.number, step.mark.start, step.mark.end, main, step.end});
    }
    auto next = step_of.begin();
    for_each_critical_path(trace_, windows, nothing,
                           [&](const CriticalPath& path) { divide(*next++, path); });
  }

  const Trace& trace_;
  const StepWindows windows_;
  std::optional<PathParts> parts_;
  std::vector<std::string> pieces_;  // by step: what bounds each moment of its window
  std::vector<u8> is_divided_;       // by step
  size_t next_ = 0;                  // step that a path may be of
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  WhatIf nothing;
  return User(trace).finish(nothing);
}

// A step of a rank: a row of its table.
struct RankStep {
  const RankTable* rank;
  size_t row;
  i64 number;
  i64 repeat;  // how many steps of its number the rank has had before
  Ns start, end;
};

std::vector<RankStep> steps_of(const RankTable& rank) {
  std::vector<RankStep> steps;
  std::map<i64, i64> repeats;
  const Table& table = rank.table;
  for (size_t row = 0; row < table.rows(); ++row) {
    const i64 number = table.integer(row, kNumber), start = table.integer(row, kStart);
    steps.push_back(
        {&rank, row, number, repeats[number]++, start, add_saturated(start, table.integer(row, kDur))});
  }
  return steps;
}

struct Budget {
  PartTimes times{};
  Ns latency = 0;
  // What has no letter is other.
  void add(char letter, Ns time) {
    Ns& sum = times[std::min(kLetters.find(letter), kStepParts - 1)];
    sum = add_saturated(sum, time);
    if (letter == kLatency) latency = add_saturated(latency, time);
  }
};

// From `start` on.
Budget budget_of(const RankStep& step, Ns start) {
  Budget budget;
  if (start < step.start) budget.add('o', subtract_saturated(step.start, start));
  std::string_view left = step.rank->table.text(step.row, kPieces);
  for (Ns at = step.start; !left.empty();) {
    const char letter = left.front();
    left.remove_prefix(1);
    // Not find_first_not_of: it calls memchr for each of the letters.
    const auto after = std::ranges::find_if_not(left, [](char c) { return c >= '0' && c <= '9'; });
    const std::string_view digits(left.begin(), after);
    left.remove_prefix(digits.size());
    const Ns end = add_saturated(at, number_in<i64>(digits).value_or(0));
    if (end > start) budget.add(letter, subtract_saturated(end, std::max(at, start)));
    at = end;
  }
  return budget;
}

void append(Table& answer, std::string_view of, const RankStep& step, Ns start) {
  const Budget budget = budget_of(step, start);
  std::vector<Value> row = {of, or_null(step.rank->rank), step.number, start,
                            subtract_saturated(step.end, start)};
  const bool has_device_work = std::get<bool>(step.rank->table.at(step.row, kHasDeviceWork));
  for (const Value& value : part_values(budget.times, has_device_work)) row.push_back(value);
  row.emplace_back(budget.latency);
  answer.append(row);
}

// A step of the job.
struct JobStep {
  size_t ranks = 0;
  Ns start = 0, first_end = 0, last_start = 0;  // of its ranks' windows
  const RankStep* last = nullptr;               // that ends

  void add(const RankStep& step) {
    const bool is_first = ranks++ == 0;
    start = is_first ? step.start : std::min(start, step.start);
    last_start = is_first ? step.start : std::max(last_start, step.start);
    first_end = is_first ? step.end : std::min(first_end, step.end);
    if (is_first || step.end > last->end) last = &step;
  }
};

// Those that all ranks have that have any, by end.
std::vector<JobStep> job_steps(std::span<const std::vector<RankStep>> ranks, Notes& notes) {
  std::map<std::pair<i64, i64>, JobStep> by_number;
  size_t with_steps = 0;
  for (const std::vector<RankStep>& steps : ranks) {
    if (steps.empty() || !steps.front().rank->rank) continue;
    ++with_steps;
    for (const RankStep& step : steps) by_number[{step.number, step.repeat}].add(step);
  }
  std::vector<JobStep> whole;
  i64 partial = 0, apart = 0;
  for (const auto& [number, step] : by_number) {
    const bool is_whole = step.ranks == with_steps;
    if (is_whole) whole.push_back(step);
    partial += is_whole ? 0 : 1;
    apart += is_whole && step.first_end < step.last_start ? 1 : 0;
  }
  if (partial > 0)
    notes.add("partial_steps", Severity::info,
              "steps that not all ranks have are no steps of the job: when the last rank ended is not known",
              -1, partial);
  if (apart > 0)
    notes.add("steps_apart", Severity::info,
              "steps of the job had ended on one rank before they began on another: the clocks of their "
              "hosts may differ, or the ranks were recorded at different times",
              -1, apart);
  stable_sort(whole, [](const JobStep& a, const JobStep& b) { return a.last->end < b.last->end; });
  return whole;
}

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  Table answer(kStepBudget.name, kColumns);
  std::vector<std::vector<RankStep>> ranks;
  for (const RankTable& table : tables) ranks.push_back(steps_of(table));
  std::optional<Ns> before;
  for (const JobStep& step : job_steps(ranks, answer.notes)) {
    append(answer, "job", *step.last, std::max(step.start, before.value_or(step.start)));
    before = step.last->end;
  }
  for (const std::vector<RankStep>& steps : ranks)
    for (const RankStep& step : steps) append(answer, "rank", step, step.start);
  return answer;
}

}  // namespace

std::unique_ptr<PathUser> step_budget_user(const Trace& trace) { return std::make_unique<User>(trace); }

const Analysis kStepBudget = {
    .name = "step_budget",
    .summary =
        "What bounds each moment of a step, on its critical path, in parts that add up: of each rank, and of the job.",
    .doc =
        "The parts of step_breakdown, but a moment of a step counts for what its end waited for: the piece of the critical path that "
        "covers it. The windows are those of step_breakdown. The path goes back from the window's end as critical_path tells, and what of it lies before the window is left out, "
        "so that the parts add up to dur_ns exactly. What runs beside the path is in no part: a step whose kernels wait for launches is the host's, though "
        "kernels run most of the time. Device work on the path is a kernel, a copy, a set or communication, which includes waiting for other ranks. Where a thread of the host is on the path "
        "the first of these counts that the thread is inside of: an operation of communication, a call of the runtime or driver, the wait for a batch, an operator or annotation, none (other: Python, mostly). "
        "A launch that held its work up is runtime while the call lasts, as less of the call would help; from its end to the start of the work, and from the end of device work to the start of "
        "what waited for it (a gap between kernels), neither host nor device works: that is other_ns, and latency_ns tells it from the rest, as fewer and larger kernels, or graphs, shorten it and faster Python does not. "
        "From the end of device work to the end of the host call that waited for it is runtime, as the host is in that call. Handing over to autograd's thread and back is other, and so is what "
        "nothing explains. Where nothing runs at the same time as anything else the parts are those of step_breakdown; elsewhere each part, together with those before it, is at most what they are there together. "
        "Rows of the job: a step begins with the first of its ranks' windows, but not before the job's step before has ended, and ends with the last of them. It is divided by the path of the rank that ended last (of equals the "
        "lowest): what of its path is before the start is left out, and time before its window is other. Steps of ranks are one where they have one number, and those of one number in their order; those "
        "that not all ranks with steps have are left out, as are files without a rank. Unix times are compared: ranks of one host share its clock, and by what clocks of hosts differ the job's steps are wrong. "
        "A rank without steps and operators has no rows.",
    .params = {},
    .columns = kColumns,
    .reads = kStepPartArgs | kCriticalPathArgs,
    .map = map_trace,
    .reduce = reduce,
    .part_columns = kPartColumns,
    .map_together = map_path_users,
};

}  // namespace spotter::analyze

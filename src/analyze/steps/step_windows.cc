#include "analyze/steps/step_windows.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "trace/device_work.h"
#include "trace/nesting.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

constexpr Ns kNever = std::numeric_limits<Ns>::max();

// The device work that a step launched.
struct Launched {
  i64 count = 0;
  Ns start = kNever, end = -kNever;
};

std::vector<StepWindow> one_step_of_operators(const Trace& trace) {
  Ns start = kNever, end = -kNever;
  for (const EventId e : trace.nesting().order) {
    if (trace.category(e) != Category::cpu_op) continue;
    start = std::min(start, trace.ts[e]);
    end = std::max(end, trace.end(e));
  }
  if (start >= end) return {};
  return {{0, start, end, 0, {start, end}}};
}

void extend_by_device_work(const Trace& trace, StepWindows& windows, std::vector<Launched>& launched) {
  std::vector<StepWindow>& steps = windows.steps;
  const trace::DeviceWork& work = trace.device_work();
  const StepMarks marks(steps);
  std::vector<Interval> foreign;
  for (size_t row = 0; row < work.event.size(); ++row) {
    const EventId launch = work.launch[row];
    const i64 step = launch == kNone ? -1 : marks.around(trace.ts[launch], trace.end(launch));
    if (step < 0) {
      foreign.push_back({work.start[row], work.end[row]});
      continue;
    }
    Launched& of = launched[static_cast<size_t>(step)];
    ++of.count;
    of.start = std::min(of.start, work.start[row]);
    of.end = std::max(of.end, work.end[row]);
  }
  if (std::ranges::none_of(launched, [](const Launched& of) { return of.count > 0; })) return;
  Ns before = steps.front().start;
  if (const std::optional<Ns> end_before = trace.steps().end_before) {
    before = std::max(before, *end_before);
    foreign.clear();
  }
  for (const Interval& other : foreign) {
    if (other.end < launched.front().start && launched.front().count > 0)
      before = std::max(before, other.end);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    StepWindow& step = steps[i];
    step.launched = launched[i].count;
    step.start = std::max(before, step.start);
    step.end = std::max({step.end, step.start, launched[i].count > 0 ? launched[i].end : step.start});
    before = step.end;
  }
}

// An engine's iterations launch more or less as their batches are.
bool are_alike(const trace::Steps& steps) {
  return !steps.are_iterations || steps.source == trace::StepSource::annotation;
}

void leave_out_the_end(bool are_alike, StepWindows& windows) {
  std::vector<StepWindow>& steps = windows.steps;
  size_t kept = steps.size();
  while (kept > 0 && steps[kept - 1].launched == 0) --kept;
  if (kept == 0) return;  // no device work: all are as good
  constexpr i64 kPart = 4, kWhole = 5;
  if (are_alike && kept > 1 && kWhole * steps[kept - 1].launched < kPart * steps[kept - 2].launched) --kept;
  windows.cut_off = static_cast<i64>(steps.size() - kept);
  steps.resize(kept);
}

std::vector<StepWindow> marked_steps(const Trace& trace) {
  std::vector<StepWindow> marks;
  for (const trace::Step& step : trace.steps().steps)
    marks.push_back({step.number, step.start, step.end, 0, {step.start, step.end}});
  return marks;
}

}  // namespace

StepWindows step_windows(const Trace& trace) {
  StepWindows windows;
  windows.steps = marked_steps(trace);
  windows.are_marked = !windows.steps.empty();
  if (!windows.are_marked) windows.steps = one_step_of_operators(trace);
  if (windows.steps.empty()) return windows;
  std::vector<Launched> launched(windows.steps.size());
  extend_by_device_work(trace, windows, launched);
  if (windows.steps.size() > 1) leave_out_the_end(are_alike(trace.steps()), windows);
  return windows;
}

void note_step_windows(const Trace& trace, const StepWindows& windows, Notes& notes) {
  if (!windows.are_marked && !windows.steps.empty())
    notes.add("no_steps", Severity::info, "traces without steps are divided as one step");
  if (windows.cut_off > 0)
    notes.add("cut_off_steps", Severity::info,
              "steps at the end are left out, since not all of their device work was recorded", -1,
              windows.cut_off);
  trace::add_step_notes(trace.steps(), notes);
}

std::vector<Ns> time_by_step(const std::vector<StepWindow>& steps, const Union& intervals) {
  std::vector<Ns> sums(steps.size());
  for (const Interval& interval : intervals)
    for_each_overlap(steps, interval.start, interval.end,
                     [&](size_t s, Ns time) { sums[s] = add_saturated(sums[s], time); });
  return sums;
}

StepMarks::StepMarks(std::vector<StepWindow> marks) : marks_(std::move(marks)) {
  for (const StepWindow& mark : marks_)
    latest_end_.push_back(latest_end_.empty() ? mark.end : std::max(latest_end_.back(), mark.end));
}

StepMarks::StepMarks(const Trace& trace, const StepWindows& windows)
    : StepMarks(windows.are_marked ? marked_steps(trace) : windows.steps) {}

i64 StepMarks::around(Ns start, Ns end) const {
  const auto after = std::ranges::upper_bound(marks_, start, {}, &StepWindow::start);
  i64 found = -1;
  for (auto i = after - marks_.begin(); i > 0 && start < latest_end_[static_cast<size_t>(i - 1)]; --i) {
    if (end <= marks_[static_cast<size_t>(i - 1)].end) found = i - 1;
  }
  return found;
}

}  // namespace spotter::analyze

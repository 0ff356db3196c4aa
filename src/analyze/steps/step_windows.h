// Windows of the steps: the marks of the host, each with the time in which the device works off what it
// launched, so that kernels that run behind the host belong to the step that wanted them. Disjoint. After the
// TensorBoard profiler plugin, whose rules these are.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "analyze/time/intervals.h"
#include "base/saturated.h"
#include "table/table.h"
#include "trace/trace.h"

namespace spotter::analyze {

// Columns of tables with a row per step.
inline constexpr Field kStepNumberField = {"number", Type::integer, Unit::none, Role::key,
                                           "Number of the step, as its mark says, else counted from 0."};
inline constexpr Field kWindowStartField = {"start_ns", Type::integer, Unit::ns, Role::time,
                                            "Start of the step's window, Unix time."};

struct StepWindow {
  i64 number = 0;
  Ns start = 0, end = 0;
  i64 launched = 0;    // pieces of device work whose launch lies wholly in its mark
  Interval mark = {};  // of the host
};

struct StepWindows {
  std::vector<StepWindow> steps;  // by start
  bool are_marked = true;         // else there is one, number 0, of all operators
  i64 cut_off = 0;  // steps at the end whose device work the recording does not have, or only a part
};

// Calls take(i, time) for each of the windows, which are disjoint and by start, that [start, end) overlaps.
template <class F>
void for_each_overlap(std::span<const StepWindow> windows, Ns start, Ns end, F&& take) {
  auto window = std::ranges::upper_bound(windows, start, {}, &StepWindow::end);
  for (; window != windows.end() && window->start < end; ++window) {
    const Ns time = subtract_saturated(std::min(end, window->end), std::max(start, window->start));
    if (time > 0) take(static_cast<size_t>(window - windows.begin()), time);
  }
}

// A step begins with its mark, but not before the one before it ends, and the first one not before device
// work has ended that no step launched and that ended before its own device work began, nor, where it was
// chosen from more, before the step before it ended. It ends with its
// mark, or with the last device work of its own if that is later. Left out (cut_off) are steps behind the
// last one that launched device work, and that one, too, if it launched less than four fifths of what the one
// before did, unless it is the only one or an iteration of inference. Without marks all from the first
// operator's start to the last one's end is the mark of one step. Reads trace::kDeviceWorkArgs and kStepArgs.
StepWindows step_windows(const Trace& trace);

// What is worth knowing of them.
void note_step_windows(const Trace& trace, const StepWindows& windows, Notes& notes);

// How much of each window the intervals take.
std::vector<Ns> time_by_step(const std::vector<StepWindow>& steps, const Union& intervals);

// Which step a span of the host lies wholly in, and so what it launched: by the marks, not by the windows.
class StepMarks {
 public:
  explicit StepMarks(std::vector<StepWindow> marks);  // by start
  // Of step_windows(trace), in the same order.
  StepMarks(const Trace& trace, const StepWindows& windows);
  // Of steps that overlap the first; -1: none.
  i64 around(Ns start, Ns end) const;

 private:
  std::vector<StepWindow> marks_;
  std::vector<Ns> latest_end_;  // per mark, of it and those before it
};

}  // namespace spotter::analyze

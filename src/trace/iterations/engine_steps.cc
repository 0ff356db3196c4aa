#include "trace/iterations/engine_steps.h"

#include <algorithm>
#include <tuple>

#include "base/stable_sort.h"
#include "trace/step_marks.h"

namespace spotter::trace {

Steps engine_steps(const Trace& trace) {
  std::vector<Mark> marks = find_marks(trace, is_annotation_of_any_era,
                                       [](std::string_view name) { return engine_mark(name).has_value(); });
  Steps steps{.source = StepSource::engine};
  steps.unfinished = static_cast<i64>(take_unfinished(marks).size());
  stable_sort(marks, [](const Mark& a, const Mark& b) {
    return std::tuple(a.start, -a.end) < std::tuple(b.start, -b.end);
  });
  for (const Mark& mark : marks) {
    if (!steps.steps.empty() && mark.start < steps.steps.back().end) continue;
    const EngineMark told = *engine_mark(trace.strings()[mark.name]);
    if (!steps.engine) steps.engine = told.engine;
    if (steps.engine == std::string_view(told.engine))
      steps.steps.push_back({static_cast<i64>(steps.steps.size()), mark.start, mark.end, told.batch});
  }
  steps.are_iterations = steps.engine != nullptr;
  if (steps.engine) steps.mark_name = steps.engine;
  return steps;
}

void add_batches(const Steps& engine_marks, Steps& steps) {
  if (engine_marks.steps.empty()) return;
  steps.engine = engine_marks.engine;
  steps.are_iterations = true;
  for (Step& step : steps.steps) {
    const auto from = std::ranges::lower_bound(engine_marks.steps, step.start, {}, &Step::start);
    const auto to = std::ranges::lower_bound(engine_marks.steps, step.end, {}, &Step::start);
    if (to - from == 1) step.batch = from->batch;
  }
}

}  // namespace spotter::trace

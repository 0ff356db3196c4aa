#include "trace/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "base/text/number.h"
#include "trace/facts/collective_marks.h"
#include "trace/facts/data_loading.h"
#include "trace/facts/torch_marks.h"
#include "trace/iterations/backward_pass.h"
#include "trace/iterations/engine_steps.h"
#include "trace/iterations/iterations.h"
#include "trace/step_marks.h"

namespace spotter::trace {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep", kOptimizerStep = "Optimizer.step#";

constexpr size_t kLeastRepeats = 3;
constexpr double kMostVariation = 0.5;

// N of "ProfilerStep#N", also with blanks around the '#'.
std::optional<i64> step_number(std::string_view name) {
  if (!name.starts_with(kProfilerStep)) return std::nullopt;
  name.remove_prefix(kProfilerStep.size());
  const auto skip_blanks = [&] { name.remove_prefix(std::min(name.find_first_not_of(' '), name.size())); };
  skip_blanks();
  if (!name.starts_with('#')) return std::nullopt;
  name.remove_prefix(1);
  skip_blanks();
  return number_in<i64>(name);
}

// Of marks with one number that overlap (threads, operator and annotation) the earliest counts, then the
// longest. Those that do not are steps of another loop or of another run of the profiler.
void merge_equal_steps(std::vector<Step>& steps) {
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::tuple(a.number, a.start, -a.end) < std::tuple(b.number, b.start, -b.end);
  });
  size_t kept = 0;
  Ns group_end = 0;  // the latest end of the marks that became the last kept one
  for (const Step& step : steps) {
    const bool repeats = kept > 0 && step.number == steps[kept - 1].number &&
                         (step.start < group_end || step.start == steps[kept - 1].start);
    group_end = repeats ? std::max(group_end, step.end) : step.end;
    if (!repeats) steps[kept++] = step;
  }
  steps.resize(kept);
}

Steps profiler_steps(const Trace& trace) {
  Steps steps{.mark_name = std::string(kProfilerStep), .source = StepSource::profiler};
  std::vector<Mark> marks = find_marks(trace, is_annotation_of_any_era,
                                       [](std::string_view name) { return step_number(name).has_value(); });
  steps.unfinished = static_cast<i64>(take_unfinished(marks).size());
  for (const Mark& mark : marks)
    steps.steps.push_back({*step_number(trace.strings()[mark.name]), mark.start, mark.end, {}});

  merge_equal_steps(steps.steps);
  std::sort(steps.steps.begin(), steps.steps.end(), [](const Step& a, const Step& b) {
    return std::tuple(a.start, a.number) < std::tuple(b.start, b.number);
  });
  return steps;
}

// Where recording began: the start of the profiler's own span, else of the first host span.
std::optional<Ns> window_start(const Trace& trace) {
  std::optional<Ns> recorded, host;
  const auto take_earlier = [](std::optional<Ns>& first, Ns ts) { first = std::min(first.value_or(ts), ts); };
  for (EventId e = 0; e < trace.size(); ++e) {
    const Kind& kind = trace.kind_of(e);
    if (!kind.is_span) continue;
    if (kind.category == Category::trace_span) take_earlier(recorded, trace.ts[e]);
    if (is_host_span(kind.category)) take_earlier(host, trace.ts[e]);
  }
  return recorded ? recorded : host;
}

struct Group {  // marks of one name, [begin, end)
  size_t begin = 0, end = 0;
  Ns total = 0;
};

// The groups of equal marks, in the order of `marks`.
template <class Same>
std::vector<Group> group(const std::vector<Mark>& marks, Same same) {
  std::vector<Group> groups;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (i == 0 || !same(marks[i], marks[i - 1])) groups.push_back({i, i, 0});
    groups.back().end = i + 1;
    groups.back().total += marks[i].end - marks[i].start;
  }
  return groups;
}

// Of several optimizers the one that steps most often counts; then the one with the most time, as a wrapper
// has more than what it wraps; then the first by name.
Steps optimizer_steps(const Trace& trace) {
  const auto name_of = [&](const Mark& m) { return trace.strings()[m.name]; };
  std::vector<Mark> marks = find_marks(trace, is_annotation_of_any_era, [](std::string_view name) {
    return name.starts_with(kOptimizerStep);
  });
  const std::vector<Mark> unfinished = take_unfinished(marks);
  if (marks.empty()) return {};
  std::sort(marks.begin(), marks.end(), [&](const Mark& a, const Mark& b) {
    return std::tuple(name_of(a), a.end, a.start) < std::tuple(name_of(b), b.end, b.start);
  });
  const auto same = [](const Mark& a, const Mark& b) { return a.name == b.name; };
  const std::vector<Group> groups = group(marks, same);
  const Group best = *std::max_element(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return std::tuple(a.end - a.begin, a.total) < std::tuple(b.end - b.begin, b.total);
  });

  Steps steps{.mark_name = std::string(name_of(marks[best.begin])), .source = StepSource::optimizer};
  steps.unfinished =
      std::ranges::count_if(unfinished, [&](const Mark& m) { return same(m, marks[best.begin]); });
  Ns start = window_start(trace).value_or(0);
  for (size_t i = best.begin; i < best.end; ++i) {
    if (marks[i].end <= start) continue;
    steps.steps.push_back({static_cast<i64>(steps.steps.size()), start, marks[i].end, {}});
    start = marks[i].end;
  }
  return steps;
}

// Not what PyTorch writes by itself: that repeats, but as a part of a step.
bool may_be_step(std::string_view name) {
  return !name.empty() && name.find("DataLoader") == name.npos && !is_data_loading(name) &&
         !is_collective_mark(name) && !is_optimizer_mark(name);
}

// Whether marks in order of time follow one another without overlap and at nearly equal distances.
bool is_even(std::span<const Mark> marks) {
  if (marks.size() < kLeastRepeats) return false;
  double sum = 0, squares = 0;
  for (size_t i = 1; i < marks.size(); ++i) {
    if (marks[i].start < marks[i - 1].end) return false;
    const auto distance = static_cast<double>(marks[i].start - marks[i - 1].start);
    sum += distance;
    squares += distance * distance;
  }
  const auto n = static_cast<double>(marks.size() - 1);
  const double mean = sum / n, variance = std::max(0.0, squares / n - mean * mean);
  return mean > 0 && std::sqrt(variance) < kMostVariation * mean;
}

Steps annotation_steps(const Trace& trace) {
  const auto name_of = [&](const Mark& m) { return trace.strings()[m.name]; };
  std::vector<Mark> marks =
      find_marks(trace, [](Category c) { return c == Category::user_annotation; }, may_be_step);
  const std::vector<Mark> unfinished = take_unfinished(marks);
  std::sort(marks.begin(), marks.end(), [&](const Mark& a, const Mark& b) {
    return std::tuple(name_of(a), a.track, a.start, a.end) < std::tuple(name_of(b), b.track, b.start, b.end);
  });
  const auto same = [](const Mark& a, const Mark& b) { return a.name == b.name && a.track == b.track; };
  Group best;
  for (const Group& g : group(marks, same))
    if (g.total > best.total && is_even(std::span(marks).subspan(g.begin, g.end - g.begin))) best = g;
  if (best.begin == best.end) return {};

  Steps steps{.mark_name = std::string(name_of(marks[best.begin])), .source = StepSource::annotation};
  steps.unfinished =
      std::ranges::count_if(unfinished, [&](const Mark& m) { return same(m, marks[best.begin]); });
  for (size_t i = best.begin; i < best.end; ++i)
    steps.steps.push_back({static_cast<i64>(steps.steps.size()), marks[i].start, marks[i].end, {}});
  return steps;
}

Steps found_steps(const Trace& trace) {
  const Iterations found = find_iterations(trace);
  if (found.windows.empty()) return {};
  Steps steps{.mark_name = std::string(trace.strings()[found.mark]),
              .source = found.from_graphs ? StepSource::graph_launches : StepSource::kernel_sequence};
  for (const Window& window : found.windows)
    steps.steps.push_back({static_cast<i64>(steps.steps.size()), window.start, window.end, {}});
  return steps;
}

}  // namespace

const char* step_source_name(StepSource source) {
  switch (source) {
    case StepSource::none:
      break;
    case StepSource::profiler:
      return "profiler steps";
    case StepSource::optimizer:
      return "optimizer steps";
    case StepSource::annotation:
      return "annotation";
    case StepSource::engine:
      return "engine annotations";
    case StepSource::graph_launches:
      return "graph launches";
    case StepSource::kernel_sequence:
      return "kernel sequence";
  }
  return "none";
}

Steps compute_steps(const Trace& trace) {
  Steps marked = profiler_steps(trace);
  if (marked.steps.empty()) marked = optimizer_steps(trace);
  Steps of_engine = engine_steps(trace);
  if (!marked.steps.empty()) {
    add_batches(of_engine, marked);
    return marked;
  }
  if (!of_engine.steps.empty()) return of_engine;
  Steps steps = annotation_steps(trace);
  if (steps.steps.empty()) steps = found_steps(trace);
  steps.are_iterations = !steps.steps.empty() && !has_backward_pass(trace);
  return steps;
}

bool is_step_mark(const Steps& steps, std::string_view name) {
  if (step_number(name)) return true;
  switch (steps.source) {
    case StepSource::profiler:
    case StepSource::annotation:
      return name == steps.mark_name;
    case StepSource::engine:
      return engine_mark(name).has_value();
    default:
      return false;
  }
}

std::string_view without_number(const Steps& steps, std::string_view name) {
  if (steps.mark_name.empty()) return name;
  const bool is_numbered =
      name.starts_with(steps.mark_name) && name.substr(steps.mark_name.size()).starts_with('#');
  const bool is_mark = is_numbered || (steps.source == StepSource::engine && engine_mark(name));
  return is_mark ? std::string_view(steps.mark_name) : name;
}

void add_step_notes(const Steps& steps, Notes& notes) {
  if (steps.unfinished > 0)
    notes.add("unfinished_steps", Severity::info,
              "marks of steps had not ended when recording did; they are no steps", -1, steps.unfinished);
  if (!steps.steps.empty() && steps.source == StepSource::engine)
    notes.add("steps_found", Severity::info,
              fmt::format("traces have iterations of {} for steps, as its annotations tell", steps.engine));
  if (steps.source >= StepSource::graph_launches)
    notes.add("steps_found", Severity::info,
              fmt::format("traces without marks of steps have iterations for them, found from their {} ({})",
                          step_source_name(steps.source), steps.mark_name));
  std::set<i64> numbers;
  for (const Step& step : steps.steps) numbers.insert(step.number);
  if (const auto repeats = static_cast<i64>(steps.steps.size() - numbers.size()); repeats > 0)
    notes.add("repeated_steps", Severity::info,
              "steps have the number of an earlier one, and are chosen together with it", -1, repeats);
}

}  // namespace spotter::trace

namespace spotter {

const trace::Steps& Trace::steps() const {
  return steps_.get([this] { return trace::compute_steps(*this); });
}

}  // namespace spotter

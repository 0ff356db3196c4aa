#include "analyze/replay/gap_cause.h"

#include <algorithm>
#include <string_view>

#include "trace/per_kind.h"

namespace spotter::analyze {
namespace {

// CUPTI's own work, by Kineto's names of its kinds of overhead.
bool is_of_recorder(std::string_view overhead) {
  constexpr std::string_view kNames[] = {"Activity Buffer Request", "Buffer Flush", "Instrumentation",
                                         "Resource", "UVM Activity Init"};
  return std::ranges::find(kNames, overhead) != std::end(kNames);
}

bool is_loading(std::string_view overhead) {
  constexpr std::string_view kNames[] = {"Driver Compiler", "Runtime Triggered Module Loading",
                                         "Lazy Function Loading"};
  return std::ranges::find(kNames, overhead) != std::end(kNames);
}

// Of torch.compile: around compiled code, and around its differentiation.
bool is_compiled(std::string_view name) {
  return name.starts_with("Torch-Compiled Region") || name.starts_with("CompiledFunction");
}

// Around operators under a mode of Python, as those that trace graphs are.
constexpr std::string_view kPythonMode = "PythonDispatchMode";

Union united(std::vector<Interval> spans) {
  std::ranges::sort(spans, {}, &Interval::start);
  Union all;
  for (const Interval& span : spans) extend(all, span.start, span.end);
  return all;
}

Ns within(const Union& spans, Ns begin, Ns end) {
  Ns sum = 0;
  auto span = std::ranges::upper_bound(spans, begin, {}, &Interval::end);
  for (; span != spans.end() && span->start < end; ++span)
    sum += std::min(end, span->end) - std::max(begin, span->start);
  return sum;
}

}  // namespace

GapCause::GapCause(const Trace& trace) {
  const auto counts = trace::per_kind(trace, [](const Kind& k) {
    return k.is_span && (k.category == Category::overhead || k.category == Category::cpu_op);
  });
  std::vector<Interval> recorder, compiler;
  bool compiles = false;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!counts[trace.kind[e]]) continue;
    const std::string_view name = trace.name_of(e);
    const bool is_overhead = trace.category(e) == Category::overhead;
    if (is_overhead && is_of_recorder(name)) recorder.push_back({trace.ts[e], trace.end(e)});
    if (is_overhead ? is_loading(name) : name == kPythonMode) compiler.push_back({trace.ts[e], trace.end(e)});
    compiles |= !is_overhead && is_compiled(name);
  }
  recorder_ = united(std::move(recorder));
  if (compiles) compiler_ = united(std::move(compiler));
}

Cause GapCause::of(Ns begin, Ns end) const {
  if (2 * within(recorder_, begin, end) >= end - begin) return Cause::recording;
  return within(compiler_, begin, end) > 0 ? Cause::compilation : Cause::silence;
}

}  // namespace spotter::analyze

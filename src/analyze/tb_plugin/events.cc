#include "analyze/tb_plugin/events.h"

#include <algorithm>
#include <array>

#include "base/stable_sort.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "trace/microseconds.h"

namespace spotter::analyze::tb_plugin {
namespace {

constexpr std::string_view kStep = "ProfilerStep#";
constexpr std::string_view kRuntimes[] = {"runtime",      "cuda_runtime", "mtia_runtime",
                                          "glow_runtime", "xpu_runtime",  "privateuse1_runtime"};

EventType type_of(const Trace& trace, const Kind& kind) {
  if (!kind.is_span) return EventType::none;
  const std::string text = ascii_lower(trace.strings()[kind.category_text]);
  switch (kind.category) {
    case Category::cpu_op:
      return EventType::op;
    case Category::user_annotation:
    case Category::gpu_user_annotation:
      return EventType::annotation;
    case Category::python_function:
      return text == "python" ? EventType::python : EventType::python_function;
    case Category::runtime:
      return std::ranges::find(kRuntimes, text) != std::end(kRuntimes) ? EventType::runtime : EventType::none;
    case Category::kernel:
      return EventType::kernel;
    case Category::gpu_memcpy:
      return EventType::copy;
    case Category::gpu_memset:
      return EventType::set;
    case Category::trace_span:
      return EventType::profiler;
    default:
      return EventType::none;
  }
}

// With what its name and its arguments say.
EventType refined(const Trace& trace, EventId e, EventType type, bool is_of_lightning) {
  const std::string_view name = trace.name_of(e);
  if ((type == EventType::op || type == EventType::annotation) && name.starts_with(kStep))
    return EventType::step;
  if (type == EventType::python_function && is_of_lightning) return EventType::none;
  if (type == EventType::python_function && trace.has(e, Arg::python_module_id)) return EventType::module;
  if (type == EventType::op && is_of_lightning) {
    if (name.starts_with("[pl][profile]")) return EventType::pl_profile;
    if (name.starts_with("[pl][module]")) return EventType::pl_module;
  }
  return type;
}

bool has_backend(std::string_view name, std::string_view backend) {
  constexpr std::string_view kOperations[] = {"broadcast", "reduce", "all_reduce", "all_gather",
                                              "reduce_scatter"};
  return name.starts_with(backend) &&
         std::ranges::find(kOperations, name.substr(backend.size())) != std::end(kOperations);
}

}  // namespace

bool is_data_loader(std::string_view name) {
  return name.starts_with("enumerate(DataPipe)#") ||
         (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__"));
}

bool is_nccl(std::string_view name) { return has_backend(name, "nccl:"); }
bool is_collective(std::string_view name) { return is_nccl(name) || has_backend(name, "gloo:"); }

bool is_lightning(const Trace& trace) {
  return std::ranges::any_of(trace.info().metadata, [](const auto& member) {
    return member.first == "Framework" && member.second == "\"pytorch-lightning\"";
  });
}

i64 step_number(std::string_view name) { return number_in<i64>(name.substr(kStep.size())).value_or(0); }

bool Events::has(EventType type) const { return std::ranges::find(all, type, &Event::type) != all.end(); }

Events events_of(const Trace& trace) {
  const bool is_of_lightning = is_lightning(trace);
  std::vector<EventType> of_kind;
  for (const Kind& kind : trace.kinds()) of_kind.push_back(type_of(trace, kind));
  const StringId memory = trace.strings().find("[memory]");
  Events events;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind_of(e).phase == 'i' && trace.name[e] == memory) events.memory.push_back(e);
    const EventType type = of_kind[trace.kind[e]];
    if (type == EventType::none) continue;
    const Us start = trace::microseconds(trace.ts[e]);
    const EventType own = refined(trace, e, type, is_of_lightning);
    if (own != EventType::none)
      events.all.push_back({e, own, {start, start + trace::microseconds(trace.dur[e])}});
  }
  stable_sort(events.all, [](const Event& a, const Event& b) { return a.time.start < b.time.start; });
  const auto time = [&](EventId e) { return trace::microseconds(trace.ts[e]); };
  stable_sort(events.memory, [&](EventId a, EventId b) { return time(a) < time(b); });
  if (!events.all.empty()) events.start = events.all.front().time.start;
  if (!events.memory.empty())
    events.start = events.all.empty() ? time(events.memory.front())
                                      : std::min(events.start, time(events.memory.front()));
  return events;
}

}  // namespace spotter::analyze::tb_plugin

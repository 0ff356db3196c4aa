#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/list.h"
#include "analyze/memory/allocations.h"
#include "analyze/memory/memory_places.h"
#include "base/saturated.h"
#include "trace/nesting.h"
#include "trace/steps_at.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kDeviceTypeField,
    kDeviceIdField,
    {"operator", Type::text, Unit::none, Role::value,
     "Innermost operator around the allocations; null where there is none."},
    {"bytes", Type::integer, Unit::bytes, Role::value,
     "Sum of the sizes of the allocations that outlived their step."},
    {"allocations", Type::integer, Unit::count, Role::value, "Number of them."},
    {"steps", Type::integer, Unit::count, Role::value,
     "Number of steps that they are from; of judged_steps, so that what is kept once, such as the state of an optimizer, has 1."},
    {"judged_steps", Type::integer, Unit::count, Role::detail,
     "Number of steps that are followed by two others and that can be judged so."},
    {"retained_bytes", Type::integer, Unit::bytes, Role::value,
     "Sum of the sizes of those that are still held when the recording ends."},
    {"phase", Type::text, Unit::none, Role::value,
     "Phase of training that they were allocated in: forward, backward, optimizer or other."},
    {"module", Type::text, Unit::none, Role::value,
     "Innermost nn.Module around the allocations; null where none is known."},
    whole({"stack", Type::text, Unit::none, Role::value,
           "Python calls around the allocations, the innermost first; null where none were recorded."}),
};

constexpr i64 kStepsLater = 2;
constexpr size_t kMostSpans = 500;  // that a stack is looked for in, so that deep recursion costs no more

// The steps that are followed by two others, in order of time.
class JudgedSteps {
 public:
  explicit JudgedSteps(const std::vector<trace::Step>& steps) : steps_(steps), at_(steps) {}

  size_t size() const { return steps_.size() > kStepsLater ? steps_.size() - kStepsLater : 0; }

  // The one that `time` lies in; kNone where there is none. Of several the last to begin.
  u32 at(Ns time) const {
    const u32 step = at_.last(time);
    return step < size() ? step : kNone;
  }
  Ns end_of_lifetime(u32 step) const { return steps_[step + kStepsLater].end; }

 private:
  const std::vector<trace::Step>& steps_;
  const trace::StepsAt at_;
};

// What the operator says of its Python callers, else the Python functions around the span.
std::string stack_of(const Trace& trace, const MemoryPlace& place) {
  const trace::Nesting& nesting = trace.nesting();
  std::string stack;
  u32 span = place.span;
  for (size_t looked_at = 0; span != kNone && looked_at < kMostSpans;
       ++looked_at, span = nesting.parent[span]) {
    const EventId e = nesting.order[span];
    if (stack.empty())
      if (const auto recorded = trace.text(e, Arg::call_stack); recorded && !recorded->empty())
        return std::string(*recorded);
    if (trace.category(e) != Category::python_function) continue;
    if (!stack.empty()) stack += ';';
    stack += trace.name_of(e);
  }
  return stack;
}

struct Leak {
  i64 bytes = 0, allocations = 0, steps = 0, retained = 0;
  u32 last_step = kNone;

  void add(i64 size, u32 step, bool is_held) {
    bytes = add_saturated(bytes, size);
    ++allocations;
    steps += step != last_step;
    last_step = step;
    if (is_held) retained = add_saturated(retained, size);
  }
};
using Key =
    std::tuple<std::string_view, TrainingPhase, std::string_view, std::string>;  // operator, module, stack

std::vector<std::pair<Key, Leak>> leaks_of(const Trace& trace, const MemoryDevice& device,
                                           const Allocations& allocations, const MemoryPlaces& places,
                                           size_t number, const JudgedSteps& steps) {
  std::map<Key, Leak> by_place;
  for (const Allocation& a :
       allocations.all) {  // in order of time, so that those of a step follow each other
    if (a.begin == kNone) continue;
    const u32 step = steps.at(device.events[a.begin].time);
    if (step == kNone) continue;
    const bool is_held = a.end == kNone;
    if (!is_held && device.events[a.end].time <= steps.end_of_lifetime(step)) continue;
    const MemoryPlace& place = places.of[number][a.begin];
    by_place[{operator_name(trace, place.op), place.phase, places.modules[place.module],
              stack_of(trace, place)}]
        .add(a.bytes, step, is_held);
  }
  std::vector<std::pair<Key, Leak>> list(by_place.begin(), by_place.end());
  std::ranges::sort(list, [](const auto& a, const auto& b) {
    return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
  });
  return list;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMemoryLeaks.name, std::span(kColumns).subspan(1));
  const std::vector<MemoryDevice> devices = memory_by_device(trace, table);
  if (devices.empty()) return table;
  const JudgedSteps steps(trace.steps().steps);
  trace::add_step_notes(trace.steps(), table.notes);
  if (steps.size() == 0) {
    table.notes.add("too_few_steps", Severity::info,
                    "traces with fewer than three steps do not tell what outlives them");
    return table;
  }
  const MemoryPlaces places = memory_places(trace, devices);
  note_no_modules(places, table);
  for (size_t d = 0; d < devices.size(); ++d) {
    const MemoryDevice& device = devices[d];
    const std::optional<Allocations> allocations = pair_allocations(device, table);
    if (!allocations) continue;
    for (const auto& [key, leak] : leaks_of(trace, device, *allocations, places, d, steps)) {
      const auto& [op, phase, module, stack] = key;
      table.append({std::string_view(device.type), device.id, or_null(op), leak.bytes, leak.allocations,
                    leak.steps, static_cast<i64>(steps.size()), leak.retained, name_of(phase),
                    or_null(module), or_null(std::string_view(stack))});
    }
  }
  return table;
}

}  // namespace

const Analysis kMemoryLeaks = {
    .name = "memory_leaks",
    .summary =
        "Memory that outlives its step by two more: by operator and Python stack, per rank and device.",
    .doc =
        "Allocations of a step (see steps: of those that contain the moment the last to begin) that are not released by the end of the second step "
        "after it, in order of the steps' starts, in rows by operator, phase, module and stack. Those of the last two steps cannot be judged; a trace "
        "with fewer than three steps has no rows. What a program keeps on purpose is here, too: state that the optimizer makes in its first step, "
        "caches that fill up; a leak is what comes again from step to step, which steps tells. An allocation whose release went unseen counts as "
        "released when its address is allocated again. operator, phase and module are those of memory_at_peak. stack is what the innermost "
        "span around the allocation that has a Call stack says, else the Python functions around "
        "the allocation's event on its thread, the innermost first, among the nearest 500 spans; of what is allocated in "
        "the backward pass mostly none. Sorted by bytes, operator and the rest. The plugin of TensorBoard has no such view.",
    .params = {},
    .columns = kColumns,
    .reads = kMemoryPlaceArgs | ArgSet{Arg::call_stack},
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze

// The events that the plugin looks at, as it reads them. All others are nothing to it: calls of the driver
// (Q1), synchronisation, flows other than those between the passes.
#pragma once
#include <optional>
#include <vector>

#include "analyze/tb_plugin/intervals.h"
#include "trace/trace.h"

namespace spotter::analyze::tb_plugin {

enum class EventType : u8 {
  none,
  op,
  annotation,  // on the device's timeline, too (Q2, Q4)
  python,
  python_function,
  module,      // a Python function with a module's number
  pl_profile,  // of PyTorch Lightning, instead of Python's functions
  pl_module,
  step,
  runtime,
  kernel,
  copy,
  set,
  profiler,
};

inline bool is_device_work(EventType type) { return type >= EventType::kernel && type <= EventType::set; }

struct Event {
  EventId id = kNone;
  EventType type = EventType::none;
  UsInterval time;
};

struct Events {
  std::vector<Event> all;       // by start, then as in the file
  std::vector<EventId> memory;  // allocations and releases, in the same order
  Us start = 0;                 // of the first of either
  bool has(EventType type) const;
};

Events events_of(const Trace& trace);

// What an annotation or an operator is by its name.
bool is_data_loader(std::string_view name);
bool is_collective(std::string_view name);  // the ten names that it knows
bool is_nccl(std::string_view name);        // of those
bool is_lightning(const Trace& trace);
i64 step_number(std::string_view name);  // of EventType::step

// An event's own id; kNoId where it has none, which is an id like others to the plugin (Q5).
inline constexpr i64 kNoId = INT64_MIN;
inline i64 external_id(const Trace& trace, EventId e) {
  return trace.integer(e, Arg::external_id).value_or(kNoId);
}
inline i64 thread_of(const Trace& trace, EventId e) { return trace.tracks()[trace.track[e]].tid; }

// Arguments that the events and all that is made of them need, but for a table's own.
inline const ArgSet kEventArgs = {Arg::correlation, Arg::external_id, Arg::python_module_id, Arg::flow_id};

}  // namespace spotter::analyze::tb_plugin

#include "analyze/memory/memory_places.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analyze/memory/module_paths.h"
#include "analyze/operators/threads.h"
#include "trace/annotations.h"
#include "trace/facts/module_spans.h"
#include "trace/facts/torch_marks.h"
#include "trace/forward_links.h"
#include "trace/nesting.h"
#include "trace/per_kind.h"
#include "trace/sort_runs.h"

namespace spotter::analyze {
namespace {

enum class Mark : u8 { none, module, makes_module, optimizer, wrapper };

// PyTorch's own calls that make a module's parameters and buffers, or move them:
// "torch/nn/modules/linear.py(96):
// __init__", "torch/nn/modules/module.py(928): _apply" (of to() and cuda()).
bool makes_module(std::string_view name) {
  return name.find("torch/nn/modules/") != std::string_view::npos &&
         (name.ends_with(": __init__") || name.ends_with(": _apply") || name.ends_with(": reset_parameters"));
}

Mark mark_of(std::string_view name) {
  if (trace::is_module_span(name)) return Mark::module;
  if (trace::is_optimizer_mark(name)) return Mark::optimizer;
  if (trace::is_wrapper_mark(name)) return Mark::wrapper;
  return makes_module(name) ? Mark::makes_module : Mark::none;
}

class Walk {
 public:
  explicit Walk(const Trace& trace)
      : trace_(trace),
        nesting_(trace.nesting()),
        annotations_(trace),
        links_(trace),
        is_op_(trace::per_kind(trace,
                               [](const Kind& k) { return k.is_span && k.category == Category::cpu_op; })),
        is_python_(
            trace::per_kind(trace, [](const Kind& k) { return k.category == Category::python_function; })),
        marks_(trace.strings().size()),
        is_autograd_(trace.tracks().size()) {
    for (StringId s = 0; s < marks_.size(); ++s) marks_[s] = mark_of(trace.strings()[s]);
    const u32 main = main_track(trace);
    for (const u32 track : autograd_tracks(trace)) is_autograd_[track] = track != main;
  }

  MemoryPlaces run(const std::vector<MemoryDevice>& devices) {
    MemoryPlaces places;
    std::vector<std::vector<Record>> records = records_by_track(devices, places);
    std::vector<Record> spare;
    for (const trace::Nesting::Thread& thread : nesting_.threads) {
      std::vector<Record>& of_thread = records[thread.track];
      trace::sort_runs(std::span(of_thread), spare,
                       [](const Record& a, const Record& b) { return a.time < b.time; });
      walk(thread, of_thread, places);
    }
    for (const std::vector<Record>& of_thread : records)
      for (const Record& record : of_thread) add_module_of_node(record);
    places.modules = modules_.names(trace_);
    std::ranges::sort(places.passes.backward);
    std::ranges::sort(places.passes.forward_or_optimizer);
    return places;
  }

 private:
  struct Frame {
    u32 index;
    Ns end;
    i64 node;  // sequence number of the innermost node of autograd; -1: none
    MemoryPlace place;
  };
  struct Record {
    Ns time;
    MemoryPlace* place;
    i64 node = -1;
  };

  // Each thread's by device, then by time; for now with the places outside of all spans.
  std::vector<std::vector<Record>> records_by_track(const std::vector<MemoryDevice>& devices,
                                                    MemoryPlaces& places) const {
    std::vector<std::vector<Record>> records(trace_.tracks().size());
    for (const MemoryDevice& device : devices) {
      std::vector<MemoryPlace>& of = places.of.emplace_back(device.events.size());
      for (size_t i = 0; i < of.size(); ++i) {
        const u32 track = trace_.track[device.events[i].event];
        if (is_autograd_[track]) of[i].phase = TrainingPhase::backward;
        records[track].push_back({device.events[i].time, &of[i]});
      }
    }
    return records;
  }

  void walk(const trace::Nesting::Thread& thread, std::vector<Record>& records, MemoryPlaces& places) {
    stack_.clear();
    at_ = 0;
    auto record = records.begin();
    for (u32 i = thread.begin; i < thread.end; ++i) {
      const Ns start = trace_.ts[nesting_.order[i]];
      for (; record != records.end() && record->time < start; ++record) take(*record);
      push(i, thread.track, places);
    }
    for (; record != records.end(); ++record) take(*record);
  }

  void push(u32 i, u32 track, MemoryPlaces& places) {
    const EventId e = nesting_.order[i];
    while (!stack_.empty() && stack_.back().index != nesting_.parent[i]) stack_.pop_back();
    const bool is_top = stack_.empty();
    Frame frame = is_top ? Frame{i, 0, -1, {}} : stack_.back();
    frame.index = i;
    frame.end = trace_.end(e);
    const TrainingPhase before = frame.place.phase;
    if (is_top && is_autograd_[track]) frame.place.phase = TrainingPhase::backward;
    enter(e, i, frame);
    begin(before, frame.place.phase, trace_.ts[e], places.passes);
    stack_.push_back(frame);
    at_ = stack_.size();
  }

  void enter(EventId e, u32 i, Frame& frame) {
    const Mark mark = marks_[trace_.name[e]];
    MemoryPlace& place = frame.place;
    place.span = i;
    if (is_python_[trace_.kind[e]]) {
      if (mark == Mark::module) place.module = modules_.at(place.module, trace_.name[e]);
      if (mark == Mark::module && place.phase != TrainingPhase::backward)
        place.phase = TrainingPhase::forward;
      if (mark == Mark::makes_module && !place.makes_module) {
        place.makes_module = true;
        place.work_end = frame.end;
      }
      return;
    }
    if (is_op_[trace_.kind[e]]) enter_operator(e, i, frame);
    if (mark == Mark::optimizer) {
      place.phase = TrainingPhase::optimizer;
      place.work_end = frame.end;
    } else if (mark == Mark::wrapper && place.phase != TrainingPhase::backward) {
      place.phase = TrainingPhase::forward;
    }
  }

  void enter_operator(EventId e, u32 i, Frame& frame) {
    MemoryPlace& place = frame.place;
    if (!annotations_.has(e)) {
      if (place.op == kNone && place.phase == TrainingPhase::other && !place.makes_module)
        place.work_end = frame.end;
      place.parent_op = place.op;
      place.op = i;
    }
    const i64 node = links_.node(e);
    if (links_.backward().has(e)) {
      frame.node = node;
      place.module = 0;  // one around the whole backward pass is not the node's
      place.phase = TrainingPhase::backward;
    } else if (links_.forward(node) == e) {
      module_of_node_[node] = place.module;
      if (place.phase != TrainingPhase::backward) place.phase = TrainingPhase::forward;
    }
  }

  static void begin(TrainingPhase before, TrainingPhase phase, Ns time, Passes& passes) {
    if (phase == before) return;
    if (phase == TrainingPhase::backward) passes.backward.push_back(time);
    if (phase == TrainingPhase::forward ||
        (phase == TrainingPhase::optimizer && before != TrainingPhase::backward))
      passes.forward_or_optimizer.push_back(time);
  }

  // The innermost span of the stack that still runs. Spans that ended stay on it, since one of no length at
  // their end may still lie in them; records come in order of time, so that none is looked at twice.
  void take(Record& record) {
    while (at_ > 0 && stack_[at_ - 1].end <= record.time) --at_;
    if (at_ == 0) return;
    *record.place = stack_[at_ - 1].place;
    record.node = stack_[at_ - 1].node;
  }

  void add_module_of_node(const Record& record) const {
    if (record.place->module != 0 || record.place->phase != TrainingPhase::backward) return;
    if (const auto node = module_of_node_.find(record.node); node != module_of_node_.end())
      record.place->module = node->second;
  }

  const Trace& trace_;
  const trace::Nesting& nesting_;
  const trace::Annotations annotations_;
  const trace::ForwardLinks links_;
  std::array<u8, 256> is_op_, is_python_;
  std::vector<Mark> marks_;      // by name
  std::vector<u8> is_autograd_;  // by track: a thread of autograd other than the main one
  ModulePaths modules_;
  std::unordered_map<i64, u32> module_of_node_;  // around its forward operator
  std::vector<Frame> stack_;                     // the spans around the position
  size_t at_ = 0;                                // number of frames around the last record
};

}  // namespace

const char* name_of(TrainingPhase phase) {
  static constexpr const char* kNames[] = {"other", "forward", "backward", "optimizer"};
  return kNames[static_cast<size_t>(phase)];
}

Ns Passes::end_of(TrainingPhase phase, Ns time) const {
  const std::vector<Ns>& begins = phase == TrainingPhase::forward ? backward : forward_or_optimizer;
  const auto next = std::ranges::upper_bound(begins, time);
  return next == begins.end() ? kMaxTime : *next;
}

MemoryPlaces memory_places(const Trace& trace, const std::vector<MemoryDevice>& devices) {
  return devices.empty() ? MemoryPlaces{} : Walk(trace).run(devices);
}

std::string_view operator_name(const Trace& trace, u32 op) {
  return op == kNone ? std::string_view() : trace.name_of(trace.nesting().order[op]);
}

void note_no_modules(const MemoryPlaces& places, Table& table) {
  if (places.of.empty() || places.modules.size() > 1) return;
  table.notes.add(
      "no_modules", Severity::info,
      "traces without nn.Module spans do not tell the modules that memory is of; with_stack=True records "
      "them");
}

}  // namespace spotter::analyze

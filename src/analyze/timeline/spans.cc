#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "analyze/list.h"
#include "analyze/operators/span_tree.h"
#include "analyze/time/device_time.h"
#include "analyze/timeline/time_window.h"
#include "trace/facts/collective_marks.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"side", Type::text, Unit::none, Role::key, "host or device."},
    {"thread", Type::integer, Unit::none, Role::value, "Of a span on the host its thread; else null."},
    {"device", Type::integer, Unit::none, Role::value, "Of a span on a device its number; else null."},
    {"stream", Type::integer, Unit::none, Role::value, "Of a span on a device its stream; else null."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration."},
    {"name", Type::text, Unit::none, Role::value, "Name of the span."},
    {"kind", Type::text, Unit::none, Role::value,
     "compute, communication, memory, operator, runtime, annotation, step, python, synchronization, overhead or other."},
    {"depth", Type::integer, Unit::count, Role::value,
     "On the host the number of spans around it on its thread; on a device 0, and -1 of annotations and synchronisation."},
    {"lane", Type::integer, Unit::count, Role::detail,
     "0, or 1, 2 ... where a span overlaps one of the same thread or stream and depth in part."},
    {"process", Type::integer, Unit::none, Role::detail, "Of a span on the host its process; else null."},
    {"event", Type::integer, Unit::none, Role::key, "Position in the file's traceEvents."},
    {"link", Type::integer, Unit::none, Role::detail,
     "Of device work the position of its launch, of a backward operator that of the forward one; else null."},
};

constexpr Param kParams[] = {kFrom, kTo};

struct Span {
  bool on_device = false;
  i64 owner = 0, line = 0;  // process and thread, or device and stream
  i64 depth = 0;
  EventId event = kNone, link = kNone;
  const char* kind = "";
  i64 lane = 0;
  auto group() const { return std::tuple(on_device, owner, line, depth); }
};

class Spans {
 public:
  Spans(const Trace& trace, const TimeWindow& window) : trace_(trace), window_(window) {
    add_host();
    add_device_work();
    add_others();
    assign_lanes();
  }

  const std::vector<Span>& all() const { return spans_; }
  i64 overlapping() const { return overlapping_; }

 private:
  void add(Span span) {
    if (window_.has(trace_.ts[span.event], trace_.end(span.event))) spans_.push_back(span);
  }

  const char* kind_of(EventId e) const {
    switch (trace_.category(e)) {
      case Category::cpu_op:
        return is_step_mark(trace_.steps(), trace_.name_of(e)) ? "step" : "operator";
      case Category::user_annotation:
      case Category::gpu_user_annotation:
        if (is_step_mark(trace_.steps(), trace_.name_of(e))) return "step";
        return trace::is_collective_mark(trace_.name_of(e)) ? "communication" : "annotation";
      case Category::python_function:
        return "python";
      case Category::runtime:
      case Category::driver:
        return "runtime";
      case Category::device_sync:
        return "synchronization";
      case Category::overhead:
        return "overhead";
      default:
        return "other";
    }
  }

  void add_host() {
    const trace::Nesting& nesting = trace_.nesting();
    const SpanTree tree(trace_);
    std::vector<i64> depth(nesting.order.size());
    for (u32 i = 0; i < nesting.order.size(); ++i) {
      if (nesting.parent[i] != kNone) depth[i] = depth[nesting.parent[i]] + 1;
      const EventId e = nesting.order[i];
      const Track& track = trace_.tracks()[trace_.track[e]];
      add({.owner = track.pid,
           .line = track.tid,
           .depth = depth[i],
           .event = e,
           .link = tree.forward(i),
           .kind = kind_of(e)});
    }
  }

  void add_device_work() {
    const trace::DeviceWork& work = trace_.device_work();
    for (const trace::Stream& stream : work.streams) {
      for (u32 row = stream.begin; row < stream.end; ++row)
        add({.on_device = true,
             .owner = stream.device,
             .line = stream.stream,
             .event = work.event[row],
             .link = work.launch[row],
             .kind = trace::work_kind_name(work.kind[row])});
    }
  }

  // Annotations on the device, its synchronisation, the profiler's overhead: by the lines that the file has.
  void add_others() {
    for (EventId e = 0; e < trace_.size(); ++e) {
      const Category category = trace_.category(e);
      const bool on_device = category == Category::gpu_user_annotation || category == Category::device_sync;
      if (!trace_.is_span(e) || !(on_device || category == Category::overhead)) continue;
      const Track& track = trace_.tracks()[trace_.track[e]];
      add({.on_device = on_device,
           .owner = trace_.integer(e, Arg::device).value_or(track.pid),
           .line = trace_.integer(e, Arg::stream).value_or(track.tid),
           .depth = on_device ? -1 : 0,
           .event = e,
           .kind = kind_of(e)});
    }
  }

  // By line, depth and start. Of spans that overlap each goes to the lane that has been free the longest.
  void assign_lanes() {
    std::ranges::sort(spans_, {}, [&](const Span& s) {
      return std::tuple(s.group(), trace_.ts[s.event], -trace_.dur[s.event], s.event);
    });
    using Lane = std::pair<Ns, i64>;  // until when it is taken, its number
    std::priority_queue<Lane, std::vector<Lane>, std::greater<>> lanes;
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (i > 0 && spans_[i].group() != spans_[i - 1].group()) lanes = {};
      Span& span = spans_[i];
      span.lane = static_cast<i64>(lanes.size());
      if (!lanes.empty() && lanes.top().first <= trace_.ts[span.event]) {
        span.lane = lanes.top().second;
        lanes.pop();
      }
      overlapping_ += span.lane > 0;
      lanes.emplace(trace_.end(span.event), span.lane);
    }
    std::ranges::sort(spans_, {}, [&](const Span& s) {
      return std::tuple(s.group(), s.lane, trace_.ts[s.event], s.event);
    });
  }

  const Trace& trace_;
  const TimeWindow window_;
  std::vector<Span> spans_;
  i64 overlapping_ = 0;
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kSpans.name, std::span(kColumns).subspan(1));
  const Spans spans(trace, TimeWindow(trace, params));
  const auto position = [](EventId e) { return e == kNone ? Value() : Value(static_cast<i64>(e)); };
  for (const Span& span : spans.all()) {
    const auto if_host = [&](i64 number) { return span.on_device ? Value() : Value(number); };
    const auto if_device = [&](i64 number) { return span.on_device ? Value(number) : Value(); };
    table.append({span.on_device ? "device" : "host", if_host(span.line), if_device(span.owner),
                  if_device(span.line), trace.info().base_ns + trace.ts[span.event], trace.dur[span.event],
                  trace.name_of(span.event), span.kind, span.depth, span.lane, if_host(span.owner),
                  static_cast<i64>(span.event), position(span.link)});
  }
  if (spans.overlapping() > 0)
    table.notes.add("overlapping_spans", Severity::info,
                    "spans overlap others of their thread or stream in part, and have lanes of their own", -1,
                    spans.overlapping());
  if (table.rows() == 0)
    table.notes.add("no_spans_in_window", Severity::info,
                    "traces without spans between from_ns and to_ns have no rows here");
  return table;
}

}  // namespace

const Analysis kSpans = {
    .name = "spans",
    .summary = "Every span of the host and the devices, in lanes as a timeline draws them.",
    .doc =
        "One row per span that runs at least in part between from_ns and to_ns, counted from the start of the trace's first span: operators, annotations, Python functions, "
        "calls of the device's runtime or driver, overhead of the profiler on the host; kernels, copies, sets, annotations and synchronisation on the devices. The host is divided by process, thread and depth (the "
        "number of spans around it on that thread), a device by stream; work of a stream has depth 0, annotations and synchronisation -1. Spans of one such line that overlap (programmatic launches, graphs, threads that share a number, nested annotations) "
        "go to the lane that has been free the longest, a new one if there is none; so in a lane no span overlaps another. Ordered by side, line, depth, lane and start. With --steps positions are those among the events of these steps.",
    .params = kParams,
    .columns = kColumns,
    .reads = kSpanTreeArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze

#include "analyze/list.h"
#include "analyze/operators/span_tree.h"
#include "trace/nesting.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"event", Type::integer, Unit::none, Role::key, "Position of the span in the file's traceEvents."},
    {"parent", Type::integer, Unit::none, Role::value,
     "Position of the span that called it; null for those that none did."},
    {"depth", Type::integer, Unit::count, Role::value, "Number of spans around it."},
    {"thread", Type::integer, Unit::none, Role::detail, "Its thread."},
    {"name", Type::text, Unit::none, Role::value, "Name of the span."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start of the span, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration of the span."},
    {"self_ns", Type::integer, Unit::ns, Role::value,
     "The part of it that is in none of the calls on its own thread."},
    {"kernels", Type::integer, Unit::count, Role::value,
     "Device work that was launched in it and all below it."},
    {"device_ns", Type::integer, Unit::ns, Role::value, "Sum of the durations of that work."},
    {"first_kernel_ns", Type::integer, Unit::ns, Role::time,
     "Start of the first of it, Unix time; null without any."},
    {"kernel_span_ns", Type::integer, Unit::ns, Role::detail,
     "From the start of the first of it to the end of the last; null without any."},
    {"forward_event", Type::integer, Unit::none, Role::detail,
     "Of a backward operator, the position of the forward operator whose gradient it computes; else null."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kCallTree.name, std::span(kColumns).subspan(1));
  const SpanTree tree(trace);
  const trace::Nesting& nesting = trace.nesting();
  const Ns base = trace.info().base_ns;
  const auto position = [](EventId e) { return e == kNone ? Value() : Value(static_cast<i64>(e)); };
  for (u32 i = 0; i < nesting.order.size(); ++i) {
    const EventId e = nesting.order[i];
    const SpanTree::Below& below = tree.below(i);
    const bool has_kernels = below.kernels > 0;
    table.append({static_cast<i64>(e),
                  tree.parent(i) == kNone ? Value() : position(nesting.order[tree.parent(i)]), tree.depth(i),
                  trace.tracks()[trace.track[e]].tid, trace.name_of(e), base + trace.ts[e], trace.dur[e],
                  tree.self(i), below.kernels, below.device,
                  has_kernels ? Value(base + below.first) : Value(),
                  has_kernels ? Value(below.last - below.first) : Value(), position(tree.forward(i))});
  }
  return table;
}

}  // namespace

const Analysis kCallTree = {
    .name = "call_tree",
    .summary = "Every span on the host with its caller, the device work below it, and its forward operator.",
    .doc =
        "One row per host span (operator, annotation, Python function, call into a device's runtime), by thread and start. "
        "Its parent is the innermost span around it on its thread; of the outermost spans of threads that run backward "
        "operators it is the innermost span around them on the main thread, which waits for them. Device work "
        "belongs to its launch and to all spans that called that, so all kernels of a graph count. forward_event: of a backward operator "
        "the last forward one with its Sequence number to begin before it, as in Kineto's fwdbwd arrows. With --steps positions are those among the events of these steps. "
        "HTA (trace_call_graph) takes only a backward thread that is the only one, and annotations named ## backward ## or steps as its callers.",
    .params = {},
    .columns = kColumns,
    .reads = kSpanTreeArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze

#include <algorithm>
#include <string>
#include <vector>

#include "analyze/group_ids.h"
#include "analyze/list.h"
#include "analyze/list_text.h"
#include "analyze/operators/path_diff.h"
#include "analyze/operators/path_text.h"
#include "analyze/operators/span_tree.h"
#include "analyze/operators/tree_order.h"
#include "trace/facts/module_spans.h"
#include "trace/steps_at.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"path", Type::text, Unit::none, Role::key,
     "What the calls are in, the outermost first, and their own name, joined by /; one in a name is \\/."},
    {"kind", Type::text, Unit::none, Role::value, "annotation, module, operator or backward."},
    {"calls", Type::integer, Unit::count, Role::value, "Number of calls."},
    {"host_total_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations."},
    {"device_total_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the durations of the device work that was launched in them."},
    {"host_self_ns", Type::integer, Unit::ns, Role::detail, "host_total_ns without what is in paths below."},
    {"device_self_ns", Type::integer, Unit::ns, Role::detail,
     "device_total_ns without what is in paths below."},
    {"depth", Type::integer, Unit::count, Role::detail, "Number of paths around it."},
    {"steps", Type::integer, Unit::count, Role::detail,
     "Number of steps that the times are of; 1 for a trace without steps, which counts whole."},
};

constexpr Param kParams[] = {kByShapesOfPaths};

enum class PathKind : u8 { annotation, module, op, backward };
constexpr const char* kKinds[] = {"annotation", "module", "operator", "backward"};
constexpr std::string_view kBackward = "backward";

struct Path {
  u32 parent = kNone;
  PathKind kind = PathKind::op;
  std::string name;
  i64 depth = 0, calls = 0;
  Ns first = 0, host_total = 0, host_self = 0, device_total = 0, device_self = 0;
};

class Paths {
 public:
  Paths(const Trace& trace, bool by_shapes)
      : trace_(trace),
        nesting_(trace.nesting()),
        tree_(trace),
        steps_(trace.steps().steps),
        by_shapes_(by_shapes),
        place_(nesting_.order.size(), kNone) {
    std::vector<u32> index(trace.size(), kNone);
    for (u32 i = 0; i < nesting_.order.size(); ++i) index[nesting_.order[i]] = i;
    // Forward operators have to be there when those of the backward pass look for their places.
    for (const bool backward : {false, true}) {
      std::vector<u8> is_backward(nesting_.order.size());
      for (u32 i = 0; i < nesting_.order.size(); ++i) {
        const u32 around = nesting_.parent[i];
        const bool is_inside = around != kNone && is_backward[around];
        const bool begins = !is_inside && tree_.forward(i) != kNone;
        is_backward[i] = is_inside || begins;
        if (is_backward[i] != backward) continue;
        u32 parent = around == kNone ? kNone : place_[around];
        if (begins) parent = backward_of(index[tree_.forward(i)], i);
        add(i, parent);
      }
    }
  }

  const std::vector<Path>& all() const { return paths_; }
  i64 too_deep() const { return too_deep_; }

 private:
  bool is_in_step(EventId e) const {
    return trace_.steps().steps.empty() || steps_.last(trace_.ts[e]) != kNone;
  }

  // The backward part of the innermost module or annotation around a forward operator.
  u32 backward_of(u32 forward, u32 i) {
    u32 path = place_[forward];
    while (path != kNone && paths_[path].kind == PathKind::op) path = paths_[path].parent;
    return path_at({path, 0, kBackwardKey}, PathKind::backward, std::string(kBackward), nesting_.order[i]);
  }

  void add(u32 i, u32 parent) {
    const EventId e = nesting_.order[i];
    place_[i] = parent;
    const std::string_view name = trace_.name_of(e);
    PathKind kind = PathKind::op;
    switch (trace_.category(e)) {
      case Category::cpu_op:
        break;
      case Category::user_annotation:
        kind = PathKind::annotation;
        break;
      case Category::python_function:
        kind = PathKind::module;
        if (!trace::is_module_span(name)) return;
        break;
      default:
        return;
    }
    const bool is_too_deep = parent != kNone && paths_[parent].depth + 1 >= kDeepest;
    if (is_step_mark(trace_.steps(), name) || !is_in_step(e)) return;
    too_deep_ += is_too_deep;
    if (is_too_deep) return;
    std::string shown(kind == PathKind::module ? trace::module_of_span(name) : name);
    u64 shapes_id = 0;
    if (const auto shapes = by_shapes_ ? trace_.text(e, Arg::input_dims) : std::nullopt) {
      shapes_id = trace_.strings().find(*shapes);
      shown += list_text(*shapes);
    }
    place_[i] = path_at({parent, trace_.name[e], shapes_id}, kind, std::move(shown), e);
    Path& own = paths_[place_[i]];
    const Ns dur = trace_.dur[e], device = tree_.below(i).device;
    ++own.calls;
    own.host_total = add_saturated(own.host_total, dur);
    own.host_self = add_saturated(own.host_self, dur);
    own.device_total = add_saturated(own.device_total, device);
    own.device_self = add_saturated(own.device_self, device);
    if (parent == kNone) return;
    Path& around = paths_[parent];
    if (around.kind == PathKind::backward) {  // no span, but the sum of what is in it
      around.host_total = add_saturated(around.host_total, dur);
      around.device_total = add_saturated(around.device_total, device);
    } else {
      around.host_self -= dur;
      around.device_self -= device;
    }
  }

  u32 path_at(const GroupIds<3>::Key& key, PathKind kind, std::string name, EventId e) {
    const u32 id = ids_.id(key);
    if (id == paths_.size()) {
      const auto parent = static_cast<u32>(key[0]);
      paths_.push_back({.parent = parent,
                        .kind = kind,
                        .name = std::move(name),
                        .depth = parent == kNone ? 0 : paths_[parent].depth + 1,
                        .first = trace_.ts[e]});
    }
    paths_[id].first = std::min(paths_[id].first, trace_.ts[e]);
    return id;
  }

  static constexpr u64 kBackwardKey = ~u64{0};

  const Trace& trace_;
  const trace::Nesting& nesting_;
  const SpanTree tree_;
  const trace::StepsAt steps_;
  const bool by_shapes_;
  GroupIds<3> ids_;  // of the path around, the name and the shapes
  std::vector<Path> paths_;
  i64 too_deep_ = 0;
  std::vector<u32> place_;  // per element of Nesting::order: the innermost path at or around it
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kPaths.name, std::span(kColumns).subspan(1));
  const Paths found(trace, params[kByShapesOfPaths.name] != 0);
  const std::vector<Path>& paths = found.all();
  note_too_deep(found.too_deep(), table);
  if (paths.empty())
    table.notes.add("no_operators", Severity::info, "traces without operators have no rows here");
  std::vector<std::string> texts(paths.size());
  const auto steps = std::max<i64>(1, std::ssize(trace.steps().steps));
  for (const u32 p : tree_order(paths)) {
    const Path& path = paths[p];
    texts[p] = path_text(path.parent == kNone ? "" : texts[path.parent], path.name);
    table.append({std::string_view(texts[p]), kKinds[static_cast<size_t>(path.kind)], path.calls,
                  path.host_total, path.device_total, std::max<Ns>(0, path.host_self),
                  std::max<Ns>(0, path.device_self), path.depth, steps});
  }
  return table;
}

}  // namespace

const Analysis kPaths = {
    .name = "paths",
    .summary =
        "Host and device time by path: each operator in the modules, annotations and operators around it.",
    .doc =
        "Annotations, modules (calls of nn.Module, which with_modules=True or with_stack=True record) and operators that begin in a step, or anywhere in a trace without steps, by path: their names and "
        "those of all such spans around them on their thread; steps' marks are left out, and other Python functions. What the backward pass runs is in the path backward of the "
        "innermost module or annotation around its forward operator, which is the last with its Sequence number to begin before it. host_total is the sum of the durations, device_total that of the device work that was "
        "launched in them; the self times leave out the paths below. What is more than 100 deep is a part of what is around it. With --path-shapes 1 a name has the shapes of its operands (record_shapes=True). Each path comes before those in it, in order "
        "of their first calls. diff --by-path compares two jobs so.",
    .params = kParams,
    .columns = kColumns,
    .reads = kSpanTreeArgs | ArgSet{Arg::input_dims},
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze

#include <algorithm>
#include <array>

#include "analyze/kernels/dense_ids.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"
#include "trace/links.h"
#include "trace/nesting.h"
#include "trace/per_kind.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"name", Type::text, Unit::none, Role::key, "Operator; others: all that are not listed."},
    {"calls", Type::integer, Unit::count, Role::value, "Number of calls, nested ones included."},
    {"host_total_ns", Type::integer, Unit::ns, Role::detail,
     "Duration of the calls that are not inside a call of the same name; null for others."},
    {"host_self_ns", Type::integer, Unit::ns, Role::value,
     "Duration of the calls without the operators and host calls directly below them."},
    {"device_total_ns", Type::integer, Unit::ns, Role::detail,
     "device_self_ns of these calls and of the operators below them, as host_total_ns counts calls; null for "
     "others."},
    {"device_self_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the durations of the device work that the operator itself launched."},
};

constexpr Param kParams[] = {kTop};

struct Operator {
  StringId name = kNone;  // kNone: others
  i64 calls = 0;
  i64 open = 0;  // calls that enclose the current position
  Ns host_total = 0, host_self = 0, device_total = 0, device_self = 0;

  void merge(const Operator& o) {  // but not totals, which may be of calls in each other
    calls += o.calls;
    host_self += o.host_self;
    device_self += o.device_self;
  }
};

enum class Part : u8 { transparent, host_call, op };

Part part_of(const Kind& kind) {
  if (kind.category == Category::cpu_op) return Part::op;
  return is_host_call(kind.category) ? Part::host_call : Part::transparent;
}

// Per event: durations of the device work that it launched.
GrowingArray<Ns> launched_device_time(const Trace& trace) {
  const trace::DeviceWork& work = trace.device_work();
  GrowingArray<Ns> launched(trace.size());
  launched.extend_zeroed(trace.size());
  for (size_t row = 0; row < work.event.size(); ++row)
    if (work.launch[row] != kNone) launched[work.launch[row]] += work.end[row] - work.start[row];
  return launched;
}

// Walks the spans of each thread in order, with those around the current one on a stack.
class Walk {
 public:
  explicit Walk(const Trace& trace)
      : trace_(trace),
        nesting_(trace.nesting()),
        parts_(trace::per_kind(trace, part_of)),
        launched_(launched_device_time(trace)),
        ids_(trace.strings().size()) {}

  std::vector<Operator> run() {
    for (const trace::Nesting::Thread& thread : nesting_.threads) {
      for (u32 i = thread.begin; i < thread.end; ++i) {
        const bool has_children = i + 1 < thread.end && nesting_.parent[i + 1] == i;
        visit(i, has_children);
      }
      while (!stack_.empty()) leave();
    }
    return std::move(operators_);
  }
  i64 launches_outside() const { return launches_outside_; }  // of operators, with device work

 private:
  struct Frame {
    u32 index;   // in Nesting::order
    u32 around;  // in stack_: the innermost operator or host call at or below it, or kNone
    u32 op;      // index into operators_, or kNone for a host call
    Ns dur, below, device_self, device_below;
  };

  void visit(u32 i, bool has_children) {
    const EventId e = nesting_.order[i];
    while (!stack_.empty() && stack_.back().index != nesting_.parent[i]) leave();
    const u32 around = stack_.empty() ? kNone : stack_.back().around;
    const auto part = static_cast<Part>(parts_[trace_.kind[e]]);
    if (part == Part::transparent) {
      if (has_children) stack_.push_back({i, around, kNone, 0, 0, 0, 0});
      return;
    }
    const u32 op = part == Part::op ? open(trace_.name[e]) : kNone;
    const Frame frame = {i, static_cast<u32>(stack_.size()), op, trace_.dur[e], 0, launched_[e], 0};
    if (has_children)
      stack_.push_back(frame);
    else
      close(frame, around);
  }

  u32 open(StringId name) {
    const u32 op = ids_.id(name);
    if (op == operators_.size()) operators_.push_back({.name = name});
    ++operators_[op].calls;
    ++operators_[op].open;
    return op;
  }

  void leave() {
    const Frame frame = stack_.back();
    stack_.pop_back();
    const bool is_transparent = frame.around != stack_.size();
    if (!is_transparent) close(frame, stack_.empty() ? kNone : stack_.back().around);
  }

  // Accounts for a span that is complete; `position` is that of the operator or host call around it.
  void close(const Frame& frame, u32 position) {
    Frame* around = position == kNone ? nullptr : &stack_[position];
    if (around) around->below += frame.dur;
    if (frame.op != kNone) {
      close_operator(frame, around);
    } else if (around) {
      // What a host call launched belongs to whoever made the call.
      around->device_self += frame.device_self;
      around->device_below += frame.device_below;
    } else if (frame.device_self > 0) {
      ++launches_outside_;
    }
  }

  void close_operator(const Frame& frame, Frame* around) {
    Operator& op = operators_[frame.op];
    const Ns device_total = frame.device_self + frame.device_below;
    op.host_self += std::max<Ns>(0, frame.dur - frame.below);
    op.device_self += frame.device_self;
    if (--op.open == 0) {
      op.host_total += frame.dur;
      op.device_total += device_total;
    }
    if (around) around->device_below += device_total;
  }

  const Trace& trace_;
  const trace::Nesting& nesting_;
  std::array<u8, 256> parts_;
  GrowingArray<Ns> launched_;
  DenseIds ids_;
  std::vector<Operator> operators_;
  std::vector<Frame> stack_;
  i64 launches_outside_ = 0;
};

void sort_by_cost(std::vector<Operator>& operators, const Strings& strings) {
  std::sort(operators.begin(), operators.end(), [&](const Operator& a, const Operator& b) {
    if (a.device_self != b.device_self) return a.device_self > b.device_self;
    if (a.host_self != b.host_self) return a.host_self > b.host_self;
    return strings[a.name] < strings[b.name];
  });
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kOperators.name, std::span(kColumns).subspan(1));
  Walk walk(trace);
  std::vector<Operator> operators = walk.run();
  if (operators.empty()) {
    table.notes.add("no_operators", Severity::info, "traces without operators have no rows here");
    return table;
  }
  const auto note = [&](const char* kind, const char* sentence, i64 count) {
    if (count > 0) table.notes.add(kind, Severity::info, sentence, -1, count);
  };
  note_launches_outside_operators(walk.launches_outside(), table);
  note_links(trace, table);
  note("duplicate_correlation",
       "host calls have the correlation number of an earlier one, which counts as the launch",
       trace.links().duplicate_correlations - trace.links().of_other_processes);
  note("partial_overlap",
       "host spans overlap another one on their thread without lying inside it; they count as its siblings",
       trace.nesting().partial_overlaps);
  sort_by_cost(operators, trace.strings());
  for (const Operator& op : first_and_others(std::move(operators), params[kTop.name])) {
    const bool is_listed = op.name != kNone;
    const auto total = [&](Ns time) { return is_listed ? Value(time) : Value(); };
    table.append({is_listed ? trace.strings()[op.name] : "others", op.calls, total(op.host_total),
                  op.host_self, total(op.device_total), op.device_self});
  }
  return table;
}

}  // namespace

const Analysis kOperators = {
    .name = "operators",
    .summary = "Host and device time of each operator, its own and with what it calls, per rank.",
    .doc =
        "Operators are host spans of category cpu_op; who encloses whom is decided per thread. host_self is "
        "the duration of a call minus that of the operators and runtime or driver calls nearest below it "
        "(Python frames and annotations in between do not count), at least 0: so host calls are nobody's "
        "self time. device_self is the sum of the durations of the kernels, copies and sets launched by "
        "host calls whose innermost enclosing operator is this one; work on several streams adds up, so it "
        "can exceed wall time. device_total adds the operators below. The totals of a name leave out calls "
        "inside a call of the same name, so that recursion counts once; they overlap between names and do "
        "not add up. Sorted by device_self, host_self, name; what is not among the first `top` is put into "
        "a last row named others. A rank without operators has no rows.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze

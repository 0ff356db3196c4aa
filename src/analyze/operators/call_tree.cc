#include <algorithm>
#include <limits>
#include <unordered_map>

#include "analyze/list.h"
#include "analyze/operators/threads.h"
#include "base/saturated.h"
#include "trace/device_work.h"
#include "trace/nesting.h"
#include "trace/per_kind.h"
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

struct Below {
  i64 kernels = 0;
  Ns device = 0, first = std::numeric_limits<Ns>::max(), last = std::numeric_limits<Ns>::min();
  void merge(const Below& o) {
    kernels += o.kernels;
    device = add_saturated(device, o.device);
    first = std::min(first, o.first);
    last = std::max(last, o.last);
  }
};

// Elements are those of Nesting::order.
class CallTree {
 public:
  explicit CallTree(const Trace& trace) : trace_(trace), nesting_(trace.nesting()), parent_(nesting_.parent) {
    const u32 main = main_track(trace);
    const std::vector<u32> autograd = autograd_tracks(trace);
    for (const trace::Nesting::Thread& thread : nesting_.threads) {
      if (thread.track == main) main_ = thread;
      if (thread.track != main && std::ranges::binary_search(autograd, thread.track))
        callees_.push_back(thread);
    }
    self_.resize(parent_.size());
    for (u32 i = 0; i < parent_.size(); ++i) {
      self_[i] += trace_.dur[nesting_.order[i]];
      if (parent_[i] != kNone) self_[parent_[i]] -= trace_.dur[nesting_.order[i]];
    }
    for (const trace::Nesting::Thread& thread : callees_) find_callers(thread);
    add_up();
    link_forward();
  }

  u32 parent(u32 i) const { return parent_[i]; }
  i64 depth(u32 i) const { return depth_[i]; }
  // Siblings that overlap may be longer than what they are in.
  Ns self(u32 i) const { return std::max<Ns>(0, self_[i]); }
  const Below& below(u32 i) const { return below_[i]; }
  EventId forward(u32 i) const { return forward_[i]; }

 private:
  // Outermost spans of autograd's threads were called by the innermost span of the main thread around them.
  void find_callers(const trace::Nesting::Thread& thread) {
    u32 last = kNone;  // the last span of the main thread that has begun, or what is still open around it
    u32 next = main_.begin;
    for (u32 i = thread.begin; i < thread.end; ++i) {
      if (parent_[i] != kNone) continue;
      const EventId e = nesting_.order[i];
      while (next < main_.end && trace_.ts[nesting_.order[next]] <= trace_.ts[e]) last = next++;
      // What has ended by now has ended for all that follow.
      while (last != kNone && trace_.end(nesting_.order[last]) < trace_.ts[e]) last = nesting_.parent[last];
      u32 caller = last;
      while (caller != kNone && trace_.end(nesting_.order[caller]) < trace_.end(e))
        caller = nesting_.parent[caller];
      parent_[i] = caller;
    }
  }

  template <class F>
  void for_each_thread_main_first(F f) const {
    f(main_);
    for (const trace::Nesting::Thread& thread : nesting_.threads)
      if (thread.track != main_.track) f(thread);
  }

  void add_up() {
    const trace::DeviceWork& work = trace_.device_work();
    std::vector<u32> index(trace_.size(), kNone);
    for (u32 i = 0; i < nesting_.order.size(); ++i) index[nesting_.order[i]] = i;
    below_.resize(parent_.size());
    depth_.resize(parent_.size());
    for (u32 row = 0; row < work.event.size(); ++row)
      if (work.launch[row] != kNone)
        below_[index[work.launch[row]]].merge(
            {1, work.end[row] - work.start[row], work.start[row], work.end[row]});
    // Parents come before their children on a thread, and callers are on the main thread.
    std::vector<trace::Nesting::Thread> threads;
    for_each_thread_main_first([&](const trace::Nesting::Thread& thread) { threads.push_back(thread); });
    for (const trace::Nesting::Thread& thread : threads)
      for (u32 i = thread.begin; i < thread.end; ++i)
        if (parent_[i] != kNone) depth_[i] = depth_[parent_[i]] + 1;
    std::ranges::reverse(threads);
    for (const trace::Nesting::Thread& thread : threads)
      for (u32 i = thread.end; i-- > thread.begin;)
        if (parent_[i] != kNone) below_[parent_[i]].merge(below_[i]);
  }

  // As Kineto draws its arrows: autograd numbers what a forward operator leaves for the backward pass, and of
  // several operators with the number, one inside the other, the last to begin counts.
  void link_forward() {
    forward_.assign(parent_.size(), kNone);
    const auto is_operator =
        trace::per_kind(trace_, [](const Kind& k) { return k.category == Category::cpu_op; });
    std::unordered_map<i64, EventId> forward;  // by sequence number
    std::vector<std::pair<u32, i64>> backward;
    for (u32 i = 0; i < nesting_.order.size(); ++i) {
      const EventId e = nesting_.order[i];
      if (!is_operator[trace_.kind[e]]) continue;
      const auto number = trace_.integer(e, Arg::sequence_number);
      if (!number || *number < 0) continue;
      if (trace_.integer(e, Arg::fwd_thread_id).value_or(0) > 0) {
        backward.emplace_back(i, *number);
        continue;
      }
      const auto [found, is_new] = forward.try_emplace(*number, e);
      if (!is_new && trace_.ts[e] >= trace_.ts[found->second]) found->second = e;
    }
    for (const auto& [i, number] : backward)
      if (const auto found = forward.find(number); found != forward.end()) forward_[i] = found->second;
  }

  const Trace& trace_;
  const trace::Nesting& nesting_;
  trace::Nesting::Thread main_{kNone, 0, 0};
  std::vector<trace::Nesting::Thread> callees_;
  std::vector<u32> parent_;
  std::vector<Ns> self_;
  std::vector<i64> depth_;
  std::vector<Below> below_;
  std::vector<EventId> forward_;
};

Result<Table> map(const Trace& trace, const ParamValues&) {
  Table table(kCallTree.name, std::span(kColumns).subspan(1));
  const CallTree tree(trace);
  const trace::Nesting& nesting = trace.nesting();
  const Ns base = trace.info().base_ns;
  const auto position = [](EventId e) { return e == kNone ? Value() : Value(static_cast<i64>(e)); };
  for (u32 i = 0; i < nesting.order.size(); ++i) {
    const EventId e = nesting.order[i];
    const Below& below = tree.below(i);
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
        "belongs to its launch and to all spans that called that, so all kernels of a graph count. forward_event: the operator with the same Sequence number in "
        "the forward pass that begins last, as in Kineto's fwdbwd arrows. With --steps positions are those among the events of these steps. "
        "HTA (trace_call_graph) takes only a backward thread that is the only one, and annotations named ## backward ## or steps as its callers.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs | ArgSet{Arg::sequence_number, Arg::fwd_thread_id},
    .map = map,
    .on_request = true,
};

}  // namespace spotter::analyze

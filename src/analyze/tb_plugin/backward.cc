#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/tb_plugin/tree.h"
#include "base/stable_sort.h"
#include "base/text/utf8.h"
#include "trace/microseconds.h"

namespace spotter::analyze::tb_plugin {
namespace {

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function:",
                           kAccumulate =
                               "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";

// Backward roots that belong together. Each operator that starts at the time of their flow has them again;
// but a file may have any number of such.
constexpr i64 kMostUses = 100;
struct Group {
  std::vector<u32> roots;
  i64 uses = 0;
};

struct Flow {
  Us forward = 0, backward = 0;
};

// In the order in which their numbers come first; of several that begin at one time the last one counts.
std::vector<Flow> flows_of(const Trace& trace) {
  struct Ends {
    std::optional<Us> forward, backward;
  };
  std::vector<Ends> ends;
  std::unordered_map<i64, size_t> by_id;
  for (EventId e = 0; e < trace.size(); ++e) {
    const Kind& kind = trace.kind_of(e);
    if (kind.category != Category::flow_fwdbwd || (kind.phase != 's' && kind.phase != 'f')) continue;
    if (ascii_lower(trace.strings()[kind.category_text]) != "fwdbwd") continue;
    const auto [place, is_new] =
        by_id.try_emplace(trace.integer(e, Arg::flow_id).value_or(kNoId), ends.size());
    if (is_new) ends.emplace_back();
    (kind.phase == 's' ? ends[place->second].forward : ends[place->second].backward) =
        trace::microseconds(trace.ts[e]);
  }
  std::vector<Flow> flows;
  std::unordered_map<Us, size_t> by_start;
  for (const Ends& flow : ends) {
    if (!flow.forward || !flow.backward) continue;
    const auto [place, is_new] = by_start.try_emplace(*flow.forward, flows.size());
    if (is_new) flows.push_back({*flow.forward, 0});
    flows[place->second].backward = *flow.backward;
  }
  return flows;
}

class Backward {
 public:
  Backward(const Trace& trace, Tree& tree) : trace_(trace), tree_(tree) {}

  void attach() {
    const std::vector<Flow> flows = flows_of(trace_);
    if (flows.empty()) return;
    main_ = main_thread();
    find_roots();
    if (modules_.empty() || roots_.empty()) return;
    if (!assign(flows)) {
      tree_.aborts = true;
      return;
    }
    take_roots_out();
    add_modules();
    insert();
    std::erase_if(tree_.threads, [&](const Thread& t) { return tree_.nodes[t.root].children.empty(); });
  }

 private:
  Node& node(u32 i) { return tree_.nodes[i]; }
  bool is_backward_root(u32 i) { return name_of(trace_, node(i)).starts_with(kEvaluate); }

  // That with steps, the last one if there are several; else the longest without backward roots.
  u32 main_thread() {
    const std::vector<Thread>& threads = tree_.threads;
    u32 found = kNone;
    for (u32 t = 0; t < threads.size(); ++t)
      if (threads[t].has_steps) found = t;
    if (found != kNone || threads.size() == 1) return found == kNone ? 0 : found;
    const auto runs_backward = [&](const Thread& thread) {
      const std::vector<u32>& children = node(thread.root).children;
      return std::ranges::any_of(children, [&](u32 i) { return is_backward_root(i); });
    };
    const auto backward = std::ranges::find_if(threads, runs_backward);
    for (u32 t = 0; t < threads.size(); ++t) {
      if (backward != threads.end() && t == static_cast<u32>(backward - threads.begin())) continue;
      const auto length = [&](u32 thread) { return node(threads[thread].root).time.length(); };
      if (found == kNone || length(t) > length(found)) found = t;
    }
    return found;
  }

  // Modules and backward roots at the top of a thread and of its steps.
  void find_roots() {
    const auto look = [&](u32 i) {
      if (node(i).node_class == NodeClass::module) modules_.push_back(i);
      if (is_backward_root(i)) roots_.push_back(i);
    };
    for (const Thread& thread : tree_.threads) {
      for (const u32 child : node(thread.root).children) {
        look(child);
        if (node(child).node_class != NodeClass::step) continue;
        for (const u32 grandchild : node(child).children) look(grandchild);
      }
    }
    stable_sort(roots_, [&](u32 a, u32 b) { return node(a).time.start < node(b).time.start; });
  }

  // What accumulates a gradient goes with the root before it.
  std::map<u32, std::vector<u32>> groups() {
    std::map<u32, std::vector<u32>> groups;
    u32 first = kNone;
    for (const u32 root : roots_) {
      if (first == kNone || name_of(trace_, node(root)) != kAccumulate) first = root;
      groups[first].push_back(root);
    }
    return groups;
  }

  // Calls visit(i) for all that is in the node and for itself.
  template <class F>
  void for_all_in(u32 top, F visit) {
    std::vector<u32> open = {top};
    while (!open.empty()) {
      const u32 i = open.back();
      open.pop_back();
      visit(i);
      open.insert(open.end(), node(i).children.begin(), node(i).children.end());
    }
  }

  // False where a flow leads to a root that another one has, or to one that is not the first of its group.
  bool assign(const std::vector<Flow>& flows) {
    std::unordered_map<Us, u32> root_at;  // by the start of anything in it
    for (const u32 root : roots_)
      for_all_in(root, [&](u32 i) { root_at.try_emplace(node(i).time.start, root); });
    std::map<u32, std::vector<u32>> left = groups();
    for (const Flow& flow : flows) {
      const auto root = root_at.find(flow.backward);
      if (root == root_at.end()) continue;
      auto group = left.extract(root->second);
      if (!group) return false;
      group_of_.insert_or_assign(flow.forward, Group{std::move(group.mapped())});
    }
    return true;
  }

  void take_roots_out() {
    for (const u32 root : roots_) node(root).parent = kNone;
    const auto take = [&](u32 i) {
      std::erase_if(node(i).children, [&](u32 child) { return node(child).parent == kNone; });
    };
    for (const Thread& thread : tree_.threads) {
      take(thread.root);
      for (const u32 child : node(thread.root).children)
        if (node(child).node_class == NodeClass::step) take(child);
    }
  }

  u32 add_module(u32 parent) {
    const auto added = static_cast<u32>(tree_.nodes.size());
    Node& own = tree_.nodes.emplace_back();
    own.node_class = NodeClass::backward;
    own.parent = parent;
    return added;
  }

  // A node for each module, as they are in each other; those of which nothing runs backward do not stay.
  void add_modules() {
    const auto first = static_cast<u32>(tree_.nodes.size());
    std::vector<std::pair<u32, u32>> open;  // what to look through, and the node for what is found there
    for (const u32 module : modules_) open.emplace_back(module, add_module(kNone));
    while (!open.empty()) {
      const auto [around, added] = open.back();
      open.pop_back();
      for (size_t c = 0; c < node(around).children.size(); ++c) {
        const u32 i = node(around).children[c];
        if (node(i).node_class == NodeClass::module) {
          open.emplace_back(i, add_module(added));
          continue;
        }
        if (const auto group = group_of_.find(node(i).time.start);
            group != group_of_.end() && group->second.uses++ < kMostUses)
          node(added).children.insert(node(added).children.end(), group->second.roots.begin(),
                                      group->second.roots.end());
        open.emplace_back(i, added);
      }
    }
    for (auto added = static_cast<u32>(tree_.nodes.size()); added-- > first;)
      if (!node(added).children.empty()) finish(added);
  }

  void finish(u32 added) {
    std::vector<u32>& children = node(added).children;
    stable_sort(children, [&](u32 a, u32 b) {
      const UsInterval &x = node(a).time, &y = node(b).time;
      return x.start != y.start ? x.start < y.start : x.end > y.end;
    });
    node(added).time = {node(children.front()).time.start, node(children.back()).time.end};
    for (const u32 i : children) node(i).parent = added;
    if (const u32 parent = node(added).parent; parent != kNone)
      node(parent).children.push_back(added);
    else
      added_.push_back(added);
  }

  // Where the main thread waits for them. What is outside of its time is lost: of a trace with copies of the
  // marks of steps on the device's timeline the main thread is a stream (Q2).
  void insert() {
    const auto by_start = [&](u32 a, u32 b) { return node(a).time.start < node(b).time.start; };
    stable_sort(added_, by_start);
    const u32 root = tree_.threads[main_].root;
    for (const u32 added : added_) {
      if (node(added).time.end < node(root).time.start || node(added).time.start > node(root).time.end)
        continue;
      for (u32 around = root;;) {
        std::vector<u32>& children = node(around).children;
        const auto next = std::ranges::upper_bound(children, added, by_start);
        const bool is_inside =
            next != children.begin() && node(added).time.end <= node(*std::prev(next)).time.end;
        if (!is_inside) {
          children.insert(next, added);
          node(added).parent = around;
          break;
        }
        around = *std::prev(next);
      }
    }
  }

  const Trace& trace_;
  Tree& tree_;
  u32 main_ = kNone;
  std::vector<u32> modules_, roots_, added_;
  std::unordered_map<Us, Group> group_of_;  // by the start of a forward operator
};

}  // namespace

void attach_backward(const Trace& trace, Tree& tree) { Backward(trace, tree).attach(); }

}  // namespace spotter::analyze::tb_plugin

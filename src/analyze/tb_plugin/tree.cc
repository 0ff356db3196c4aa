#include "analyze/tb_plugin/tree.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/tb_plugin/tensor_cores.h"
#include "base/stable_sort.h"

namespace spotter::analyze::tb_plugin {
namespace {

// Other annotations have no place in the tree.
bool has_node(EventType type, std::string_view name) {
  switch (type) {
    case EventType::op:
    case EventType::python:
    case EventType::step:
    case EventType::module:
    case EventType::pl_module:
      return true;
    case EventType::annotation:
      return is_data_loader(name) || name.starts_with("Optimizer.step") || is_collective(name);
    default:
      return false;
  }
}

NodeClass class_of(EventType type, std::string_view name) {
  if (type == EventType::step) return NodeClass::step;
  if (type == EventType::module || type == EventType::pl_module) return NodeClass::module;
  if (is_data_loader(name)) return NodeClass::loader;
  return name.starts_with("Optimizer.step") ? NodeClass::optimizer : NodeClass::plain;
}

class Builder {
 public:
  Builder(const Trace& trace, const Events& events, const Launches& launches)
      : trace_(trace), events_(events), launches_(launches), tensor_(trace) {}

  Tree build() {
    add_nodes();
    give_launches();
    sum_launches();
    for (Thread& thread : tree_.threads) add_root(thread);
    for (size_t t = 0; t < tree_.threads.size(); ++t) {
      nest(of_thread_[t], tree_.threads[t].root);
      merge_repeated(of_thread_[t]);
      fill(of_thread_[t]);
      end_root(tree_.nodes[tree_.threads[t].root]);
    }
    return std::move(tree_);
  }

 private:
  void add_nodes() {
    for (const Event& event : events_.all) {
      const std::string_view name = trace_.name_of(event.id);
      if (!has_node(event.type, name)) continue;
      const u32 thread = thread_index(thread_of(trace_, event.id));
      of_thread_[thread].push_back(static_cast<u32>(tree_.nodes.size()));
      Node& node = tree_.nodes.emplace_back();
      node.event = event.id;
      node.node_class = class_of(event.type, name);
      node.has_operator_type = event.type == EventType::op;
      node.is_operator = node.has_operator_type && node.node_class == NodeClass::plain &&
                         name != "DataParallel.forward" && name != "DistributedDataParallel.forward" &&
                         !name.starts_with("Optimizer.");
      node.time = event.time;
      node.thread = thread;
      node.is_listed = node.is_eligible = is_tensor_operator(name);
      tree_.threads[thread].has_steps |= event.type == EventType::step;
    }
  }

  u32 thread_index(i64 tid) {
    const auto [found, is_new] = index_.try_emplace(tid, static_cast<u32>(tree_.threads.size()));
    if (is_new) {
      tree_.threads.push_back({.tid = tid});
      of_thread_.emplace_back();
    }
    return found->second;
  }

  // The first node of an id has all launches of it; those with id 0 are the root's of their thread.
  void give_launches() {
    std::unordered_map<i64, std::vector<u32>> by_id;
    for (u32 i = 0; i < launches_.all.size(); ++i) {
      if (launches_.all[i].event == kNone) continue;
      const EventId e = events_.all[launches_.all[i].event].id;
      const i64 id = external_id(trace_, e);
      (id == 0 ? of_root_[thread_of(trace_, e)] : by_id[id]).push_back(i);
    }
    for (const std::vector<u32>& nodes : of_thread_)
      for (const u32 node : nodes)
        if (auto launches = by_id.extract(external_id(trace_, tree_.nodes[node].event)))
          tree_.nodes[node].launches = std::move(launches.mapped());
  }

  void sum_launches() {
    for (const Launch& launch : launches_.all) {
      Sums& sums = sums_.emplace_back();
      for (const u32 i : launch.work) {
        const Event& work = events_.all[i];
        sums.device += work.time.length();
        if (work.type == EventType::kernel && tensor_.has(work.id)) sums.tensor += work.time.length();
      }
      if (launch.event != kNone) sums.host = events_.all[launch.event].time.length();
    }
  }

  void add_root(Thread& thread) {
    thread.root = static_cast<u32>(tree_.nodes.size());
    Node& root = tree_.nodes.emplace_back();
    root.node_class = NodeClass::root;
    root.thread = index_[thread.tid];
    if (const auto own = of_root_.find(thread.tid); own != of_root_.end()) root.launches = own->second;
    if (launches_.has_unlaunched && thread.has_steps)
      root.launches.push_back(static_cast<u32>(launches_.all.size() - 1));
  }

  // What overlaps the node that it begins in is dropped (Q10).
  void nest(std::vector<u32>& nodes, u32 root) {
    const auto order = [&](u32 i) { return std::tuple(tree_.nodes[i].time.start, -tree_.nodes[i].time.end); };
    stable_sort(nodes, [&](u32 a, u32 b) { return order(a) < order(b); });
    std::vector<u32> open = {root};
    for (const u32 i : nodes) {
      Node& node = tree_.nodes[i];
      while (open.back() != root && node.time.start >= tree_.nodes[open.back()].time.end) open.pop_back();
      if (open.back() != root && node.time.end > tree_.nodes[open.back()].time.end) continue;
      node.parent = open.back();
      tree_.nodes[open.back()].children.push_back(i);
      open.push_back(i);
    }
  }

  // An operator of which the only child is the same again keeps its time, and has the child's launches
  // instead of its own (Q11).
  void merge_repeated(const std::vector<u32>& nodes) {
    for (const u32 i : nodes) {
      Node& node = tree_.nodes[i];
      if (node.parent == kNone || !node.has_operator_type) continue;
      while (node.children.size() == 1) {
        Node& child = tree_.nodes[node.children[0]];
        if (!child.has_operator_type || trace_.name[child.event] != trace_.name[node.event]) break;
        child.parent = kNone;  // it is no part of the tree any more
        node.launches = std::move(child.launches);
        node.children = std::move(child.children);
        for (const u32 grandchild : node.children) tree_.nodes[grandchild].parent = i;
      }
    }
  }

  // From the last to the first, so that what is in a node comes before it.
  void fill(const std::vector<u32>& nodes) {
    for (size_t n = nodes.size(); n-- > 0;)
      if (tree_.nodes[nodes[n]].parent != kNone) fill(tree_.nodes[nodes[n]]);
  }

  void fill(Node& node) {
    node.host_self = node.time.length();
    for (const u32 i : node.children) {
      const Node& child = tree_.nodes[i];
      node.host_self -= child.time.length();
      node.device_total += child.device_total;
      node.tensor_total += child.tensor_total;
      node.is_eligible |= node.has_operator_type && child.is_eligible;
    }
    for (const u32 i : node.launches) {
      node.host_self -= sums_[i].host;
      node.device_self += sums_[i].device;
      node.device_total += sums_[i].device;
      node.tensor_self += sums_[i].tensor;
      node.tensor_total += sums_[i].tensor;
      node.is_eligible |= node.has_operator_type && sums_[i].tensor > 0;
    }
    if (node.node_class != NodeClass::module) return;
    for (const u32 i : node.children)
      if (tree_.nodes[i].is_operator) node.device_self += tree_.nodes[i].device_total;
  }

  void end_root(Node& root) {
    if (!root.children.empty())
      root.time = {tree_.nodes[root.children.front()].time.start, tree_.nodes[root.children.back()].time.end};
  }

  struct Sums {
    Us host = 0, device = 0, tensor = 0;
  };

  const Trace& trace_;
  const Events& events_;
  const Launches& launches_;
  TensorKernels tensor_;
  Tree tree_;
  std::vector<Sums> sums_;                             // per launch
  std::vector<std::vector<u32>> of_thread_;            // nodes, as they come
  std::unordered_map<i64, u32> index_;                 // of a thread, by number
  std::unordered_map<i64, std::vector<u32>> of_root_;  // launches with id 0, by the thread's number
};

}  // namespace

std::vector<u32> Tree::in_post_order() const {
  std::vector<u32> order, open;
  for (const Thread& thread : threads) open.push_back(thread.root);
  while (!open.empty()) {  // each before what is in it, and the last one first
    order.push_back(open.back());
    open.pop_back();
    const std::vector<u32>& children = nodes[order.back()].children;
    open.insert(open.end(), children.begin(), children.end());
  }
  std::ranges::reverse(order);
  return order;
}

std::string_view name_of(const Trace& trace, const Node& node) {
  if (node.node_class == NodeClass::root) return "CallTreeRoot";
  return node.event == kNone ? std::string_view() : trace.name_of(node.event);
}

void note_aborted(const Tree& tree, Notes& notes) {
  if (tree.aborts)
    notes.add(
        "no_plugin_numbers", Severity::info,
        "the plugin cannot read traces in which two operators of the forward pass lead to one backward root; "
        "these are its rules without that pass");
}

Tree tree_of(const Trace& trace, const Events& events, const Launches& launches) {
  Tree tree = Builder(trace, events, launches).build();
  attach_backward(trace, tree);
  return tree;
}

}  // namespace spotter::analyze::tb_plugin

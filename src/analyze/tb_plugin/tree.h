// The plugin's tree of operators, per thread: what is inside what by time, what launched what by External ids
// alone. From it come the tables of operators, kernels, modules and memory.
#pragma once
#include <string_view>
#include <vector>

#include "analyze/tb_plugin/launches.h"

namespace spotter::analyze::tb_plugin {

enum class NodeClass : u8 { plain, step, module, loader, optimizer, backward, root };

struct Node {
  EventId event = kNone;  // kNone: of a root, and of the backward pass of a module
  NodeClass node_class = NodeClass::plain;
  bool has_operator_type = false;  // EventType::op
  bool is_operator = false;        // one that tables count
  UsInterval time;
  u32 thread = 0;  // index into Tree::threads
  u32 parent = kNone;
  std::vector<u32> children, launches;  // by start; of Tree::nodes and Launches::all

  Us host_self = 0, device_self = 0, device_total = 0, tensor_self = 0, tensor_total = 0;
  bool is_listed = false;    // may use tensor cores by its name
  bool is_eligible = false;  // or by what it launched, or by what is in it
};

struct Thread {
  i64 tid = 0;
  u32 root = 0;
  bool has_steps = false;
};

// Thread numbers are told apart without their processes, as a stream's is, too.
struct Tree {
  std::vector<Node> nodes;
  std::vector<Thread> threads;  // by their first events; without those that the backward pass emptied
  bool aborts = false;          // the plugin gives up on such a trace (Q7); here nothing is attached again
  // All that is in the threads, each after what is in it.
  std::vector<u32> in_post_order() const;
};

Tree tree_of(const Trace& trace, const Events& events, const Launches& launches);

std::string_view name_of(const Trace& trace, const Node& node);  // "CallTreeRoot" of a root

// Says that the plugin shows nothing of such a trace, if so.
void note_aborted(const Tree& tree, Notes& notes);

// Moves the operators of the backward pass below new nodes, one per module, in the main thread: those that a
// flow says belong to an operator of the module. The others are lost, as there. (backward.cc)
void attach_backward(const Trace& trace, Tree& tree);

}  // namespace spotter::analyze::tb_plugin

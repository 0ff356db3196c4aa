#include "analyze/kernels/sequence_finder.h"

#include <algorithm>
#include <numeric>

namespace spotter::analyze {

u32 SequenceFinder::add(std::span<const StringId> sequence) {
  u32 node = 0;
  for (const StringId name : sequence) {
    const auto [next, is_new] = next_.try_emplace(key_of(node, name), static_cast<u32>(nodes_.size()));
    if (is_new) nodes_.push_back({.before = node, .name = name, .length = nodes_[node].length + 1});
    node = next->second;
  }
  if (nodes_[node].sequence == kNone) nodes_[node].sequence = sequences_++;
  return nodes_[node].sequence;
}

void SequenceFinder::finish() {
  std::vector<u32> by_length(nodes_.size());
  std::iota(by_length.begin(), by_length.end(), u32{0});
  std::ranges::sort(by_length, {}, [&](u32 node) { return nodes_[node].length; });
  for (const u32 at : by_length) {
    Node& node = nodes_[at];
    if (node.length > 1) node.fallback = step(nodes_[node.before].fallback, node.name);
    node.found = node.sequence != kNone ? at : nodes_[node.fallback].found;
  }
}

u32 SequenceFinder::step(u32 node, StringId name) const {
  for (;; node = nodes_[node].fallback) {
    if (const auto next = next_.find(key_of(node, name)); next != next_.end()) return next->second;
    if (node == 0) return 0;
  }
}

}  // namespace spotter::analyze

// A mixture of experts: each token's activations go to the rank that has its expert, and back. Each rank has
// one expert, and as many tokens come as go.
#include "simulate/transformer.h"

namespace spotter::simulate {
namespace {

// Activations in the order of the ranks that they go to, or as they were.
DeviceWork permutation(i64 tokens, i64 hidden) {
  return {
      .name =
          "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>",
      .ns = memory_bound_ns(2 * tokens * hidden * kElementBytes),
      .blocks = 4 * kProcessors,
      .threads = 128,
      .in_layer = true};
}

}  // namespace

void Transformer::change_experts(Saved& saved, bool to_them) {
  if (!has_experts_) return;
  const auto permute = [&] {
    const auto select =
        b_.operation("aten::index_select", shapes({{tokens_, hidden_}, {}, {tokens_}}), node(saved));
    b_.launch(permutation(tokens_, hidden_));
  };
  if (to_them) permute();
  b_.end_graph();
  exchange_();
  b_.begin_graph();
  if (!to_them) permute();
}

void Transformer::change_experts_backward(Saved& saved, bool to_them) {
  if (!has_experts_) return;
  const auto permute = [&] {
    const u32 number = take_node(saved);
    const auto engine = b_.backward_engine("IndexSelectBackward0", number);
    const auto node = b_.backward_node("IndexSelectBackward0", number);
    const auto add =
        b_.operation("aten::index_add_", shapes({{tokens_, hidden_}, {}, {tokens_}, {tokens_, hidden_}, {}}));
    b_.launch(permutation(tokens_, hidden_));
  };
  if (!to_them) permute();
  b_.end_graph();
  exchange_();
  b_.begin_graph();
  if (to_them) permute();
}

}  // namespace spotter::simulate

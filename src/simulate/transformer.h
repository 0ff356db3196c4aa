// Transformer: the layers of a pipeline stage, forward and backward, as the operators of PyTorch and the
// kernels that they start. What a micro-batch's forward pass leaves for its backward pass is in `Saved`.
#pragma once
#include <functional>
#include <optional>

#include "simulate/builder.h"

namespace spotter::simulate {

class Transformer {
 public:
  struct Saved {
    std::vector<u32> nodes, allocations;
  };

  // `grad_ready` is called with the bytes of each gradient, and whether it is an expert's, when the host may
  // say so; `reduce`, for a tensor that the tensor-parallel ranks add up; `exchange`, where tokens go to
  // their experts or come back.
  Transformer(const Spec& spec, Builder& builder, std::function<void()> reduce,
              std::function<void()> exchange, std::function<void(i64, bool)> grad_ready);

  void embedding(Saved& saved);
  void attention(i64 layer, Saved& saved);
  void perceptron(i64 layer, Saved& saved);
  void loss(Saved& saved);
  void activate_again();  // of no use; its result is thrown away

  // In the opposite order.
  void loss_backward(Saved& saved, bool accumulates);
  void perceptron_backward(Saved& saved, bool accumulates);
  void attention_backward(Saved& saved, bool accumulates);
  void embedding_backward(Saved& saved, bool accumulates);

  void end_backward();    // of a micro-batch: what its last gradient took is free
  void free_gradients();  // of the weights

  i64 layer_parameters() const { return 12 * hidden_ * hidden_ / tensor_; }
  i64 vocabulary_parameters() const { return kVocabulary * hidden_ / tensor_; }
  i64 activation_elements() const { return tokens_ * hidden_; }
  i64 shards() const { return shards_; }  // that a weight is cut into

  // Where all memory is recorded; else it is none.
  using Memory = std::optional<u32>;
  Memory allocate(i64 bytes, MemoryUse use);
  void free(Memory& memory);

 private:
  void norm(Saved& saved);
  void change_experts(Saved& saved, bool to_them);
  void change_experts_backward(Saved& saved, bool to_them);
  void linear(i64 in, i64 out, Saved& saved, i32 module);
  void elementwise(const char* op, const char* functor, i64 elements, i64 tensors, Saved& saved, bool keeps);
  void norm_backward(Saved& saved, bool accumulates);
  void linear_backward(i64 in, i64 out, Saved& saved, bool accumulates);
  void elementwise_backward(const char* node, const char* op, const char* functor, i64 elements, i64 tensors,
                            Saved& saved, bool keeps);
  void keep(i64 elements, Saved& saved);
  void release(Saved& saved);
  void gradient(i64 elements, bool accumulates);
  Memory next_gradient(i64 elements);  // of an activation, made from the one before, which it returns
  void weight_gradient(i64 elements, bool accumulates);
  void product(i64 m, i64 n, i64 k, const char* layout);
  struct Heads {
    i64 count, width;
  };
  Heads heads() const;
  void multiply_pairs(i64 products);  // of queries and keys, causal
  // With --all-shapes, else empty.
  std::string attention_arguments() const;
  std::string attention_backward_arguments() const;
  u32 node(Saved& saved);
  static u32 take_node(Saved& saved);

  Builder& b_;
  std::function<void()> reduce_, exchange_;
  std::function<void(i64, bool)> grad_ready_;
  i64 tokens_, hidden_, tensor_, shards_;
  bool memory_, all_memory_, all_shapes_, has_experts_;
  bool in_experts_ = false;
  Memory activation_gradient_, added_gradient_;  // the latter is added to what earlier micro-batches made
  std::vector<Memory> weight_gradients_;
};

}  // namespace spotter::simulate

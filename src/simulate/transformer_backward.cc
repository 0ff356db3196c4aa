// The backward half of the layers: the autograd engine's nodes in the opposite order.
#include <utility>

#include "simulate/hash.h"
#include "simulate/transformer.h"

namespace spotter::simulate {

Transformer::Memory Transformer::next_gradient(i64 elements) {
  return std::exchange(activation_gradient_, allocate(elements * kElementBytes, MemoryUse::temporaries));
}

void Transformer::weight_gradient(i64 elements, bool accumulates) {
  const i64 bytes = elements / shards_ * kElementBytes;
  if (accumulates)
    added_gradient_ = allocate(bytes, MemoryUse::temporaries);
  else
    weight_gradients_.push_back(allocate(bytes, MemoryUse::gradients));
}

void Transformer::end_backward() { free(activation_gradient_); }

void Transformer::free_gradients() {
  for (Memory& memory : weight_gradients_) free(memory);
  weight_gradients_.clear();
}

void Transformer::gradient(i64 elements, bool accumulates) {
  {
    const auto engine = b_.backward_engine("torch::autograd::AccumulateGrad", 0);
    const auto node = b_.operation("torch::autograd::AccumulateGrad");
    if (accumulates) {
      const auto add = b_.operation("aten::add_", shapes({{elements}, {elements}, {}}));
      b_.launch(
          {.name =
               "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >"
               "(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
           .ns = memory_bound_ns(elements * 3 * kElementBytes),
           .blocks = (elements + 511) / 512,
           .threads = 128,
           .registers = 26,
           .in_layer = true});
      free(added_gradient_);
    } else {
      const auto detach = b_.operation("aten::detach", shapes({{elements}}));
    }
  }
  grad_ready_(elements * kElementBytes, in_experts_);
}

void Transformer::linear_backward(i64 in, i64 out, Saved& saved, bool accumulates) {
  {
    const u32 number = take_node(saved);
    const auto engine = b_.backward_engine("AddmmBackward0", number);
    const auto node = b_.backward_node("AddmmBackward0", number);
    Memory used;
    {
      const auto t = b_.operation("aten::t", shapes({{in, out}}));
      const auto transpose = b_.operation("aten::transpose", shapes({{in, out}, {}, {}}));
    }
    {
      const auto mm = b_.operation("aten::mm", shapes({{tokens_, out}, {out, in}}));
      used = next_gradient(tokens_ * in);
      product(tokens_, in, out, "nn");
    }
    {
      const auto mm = b_.operation("aten::mm", shapes({{in, tokens_}, {tokens_, out}}));
      weight_gradient(in * out, accumulates);
      product(in, out, tokens_, "nt");
    }
    free(used);
    release(saved);
  }
  gradient(in * out, accumulates);
}

void Transformer::norm_backward(Saved& saved, bool accumulates) {
  {
    const u32 number = take_node(saved);
    const auto engine = b_.backward_engine("NativeLayerNormBackward0", number);
    const auto node = b_.backward_node("NativeLayerNormBackward0", number);
    const auto native = b_.operation("aten::native_layer_norm_backward",
                                     shapes({{tokens_, hidden_}, {tokens_, hidden_}, {}, {}, {}, {}, {}}));
    Memory used = next_gradient(tokens_ * hidden_);
    weight_gradient(2 * hidden_, accumulates);
    b_.launch(
        {.name =
             "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float, false>"
             "(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, int)",
         .ns = memory_bound_ns(3 * tokens_ * hidden_ * kElementBytes),
         .blocks = tokens_,
         .threads = 128,
         .registers = 40,
         .in_layer = true});
    b_.launch(
        {.name =
             "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16, float, 32u, 8u, 64u, true, true, false>"
             "(long, long, c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16*, c10::BFloat16*)",
         .ns = memory_bound_ns(2 * tokens_ * hidden_ * kElementBytes),
         .blocks = (hidden_ + 31) / 32,
         .threads = 256,
         .registers = 56,
         .in_layer = true});
    free(used);
    release(saved);
  }
  gradient(2 * hidden_, accumulates);
}

void Transformer::elementwise_backward(const char* name, const char* op, const char* functor, i64 elements,
                                       i64 tensors, Saved& saved, bool keeps) {
  const u32 number = take_node(saved);
  const auto engine = b_.backward_engine(name, number);
  const auto node = b_.backward_node(name, number);
  if (op) {
    const auto span = b_.operation(op, shapes({{tokens_, elements / tokens_}, {}}));
    Memory used = next_gradient(elements);
    b_.launch(
        {.name = fmt::format(
             "void at::native::vectorized_elementwise_kernel<4, at::native::{}, std::array<char*, {}ul> >"
             "(int, at::native::{}, std::array<char*, {}ul>)",
             functor, tensors, functor, tensors),
         .ns = memory_bound_ns(elements * tensors * kElementBytes),
         .blocks = (elements + 511) / 512,
         .threads = 128,
         .registers = 26,
         .in_layer = true});
    free(used);
  }
  if (keeps) release(saved);
}

void Transformer::loss_backward(Saved& saved, bool accumulates) {
  const i64 width = kVocabulary / tensor_;
  {
    const u32 number = take_node(saved);
    const auto engine = b_.backward_engine("LogSoftmaxBackward0", number);
    const auto node = b_.backward_node("LogSoftmaxBackward0", number);
    const auto op = b_.operation("aten::_log_softmax_backward_data",
                                 shapes({{tokens_, width}, {tokens_, width}, {}, {}}));
    Memory used = next_gradient(tokens_ * width);
    b_.launch(
        {.name =
             "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, c10::BFloat16, float, c10::BFloat16, "
             "at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(c10::BFloat16*, c10::BFloat16 const*, c10::BFloat16 const*, long)",
         .ns = memory_bound_ns(3 * tokens_ * width * kElementBytes),
         .blocks = tokens_,
         .threads = 1024,
         .registers = 32});
    free(used);
  }
  linear_backward(hidden_, width, saved, accumulates);
}

void Transformer::perceptron_backward(Saved& saved, bool accumulates) {
  const i64 width = 4 * hidden_ / tensor_;
  b_.begin_graph();
  elementwise_backward("AddBackward0", nullptr, "", 0, 0, saved, true);
  change_experts_backward(saved, false);
  in_experts_ = has_experts_;
  linear_backward(width, hidden_, saved, accumulates);
  elementwise_backward(
      "GeluBackward0", "aten::gelu_backward",
      "GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda(c10::BFloat16, c10::BFloat16)#1}",
      tokens_ * width, 3, saved, true);
  linear_backward(hidden_, width, saved, accumulates);
  in_experts_ = false;
  change_experts_backward(saved, true);
  b_.end_graph();
  reduce_();
  b_.begin_graph();
  norm_backward(saved, accumulates);
  b_.end_graph();
}

void Transformer::attention_backward(Saved& saved, bool accumulates) {
  const i64 width = hidden_ / tensor_;
  b_.begin_graph();
  elementwise_backward("AddBackward0", "aten::add", "CUDAFunctor_add<c10::BFloat16>", tokens_ * hidden_, 3,
                       saved, true);
  linear_backward(width, hidden_, saved, accumulates);
  {
    const u32 number = take_node(saved);
    const auto engine = b_.backward_engine("ScaledDotProductFlashAttentionBackward0", number);
    const auto node = b_.backward_node("ScaledDotProductFlashAttentionBackward0", number);
    const auto op =
        b_.operation("aten::_scaled_dot_product_flash_attention_backward", attention_backward_arguments());
    const auto inner = b_.operation("aten::_flash_attention_backward");
    Memory used = next_gradient(3 * tokens_ * width);
    constexpr i64 kProducts = 5;  // with the scores, once more
    multiply_pairs(kProducts);
    b_.launch(
        {.name =
             "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, false, false, "
             "cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 8, cutlass::bfloat16_t> >, false, true, false, false, true, true, false>"
             "(pytorch_flash::Flash_bwd_params)",
         .ns = stretched(matrix_product_ns(tokens_, kTokens, width), 3.6),
         .blocks = tokens_ / 128 * std::max(width / kHeadWidth, i64{1}),
         .threads = 256,
         .registers = 255,
         .shared_bytes = 147'456,
         .in_layer = true});
    free(used);
    release(saved);
  }
  linear_backward(hidden_, 3 * width, saved, accumulates);
  b_.end_graph();
  reduce_();
  b_.begin_graph();
  norm_backward(saved, accumulates);
  b_.end_graph();
}

void Transformer::embedding_backward(Saved& saved, bool accumulates) {
  {
    const u32 number = take_node(saved);
    const auto engine = b_.backward_engine("EmbeddingBackward0", number);
    const auto node = b_.backward_node("EmbeddingBackward0", number);
    const auto op =
        b_.operation("aten::embedding_dense_backward", shapes({{tokens_, hidden_}, {tokens_}, {}, {}, {}}));
    weight_gradient(kVocabulary * hidden_ / tensor_, accumulates);
    b_.launch(
        {.name =
             "void at::native::(anonymous namespace)::compute_grad_weight<c10::BFloat16, long>(long const*, c10::BFloat16 const*, long const*, long, long)",
         .ns = memory_bound_ns(4 * tokens_ * hidden_ * kElementBytes),
         .blocks = 4 * kProcessors,
         .threads = 64});
    release(saved);
  }
  gradient(kVocabulary * hidden_ / tensor_, accumulates);
}

}  // namespace spotter::simulate

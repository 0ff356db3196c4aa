#include "simulate/transformer.h"

#include "simulate/hash.h"

namespace spotter::simulate {
namespace {

DeviceWork elementwise_kernel(const char* functor, i64 elements, i64 tensors) {
  return {.name = fmt::format(
              "void at::native::vectorized_elementwise_kernel<4, at::native::{}, std::array<char*, {}ul> >"
              "(int, at::native::{}, std::array<char*, {}ul>)",
              functor, tensors, functor, tensors),
          .ns = memory_bound_ns(elements * tensors * kElementBytes),
          .blocks = (elements + 511) / 512,
          .threads = 128,
          .registers = 26,
          .in_layer = true};
}

constexpr i64 kWorkspaceBytes = 4 << 20;  // of a matrix product

constexpr const char* kGelu =
    "GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda(c10::BFloat16)#1}";
constexpr const char* kAdd = "CUDAFunctor_add<c10::BFloat16>";

}  // namespace

Transformer::Transformer(const Spec& spec, Builder& builder, std::function<void()> reduce,
                         std::function<void()> exchange, std::function<void(i64, bool)> grad_ready)
    : b_(builder),
      reduce_(std::move(reduce)),
      exchange_(std::move(exchange)),
      grad_ready_(std::move(grad_ready)),
      tokens_(spec.batch * kTokens),
      hidden_(spec.hidden),
      tensor_(spec.tensor),
      shards_(spec.sharding == Sharding::fsdp ? spec.data() : 1),
      memory_(spec.memory_events || spec.all_memory_events),
      all_memory_(spec.all_memory_events),
      all_shapes_(spec.all_shapes),
      has_experts_(spec.expert > 1) {}

u32 Transformer::node(Saved& saved) {
  saved.nodes.push_back(b_.new_node());
  return saved.nodes.back();
}

u32 Transformer::take_node(Saved& saved) {
  const u32 node = saved.nodes.back();
  saved.nodes.pop_back();
  return node;
}

void Transformer::keep(i64 elements, Saved& saved) {
  if (memory_) saved.allocations.push_back(b_.allocate(elements * kElementBytes));
}

void Transformer::release(Saved& saved) {
  if (!memory_) return;
  b_.free(saved.allocations.back());
  saved.allocations.pop_back();
}

Transformer::Memory Transformer::allocate(i64 bytes, MemoryUse use) {
  constexpr i64 kPiece = 512;  // of PyTorch's allocator
  return all_memory_ ? Memory(b_.allocate((bytes + kPiece - 1) / kPiece * kPiece, use)) : std::nullopt;
}

void Transformer::free(Memory& memory) {
  if (memory) b_.free(*memory);
  memory.reset();
}

// As wide as usual where that divides the rank's part of the model.
Transformer::Heads Transformer::heads() const {
  const i64 width = hidden_ / tensor_;
  const i64 count = width % kHeadWidth == 0 ? width / kHeadWidth : 1;
  return {count, width / count};
}

void Transformer::multiply_pairs(i64 products) {
  const auto [count, width] = heads();
  const i64 pairs = kTokens * (kTokens + 1) / 2;
  b_.multiply(products * tokens_ / kTokens * count * pairs * width);
}

// query, key, value, dropout_p, is_causal, return_debug_mask, scale
std::string Transformer::attention_arguments() const {
  if (!all_shapes_) return {};
  const std::vector<i64> dims = {tokens_ / kTokens, heads().count, kTokens, heads().width};
  return arguments({{dims}, {dims}, {dims}, {{}, "0."}, {{}, "True"}, {{}, "False"}, {}});
}

// grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal,
// philox_seed, philox_offset, scale
std::string Transformer::attention_backward_arguments() const {
  if (!all_shapes_) return {};
  const std::vector<i64> dims = {tokens_ / kTokens, heads().count, kTokens, heads().width};
  const std::string length = std::to_string(kTokens);
  return arguments({{dims},
                    {dims},
                    {dims},
                    {dims},
                    {dims},
                    {{dims[0], dims[1], kTokens}},
                    {},
                    {},
                    {{}, length},
                    {{}, length},
                    {{}, "0."},
                    {{}, "True"},
                    {},
                    {},
                    {}});
}

void Transformer::product(i64 m, i64 n, i64 k, const char* layout) {
  b_.multiply(m * n * k);
  b_.launch({.name = fmt::format(
                 "sm90_xmma_gemm_bf16bf16_bf16f32_f32_{}_n_tilesize128x128x64_warpgroupsize2x1x1_execute_"
                 "segment_k_off_kernel__5x_cublas",
                 layout),
             .ns = matrix_product_ns(m, n, k),
             .blocks = ((m + 127) / 128) * ((n + 127) / 128),
             .threads = 384,
             .registers = 168,
             .shared_bytes = 213'504,
             .in_layer = true,
             .is_product = true},
            Call::launch_kernel_ex);
}

void Transformer::linear(i64 in, i64 out, Saved& saved, i32 module) {
  const auto python = b_.python(fmt::format("nn.Module: Linear_{}", module), module);
  const auto forward = b_.python("torch/nn/modules/linear.py(134): forward");
  const auto linear = b_.operation("aten::linear", shapes({{tokens_, in}, {out, in}, {out}}));
  {
    const auto t = b_.operation("aten::t", shapes({{out, in}}));
    const auto transpose = b_.operation("aten::transpose", shapes({{out, in}, {}, {}}));
  }
  const auto addmm =
      b_.operation("aten::addmm", shapes({{out}, {tokens_, in}, {in, out}, {}, {}}), node(saved));
  keep(tokens_ * out, saved);
  Memory workspace = allocate(kWorkspaceBytes, MemoryUse::temporaries);
  product(tokens_, out, in, "tn");
  free(workspace);
}

void Transformer::norm(Saved& saved) {
  const auto forward = b_.python("torch/nn/modules/normalization.py(217): forward");
  const auto norm =
      b_.operation("aten::layer_norm", shapes({{tokens_, hidden_}, {}, {hidden_}, {hidden_}, {}, {}}));
  const auto native = b_.operation("aten::native_layer_norm",
                                   shapes({{tokens_, hidden_}, {}, {hidden_}, {hidden_}, {}}), node(saved));
  keep(tokens_ * hidden_, saved);
  b_.launch(
      {.name =
           "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float, "
           "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
       .ns = memory_bound_ns(2 * tokens_ * hidden_ * kElementBytes),
       .blocks = tokens_,
       .threads = 128,
       .registers = 40,
       .shared_bytes = 24,
       .in_layer = true});
}

void Transformer::elementwise(const char* op, const char* functor, i64 elements, i64 tensors, Saved& saved,
                              bool keeps) {
  const auto span = b_.operation(op, shapes({{tokens_, elements / tokens_}, {}}), node(saved));
  if (keeps) keep(elements, saved);
  b_.launch(elementwise_kernel(functor, elements, tensors));
}

void Transformer::embedding(Saved& saved) {
  const auto python = b_.python("nn.Module: Embedding_0", 0);
  const auto span =
      b_.operation("aten::embedding", shapes({{kVocabulary, hidden_}, {tokens_}, {}, {}, {}}), node(saved));
  const auto select = b_.operation("aten::index_select", shapes({{kVocabulary, hidden_}, {}, {tokens_}}));
  keep(tokens_ * hidden_, saved);
  b_.launch(
      {.name =
           "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>",
       .ns = memory_bound_ns(2 * tokens_ * hidden_ * kElementBytes),
       .blocks = 4 * kProcessors,
       .threads = 128});
}

void Transformer::attention(i64 layer, Saved& saved) {
  const i64 width = hidden_ / tensor_;
  const auto module = static_cast<i32>(layer * 4);
  const auto python = b_.python(fmt::format("nn.Module: SelfAttention_{}", layer), module);
  b_.begin_graph();
  norm(saved);
  linear(hidden_, 3 * width, saved, module + 1);
  {
    const auto sdpa =
        b_.operation("aten::scaled_dot_product_attention",
                     shapes({{tokens_ / kTokens, width / kHeadWidth, kTokens, kHeadWidth}, {}, {}}));
    const auto flash =
        b_.operation("aten::_scaled_dot_product_flash_attention", attention_arguments(), node(saved));
    const auto forward = b_.operation("aten::_flash_attention_forward");
    constexpr i64 kProducts = 2;
    multiply_pairs(kProducts);
    keep(tokens_ * width, saved);
    b_.launch(
        {.name =
             "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t, "
             "Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, true, false, false, true, true, false>"
             "(pytorch_flash::Flash_fwd_params)",
         .ns = stretched(matrix_product_ns(tokens_, kTokens, width), 1.4),
         .blocks = tokens_ / 128 * std::max(width / kHeadWidth, i64{1}),
         .threads = 128,
         .registers = 255,
         .shared_bytes = 65'536,
         .in_layer = true});
  }
  linear(width, hidden_, saved, module + 2);
  b_.end_graph();
  reduce_();
  b_.begin_graph();
  elementwise("aten::add", kAdd, tokens_ * hidden_, 3, saved, true);
  b_.end_graph();
}

void Transformer::perceptron(i64 layer, Saved& saved) {
  const i64 width = 4 * hidden_ / tensor_;
  const auto module = static_cast<i32>(layer * 4 + 2);
  const auto python = b_.python(fmt::format("nn.Module: FeedForward_{}", layer), module);
  b_.begin_graph();
  norm(saved);
  change_experts(saved, true);
  linear(hidden_, width, saved, module + 1);
  elementwise("aten::gelu", kGelu, tokens_ * width, 2, saved, true);
  linear(width, hidden_, saved, module + 2);
  change_experts(saved, false);
  b_.end_graph();
  reduce_();
  b_.begin_graph();
  elementwise("aten::add", kAdd, tokens_ * hidden_, 3, saved, true);
  b_.end_graph();
}

void Transformer::activate_again() {
  const i64 width = 4 * hidden_ / tensor_;
  const auto span = b_.operation("aten::gelu", shapes({{tokens_, width}, {}}));
  b_.launch(elementwise_kernel(kGelu, tokens_ * width, 2));
}

void Transformer::loss(Saved& saved) {
  const i64 width = kVocabulary / tensor_;
  linear(hidden_, width, saved, 1);
  const auto loss =
      b_.operation("aten::cross_entropy_loss", shapes({{tokens_, width}, {tokens_}, {}, {}, {}, {}}));
  const auto softmax = b_.operation("aten::log_softmax", shapes({{tokens_, width}, {}, {}}));
  const auto inner = b_.operation("aten::_log_softmax", shapes({{tokens_, width}, {}, {}}), node(saved));
  b_.launch(
      {.name =
           "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, c10::BFloat16, "
           "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(c10::BFloat16*, c10::BFloat16 const*, int)",
       .ns = memory_bound_ns(3 * tokens_ * width * kElementBytes),
       .blocks = tokens_,
       .threads = 1024,
       .registers = 32});
}

}  // namespace spotter::simulate

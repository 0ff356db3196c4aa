// What a rank does in one iteration of inference.
#include <algorithm>

#include "simulate/builder.h"
#include "simulate/hash.h"
#include "simulate/inference.h"

namespace spotter::simulate {
namespace {

constexpr Ns kSchedule = 70'000;       // the scheduler chooses requests
constexpr Ns kPrepareInputs = 25'000;  // before each copy of them
constexpr i64 kBlockTokens = 16;       // of the cache of keys and values

// As fast as the product can be computed, or its weights read.
Ns product_ns(i64 m, i64 n, i64 k) {
  return std::max(matrix_product_ns(m, n, k), memory_bound_ns(n * k * kElementBytes));
}

class IterationWriter {
 public:
  IterationWriter(const Spec& spec, Program& program)
      : spec_(spec), b_(spec, program), width_(spec.hidden / spec.tensor) {}

  void write() {
    b_.work(kSchedule);
    const auto python = b_.python("vllm/v1/worker/gpu_worker.py(551): execute_model");
    const auto step = b_.step();
    prepare_inputs();
    for (const When phase : {When::prefill, When::decode}) b_.for_phase(phase, [&] { forward(phase); });
    sample();
    b_.item();
  }

 private:
  // Token ids, positions, the blocks of the cache.
  void prepare_inputs() {
    const auto python = b_.python("vllm/v1/worker/gpu_model_runner.py(1241): _prepare_inputs");
    for (const i64 bytes :
         {kPromptTokens * 4, kPromptTokens * 8, spec_.batch * kPromptTokens / kBlockTokens * 4}) {
      const auto copy = b_.operation("aten::copy_");
      b_.work(kPrepareInputs);
      b_.launch({.name = "Memcpy HtoD (Pinned -> Device)",
                 .kind = DeviceKind::copy,
                 .ns = host_copy_ns(bytes),
                 .bytes = bytes},
                Call::memcpy_async);
    }
  }

  void forward(When phase) {
    const auto python = b_.python("vllm/v1/worker/gpu_model_runner.py(2390): _model_forward");
    is_prefill_ = phase == When::prefill;
    tokens_ = is_prefill_ ? kPromptTokens : spec_.batch;  // graphs are padded to the whole batch
    is_piecewise_ = spec_.cuda_graphs;
    const bool is_one_graph = !is_prefill_ && !spec_.cuda_graphs && !spec_.eager;
    if (is_one_graph) b_.open_graph();
    begin_piece();
    embedding();
    for (i64 layer = 0; layer < spec_.layers; ++layer) {
      before_attention();
      end_piece();
      attention();
      begin_piece();
      after_attention();
    }
    norm("_C::fused_add_rms_norm", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>");
    end_piece();
    if (is_one_graph) b_.end_graph();
  }

  void begin_piece() {
    if (is_piecewise_) b_.open_graph();
  }
  void end_piece() {
    if (is_piecewise_) b_.end_graph();
  }

  void run(const char* operation, DeviceWork work) {
    const auto op = b_.operation(operation);
    b_.launch(work);
  }

  // Reads and writes so many elements.
  void elementwise(const char* operation, std::string kernel, i64 elements) {
    run(operation, {.name = std::move(kernel),
                    .ns = memory_bound_ns(elements * kElementBytes),
                    .blocks = tokens_,
                    .threads = 512,
                    .in_layer = true});
  }

  void norm(const char* operation, const char* kernel) {
    elementwise(operation, kernel, 3 * tokens_ * spec_.hidden);
  }

  void product(i64 n, i64 k) {
    const auto linear = b_.operation("aten::linear", shapes({{tokens_, k}, {n, k}, {}}));
    const auto mm = b_.operation("aten::mm", shapes({{tokens_, k}, {k, n}}));
    b_.launch({.name = fmt::format("nvjet_tst_{}x64_64x9_2x1_v_bz_TNT", is_prefill_ ? 256 : 64),
               .ns = product_ns(tokens_, n, k),
               .blocks = kProcessors,
               .threads = 384,
               .registers = 168,
               .shared_bytes = 213'504,
               .in_layer = true},
              Call::launch_kernel_ex);
  }

  void embedding() {
    run("aten::embedding",
        {.name = "void at::native::(anonymous namespace)::vectorized_gather_kernel<16, long>",
         .ns = memory_bound_ns(2 * tokens_ * spec_.hidden * kElementBytes),
         .blocks = tokens_});
  }

  void before_attention() {
    norm("_C::rms_norm", "void vllm::rms_norm_kernel<c10::BFloat16, 8>");
    product(3 * width_, spec_.hidden);
    elementwise("_C::rotary_embedding", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>",
                4 * tokens_ * width_);
  }

  // A prompt's tokens see each other; a new token sees all of its request, whose cache is read.
  void attention() {
    const auto op = b_.operation("vllm::unified_attention_with_output");
    elementwise("_C_cache_ops::reshape_and_cache_flash",
                "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>",
                4 * tokens_ * width_);
    const Ns ns = is_prefill_ ? stretched(matrix_product_ns(tokens_, tokens_, width_), 1.4)
                              : memory_bound_ns(2 * tokens_ * kPromptTokens * width_ * kElementBytes);
    run("_vllm_fa3_C::fwd",
        {.name = is_prefill_ ? "void flash::FlashAttnFwdSm90<bfloat16, 128, paged>"
                             : "void flash::FlashAttnFwdSplitKVSm90<bfloat16, 128, paged>",
         .ns = ns,
         .blocks = kProcessors,
         .threads = 384,
         .registers = 168,
         .in_layer = true});
  }

  void after_attention() {
    product(spec_.hidden, width_);
    reduce();
    norm("_C::fused_add_rms_norm", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>");
    product(8 * width_, spec_.hidden);
    elementwise("_C::silu_and_mul", "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>",
                12 * tokens_ * width_);
    product(spec_.hidden, 4 * width_);
    reduce();
  }

  // On the stream of the computation, also within a graph.
  void reduce() {
    const i64 n = spec_.tensor, elements = tokens_ * spec_.hidden;
    if (n == 1) return;
    const u32 index =
        b_.collective({.group = GroupKind::tensor,
                       .name = "allreduce",
                       .in_elements = elements,
                       .out_elements = elements,
                       .bytes = 2 * elements * kElementBytes * (n - 1) / n,
                       .rounds = 2},
                      std::string("ncclDevKernel_AllReduce_Sum_bf16_RING_LL") + spec_.era->nccl_args);
    const auto op = b_.operation("vllm::all_reduce");
    const auto record = b_.comms_record(index);
    const auto annotation = b_.annotation("nccl:all_reduce");
    b_.start_in_order(index);
  }

  void sample() {
    const auto python = b_.python("vllm/v1/sample/sampler.py(65): forward");
    tokens_ = spec_.batch;
    is_prefill_ = false;
    run("aten::index", {.name = "void at::native::index_elementwise_kernel<128, 4>",
                        .ns = memory_bound_ns(2 * tokens_ * spec_.hidden * kElementBytes)});
    product(kVocabulary / spec_.tensor, spec_.hidden);
    run("aten::argmax",
        {.name =
             "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>>>",
         .ns = memory_bound_ns(tokens_ * kVocabulary * 4),
         .blocks = tokens_,
         .threads = 512});
  }

  const Spec& spec_;
  Builder b_;
  i64 width_, tokens_ = 0;
  bool is_prefill_ = false, is_piecewise_ = false;
};

}  // namespace

Program build_inference_program(const Spec& spec) {
  Program program;
  IterationWriter(spec, program).write();
  return program;
}

}  // namespace spotter::simulate

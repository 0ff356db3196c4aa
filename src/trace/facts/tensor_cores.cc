#include "trace/facts/tensor_cores.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text/utf8.h"
#include "trace/device_work.h"

namespace spotter::trace {
namespace {

struct NameRule {
  std::string_view text, also;  // lower case; names are compared without regard to case
  TensorCores answer;
};

constexpr TensorCores kNo = TensorCores::no, kYes = TensorCores::yes, kUnknown = TensorCores::unknown;

// The first rule of which both texts are in a kernel's name counts.
constexpr NameRule kNameRules[] = {
    // Inductor's kernels without products of matrices. They carry the names of the operators that they fuse.
    {"triton_poi_", "", kNo},
    {"triton_red_", "", kNo},
    {"triton_per_", "", kNo},
    {"triton_for_", "", kNo},
    // MIOpen's, which has the text of another rule in it.
    {"subtensorop", "", kNo},
    // CUTLASS and cuDNN say which unit they use; their helpers carry the names of what they help.
    {"_simt_", "", kNo},
    {"_ffma_", "", kNo},
    {"reducesplitk", "", kNo},
    {"splitkreduce", "", kNo},
    {"cask_cudnn", "offsetskernel", kNo},
    {"epilogue::impl::globalkernel", "", kNo},
    {"reduce_wgrad_nchw_helper", "", kNo},
    {"winogradtiles", "", kNo},
    {"marlin_repack", "", kNo},
    // What prepares and completes flash attention.
    {"flash_bwd", "dot_do_o", kNo},
    {"flash_bwd", "convert_d", kNo},
    {"flash_bwd", "clear_d", kNo},
    {"flash_fwd", "combine", kNo},
    {"flashattnfwdcombine", "", kNo},
    {"flashattnbwdpre", "", kNo},
    {"flashattnbwdpost", "", kNo},
    {"fmhareduction", "", kNo},
    {"fmhafwdsplitkvcombine", "", kNo},
    {"fmhabwdograddoto", "", kNo},
    {"fmhabwdconvert", "", kNo},
    {"bwd_preprocess", "", kNo},
    {"paged_attention", "reduce", kNo},
    {"reshape_and_cache", "", kNo},

    // Shapes of the instructions: HMMA (884, 1688, 16816), IMMA (8816, 16832), DMMA (d884) ...
    {"h884", "", kYes},
    {"s884", "", kYes},
    {"d884", "", kYes},
    {"h1688", "", kYes},
    {"s1688", "", kYes},
    {"c1688", "", kYes},
    {"16816", "", kYes},
    {"i8816", "", kYes},
    {"i16832", "", kYes},
    {"m16n8k", "", kYes},
    {"_tensor16x8x", "", kYes},
    {"_tensor8x8x", "", kYes},
    // ... and their names, from Volta to Blackwell.
    {"hmma", "", kYes},
    {"imma_", "", kYes},
    {"dmma_", "", kYes},
    {"qmma", "", kYes},
    {"wmma", "", kYes},
    {"gmma", "", kYes},
    {"umma_", "", kYes},
    {"tcgen05", "", kYes},
    {"tensorop", "", kYes},
    {"xmma_", "", kYes},
    // NVIDIA's libraries that have nothing else.
    {"nvjet", "", kYes},
    {"_sm100a", "", kYes},
    {"_sm100f", "", kYes},
    {"native_sdpa", "flash", kYes},
    {"first_layer_wgrad_kernel", "", kYes},
    {"dgrad_1x1_stride_2x2", "", kYes},
    {"conv2d_c1_k1", "", kYes},
    {"implicitgemm", "tfloat32_t", kYes},
    // Matrix instructions of AMD, as Tensile, Composable Kernel and MIOpen name them.
    {"mfma", "", kYes},
    {"smfmac", "", kYes},
    {"cijk_", "_mi4x", kYes},
    {"cijk_", "_mi16x", kYes},
    {"cijk_", "_mi32x", kYes},
    {"xdl", "", kYes},
    {"igemm_", "_gtcx", kYes},
    // Attention, and products of quantised matrices, whose kernels take half precision or less.
    {"flash_fwd", "", kYes},
    {"flash_bwd", "", kYes},
    {"flashattnfwd", "", kYes},
    {"flashattnbwd", "", kYes},
    {"fmhasm", "", kYes},
    {"fmhafwd", "", kYes},
    {"fmhabwd", "", kYes},
    {"fmha_fwd_hd", "", kYes},
    {"fmha_bwd_hd", "", kYes},
    {"fmha_cutlass", "_sm50", kNo},
    {"fmha_cutlass", "_f16_", kYes},
    {"fmha_cutlass", "_bf16_", kYes},
    {"batchprefillwith", "", kYes},
    {"singleprefillwith", "", kYes},
    {"kernel_unified_attention", "", kYes},
    {"attn_fwd", "", kYes},
    {"bwd_kernel_dk_dv", "", kYes},
    {"bwd_kernel_dq", "", kYes},
    {"fused_moe_kernel", "", kYes},
    {"_matmul_ogs_", "bf16x", kYes},
    {"_matmul_ogs_", "fp16x", kYes},
    {"_matmul_ogs_", "fp8", kYes},
    {"marlin", "", kYes},
    {"fp8_gemm", "", kYes},

    // Products of vectors, and of matrices on other units.
    {"sgemm", "", kNo},
    {"gemv", "", kNo},
    {"gemmk1_kernel", "", kNo},
    {"batchdecodewith", "", kNo},
    {"paged_attention_v1", "", kNo},
    {"paged_attention_v2", "", kNo},
    {"scudnn", "", kNo},
    {"volta_", "", kNo},
    {"maxwell_", "", kNo},
    {"cijk_", "", kNo},
    {"naive_conv", "", kNo},
    {"dgrad_engine<float", "", kNo},
    {"wgrad_alg0_engine<float", "", kNo},
    {"wgrad_alg1_engine<float", "", kNo},
    {"conv2d_grouped_direct_kernel", "", kNo},
    {"dgrad2d_grouped_direct_kernel", "", kNo},
    {"wgrad2d_grouped_direct_kernel", "", kNo},
    {"cudnn::winograd", "", kNo},
    {"fft2d_", "", kNo},
    {"im2col", "", kNo},
    {"col2im", "", kNo},
    {"vllm::rms_norm_kernel", "", kNo},
    {"vllm::fused_add_rms_norm_kernel", "", kNo},
    {"bounds_check_indices_kernel", "", kNo},
    {"permute_pooled_embs_kernel", "", kNo},
    {"cunn_", "", kNo},
    // Namespaces that have none.
    {"at::native::", "", kNo},
    {"at::cuda::", "", kNo},
    {"at_cuda_detail::", "", kNo},
    {"cub::", "", kNo},
    {"thrust::", "", kNo},
    {"rocprim::", "", kNo},
    {"fbgemm_gpu::", "", kNo},
    {"split_embedding", "", kNo},
    {"moe::dev::routing", "", kNo},
    {"moe::dev::finalize", "", kNo},
    {"nccl", "", kNo},
    {"rccl", "", kNo},
    // What other names with these words do cannot be told.
    {"gemm", "", kUnknown},
    {"matmul", "", kUnknown},
    {"_mm", "", kUnknown},
    {"mma", "", kUnknown},
    {"conv", "", kUnknown},
    {"attn", "", kUnknown},
    {"attention", "", kUnknown},
    {"fmha", "", kUnknown},
    {"linear", "", kUnknown},
    {"mlp", "", kUnknown},
    {"moe", "", kUnknown},
    {"expert", "", kUnknown},
    {"lstm", "", kUnknown},
    {"rnn", "", kUnknown},
    {"gru", "", kUnknown},
    {"scan", "", kUnknown},
    // No products.
    {"elementwise_kernel", "", kNo},
    {"multi_tensor_apply", "", kNo},
    {"batchnorm", "", kNo},
    {"batch_norm", "", kNo},
    {"cudnn::bn_", "", kNo},
    {"layer_norm", "", kNo},
    {"layernorm", "", kNo},
    {"rms_norm", "", kNo},
    {"rmsnorm", "", kNo},
    {"rotary_embedding", "", kNo},
    {"act_and_mul", "", kNo},
    {"softmax", "", kNo},
    {"pooling", "", kNo},
    {"transpose", "", kNo},
    {"nchwtonhwc", "", kNo},
    {"nhwctonchw", "", kNo},
    {"op_tensor_kernel", "", kNo},
    {"scalepackedtensor", "", kNo},
    {"optensor", "", kNo},
    {"quantize_with_block_size", "", kNo},
    {"fp8_quant_kernel", "", kNo},
    {"all_reduce", "", kNo},
    {"memset", "", kNo},
};

// The first lines are those of the TensorBoard profiler plugin (torch-tb-profiler 0.4.3): PyTorch's autocast
// list, and the backward operators of PyTorch 1.8 and 1.9. Then their names today.
constexpr std::string_view kOperators[] = {
    "aten::_convolution",
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::conv_tbc",
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    "aten::convolution",
    "aten::cudnn_convolution",
    "aten::cudnn_convolution_transpose",
    "aten::prelu",
    "aten::addmm",
    "aten::addmv",
    "aten::addr",
    "aten::matmul",
    "aten::mm",
    "aten::mv",
    "aten::linear",
    "aten::addbmm",
    "aten::baddbmm",
    "aten::bmm",
    "aten::chain_matmul",
    "aten::linalg_multi_dot",
    "aten::_thnn_fused_lstm_cell",
    "aten::_thnn_fused_gru_cell",
    "aten::lstm_cell",
    "aten::gru_cell",
    "aten::rnn_tanh_cell",
    "aten::rnn_relu_cell",
    "CudnnConvolutionBackward",
    "BmmBackward0",
    "aten::cudnn_convolution_transpose_backward",
    "CudnnConvolutionTransposeBackward",
    "MmBackward",
    "aten::cudnn_convolution_backward_weight",
    "aten::addmm_",
    "AddmvBackward",
    "MvBackward",
    "aten::cudnn_convolution_transpose_backward_weight",
    "aten::cudnn_convolution_transpose_backward_input",
    "AddmmBackward",
    "aten::cudnn_convolution_backward_input",
    "AddbmmBackward",
    "aten::cudnn_convolution_backward",
    "AddmmBackward0",
    "MmBackward0",
    "BaddbmmBackward0",
    "ConvolutionBackward0",
    "aten::convolution_backward",
    "aten::cudnn_convolution_relu",
    "aten::cudnn_convolution_add_relu",
    "aten::miopen_convolution",
    "aten::_cudnn_rnn",
    "aten::_cudnn_rnn_backward",
    "aten::miopen_rnn",
    "aten::_scaled_mm",
    "aten::_scaled_mm_v2",
    "aten::_grouped_mm",
    "aten::_scaled_grouped_mm",
    "aten::_scaled_grouped_mm_v2",
    "aten::_addmm_activation",
    "aten::baddbmm_",
    "aten::addmv_",
    "aten::convolution_overrideable",
    "aten::convolution_backward_overrideable",
    "aten::_int_mm",
    "aten::scaled_dot_product_attention",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_flash_attention_backward",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_efficient_attention_backward",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_cudnn_attention_backward",
    "aten::_scaled_dot_product_fused_attention_overrideable",
    "aten::_scaled_dot_product_fused_attention_overrideable_backward",
    "aten::_flash_attention_forward",
    "aten::_flash_attention_backward",
    "aten::_efficient_attention_forward",
    "aten::_efficient_attention_backward",
    "aten::_cudnn_attention_forward",
    "aten::_cudnn_attention_backward",
    "flash_attn::_flash_attn_forward",
    "flash_attn::_flash_attn_backward",
    "flash_attn::_flash_attn_varlen_forward",
    "flash_attn::_flash_attn_varlen_backward",
};

}  // namespace

const char* tensor_cores_name(TensorCores answer) {
  switch (answer) {
    case TensorCores::no:
      return "no";
    case TensorCores::yes:
      return "yes";
    case TensorCores::unknown:
      return "unknown";
  }
  return "unknown";
}

TensorCores tensor_cores(std::string_view kernel_name) {
  const std::string lower = ascii_lower(kernel_name);
  const auto* rule = std::find_if(std::begin(kNameRules), std::end(kNameRules), [&](const NameRule& r) {
    return lower.find(r.text) != lower.npos && lower.find(r.also) != lower.npos;
  });
  return rule == std::end(kNameRules) ? TensorCores::unknown : rule->answer;
}

std::vector<TensorCores> tensor_cores_by_row(const Trace& trace) {
  const DeviceWork& work = trace.device_work();
  std::vector<std::optional<TensorCores>> by_name(trace.strings().size());
  std::vector<TensorCores> answers(work.event.size(), TensorCores::no);
  for (size_t row = 0; row < work.event.size(); ++row) {
    if (work.kind[row] != WorkKind::compute) continue;
    std::optional<TensorCores>& known = by_name[trace.name[work.event[row]]];
    if (!known) known = tensor_cores(trace.name_of(work.event[row]));
    answers[row] = *known;
  }
  return answers;
}

bool is_tensor_core_operator(std::string_view name) {
  return std::find(std::begin(kOperators), std::end(kOperators), name) != std::end(kOperators);
}

}  // namespace spotter::trace

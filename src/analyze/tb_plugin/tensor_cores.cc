#include "analyze/tb_plugin/tensor_cores.h"

#include <algorithm>
#include <iterator>

namespace spotter::analyze::tb_plugin {
namespace {

// NVIDIA's PyProf of 2020.
constexpr std::string_view kKernelParts[] = {"h884",
                                             "s884",
                                             "h1688",
                                             "s1688",
                                             "hmma",
                                             "i8816",
                                             "16816",
                                             "dgrad_1x1_stride_2x2",
                                             "first_layer_wgrad_kernel",
                                             "conv1x1",
                                             "conv2d_c1_k1",
                                             "direct_group",
                                             "xmma_implicit_gemm",
                                             "xmma_sparse_conv",
                                             "xmma_warp_specialized_implicit_gemm",
                                             "xmma_gemm",
                                             "xmma_sparse_gemm",
                                             "c1688"};

// Those that autocast casts, of PyTorch 1.8 and 1.9, and what is seen of their backward passes there.
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
};

}  // namespace

bool is_tensor_kernel(std::string_view name) {
  return std::ranges::any_of(kKernelParts,
                             [&](std::string_view part) { return name.find(part) != name.npos; });
}

bool is_tensor_operator(std::string_view name) {
  return std::ranges::find(kOperators, name) != std::end(kOperators);
}

}  // namespace spotter::analyze::tb_plugin

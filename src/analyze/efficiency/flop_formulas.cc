#include "analyze/efficiency/flop_formulas.h"

#include <unordered_map>

namespace spotter::analyze {
namespace {

using namespace work;  // the list is long, and has their names in each line

constexpr auto kMatrix = WorkUnit::matrix;
constexpr auto kVector = WorkUnit::vector;

constexpr FlopFormula kFormulas[] = {
    {"aten::mm", kMatrix, matrix_product, {0, 1, -1}},
    {"aten::bmm", kMatrix, matrix_product, {0, 1, -1}},
    {"aten::addmm", kMatrix, matrix_product, {1, 2, -1}},
    {"aten::addmm_", kMatrix, matrix_product, {1, 2, -1}},
    {"aten::_addmm_activation", kMatrix, matrix_product, {1, 2, -1}},
    {"aten::baddbmm", kMatrix, matrix_product, {1, 2, -1}},
    {"aten::baddbmm_", kMatrix, matrix_product, {1, 2, -1}},
    {"aten::_scaled_mm", kMatrix, matrix_product, {0, 1, 6}},
    {"aten::_scaled_mm_v2", kMatrix, matrix_product, {0, 1, 10}},
    {"aten::_int_mm", kMatrix, matrix_product, {0, 1, -1}},
    {"aten::_grouped_mm", kMatrix, grouped_product, {0, 1}},
    {"aten::_scaled_grouped_mm", kMatrix, grouped_product, {0, 1}},
    {"aten::_scaled_grouped_mm_v2", kMatrix, grouped_product, {0, 1}},
    {"aten::mv", kMatrix, vector_product, {0, 1}},
    {"aten::addmv", kMatrix, vector_product, {1, 2}},
    {"aten::addmv_", kMatrix, vector_product, {1, 2}},
    {"aten::dot", kMatrix, vector_product, {0, 1}},
    {"aten::matmul", kMatrix, matmul, {}},
    {"aten::linear", kMatrix, linear, {}},

    {"aten::convolution", kMatrix, convolution, {}},
    {"aten::_convolution", kMatrix, convolution, {}},
    {"aten::convolution_overrideable", kMatrix, convolution, {}},
    {"aten::convolution_backward", kMatrix, convolution_backward, {7, 10}},
    {"aten::convolution_backward_overrideable", kMatrix, convolution_backward, {6, 9}},

    {"aten::scaled_dot_product_attention", kMatrix, attention, {0, 5, kTopLeft, kHeadsFirst, -1, -1}},
    {"aten::_scaled_dot_product_flash_attention", kMatrix, attention, {0, 4, kTopLeft, kHeadsFirst, -1, -1}},
    {"aten::_scaled_dot_product_efficient_attention",
     kMatrix,
     attention,
     {0, 6, kTopLeft, kHeadsFirst, -1, -1}},
    {"aten::_scaled_dot_product_cudnn_attention", kMatrix, attention, {0, 6, kTopLeft, kHeadsFirst, -1, -1}},
    {"aten::_scaled_dot_product_flash_attention_for_cpu",
     kMatrix,
     attention,
     {0, 4, kTopLeft, kHeadsFirst, -1, -1}},
    {"aten::_scaled_dot_product_fused_attention_overrideable",
     kMatrix,
     attention,
     {0, 5, kTopLeft, kHeadsFirst, -1, -1}},
    {"aten::_flash_attention_forward", kMatrix, attention, {0, 8, kTopLeft, kSequenceFirst, 3, 11}},
    {"aten::_efficient_attention_forward", kMatrix, attention, {0, 9, kNumbered, kSequenceFirst, 4, -1}},
    {"flash_attn::_flash_attn_forward", kMatrix, attention, {0, 5, kBottomRight, kSequenceFirst, -1, 6}},
    {"aten::_scaled_dot_product_flash_attention_backward",
     kMatrix,
     attention_backward,
     {1, 11, kTopLeft, kHeadsFirst, 6, -1}},
    {"aten::_scaled_dot_product_efficient_attention_backward",
     kMatrix,
     attention_backward,
     {1, 11, kTopLeft, kHeadsFirst, -1, -1}},
    {"aten::_scaled_dot_product_cudnn_attention_backward",
     kMatrix,
     attention_backward,
     {1, 14, kTopLeft, kHeadsFirst, 9, -1}},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
     kMatrix,
     attention_backward,
     {1, 7, kTopLeft, kHeadsFirst, -1, -1}},
    {"aten::_scaled_dot_product_fused_attention_overrideable_backward",
     kMatrix,
     attention_backward,
     {1, 13, kTopLeft, kHeadsFirst, 8, -1}},
    {"aten::_flash_attention_backward",
     kMatrix,
     attention_backward,
     {1, 11, kTopLeft, kSequenceFirst, 6, 15}},
    {"aten::_efficient_attention_backward",
     kMatrix,
     attention_backward,
     {1, 14, kNumbered, kSequenceFirst, 6, -1}},
    {"flash_attn::_flash_attn_backward",
     kMatrix,
     attention_backward,
     {1, 11, kBottomRight, kSequenceFirst, -1, 12}},

    // Mean, distance from it, its square, their sum, and the product with the inverse deviation; the last
    // three alone where there is no mean. Backward: that product again (2, or 1), times the weight, the two
    // sums over it (3, or 2), and what remains of the gradient (4, or 3).
    {"aten::native_layer_norm", kVector, normalisation, {0, 5, 2, 3, -1}},
    {"aten::native_group_norm", kVector, normalisation, {0, 5, 1, 2, -1}},
    {"aten::native_batch_norm", kVector, normalisation, {0, 5, 1, 2, 5}},
    {"aten::_native_batch_norm_legit", kVector, normalisation, {0, 5, 1, 2, 5}},
    {"aten::_batch_norm_with_update", kVector, normalisation, {0, 5, 1, 2, -1}},
    {"aten::cudnn_batch_norm", kVector, normalisation, {0, 5, 1, 2, 5}},
    {"aten::miopen_batch_norm", kVector, normalisation, {0, 5, 1, 2, 5}},
    {"aten::_fused_rms_norm", kVector, normalisation, {0, 3, 2, -1, -1}},
    {"aten::native_layer_norm_backward", kVector, normalisation_backward, {1, 10, 2, 1, 7}},
    {"aten::native_group_norm_backward", kVector, normalisation_backward, {1, 10, 2, 1, 9}},
    {"aten::native_batch_norm_backward", kVector, normalisation_backward, {1, 10, 2, 1, 9}},
    {"aten::batch_norm_backward", kVector, normalisation_backward, {1, 10, 2, 1, 9}},
    {"aten::cudnn_batch_norm_backward", kVector, normalisation_backward, {0, 10, 2, 1, -1}},
    {"aten::miopen_batch_norm_backward", kVector, normalisation_backward, {0, 10, 2, 1, -1}},
    {"aten::_fused_rms_norm_backward", kVector, normalisation_backward, {1, 7, 2, 0, 5}},

    // Maximum, distance from it, its exponential, their sum, and a quotient or a difference. Backward: a
    // product or an exponential, a sum, a product and a difference.
    {"aten::_softmax", kVector, each_element, {0, 5}},
    {"aten::_log_softmax", kVector, each_element, {0, 5}},
    {"aten::_softmax_backward_data", kVector, each_element, {0, 4}},
    {"aten::_log_softmax_backward_data", kVector, each_element, {0, 4}},

    {"aten::add", kVector, element_wise, {2, 1}},
    {"aten::add_", kVector, element_wise, {2, 1}},
    {"aten::sub", kVector, element_wise, {2, 1}},
    {"aten::sub_", kVector, element_wise, {2, 1}},
    {"aten::rsub", kVector, element_wise, {2, 1}},
    {"aten::mul", kVector, element_wise, {2, 1}},
    {"aten::mul_", kVector, element_wise, {2, 1}},
    {"aten::div", kVector, element_wise, {2, 1}},
    {"aten::div_", kVector, element_wise, {2, 1}},
    {"aten::pow", kVector, element_wise, {2, 1}},
    {"aten::pow_", kVector, element_wise, {2, 1}},
    {"aten::maximum", kVector, element_wise, {2, 1}},
    {"aten::minimum", kVector, element_wise, {2, 1}},
    {"aten::addcmul", kVector, element_wise, {3, 2}},
    {"aten::addcmul_", kVector, element_wise, {3, 2}},
    {"aten::addcdiv", kVector, element_wise, {3, 2}},
    {"aten::addcdiv_", kVector, element_wise, {3, 2}},
    {"aten::lerp", kVector, element_wise, {3, 3}},
    {"aten::lerp_", kVector, element_wise, {3, 3}},
    {"aten::neg", kVector, element_wise, {1, 1}},
    {"aten::abs", kVector, element_wise, {1, 1}},
    {"aten::reciprocal", kVector, element_wise, {1, 1}},
    {"aten::sqrt", kVector, element_wise, {1, 1}},
    {"aten::sqrt_", kVector, element_wise, {1, 1}},
    {"aten::rsqrt", kVector, element_wise, {1, 1}},
    {"aten::exp", kVector, element_wise, {1, 1}},
    {"aten::exp_", kVector, element_wise, {1, 1}},
    {"aten::log", kVector, element_wise, {1, 1}},
    {"aten::log_", kVector, element_wise, {1, 1}},
    {"aten::sin", kVector, element_wise, {1, 1}},
    {"aten::cos", kVector, element_wise, {1, 1}},
    {"aten::erf", kVector, element_wise, {1, 1}},
    {"aten::tanh", kVector, element_wise, {1, 1}},
    {"aten::sigmoid", kVector, element_wise, {1, 1}},
    {"aten::relu", kVector, element_wise, {1, 1}},
    {"aten::relu_", kVector, element_wise, {1, 1}},
    {"aten::leaky_relu", kVector, element_wise, {1, 1}},
    {"aten::clamp", kVector, element_wise, {1, 1}},
    {"aten::clamp_", kVector, element_wise, {1, 1}},
    {"aten::clamp_min", kVector, element_wise, {1, 1}},
    {"aten::clamp_min_", kVector, element_wise, {1, 1}},
    {"aten::gelu", kVector, element_wise, {1, 1}},
    {"aten::silu", kVector, element_wise, {1, 1}},
    {"aten::silu_", kVector, element_wise, {1, 1}},
    {"aten::threshold_backward", kVector, element_wise, {2, 1}},
    {"aten::leaky_relu_backward", kVector, element_wise, {2, 1}},
    {"aten::gelu_backward", kVector, element_wise, {2, 2}},
    {"aten::silu_backward", kVector, element_wise, {2, 2}},
    {"aten::sigmoid_backward", kVector, element_wise, {2, 2}},
    {"aten::tanh_backward", kVector, element_wise, {2, 2}},
};

}  // namespace

std::span<const FlopFormula> flop_formulas() { return kFormulas; }

const FlopFormula* find_flop_formula(std::string_view op) {
  static const auto kByName = [] {
    std::unordered_map<std::string_view, const FlopFormula*> by_name;
    for (const FlopFormula& formula : kFormulas) by_name.emplace(formula.op, &formula);
    return by_name;
  }();
  const auto found = kByName.find(op);
  return found == kByName.end() ? nullptr : found->second;
}

}  // namespace spotter::analyze

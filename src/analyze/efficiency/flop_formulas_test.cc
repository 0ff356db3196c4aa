#include "analyze/efficiency/flop_formulas.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "trace/facts/tensor_cores.h"

namespace spotter::analyze {
namespace {

constexpr const char* kNoValues = nullptr;

std::optional<OperatorWork> work_of(const char* op, const char* dims, const char* types,
                                    const char* concrete) {
  const FlopFormula* formula = find_flop_formula(op);
  EXPECT_TRUE(formula) << op;
  const auto inputs =
      parse_recorded_inputs(dims, types, concrete ? std::optional<std::string_view>(concrete) : std::nullopt);
  EXPECT_TRUE(inputs) << op << " " << dims;
  return formula && inputs ? formula->of(*inputs) : std::nullopt;
}

struct Case {
  const char *op, *dims, *types, *concrete;
  i64 flops;
  std::optional<i64> bytes;
};

void check(std::span<const Case> cases) {
  for (const Case& c : cases) {
    const auto work = work_of(c.op, c.dims, c.types, c.concrete);
    ASSERT_TRUE(work) << c.op << " " << c.dims;
    EXPECT_EQ(work->flops, c.flops) << c.op << " " << c.dims;
    EXPECT_EQ(work->bytes, c.bytes) << c.op << " " << c.dims;
  }
}

TEST(FlopFormulas, Products) {
  const Case cases[] = {
      // 2 * 64 * 10 * 512; 4 bytes of 640 + 5120 + 32768
      {"aten::mm", "[[64, 10], [10, 512]]", R"(["float", "float"])", kNoValues, 655'360, 154'112},
      // 2 * 64 * 256 * 512; 4 bytes of 512 + 16384 + 131072 + 32768
      {"aten::addmm", "[[512], [64, 256], [256, 512], [], []]",
       R"(["float", "float", "float", "Scalar", "Scalar"])", kNoValues, 16'777'216, 722'944},
      // 2 * 8 * 16 * 32 * 24; 2 bytes of 4096 + 6144 + 3072
      {"aten::bmm", "[[8, 16, 32], [8, 32, 24]]", R"(["c10::Half", "c10::Half"])", kNoValues, 196'608,
       26'624},
      {"aten::baddbmm", "[[8, 16, 24], [8, 16, 32], [8, 32, 24], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])", kNoValues, 196'608,
       32'768},
      // 2 * 128 * 64 * 32; 8192 + 2048 and 4096 in bfloat16
      {"aten::_scaled_mm", "[[128, 64], [64, 32], [], [], [], [], [], []]",
       R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "15", "True"])", 524'288, 18'432},
      // Two numbers of 4 bits in each element: 2 * 128 * 64 * 32; 4096 + 1024 and 4096 in bfloat16
      {"aten::_scaled_mm", "[[128, 32], [32, 32], [], [], [], [], [], []]",
       R"(["c10::Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", "c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "", "", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "15", "False"])", 524'288, 13'312},
      // Rows of 4 groups: 2 * 100 * 64 * 32
      {"aten::_grouped_mm", "[[100, 64], [4, 64, 32], [4]]", R"(["c10::BFloat16", "c10::BFloat16", "int"])",
       kNoValues, 409'600, std::nullopt},
      // 6 products of 4 x 5 and 5 x 6; 4 bytes of 120 + 90 + 144
      {"aten::matmul", "[[2, 3, 4, 5], [3, 5, 6]]", R"(["float", "float"])", kNoValues, 1'440, 1'416},
      {"aten::matmul", "[[5], [5]]", R"(["float", "float"])", kNoValues, 10, 44},
      {"aten::matmul", "[[3, 4], [4]]", R"(["float", "float"])", kNoValues, 24, 76},
      // 2 * 14 * 32 * 16; 4 bytes of 224 + 512 + 32 + 448
      {"aten::linear", "[[2, 7, 16], [32, 16], [32]]", R"(["float", "float", "float"])", kNoValues, 14'336,
       4'864},
      {"aten::mv", "[[3, 4], [4]]", R"(["float", "float"])", kNoValues, 24, 76},
      {"aten::addmv", "[[3], [3, 4], [4], [], []]", R"(["float", "float", "float", "Scalar", "Scalar"])",
       kNoValues, 24, 88},
      {"aten::dot", "[[7], [7]]", R"(["double", "double"])", kNoValues, 14, 120},
      // Complex: four multiplications and four additions for each of 2 * 3 * 4; 8 bytes of 6 + 12 + 8
      {"aten::mm", "[[2, 3], [3, 4]]", R"(["c10::complex<float>", "c10::complex<float>"])", kNoValues, 192,
       208},
      {"aten::mm", "[[0, 3], [3, 4]]", R"(["float", "float"])", kNoValues, 0, 48},
      // Sizes beyond 64 bits stop there.
      {"aten::mm", "[[4000000000, 4000000000], [4000000000, 4000000000]]", R"(["float", "float"])", kNoValues,
       INT64_MAX, INT64_MAX},
      // The size of a type that is not known is not known.
      {"aten::mm", "[[2, 3], [3, 4]]", R"(["c10::Float3", "c10::Float3"])", kNoValues, 48, std::nullopt},
  };
  check(cases);
}

constexpr const char* kConvolutionTypes =
    R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])";
constexpr const char* kBackwardTypes =
    R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"])";

TEST(FlopFormulas, Convolutions) {
  const Case cases[] = {
      // To 7 x 7: 2 * 10 * 49 * 512 * 256 * 9; 2 bytes of 501760 + 1179648 + 250880
      {"aten::convolution", "[[10, 256, 14, 14], [512, 256, 3, 3], [], [], [], [], [], [], []]",
       kConvolutionTypes, R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])",
       1'156'055'040, 3'864'576},
      // 288 results, each of 2 * 9 elements of its group.
      {"aten::_convolution", "[[2, 8, 5, 5], [16, 2, 3, 3], [], [], [], [], [], [], []]", kConvolutionTypes,
       R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "4"])", 10'368,
       2 * (400 + 288 + 288)},
      // 10 places, of which the weight reaches over 5: 6 results of 3.
      {"aten::convolution", "[[1, 1, 10], [1, 1, 3], [], [], [], [], [], [], []]", kConvolutionTypes,
       R"(["", "", "", "[1]", "[0]", "[2]", "False", "[0]", "1"])", 36, 2 * (10 + 3 + 6)},
      // Transposed: each of 5 places meets all 4 * 3 * 2 elements, and 10 places come out, of 3 channels.
      {"aten::convolution", "[[1, 4, 5], [4, 3, 2], [], [], [], [], [], [], []]", kConvolutionTypes,
       R"(["", "", "", "[2]", "[0]", "[1]", "True", "[0]", "1"])", 240, 2 * (20 + 24 + 30)},
      // One number for both axes.
      {"aten::convolution", "[[1, 1, 4, 4], [1, 1, 2, 2], [], [], [], [], [], [], []]", kConvolutionTypes,
       R"(["", "", "", "[2]", "[0]", "[1]", "False", "[0]", "1"])", 32, 2 * (16 + 4 + 4)},
      // 2 * 10 * 49 * 512 * 512 * 9, for each of the two gradients; 4 bytes of 250880, and of both with what
      // is read for them.
      {"aten::convolution_backward",
       "[[10, 512, 7, 7], [10, 512, 7, 7], [512, 512, 3, 3], [], [], [], [], [], [], [], []]", kBackwardTypes,
       R"(["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"])",
       4'624'220'160, 4 * (250'880 + 2 * 250'880 + 2 * 2'359'296)},
      {"aten::convolution_backward",
       "[[10, 512, 7, 7], [10, 512, 7, 7], [512, 512, 3, 3], [], [], [], [], [], [], [], []]", kBackwardTypes,
       R"(["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, False]"])",
       2'312'110'080, 4 * (250'880 + 250'880 + 2'359'296)},
      // With groups the gradient of the weight takes what the forward pass took: 10368.
      {"aten::convolution_backward",
       "[[2, 16, 3, 3], [2, 8, 5, 5], [16, 2, 3, 3], [], [], [], [], [], [], [], []]", kBackwardTypes,
       R"(["", "", "", "[0]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "4", "[True, True, True]"])",
       20'736, 4 * (288 + 2 * 400 + 2 * 288)},
  };
  check(cases);
}

constexpr const char* kFlashTypes =
    R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar", "Scalar", "Scalar"])";

TEST(FlopFormulas, Attention) {
  const Case cases[] = {
      // 8 heads in all, 80 pairs, 2 (16 + 32) each; 2 bytes of 1024 + 1280 + 2560 + 2048
      {"aten::_scaled_dot_product_flash_attention",
       "[[2, 4, 8, 16], [2, 4, 10, 16], [2, 4, 10, 32], [], [], [], []]", kFlashTypes,
       R"(["", "", "", "0.", "False", "False", ""])", 61'440, 13'824},
      // Causal: 559 * 560 / 2 pairs in 256 heads, 2 * 128 each; 4 tensors of 9158656
      {"aten::_scaled_dot_product_flash_attention",
       "[[16, 16, 559, 64], [16, 16, 559, 64], [16, 16, 559, 64], [], [], [], []]", kFlashTypes,
       R"(["", "", "", "0.", "True", "False", ""])", 10'257'694'720, 73'269'248},
      // Not told: all pairs.
      {"aten::_scaled_dot_product_flash_attention",
       "[[16, 16, 559, 64], [16, 16, 559, 64], [16, 16, 559, 64], [], [], [], []]", kFlashTypes, kNoValues,
       i64{2} * 256 * 559 * 559 * 128, 73'269'248},
      // Of more queries than keys the last 4 see all 4: 10 + 16 pairs; of fewer, with the mask at the top
      // left, 10.
      {"aten::scaled_dot_product_attention", "[[1, 1, 8, 1], [1, 1, 4, 1], [1, 1, 4, 1], [], [], []]",
       R"(["float", "float", "float", "", "Scalar", "Scalar"])", R"(["", "", "", "", "0.", "True"])",
       2 * 26 * 2, 96},
      {"aten::scaled_dot_product_attention", "[[1, 1, 4, 1], [1, 1, 8, 1], [1, 1, 8, 1], [], [], []]",
       R"(["float", "float", "float", "", "Scalar", "Scalar"])", R"(["", "", "", "", "0.", "True"])",
       2 * 10 * 2, 96},
      // The mask at the bottom right: 26 pairs, and 10 of more queries than keys.
      {"flash_attn::_flash_attn_forward", "[[1, 4, 1, 1], [1, 8, 1, 1], [1, 8, 1, 1], [], [], [], [], []]",
       R"(["float", "float", "float", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "0.", "1.", "True", "-1", "-1"])", 2 * 26 * 2, 96},
      {"flash_attn::_flash_attn_forward", "[[1, 8, 1, 1], [1, 4, 1, 1], [1, 4, 1, 1], [], [], [], [], []]",
       R"(["float", "float", "float", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "0.", "1.", "True", "-1", "-1"])", 2 * 10 * 2, 96},
      // 8 heads of queries share 2 of keys; sequences before heads.
      {"aten::_flash_attention_forward", "[[1, 3, 8, 4], [1, 5, 2, 4], [1, 5, 2, 4], [], [], [], [], [], []]",
       R"(["float", "float", "float", "", "", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "3", "5", "0.", "False"])", 2 * 8 * 15 * 8, 4 * (96 + 40 + 40 + 96)},
      // custom_mask_type 2: the bottom right.
      {"aten::_efficient_attention_forward",
       "[[1, 4, 1, 1], [1, 8, 1, 1], [1, 8, 1, 1], [], [], [], [], [], [], [], []]",
       R"(["float", "float", "float", "", "", "", "", "", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "", "", "0.", "2", "False"])", 2 * 26 * 2, 96},
      // Backward: 80 pairs in 8 heads, 2 (3 * 16 + 2 * 32) each; each of the tensors twice
      {"aten::_scaled_dot_product_flash_attention_backward",
       "[[2, 4, 8, 32], [2, 4, 8, 16], [2, 4, 10, 16], [2, 4, 10, 32], [2, 4, 8, 32], [2, 4, 8], [], [], [], [], [], []]",
       R"(["c10::Half", "c10::Half", "c10::Half", "c10::Half", "c10::Half", "float", "", "", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "", "", "8", "10", "0.", "False"])", 143'360, 27'648},
      {"aten::_scaled_dot_product_efficient_attention_backward",
       "[[1, 1, 4, 1], [1, 1, 4, 1], [1, 1, 4, 1], [1, 1, 4, 1], [], [1, 1, 4, 1], [1, 1, 4], [], [], [], [], []]",
       R"(["float", "float", "float", "float", "", "float", "float", "long int", "long int", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "", "", "", "", "", "", "0.", "[True, True, True, False]", "True"])", 2 * 10 * 5, 128},
  };
  check(cases);
}

TEST(FlopFormulas, Vectors) {
  const Case cases[] = {
      // 32 elements of 5 + 2; 4 bytes of 32 + 8 + 8 + 32
      {"aten::native_layer_norm", "[[4, 8], [], [8], [8], []]",
       R"(["float", "ScalarList", "float", "float", "Scalar"])", kNoValues, 224, 320},
      {"aten::native_layer_norm", "[[4, 8], [], [], [], []]", R"(["float", "ScalarList", "", "", "Scalar"])",
       kNoValues, 160, 256},
      {"aten::native_batch_norm", "[[2, 3, 4], [3], [3], [3], [3], [], [], []]",
       R"(["float", "float", "float", "float", "float", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "True", "0.1", "1e-05"])", 24 * 7, 4 * (24 + 12 + 24)},
      {"aten::native_batch_norm", "[[2, 3, 4], [3], [3], [3], [3], [], [], []]",
       R"(["float", "float", "float", "float", "float", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "False", "0.1", "1e-05"])", 24 * 2, 4 * (24 + 12 + 24)},
      {"aten::_fused_rms_norm", "[[4, 8], [], [8], []]", R"(["float", "ScalarList", "float", "Scalar"])",
       kNoValues, 32 * 4, 4 * (32 + 8 + 32)},
      // All three gradients, and the input's alone.
      {"aten::native_layer_norm_backward", "[[4, 8], [4, 8], [], [4, 1], [4, 1], [8], [8], []]",
       R"(["float", "float", "ScalarList", "float", "float", "float", "float", "ScalarList"])",
       R"(["", "", "[8]", "", "", "", "", "[True, True, True]"])", 32 * 13,
       4 * (32 + 32 + 4 + 4 + 8 + 8 + 32)},
      {"aten::native_layer_norm_backward", "[[4, 8], [4, 8], [], [4, 1], [4, 1], [8], [8], []]",
       R"(["float", "float", "ScalarList", "float", "float", "float", "float", "ScalarList"])",
       R"(["", "", "[8]", "", "", "", "", "[True, False, False]"])", 32 * 10,
       4 * (32 + 32 + 4 + 4 + 8 + 8 + 32)},
      {"aten::_softmax", "[[4, 8], [], []]", R"(["float", "Scalar", "Scalar"])", kNoValues, 160, 256},
      {"aten::_log_softmax_backward_data", "[[4, 8], [4, 8], [], []]",
       R"(["float", "float", "Scalar", "Scalar"])", kNoValues, 128, 384},
      // Broadcast: 32 results; 4 bytes of 32 + 8 + 32
      {"aten::add", "[[4, 8], [8], []]", R"(["float", "float", "Scalar"])", kNoValues, 32, 288},
      {"aten::add", "[[4, 1], [1, 8], []]", R"(["float", "float", "Scalar"])", kNoValues, 32,
       4 * (4 + 8 + 32)},
      // Widened to float; an out argument is not read.
      {"aten::mul", "[[4, 8], [4, 8], [4, 8]]", R"(["c10::BFloat16", "float", "float"])", kNoValues, 32,
       64 + 128 + 128},
      // By a number of Python.
      {"aten::mul", "[[4, 8], []]", R"(["float", "double"])", kNoValues, 32, 128 + 8 + 128},
      {"aten::mul", "[[4, 8], []]", R"(["long int", "double"])", kNoValues, 32, std::nullopt},
      {"aten::addcmul_", "[[8], [8], [8], []]", R"(["float", "float", "float", "Scalar"])", kNoValues, 16,
       128},
      {"aten::relu", "[[4, 8]]", R"(["c10::Half"])", kNoValues, 32, 128},
      {"aten::gelu_backward", "[[4, 8], [4, 8], []]", R"(["c10::Half", "c10::Half", ""])", kNoValues, 64,
       192},
  };
  check(cases);
}

TEST(FlopFormulas, WhatDoesNotTellGivesNone) {
  const Case cases[] = {
      {"aten::mm", "[[64, 10], [11, 512]]", R"(["float", "float"])", kNoValues, 0, 0},
      {"aten::mm", "[[64], [11, 512]]", R"(["float", "float"])", kNoValues, 0, 0},
      {"aten::mm", "[[], []]", R"(["", ""])", kNoValues, 0, 0},
      {"aten::mm", "[[64, 10]]", R"(["float"])", kNoValues, 0, 0},
      {"aten::bmm", "[[8, 16, 32], [9, 32, 24]]", R"(["float", "float"])", kNoValues, 0, 0},
      {"aten::linear", "[[2, 7, 16], [32, 15], [32]]", R"(["float", "float", "float"])", kNoValues, 0, 0},
      {"aten::matmul", "[[2, 4, 5], [3, 5, 6]]", R"(["float", "float"])", kNoValues, 0, 0},
      // No values: before PyTorch 2.1.
      {"aten::convolution", "[[10, 256, 14, 14], [512, 256, 3, 3], [], [], [], [], [], [], []]",
       kConvolutionTypes, kNoValues, 0, 0},
      // The weight is larger than what it moves over; a stride of 0.
      {"aten::convolution", "[[1, 1, 2], [1, 1, 3], [], [], [], [], [], [], []]", kConvolutionTypes,
       R"(["", "", "", "[1]", "[0]", "[1]", "False", "[0]", "1"])", 0, 0},
      {"aten::convolution", "[[1, 1, 4], [1, 1, 3], [], [], [], [], [], [], []]", kConvolutionTypes,
       R"(["", "", "", "[0]", "[0]", "[1]", "False", "[0]", "1"])", 0, 0},
      {"aten::convolution", "[[1, 1, 4], [1, 1, 3], [], [], [], [], [], [], []]", kConvolutionTypes,
       R"(["", "", "", "[9223372036854775807]", "[9223372036854775807]", "[9223372036854775807]", "True", "[9223372036854775807]", "1"])",
       0, 0},
      // Sequences of several lengths in one, and a window.
      {"aten::_flash_attention_forward",
       "[[100, 8, 64], [100, 8, 64], [100, 8, 64], [5], [5], [], [], [], []]",
       R"(["float", "float", "float", "int", "int", "Scalar", "Scalar", "Scalar", "Scalar"])", kNoValues, 0,
       0},
      {"aten::_efficient_attention_forward",
       "[[1, 4, 1, 1], [1, 8, 1, 1], [1, 8, 1, 1], [], [3], [3], [], [], [], [], []]",
       R"(["float", "float", "float", "", "int", "int", "", "", "Scalar", "Scalar", "Scalar"])", kNoValues, 0,
       0},
      {"flash_attn::_flash_attn_forward", "[[1, 4, 1, 1], [1, 8, 1, 1], [1, 8, 1, 1], [], [], [], [], []]",
       R"(["float", "float", "float", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "0.", "1.", "True", "128", "0"])", 0, 0},
      {"aten::add", "[[4, 8], [7], []]", R"(["float", "float", "Scalar"])", kNoValues, 0, 0},
      {"aten::add", "[[], [], []]", R"(["Scalar", "Scalar", "Scalar"])", kNoValues, 0, 0},
  };
  for (const Case& c : cases)
    EXPECT_FALSE(work_of(c.op, c.dims, c.types, c.concrete)) << c.op << " " << c.dims;
}

// No call makes a formula look at an argument that is not there.
TEST(FlopFormulas, AnyCallIsAnswered) {
  const std::string huge = "[9223372036854775807, 9223372036854775807, 1, 1]";
  const std::string dims[] = {"[]",
                              "[[]]",
                              "[[3, 4]]",
                              "[[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]",
                              "[[0, 0, 0], [0, 0, 0], [0, 0, 0]]",
                              fmt::format("[{}, {}, {}, {}]", huge, huge, huge, huge)};
  for (const FlopFormula& formula : flop_formulas()) {
    for (const std::string& text : dims) {
      std::string types;
      // As many types as there are lists inside.
      for (size_t at = 1; at < text.size(); ++at)
        if (text[at] == '[') types += types.empty() ? "\"float\"" : ", \"float\"";
      const auto inputs = parse_recorded_inputs(text, "[" + types + "]", std::nullopt);
      ASSERT_TRUE(inputs) << text;
      const auto work = formula.of(*inputs);
      EXPECT_TRUE(!work || work->flops >= 0) << formula.op << " " << text;
      EXPECT_TRUE(!work || !work->bytes || *work->bytes >= 0) << formula.op << " " << text;
    }
  }
}

TEST(FlopFormulas, EachNameOnce) {
  std::set<std::string_view> names;
  for (const FlopFormula& formula : flop_formulas()) {
    EXPECT_TRUE(names.insert(formula.op).second) << formula.op;
    EXPECT_EQ(find_flop_formula(formula.op), &formula);
  }
  EXPECT_EQ(find_flop_formula("aten::view"), nullptr);
}

// But for what has no matrix, and what never runs on a device.
TEST(FlopFormulas, ProductsAreOperatorsOfTensorCores) {
  for (const FlopFormula& formula : flop_formulas()) {
    const std::string_view op = formula.op;
    const bool may = formula.unit == WorkUnit::matrix && op != "aten::dot" &&
                     op.find("_for_cpu") == std::string_view::npos;
    EXPECT_EQ(trace::is_tensor_core_operator(op), may) << op;
  }
}

}  // namespace
}  // namespace spotter::analyze

#include "analyze/recorded_inputs.h"

#include <gtest/gtest.h>

namespace spotter::analyze {
namespace {

TEST(RecordedInputs, AsPyTorchWritesThem) {
  const auto inputs = parse_recorded_inputs("[[10, 256], [], [], [[4, 2], [3]], []]",
                                            R"(["c10::BFloat16", "double", "Scalar", "TensorList", ""])",
                                            R"(["", "", "[1, -1]", "", "a \"quoted\" text"])");
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 5u);
  const RecordedInput& matrix = (*inputs)[0];
  EXPECT_EQ(matrix.dims, (std::vector<i64>{10, 256}));
  EXPECT_TRUE(matrix.is_tensor());
  EXPECT_EQ(matrix.elements(), 2560);
  EXPECT_EQ(matrix.bytes(), 5120);
  EXPECT_TRUE((*inputs)[1].is_tensor());  // of no axes
  EXPECT_EQ((*inputs)[1].bytes(), 8);
  EXPECT_FALSE((*inputs)[2].is_tensor());
  EXPECT_EQ((*inputs)[2].list(), (std::vector<i64>{1, -1}));
  EXPECT_FALSE((*inputs)[3].is_tensor());  // many
  EXPECT_EQ((*inputs)[4].concrete, "a \"quoted\" text");
}

// Some tools write JSON with a line for each number.
TEST(RecordedInputs, BlanksDoNotMatter) {
  const auto inputs = parse_recorded_inputs("[\n  [\n 16,\n 4 ],\n []\n]", "[ \"float\" ,\n\"Scalar\" ]",
                                            " [ \"\", \"0.5\" ] ");
  ASSERT_TRUE(inputs);
  EXPECT_EQ((*inputs)[0].dims, (std::vector<i64>{16, 4}));
  EXPECT_EQ((*inputs)[1].concrete, "0.5");
}

TEST(RecordedInputs, Values) {
  const auto value = [](const char* text) {
    return RecordedInput{.type = "Scalar", .dims = {}, .concrete = std::string(text)};
  };
  EXPECT_EQ(value("True").flag(), true);
  EXPECT_EQ(value("False").flag(), false);
  EXPECT_EQ(value("1").flag(), std::nullopt);
  EXPECT_EQ(value("-1").integer(), -1);
  EXPECT_EQ(value("0.5").integer(), std::nullopt);
  EXPECT_EQ(value("[True, False]").flags(), (std::vector<bool>{true, false}));
  EXPECT_EQ(value("[True, 1]").flags(), std::nullopt);
  EXPECT_EQ(value("[1, 2").list(), std::nullopt);
  EXPECT_EQ(value("[]").list(), std::vector<i64>());
  EXPECT_EQ(RecordedInput().flag(), std::nullopt);
}

TEST(RecordedInputs, OtherTextsGiveNone) {
  const struct {
    const char *dims, *types;
  } cases[] = {
      {"", "[]"},
      {"[[1, 2]", "[\"float\"]"},
      {"[[1, 2]] x", "[\"float\"]"},
      {"[[1, -2]]", "[\"float\"]"},
      {"[[1, 2.5]]", "[\"float\"]"},
      {"[[1, 99999999999999999999]]", "[\"float\"]"},
      {"[[1, s0]]", "[\"float\"]"},
      {"[[1, 2]]", "[]"},
      {"[[1, 2]]", "[\"float]"},
      {"[[1, 2]]", "[\"float\\"},
      {"[[[[[[[[1]]]]]]]]", "[\"float\"]"},
      {"{}", "[]"},
      {"[1]", "[\"float\"]"},
  };
  for (const auto& c : cases) EXPECT_FALSE(parse_recorded_inputs(c.dims, c.types, std::nullopt)) << c.dims;
  EXPECT_FALSE(parse_recorded_inputs("[[1]]", "[\"float\"]", "[1]"));
}

}  // namespace
}  // namespace spotter::analyze

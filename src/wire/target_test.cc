#include "wire/target.h"

#include <gtest/gtest.h>

namespace spotter::wire {
namespace {

TEST(TargetTest, PathAndParameters) {
  const Target t("/v1/metrics?since_ms=600000&metric=gpu_%2A,cpu&job=a+b%26c&empty=&flag");
  EXPECT_EQ(t.path, "/v1/metrics");
  EXPECT_EQ(t.number("since_ms", 1), 600000);
  EXPECT_EQ(t.text("metric"), "gpu_*,cpu");
  EXPECT_EQ(t.text("job"), "a b&c");
  EXPECT_EQ(t.text("empty"), "");
  EXPECT_EQ(t.text("missing"), "");
  EXPECT_EQ(t.number("job", 7), 7);
  EXPECT_EQ(t.number("empty", 7), 7);
}

TEST(TargetTest, OddOnes) {
  EXPECT_EQ(Target("").path, "");
  EXPECT_EQ(Target("/x").parameters.size(), 0U);
  EXPECT_EQ(Target("/x?").parameters.size(), 0U);
  EXPECT_EQ(Target("/x?a=%zz%4").text("a"), "%zz%4");
  EXPECT_EQ(Target("/x?a=99999999999999999999").number("a", 5), 5);
  EXPECT_EQ(Target("/x?a=5x").number("a", 3), 3);
}

TEST(TargetTest, ParametersOfOtherNamesAndThoseThatAreThereTwice) {
  constexpr std::string_view kNames[] = {"a", "b"};
  for (const char* target : {"/x", "/x?", "/x?a=1", "/x?b=1&a=2"})
    EXPECT_TRUE(Target(target).has_only(kNames)) << target;
  for (const char* target : {"/x?c=1", "/x?a=1&c", "/x?a=1&a=1", "/x?A=1", "/x?=1"})
    EXPECT_EQ(Target(target).has_only(kNames).error().code, Code::invalid) << target;
}

TEST(TargetTest, EscapesWhatItUnescapes) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(unescaped_segment(escaped_parameter(all)), all);
  EXPECT_EQ(unescaped_segment("a+b%2Fc%zz"), "a+b/c%zz");
  const std::string target = "/x?a=" + escaped_parameter(all) + "&b=2";
  EXPECT_EQ(Target(target).text("a"), all);
  EXPECT_EQ(Target(target).number("b", 0), 2);
}

}  // namespace
}  // namespace spotter::wire

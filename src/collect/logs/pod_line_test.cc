#include "collect/logs/pod_line.h"

#include <gtest/gtest.h>

namespace spotter::collect {
namespace {

TEST(PodLine, Parts) {
  const auto line = parse_pod_line("2026-11-23T04:46:46.123456789Z stderr F a text  of it");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text, "a text  of it");
  EXPECT_FALSE(line->is_partial);
  ASSERT_TRUE(line->stamp);
  EXPECT_EQ(*line->stamp % 1'000'000'000, 123'456'789);
  EXPECT_TRUE(parse_pod_line("2026-11-23T04:46:46+01:00 stdout P:x part")->is_partial);
  EXPECT_EQ(parse_pod_line("2026-11-23T04:46:46Z stdout F")->text, "");
  EXPECT_FALSE(parse_pod_line("some day stdout F text"));
  EXPECT_FALSE(parse_pod_line("yesterday stdout F text")->stamp);
}

TEST(PodLine, OthersAreNone) {
  for (const char* line : {"", "text", R"({"log":"text\n","stream":"stdout"})",
                           "2026-11-23T04:46:46Z stdout X text", "2026-11-23T04:46:46Z stdin F text"})
    EXPECT_FALSE(parse_pod_line(line)) << line;
}

}  // namespace
}  // namespace spotter::collect

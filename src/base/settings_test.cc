#include "base/settings.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

constexpr Setting kSettings[] = {
    {"every", "10s", "A time.", is_duration},
    {"path", nullptr, "A path; else one is found.", is_path},
};

TEST(Settings, FallbacksAreOfKeysThatAreNotSaid) {
  Settings said = {{"path", "/a"}};
  add_fallbacks(said, kSettings);
  EXPECT_EQ(said, (Settings{{"every", "10s"}, {"path", "/a"}}));
  said = {{"every", "1s"}};
  add_fallbacks(said, kSettings);
  EXPECT_EQ(said, (Settings{{"every", "1s"}}));
  EXPECT_EQ(find_setting(kSettings, "path"), &kSettings[1]);
  EXPECT_EQ(find_setting(kSettings, "Path"), nullptr);
}

TEST(Settings, Words) {
  for (const char* word : {"10s", "1.5m"}) EXPECT_TRUE(is_duration(word)) << word;
  for (const char* word : {"", "10", "often"}) EXPECT_FALSE(is_duration(word)) << word;
  EXPECT_TRUE(is_size("64M"));
  EXPECT_FALSE(is_size("big"));
  EXPECT_TRUE(is_path("-"));
  EXPECT_FALSE(is_path(""));
  for (const char* word : {"true", "false"}) EXPECT_TRUE(is_flag(word)) << word;
  for (const char* word : {"", "yes", "TRUE", "1"})
    EXPECT_EQ(is_flag(word).error().code, Code::invalid) << word;
}

}  // namespace
}  // namespace spotter

#include "base/text/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace spotter {
namespace {

TEST(Glob, Patterns) {
  EXPECT_TRUE(matches_glob("gpu", "gpu"));
  EXPECT_FALSE(matches_glob("gpu", "gpu_process"));
  EXPECT_FALSE(matches_glob("gpu_process", "gpu"));
  EXPECT_TRUE(matches_glob("gpu*", "gpu"));
  EXPECT_TRUE(matches_glob("gpu*", "gpu_process"));
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("*_process", "gpu_process"));
  EXPECT_TRUE(matches_glob("g*_*s", "gpu_process"));
  EXPECT_FALSE(matches_glob("g*_*t", "gpu_process"));
  EXPECT_FALSE(matches_glob("", "gpu"));
  EXPECT_TRUE(matches_glob("**", "gpu"));
  EXPECT_FALSE(matches_glob(std::string(40, '*') + "x", std::string(1000, 'a')));
  EXPECT_TRUE(matches_glob("gp?_*", "gpu_process"));
  EXPECT_FALSE(matches_glob("gpu?", "gpu"));
  EXPECT_TRUE(matches_glob("[a]", "[a]"));  // no sets
}

}  // namespace
}  // namespace spotter

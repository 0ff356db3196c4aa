#include "base/same_host.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

TEST(SameHost, WithAndWithoutADomain) {
  EXPECT_TRUE(is_same_host("gpu05", "GPU05"));
  EXPECT_TRUE(is_same_host("gpu05.cluster", "gpu05"));
  EXPECT_TRUE(is_same_host("gpu05", "gpu05.cluster.example"));
  EXPECT_FALSE(is_same_host("gpu05.a", "gpu05.b"));
  EXPECT_FALSE(is_same_host("gpu05", "gpu051"));
  EXPECT_FALSE(is_same_host("10.0.0.1", "10.0.0.2"));
  EXPECT_FALSE(is_same_host("", ".x"));
}

}  // namespace
}  // namespace spotter

#include "base/name_factor.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

TEST(NameFactor, IsReadFromTheLastEqualsSign) {
  EXPECT_EQ(parse_name_factor("a=b=0.25")->name, "a=b");
  EXPECT_EQ(parse_name_factor("a=b=0.25")->factor, 0.25);
  EXPECT_EQ(parse_name_factor("gemm=0")->factor, 0);
  EXPECT_EQ(parse_name_factor("gemm=1000000")->factor, 1e6);
}

TEST(NameFactor, WhatIsNoneIsAnError) {
  for (const char* text :
       {"", "gemm", "=2", "gemm=", "gemm=x", "gemm=-1", "gemm=nan", "gemm=1e9", "gemm=2x", "gemm=1000001"})
    EXPECT_FALSE(parse_name_factor(text).has_value()) << text;
}

}  // namespace
}  // namespace spotter

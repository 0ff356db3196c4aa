#include "analyze/kernels/function_name.h"

#include <gtest/gtest.h>

namespace spotter::analyze {
namespace {

TEST(FunctionName, IsWithoutTypesArgumentsAndParameters) {
  EXPECT_EQ(
      function_name(
          "void at::native::vectorized_elementwise_kernel<4, at::native::F<float>, a::Array<char*, 1> >(int, F)"),
      "at::native::vectorized_elementwise_kernel");
  EXPECT_EQ(function_name("a<int>(b)"), "a");
  EXPECT_EQ(
      function_name(
          "void at::native::(anonymous namespace)::CatArrayBatchedCopy<x>(y*, (anonymous namespace)::z)"),
      "at::native::CatArrayBatchedCopy");
  EXPECT_EQ(function_name("void <unnamed>::softmax<float>(float*)"), "softmax");
  EXPECT_EQ(function_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(function_name("std::enable_if<(((128)>>(3)))>(T)"), "std::enable_if");
  EXPECT_EQ(function_name("void f<(g)(3), auto (int)->float>(int) const"), "f");
}

TEST(FunctionName, KeepsOperators) {
  EXPECT_EQ(function_name("void a::b<int>::operator()(int)->x"), "a::b::operator()");
  EXPECT_EQ(function_name("bool operator<(a, b)"), "operator<");
  EXPECT_EQ(function_name("a& operator<<(a&, b const&)"), "operator<<");
  EXPECT_EQ(function_name("void my_operator<3>(int)"), "my_operator");
}

TEST(FunctionName, WhatIsNoSignatureStays) {
  for (const char* name :
       {"Memcpy HtoD (Pinned -> Device)", "Memset (Device)", "aten::mm", "triton_poi_fused_add_0", "", " ",
        "volta_sgemm_128x32_nt", "a > b(", "f(", "f)", "<>", "()", "f<(>)", "## step (3) ##>"})
    EXPECT_EQ(function_name(name), name);
}

}  // namespace
}  // namespace spotter::analyze

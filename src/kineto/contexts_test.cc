#include "kineto/contexts.h"

#include <gtest/gtest.h>

namespace spotter::kineto {
namespace {

TEST(Contexts, EachProcessCountsOnce) {
  Contexts contexts;
  EXPECT_EQ(contexts.count(10, {7, 0}), 1);
  EXPECT_EQ(contexts.count(10, {7, 0}), 1);
  EXPECT_EQ(contexts.count(11, {7, 0}), 2);
  EXPECT_EQ(contexts.count(11, {7, 1}), 1);
  EXPECT_EQ(contexts.count(11, {8, 0}), 1);
  contexts.gone(10);
  contexts.gone(10);
  EXPECT_EQ(contexts.count(12, {7, 0}), 2);
}

// Jobs and GPUs that a process makes up, and processes that come and go without end.
TEST(Contexts, WhatIsMadeUpTakesThePlaceOfItsOwn) {
  Contexts contexts;
  EXPECT_EQ(contexts.count(1, {7, 0}), 1);
  for (i64 job = 0; job < 100'000; ++job) EXPECT_EQ(contexts.count(2, {1000 + job, 0}), 1);
  EXPECT_EQ(contexts.size(), 2U);
  EXPECT_EQ(contexts.count(3, {7, 0}), 2);
  EXPECT_EQ(contexts.count(3, {1000, 0}), 1) << "forgotten: it was an old one of process 2";
  EXPECT_EQ(contexts.count(3, {100'999, 0}), 2);
  for (i64 pid = 100; pid < 30'000; ++pid) {
    contexts.count(pid, {9, 0});
    if (pid % 2 == 0) contexts.gone(pid);
  }
  EXPECT_LE(contexts.size(), Contexts::kMostProcesses);
  EXPECT_EQ(contexts.count(30'000, {7, 0}), 1);
}

}  // namespace
}  // namespace spotter::kineto

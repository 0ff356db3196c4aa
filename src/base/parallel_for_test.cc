#include "base/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace spotter {
namespace {

TEST(ParallelFor, EveryIndexOnce) {
  for (const int threads : {-1, 0, 1, 2, 7, 64}) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{5}, size_t{10'000}}) {
      std::vector<std::atomic<int>> hits(n);
      parallel_for(n, threads, [&](size_t i) { ++hits[i]; });
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(hits[i], 1) << threads << " threads, index " << i << " of " << n;
    }
  }
}

TEST(ParallelFor, OneThreadMeansThisOneInOrder) {
  std::vector<size_t> order;
  const auto me = std::this_thread::get_id();
  parallel_for(5, 1, [&](size_t i) {
    EXPECT_EQ(std::this_thread::get_id(), me);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, ThreadsRunAtTheSameTime) {
  std::latch all_here(4);  // would hang if fewer than four bodies ran at once
  parallel_for(4, 4, [&](size_t) { all_here.arrive_and_wait(); });
  EXPECT_TRUE(all_here.try_wait());
}

TEST(ParallelFor, TakesANamedConstCallable) {
  std::atomic<size_t> sum = 0;
  const auto body = [&](size_t i) { sum += i; };
  parallel_for(101, 3, body);
  EXPECT_EQ(sum, 5050u);
}

}  // namespace
}  // namespace spotter

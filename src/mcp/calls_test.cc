#include "mcp/calls.h"

#include <gtest/gtest.h>

#include <string>

namespace spotter::mcp {
namespace {

struct Job : Cancellable {
  explicit Job(int n) : number(n) {}
  int number;
};

// What calls do here: until they are let go or told to end.
struct Doer {
  std::atomic<bool> let_go = false;
  std::mutex mutex;
  std::vector<int> begun, given_up;

  void act(const Job& job) {
    {
      const std::lock_guard lock(mutex);
      begun.push_back(job.number);
    }
    while (!let_go && !job.cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    if (job.cancelled) given_up.push_back(job.number);
  }
  Calls<Job>::Act function() {
    return [this](const std::shared_ptr<Job>& job) { act(*job); };
  }
  void wait_for_begun(size_t count) {
    while (true) {
      {
        const std::lock_guard lock(mutex);
        if (begun.size() >= count) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
};

TEST(Calls, WhatTakesLongerThanItMayIsToldToGiveUp) {
  Doer doer;
  Calls<Job> calls(2, 4, doer.function());
  auto short_one = std::make_shared<Job>(1);
  short_one->longest = kMillisecond;
  ASSERT_TRUE(calls.take(short_one));
  ASSERT_TRUE(calls.take(std::make_shared<Job>(2)));
  doer.wait_for_begun(2);
  while (!short_one->cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  doer.let_go = true;
  calls.wait(60 * kSecond);
  EXPECT_EQ(doer.given_up, std::vector<int>{1});
}

TEST(Calls, AsManyRunAndWaitAsMayTheOthersAreRefused) {
  Doer doer;
  Calls<Job> calls(1, 2, doer.function());
  ASSERT_TRUE(calls.take(std::make_shared<Job>(1)));
  doer.wait_for_begun(1);
  EXPECT_TRUE(calls.take(std::make_shared<Job>(2)));
  EXPECT_TRUE(calls.take(std::make_shared<Job>(3)));
  EXPECT_FALSE(calls.take(std::make_shared<Job>(4)));
  doer.let_go = true;
  calls.wait(60 * kSecond);
  EXPECT_EQ(doer.begun, (std::vector<int>{1, 2, 3}));
}

TEST(Calls, WhatIsCancelledBeforeItBeginsNeverBegins) {
  Doer doer;
  Calls<Job> calls(1, 2, doer.function());
  ASSERT_TRUE(calls.take(std::make_shared<Job>(1)));
  doer.wait_for_begun(1);
  ASSERT_TRUE(calls.take(std::make_shared<Job>(2)));
  calls.cancel([](const Job&) { return true; }, [](Job& job) { job.cancelled = true; });
  calls.wait(60 * kSecond);
  EXPECT_EQ(doer.begun, std::vector<int>{1});
  EXPECT_EQ(doer.given_up, std::vector<int>{1});
}

TEST(Calls, OneAskerDoesNotKeepTheOthersOut) {
  Doer doer;
  Calls<Job> calls(4, 8, doer.function());
  const int one = 0;
  for (int n = 1; n <= 6; ++n) {
    auto job = std::make_shared<Job>(n);
    job->whose = &one;
    ASSERT_TRUE(calls.take(std::move(job)));
    doer.wait_for_begun(static_cast<size_t>(std::min(n, 2)));
  }
  auto more = std::make_shared<Job>(7);
  more->whose = &one;
  EXPECT_FALSE(calls.take(std::move(more)));  // four of his wait
  ASSERT_TRUE(calls.take(std::make_shared<Job>(8)));
  doer.wait_for_begun(3);
  {
    const std::lock_guard lock(doer.mutex);
    EXPECT_EQ(doer.begun.back(), 8);
  }
  doer.let_go = true;
  calls.wait(60 * kSecond);
  EXPECT_EQ(doer.begun.size(), 7U);
}

TEST(Calls, AtItsEndWhatRunsIsGivenUpAndWhatWaitsIsForgotten) {
  Doer doer;
  {
    Calls<Job> calls(1, 2, doer.function());
    ASSERT_TRUE(calls.take(std::make_shared<Job>(1)));
    doer.wait_for_begun(1);
    ASSERT_TRUE(calls.take(std::make_shared<Job>(2)));
  }
  EXPECT_EQ(doer.begun, std::vector<int>{1});
  EXPECT_EQ(doer.given_up, std::vector<int>{1});
}

}  // namespace
}  // namespace spotter::mcp

#include "collect/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace spotter::collect {
namespace {

constexpr Ns kMs = 1'000'000, kSecond = 1'000'000'000;
constexpr Field kColumns[] = {{"value", Type::integer, Unit::count, Role::value, "A number."}};
constexpr TableKind kTables[] = {{"test", "nowhere", "A row.", kColumns}};

TEST(DeadlinesTest, BeginsNowAndGoesOnAtMultiplesOfUnixTime) {
  Deadlines d(10 * kSecond);
  d.begin(1000 * kSecond, 3 * kSecond);
  EXPECT_EQ(d.next(), 1000 * kSecond);
  EXPECT_EQ(d.pass(1001 * kSecond), 0);
  EXPECT_EQ(d.next(), 1007 * kSecond);  // Unix time 10 s
  EXPECT_EQ(d.pass(1007 * kSecond), 0);
  EXPECT_EQ(d.next(), 1017 * kSecond);
}

TEST(DeadlinesTest, TheFirstSampleHasTime) {
  Deadlines d(10 * kSecond);
  d.begin(0, 8 * kSecond);
  EXPECT_EQ(d.pass(3 * kSecond), 0);
  EXPECT_EQ(d.next(), 12 * kSecond);
}

TEST(DeadlinesTest, LatenessDoesNotAddUp) {
  Deadlines d(kSecond);
  d.begin(0, 0);
  for (Ns turn = 1; turn < 100; ++turn) {
    EXPECT_FALSE(d.is_late(d.next() + 90 * kMs));
    EXPECT_TRUE(d.is_late(d.next() + 110 * kMs));
    EXPECT_EQ(d.pass(d.next() + 90 * kMs), 0);
    EXPECT_EQ(d.next(), turn * kSecond);
  }
}

TEST(DeadlinesTest, SkipsTimesThatHavePassed) {
  Deadlines d(kSecond);
  d.begin(0, 0);
  EXPECT_EQ(d.pass(3'500 * kMs), 3);  // those at 1, 2 and 3 s
  EXPECT_EQ(d.next(), 4 * kSecond);
  EXPECT_EQ(d.pass(5 * kSecond), 1);
  EXPECT_EQ(d.next(), 6 * kSecond);
}

TEST(DeadlinesTest, TimesBefore1970) {
  Deadlines d(10 * kSecond);
  d.begin(0, -8 * kSecond);
  d.pass(1);
  EXPECT_EQ(d.next(), 8 * kSecond);
}

// What the collectors of these tests do; they are made by functions without state.
struct Script {
  std::atomic<int> opened = 0, sampled = 0;
  std::atomic<bool> is_absent = false, fails = false, hangs = false;
  std::atomic<int> left_out = 0;
} script;

class Scripted : public Collector {
  Result<std::vector<Table>> sample() override {
    ++script.sampled;
    while (script.hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (script.fails) return fail(Code::io, "it fails");
    std::vector<Table> tables;
    Table& table = tables.emplace_back("test", kColumns);
    table.append({i64{script.sampled}});
    table.notes.add("in_turns", Severity::info, "things are read in turns", -1, 1000);
    if (script.left_out > 0)
      table.notes.add("too_many", Severity::loss, "things are not looked at", -1, script.left_out);
    return tables;
  }
};

Result<std::unique_ptr<Collector>> open_scripted(const Surroundings&) {
  ++script.opened;
  if (script.is_absent) return fail(Code::not_found, "there is none");
  return std::make_unique<Scripted>();
}

constexpr CollectorKind kScripted = {
    .name = "scripted",
    .help = "For a test.",
    .period = kSecond,
    .tables = kTables,
    .open = open_scripted,
};
constexpr CollectorKind kBlocking = {
    .name = "blocking",
    .help = "For a test.",
    .period = kSecond,
    .may_block = true,
    .tables = kTables,
    .open = open_scripted,
};

class Steady : public Collector {
  Result<std::vector<Table>> sample() override {
    std::vector<Table> tables;
    tables.emplace_back("test", kColumns).append({i64{-1}});
    return tables;
  }
};
constexpr CollectorKind kSteady = {
    .name = "steady",
    .help = "For a test.",
    .period = kSecond,
    .tables = kTables,
    .open = [](const Surroundings&) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Steady>();
    },
};

class SamplerTest : public testing::Test {
 protected:
  SamplerTest() {
    script.opened = script.sampled = script.left_out = 0;
    script.is_absent = script.fails = script.hangs = false;
  }

  Sampler::Take take() {
    return [this](SharedBatch batch) {
      std::lock_guard lock(mutex_);
      batches_.push_back(std::move(batch));
      changed_.notify_all();
    };
  }
  bool wait_for(size_t batches) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return batches_.size() >= batches; });
  }
  size_t count() {
    std::lock_guard lock(mutex_);
    return batches_.size();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<SharedBatch> batches_;
};

TEST_F(SamplerTest, HandsOnTablesWithTheirTimeAndPeriod) {
  const Ns before = unix_clock_now();
  const Sampler sampler({{&kScripted, 20 * kMs}}, {}, take());
  ASSERT_TRUE(wait_for(5));
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < batches_.size(); ++i) {
    ASSERT_EQ(batches_[i]->tables.size(), 1U);
    EXPECT_EQ(batches_[i]->tables[0].integer(0, 0), static_cast<i64>(i) + 1);
    EXPECT_EQ(batches_[i]->period_ns, 20 * kMs);
    EXPECT_GE(batches_[i]->unix_ns, before);
    if (i > 0) {
      EXPECT_GT(batches_[i]->unix_ns, batches_[i - 1]->unix_ns);
    }
  }
}

TEST_F(SamplerTest, CountsSamplesThatFailAndGoesOn) {
  script.fails = true;
  const Sampler sampler({{&kScripted, 10 * kMs}, {&kSteady, 10 * kMs}}, {}, take());
  ASSERT_TRUE(wait_for(3));  // of the other one
  const auto states = sampler.states();
  ASSERT_EQ(states.size(), 2U);
  EXPECT_GE(states[0].failed, 2);
  EXPECT_EQ(states[0].failed, states[0].samples);
  EXPECT_EQ(states[0].last_error, "it fails");
  EXPECT_EQ(states[1].failed, 0);
  script.fails = false;
  const size_t now = count();
  ASSERT_TRUE(wait_for(now + 3));
  EXPECT_EQ(sampler.states()[0].last_error, "");
}

TEST_F(SamplerTest, TellsHowManyThingsTheLastSampleLeftOut) {
  script.left_out = 7;
  const Sampler sampler({{&kScripted, 10 * kMs}}, {}, take());
  ASSERT_TRUE(wait_for(3));
  EXPECT_EQ(sampler.states()[0].left_out, 7);  // not the sum over samples
  script.left_out = 0;
  const size_t now = count();
  ASSERT_TRUE(wait_for(now + 2));
  EXPECT_EQ(sampler.states()[0].left_out, 0);
}

TEST_F(SamplerTest, WhatIsNotThereIsNotAskedAgainAtOnce) {
  script.is_absent = true;
  const Sampler sampler({{&kScripted, 10 * kMs}, {&kSteady, 10 * kMs}}, {}, take());
  ASSERT_TRUE(wait_for(5));
  EXPECT_EQ(script.opened, 1);
  EXPECT_FALSE(sampler.states()[0].is_open);
  EXPECT_EQ(sampler.states()[0].samples, 0);
  EXPECT_EQ(sampler.states()[0].last_error, "there is none");
}

TEST_F(SamplerTest, OneThatHangsDoesNotDelayTheOthers) {
  script.hangs = true;
  {
    const Sampler sampler({{&kBlocking, 10 * kMs}, {&kSteady, 10 * kMs}}, {}, take());
    ASSERT_TRUE(wait_for(10));
    const auto states = sampler.states();
    EXPECT_STREQ(states[0].name, "steady");  // those that may block come last
    EXPECT_EQ(states[1].samples, 0);
  }
  const size_t at_the_end = count();
  script.hangs = false;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(count(), at_the_end);  // what comes too late is dropped
}

// Two hang, one after the other; then each goes on in a thread of its own.
TEST_F(SamplerTest, WhoHasHungGoesOnAlone) {
  script.hangs = true;
  const Sampler sampler({{&kBlocking, 10 * kMs}, {&kSteady, 10 * kMs}, {&kBlocking, 20 * kMs}}, {}, take());
  ASSERT_TRUE(wait_for(20));
  EXPECT_EQ(script.sampled, 2);
  script.hangs = false;
  const auto of_blocking = [&](Ns period) {
    std::lock_guard lock(mutex_);
    return std::ranges::count_if(batches_, [&](const SharedBatch& batch) {
      return batch->by == "blocking" && batch->period_ns == period;
    });
  };
  while (of_blocking(10 * kMs) < 3 || of_blocking(20 * kMs) < 3) ASSERT_TRUE(wait_for(count() + 1));
  const auto states = sampler.states();
  EXPECT_GT(states[1].skipped, 0);
  EXPECT_GT(states[2].skipped, 0);
}

// One of which nobody would think so hangs; what is fast is not kept waiting for long.
TEST_F(SamplerTest, WhoeverHangsIsLeftAlone) {
  script.hangs = true;
  {
    const Sampler sampler({{&kScripted, kSecond}, {&kSteady, 20 * kMs}}, {}, take());
    ASSERT_TRUE(wait_for(10));
    EXPECT_EQ(sampler.states()[0].samples, 0);
    EXPECT_LE(sampler.states()[1].skipped, 3);
  }
  script.hangs = false;
}

TEST_F(SamplerTest, WhoMayBlockComesLastAndIsAlone) {
  const Sampler sampler({{&kBlocking, 10 * kMs}, {&kSteady, 10 * kMs}, {&kScripted, 10 * kMs}}, {}, take());
  ASSERT_TRUE(wait_for(4));
  std::lock_guard lock(mutex_);
  EXPECT_EQ(batches_[0]->by, "sampler");
  EXPECT_EQ(batches_[0]->tables.size(), 2U);
  EXPECT_EQ(batches_[1]->by, "blocking");
  EXPECT_EQ(batches_[1]->tables.size(), 1U);
}

TEST_F(SamplerTest, PeriodsAreBatchesOfTheirOwn) {
  const Sampler sampler({{&kSteady, 20 * kMs}, {&kScripted, 60 * kMs}}, {}, take());
  ASSERT_TRUE(wait_for(9));
  std::lock_guard lock(mutex_);
  size_t fast = 0, slow = 0;
  for (const auto& batch : batches_) {
    ASSERT_EQ(batch->tables.size(), 1U);
    ++(batch->period_ns == 20 * kMs ? fast : slow);
  }
  EXPECT_GT(fast, slow);
  EXPECT_GT(slow, 0U);
}

}  // namespace
}  // namespace spotter::collect

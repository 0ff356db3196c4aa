#include "collect/sampler.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/time.h"
#include "collect/process/identities.h"

namespace spotter::collect {
namespace {

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
    EXPECT_FALSE(d.is_late(d.next() + 90 * kMillisecond));
    EXPECT_TRUE(d.is_late(d.next() + 110 * kMillisecond));
    EXPECT_EQ(d.pass(d.next() + 90 * kMillisecond), 0);
    EXPECT_EQ(d.next(), turn * kSecond);
  }
}

TEST(DeadlinesTest, SkipsTimesThatHavePassed) {
  Deadlines d(kSecond);
  d.begin(0, 0);
  EXPECT_EQ(d.pass(3'500 * kMillisecond), 3);  // those at 1, 2 and 3 s
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

// The sampler's threads are real; its clock stands still but for pass_time(), so that what a test sees does
// not hang on how much of the machine it gets.
class SamplerTest : public testing::Test {
 protected:
  SamplerTest() {
    script.opened = script.sampled = script.left_out = 0;
    script.is_absent = script.fails = script.hangs = false;
    elapsed_ = stand_by_looked_ = 0;
    surroundings_.host.steady_now = [] {
      char name[16] = {};
      pthread_getname_np(pthread_self(), name, sizeof name);
      if (std::string_view(name) == "sampler-standby") ++stand_by_looked_;
      return elapsed_.load();
    };
    surroundings_.identities = std::make_shared<Identities>(surroundings_.host);
    surroundings_.host.unix_now = [] { return 1'700'000'000 * kSecond + elapsed_; };
  }
  ~SamplerTest() override {
    script.hangs = false;
    EXPECT_TRUE(threads_end());
  }

  Sampler::Take take() {
    return [this](SharedBatch batch) {
      std::lock_guard lock(mutex_);
      threads_[batch->by] = std::this_thread::get_id();
      batches_.push_back(std::move(batch));
      changed_.notify_all();
    };
  }
  bool wait_for(size_t batches) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return batches_.size() >= batches; });
  }
  size_t count() {
    std::lock_guard lock(mutex_);
    return batches_.size();
  }
  static void pass_time(Ns time) { elapsed_ += time; }
  // So many batches more, with a step of time before each.
  bool get(size_t batches, Ns step) {
    for (; batches > 0; --batches) {
      const size_t now = count();
      pass_time(step);
      if (!wait_for(now + 1)) return false;
    }
    return true;
  }
  // True at last: a minute is a failure.
  static bool comes(const std::function<bool()>& is_so) {
    for (int i = 0; i < 60'000 && !is_so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return is_so();
  }

  // Of samplers that have gone, and those threads too that they left behind: what they share, the
  // surroundings in it, lives as long as the last of them.
  bool threads_end() {
    return comes([&] { return surroundings_.identities.use_count() == 1; });
  }

  static inline std::atomic<Ns> elapsed_;
  static inline std::atomic<int> stand_by_looked_;  // how often a thread that stands by looked at the clock
  Surroundings surroundings_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<SharedBatch> batches_;
  std::map<std::string, std::thread::id> threads_;  // by whom: Batch::by
};

TEST_F(SamplerTest, HandsOnTablesWithTheirTimeAndPeriod) {
  const Ns before = surroundings_.host.unix_now();
  const Sampler sampler({{&kScripted, 20 * kMillisecond}}, surroundings_, take());
  ASSERT_TRUE(wait_for(1));
  ASSERT_TRUE(get(4, 20 * kMillisecond));
  EXPECT_EQ(sampler.states()[0].late + sampler.states()[0].skipped, 0);
  std::lock_guard lock(mutex_);  // which the sampler takes while it holds its own
  ASSERT_EQ(batches_.size(), 5U);
  for (size_t i = 0; i < batches_.size(); ++i) {
    ASSERT_EQ(batches_[i]->tables.size(), 1U);
    EXPECT_EQ(batches_[i]->tables[0].integer(0, 0), static_cast<i64>(i) + 1);
    EXPECT_EQ(batches_[i]->period_ns, 20 * kMillisecond);
    EXPECT_EQ(batches_[i]->unix_ns, before + static_cast<i64>(i) * 20 * kMillisecond);
  }
}

TEST_F(SamplerTest, CountsWhatIsLateAndSkipped) {
  const Sampler sampler({{&kScripted, 20 * kMillisecond}}, surroundings_, take());
  ASSERT_TRUE(wait_for(1));
  ASSERT_TRUE(get(1, 23 * kMillisecond));
  EXPECT_EQ(sampler.states()[0].late, 1);
  EXPECT_EQ(sampler.states()[0].skipped, 0);
  ASSERT_TRUE(get(1, 60 * kMillisecond));  // at 83 ms that of 40 ms; those of 60 and 80 are skipped
  EXPECT_EQ(sampler.states()[0].late, 2);
  EXPECT_EQ(sampler.states()[0].skipped, 2);
  EXPECT_EQ(sampler.states()[0].samples, 3);
}

TEST_F(SamplerTest, CountsSamplesThatFailAndGoesOn) {
  script.fails = true;
  const Sampler sampler({{&kScripted, 10 * kMillisecond}, {&kSteady, 10 * kMillisecond}}, surroundings_,
                        take());
  ASSERT_TRUE(wait_for(1));  // of the other one
  ASSERT_TRUE(get(2, 10 * kMillisecond));
  const auto states = sampler.states();
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[0].failed, 3);
  EXPECT_EQ(states[0].samples, 3);
  EXPECT_EQ(states[0].last_error, "it fails");
  EXPECT_EQ(states[1].failed, 0);
  script.fails = false;
  ASSERT_TRUE(get(1, 10 * kMillisecond));
  EXPECT_EQ(sampler.states()[0].last_error, "");
}

TEST_F(SamplerTest, TellsHowManyThingsTheLastSampleLeftOut) {
  script.left_out = 7;
  const Sampler sampler({{&kScripted, 10 * kMillisecond}}, surroundings_, take());
  ASSERT_TRUE(wait_for(1));
  ASSERT_TRUE(get(2, 10 * kMillisecond));
  EXPECT_EQ(sampler.states()[0].left_out, 7);  // not the sum over samples
  script.left_out = 0;
  ASSERT_TRUE(get(1, 10 * kMillisecond));
  EXPECT_EQ(sampler.states()[0].left_out, 0);
}

TEST_F(SamplerTest, WhatIsNotThereIsAskedAgainAfterAMinute) {
  script.is_absent = true;
  const Sampler sampler({{&kScripted, 10 * kMillisecond}, {&kSteady, 10 * kMillisecond}}, surroundings_,
                        take());
  ASSERT_TRUE(wait_for(1));
  ASSERT_TRUE(get(4, 10 * kMillisecond));
  EXPECT_EQ(script.opened, 1);
  EXPECT_FALSE(sampler.states()[0].is_open);
  EXPECT_EQ(sampler.states()[0].samples, 0);
  EXPECT_EQ(sampler.states()[0].last_error, "there is none");
  script.is_absent = false;
  ASSERT_TRUE(get(1, 60 * kSecond));
  EXPECT_EQ(script.opened, 2);
  EXPECT_TRUE(sampler.states()[0].is_open);
}

TEST_F(SamplerTest, OneThatHangsDoesNotDelayTheOthers) {
  script.hangs = true;
  {
    const Sampler sampler({{&kBlocking, 10 * kMillisecond}, {&kSteady, 10 * kMillisecond}}, surroundings_,
                          take());
    ASSERT_TRUE(wait_for(1));
    ASSERT_TRUE(get(9, 10 * kMillisecond));
    const auto states = sampler.states();
    EXPECT_STREQ(states[0].name, "steady");  // those that may block come last
    EXPECT_EQ(states[1].samples, 0);
  }
  const size_t at_the_end = count();
  EXPECT_GT(surroundings_.identities.use_count(), 1);  // the thread of the one that hangs is left behind
  script.hangs = false;
  ASSERT_TRUE(threads_end());
  EXPECT_EQ(count(), at_the_end);  // what comes too late is dropped
}

// Two hang, one after the other; then each goes on in a thread of its own.
TEST_F(SamplerTest, WhoHasHungGoesOnAlone) {
  script.hangs = true;
  const Sampler sampler(
      {{&kBlocking, 10 * kMillisecond}, {&kSteady, 10 * kMillisecond}, {&kBlocking, 20 * kMillisecond}},
      surroundings_, take());
  ASSERT_TRUE(wait_for(1));
  ASSERT_TRUE(get(19, 10 * kMillisecond));
  EXPECT_TRUE(comes([] { return script.sampled == 2; }));
  EXPECT_EQ(sampler.states()[0].skipped, 0);
  script.hangs = false;
  const auto of_blocking = [&](Ns period) {
    std::lock_guard lock(mutex_);
    return std::ranges::count_if(batches_, [&](const SharedBatch& batch) {
      return batch->by == "blocking" && batch->period_ns == period;
    });
  };
  while (of_blocking(10 * kMillisecond) < 3 || of_blocking(20 * kMillisecond) < 3)
    ASSERT_TRUE(get(1, 10 * kMillisecond));
  const auto states = sampler.states();
  EXPECT_GT(states[1].skipped, 0);
  EXPECT_GT(states[2].skipped, 0);
}

// To open what it reads takes long, or once it hung.
TEST_F(SamplerTest, WhoIsQuickAgainComesBack) {
  script.hangs = true;
  const Sampler sampler({{&kBlocking, 10 * kMillisecond}, {&kSteady, 10 * kMillisecond}}, surroundings_,
                        take());
  ASSERT_TRUE(wait_for(1));
  ASSERT_TRUE(get(9, 10 * kMillisecond));
  script.hangs = false;
  EXPECT_TRUE(comes([&] {
    const std::lock_guard lock(mutex_);
    return threads_.contains("blocking");
  }));
  const auto is_alone = [&] {
    const std::lock_guard lock(mutex_);
    return threads_["blocking"] != threads_["sampler"];
  };
  EXPECT_TRUE(is_alone());
  // Both have their batch of each time, so that none is missed.
  for (int i = 0; i < 1000 && is_alone(); ++i) {
    const i64 before = sampler.states()[1].samples + sampler.states()[1].skipped;
    ASSERT_TRUE(get(1, 10 * kMillisecond));
    ASSERT_TRUE(comes([&] { return sampler.states()[1].samples + sampler.states()[1].skipped > before; }));
  }
  EXPECT_FALSE(is_alone());
  const i64 samples = sampler.states()[1].samples;
  EXPECT_GE(samples, 20);
  ASSERT_TRUE(get(2, 10 * kMillisecond));  // and is asked there
  EXPECT_TRUE(comes([&] { return sampler.states()[1].samples > samples; }));
}

// One of which nobody would think so hangs; what is fast is not kept waiting for long.
TEST_F(SamplerTest, WhoeverHangsIsLeftAlone) {
  script.hangs = true;
  {
    const Sampler sampler({{&kScripted, kSecond}, {&kSteady, 20 * kMillisecond}}, surroundings_, take());
    EXPECT_TRUE(comes([] { return script.sampled == 1; }));
    EXPECT_EQ(count(), 0U);
    ASSERT_TRUE(get(1, 5 * kMillisecond));  // a quarter of the shorter period
    ASSERT_TRUE(get(1, 15 * kMillisecond));
    ASSERT_TRUE(get(8, 20 * kMillisecond));
    EXPECT_EQ(sampler.states()[0].samples, 0);
    EXPECT_EQ(sampler.states()[1].samples, 10);
    EXPECT_EQ(sampler.states()[1].skipped, 0);
  }
}

// Who stands by is woken by a clock that goes on while the sampler's stands still, so that nobody has hung
// yet.
TEST_F(SamplerTest, WhoStandsByAndWokeForNothingStandsByStill) {
  script.hangs = true;
  const Sampler sampler({{&kScripted, 20 * kMillisecond}, {&kSteady, 20 * kMillisecond}}, surroundings_,
                        take());
  ASSERT_TRUE(comes([] { return stand_by_looked_ >= 3; }));
  EXPECT_EQ(count(), 0U);  // the other one was not taken over
  script.hangs = false;
  ASSERT_TRUE(wait_for(1));
  script.hangs = true;
  pass_time(20 * kMillisecond);
  EXPECT_TRUE(comes([] { return script.sampled == 2; }));
  ASSERT_TRUE(get(3, 20 * kMillisecond));
  EXPECT_EQ(sampler.states()[0].samples, 1);
  EXPECT_EQ(sampler.states()[1].samples, 4);
  script.hangs = false;
}

TEST_F(SamplerTest, WhoMayBlockComesLastAndIsAlone) {
  const Sampler sampler(
      {{&kBlocking, 10 * kMillisecond}, {&kSteady, 10 * kMillisecond}, {&kScripted, 10 * kMillisecond}},
      surroundings_, take());
  ASSERT_TRUE(wait_for(2));
  std::lock_guard lock(mutex_);
  EXPECT_EQ(batches_[0]->by, "sampler");
  EXPECT_EQ(batches_[0]->tables.size(), 2U);
  EXPECT_EQ(batches_[1]->by, "blocking");
  EXPECT_EQ(batches_[1]->tables.size(), 1U);
}

TEST_F(SamplerTest, PeriodsAreBatchesOfTheirOwn) {
  const Sampler sampler({{&kSteady, 20 * kMillisecond}, {&kScripted, 60 * kMillisecond}}, surroundings_,
                        take());
  ASSERT_TRUE(wait_for(2));
  for (size_t turn = 1; turn <= 6; ++turn) {
    pass_time(20 * kMillisecond);
    ASSERT_TRUE(wait_for(2 + turn + turn / 3));
  }
  std::lock_guard lock(mutex_);
  ASSERT_EQ(batches_.size(), 10U);
  for (const auto& batch : batches_) ASSERT_EQ(batch->tables.size(), 1U);
  EXPECT_EQ(
      std::ranges::count(batches_, 20 * kMillisecond, [](const auto& batch) { return batch->period_ns; }), 7);
}

}  // namespace
}  // namespace spotter::collect

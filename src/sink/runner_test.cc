#include "sink/runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

#include "base/system/host.h"
#include "base/time.h"
#include "sink/test_batches.h"

namespace spotter::sink {
namespace {

// What the test has the sink do, and what the sink has seen.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<Delivery(size_t attempt, size_t shares)> act = [](size_t, size_t n) {
    return Delivery{.batches = n};
  };
  std::vector<std::vector<Ns>> attempts;  // the times of the batches
  std::vector<Ns> at;
  bool is_held = false, is_interrupted = false, hangs = false;

  void hold() {
    const std::lock_guard lock(mutex);
    is_held = true;
  }
  void release() {
    const std::lock_guard lock(mutex);
    is_held = hangs = false;
    changed.notify_all();
  }
  bool has_tried(size_t times) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(5), [&] { return attempts.size() >= times; });
  }
};

class ScriptedSink : public Sink {
 public:
  explicit ScriptedSink(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  Delivery deliver(std::span<const Share> shares) override {
    std::unique_lock lock(script_->mutex);
    std::vector<Ns>& times = script_->attempts.emplace_back();
    for (const Share& share : shares) times.push_back(share.batch->unix_ns);
    script_->at.push_back(steady_clock_now());
    script_->changed.notify_all();
    script_->changed.wait(lock,
                          [&] { return (!script_->is_held || script_->is_interrupted) && !script_->hangs; });
    if (script_->is_interrupted) return {.result = fail(Code::io, "interrupted")};
    return script_->act(script_->attempts.size() - 1, shares.size());
  }
  void interrupt() override {
    const std::lock_guard lock(script_->mutex);
    script_->is_interrupted = true;
    script_->changed.notify_all();
  }

 private:
  std::shared_ptr<Script> script_;
};

class RunnerTest : public testing::Test {
 protected:
  RunnerOptions options() const {
    RunnerOptions o;
    o.name = "scripted";
    o.first_pause = 4 * kMillisecond;
    o.longest_pause = 16 * kMillisecond;
    o.last_time = 300 * kMillisecond;
    return o;
  }
  void start(RunnerOptions o) {
    runner_ = SinkRunner::start(std::make_unique<ScriptedSink>(script_), std::move(o)).value();
  }
  void offer(Ns time) { runner_->offer(disk_batch(time, 1)); }
  bool becomes(const std::function<bool(const SinkState&)>& is_so) {
    return comes([&] { return is_so(runner_->state()); });
  }
  // The runner's thread has seen what was offered and found nothing to do: an offer makes it ready to run
  // before it returns.
  static bool sleeps() {
    return comes([] {
      for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string stat;
        std::getline(std::ifstream(task.path() / "stat"), stat);
        if (stat.find("(scripted) S ") != stat.npos) return true;
      }
      return false;
    });
  }
  static bool comes(const std::function<bool()>& is_so) {
    for (int i = 0; i < 5000 && !is_so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return is_so();
  }

  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::unique_ptr<SinkRunner> runner_;
};

TEST_F(RunnerTest, DeliversInOrder) {
  start(options());
  for (Ns t = 1; t <= 5; ++t) offer(t);
  ASSERT_TRUE(becomes([](const SinkState& s) { return s.delivered == 5; }));
  std::vector<Ns> all;
  for (const auto& attempt : script_->attempts) all.insert(all.end(), attempt.begin(), attempt.end());
  EXPECT_EQ(all, (std::vector<Ns>{1, 2, 3, 4, 5}));
  const SinkState state = runner_->state();
  EXPECT_EQ(state.name, "scripted");
  EXPECT_EQ(state.queued + state.dropped + state.failures + state.rejected, 0);
}

TEST_F(RunnerTest, ASlowSinkDelaysNobodyAndLosesTheOldest) {
  RunnerOptions o = options();
  o.most_batches = 3;
  script_->hold();
  start(o);
  offer(1);
  ASSERT_TRUE(script_->has_tried(1));
  const Ns begin = steady_clock_now();
  for (Ns t = 2; t <= 1000; ++t) offer(t);
  EXPECT_LT(steady_clock_now() - begin, 500 * kMillisecond);
  EXPECT_EQ(runner_->state().queued, 3);  // 1, which is under way, and the newest two
  EXPECT_EQ(runner_->state().dropped, 997);
  script_->release();
  ASSERT_TRUE(becomes([](const SinkState& s) { return s.delivered == 3; }));
  EXPECT_EQ(script_->attempts, (std::vector<std::vector<Ns>>{{1}, {999, 1000}}));
}

TEST_F(RunnerTest, MemoryIsALimitToo) {
  RunnerOptions o = options();
  o.most_bytes = 1'000;  // each batch is about 430
  script_->hold();
  start(o);
  for (Ns t = 1; t <= 100; ++t) offer(t);
  const SinkState state = runner_->state();
  EXPECT_GE(state.queued, 2);
  EXPECT_LE(state.queued, 4);
  EXPECT_EQ(state.queued + state.dropped, 100);
  script_->release();
}

TEST_F(RunnerTest, GathersUnlessSomebodyWantsToRead) {
  RunnerOptions o = options();
  o.gather = 60'000 * kMillisecond;
  start(o);
  offer(1);
  offer(2);
  ASSERT_TRUE(sleeps());
  EXPECT_EQ(runner_->state().queued, 2);
  const auto catch_up = runner_->catch_up();
  catch_up(5'000 * kMillisecond);
  EXPECT_EQ(runner_->state().delivered, 2);
  EXPECT_EQ(script_->attempts, (std::vector<std::vector<Ns>>{{1, 2}}));
  catch_up(5'000 * kMillisecond);  // nothing waits
  offer(3);
  ASSERT_TRUE(sleeps());
  EXPECT_EQ(runner_->state().queued, 1);
  runner_.reset();  // the end does not wait for more either
  EXPECT_EQ(script_->attempts.back(), (std::vector<Ns>{3}));
  const Ns begin = steady_clock_now();
  catch_up(5'000 * kMillisecond);  // it has gone
  EXPECT_LT(steady_clock_now() - begin, 1'000 * kMillisecond);
}

// Batches that come fast do not push each other out while more is waited for.
TEST_F(RunnerTest, GathersNoLongerThanThereIsRoom) {
  RunnerOptions o = options();
  o.gather = 60'000 * kMillisecond;
  o.most_batches = 8;
  start(o);
  for (Ns t = 1; t <= 40; ++t) {
    offer(t);
    if (t % 4 == 0) {
      ASSERT_TRUE(becomes([&](const SinkState& s) { return s.delivered == t; })) << t;
    }
  }
  EXPECT_EQ(runner_->state().dropped, 0);
}

TEST_F(RunnerTest, ABatchThatIsLargerThanAllRoomIsDelivered) {
  RunnerOptions o = options();
  o.most_bytes = 1;
  start(o);
  offer(1);
  EXPECT_TRUE(becomes([](const SinkState& s) { return s.delivered == 1; }));
}

TEST_F(RunnerTest, TriesAgainWithPausesThatGrow) {
  script_->act = [](size_t attempt, size_t n) {
    return attempt < 4 ? Delivery{.batches = n, .result = fail(Code::io, "no route")}
                       : Delivery{.batches = n};
  };
  start(options());
  offer(1);
  ASSERT_TRUE(becomes([](const SinkState& s) { return s.delivered == 1; }));
  const SinkState state = runner_->state();
  EXPECT_EQ(state.failures, 4);
  EXPECT_EQ(state.dropped, 0);
  EXPECT_EQ(state.last_error, "");
  ASSERT_EQ(script_->at.size(), 5u);
  constexpr Ns kLeast[] = {2, 4, 8, 8};  // half of 4, 8, 16, 16
  for (size_t i = 0; i < 4; ++i)
    EXPECT_GE(script_->at[i + 1] - script_->at[i], kLeast[i] * kMillisecond) << i;
}

TEST_F(RunnerTest, ThePauseThatTheOtherSideAsksFor) {
  script_->act = [](size_t attempt, size_t n) {
    Delivery d{.batches = n};
    if (attempt == 0) {
      d.result = fail(Code::busy, "later");
      d.pause = 100 * kMillisecond;
    } else if (attempt == 1) {
      d.result = fail(Code::busy, "much later");
      d.pause = 3600'000 * kMillisecond;
    }
    return d;
  };
  RunnerOptions o = options();
  o.longest_wish = 120 * kMillisecond;
  start(o);
  offer(1);
  ASSERT_TRUE(script_->has_tried(3));
  EXPECT_GE(script_->at[1] - script_->at[0], 100 * kMillisecond);
  EXPECT_GE(script_->at[2] - script_->at[1], 120 * kMillisecond);
}

TEST_F(RunnerTest, WhatIsRefusedForGoodIsDropped) {
  script_->act = [](size_t attempt, size_t n) {
    return attempt == 0 ? Delivery{.batches = 1, .result = fail(Code::denied, "401")}
                        : Delivery{.batches = n};
  };
  script_->hold();
  start(options());
  offer(1);
  ASSERT_TRUE(script_->has_tried(1));
  offer(2);
  script_->release();
  ASSERT_TRUE(becomes([](const SinkState& s) { return s.delivered == 1; }));
  const SinkState state = runner_->state();
  EXPECT_EQ(state.dropped, 1);
  EXPECT_EQ(state.failures, 1);
  EXPECT_EQ(script_->attempts, (std::vector<std::vector<Ns>>{{1}, {2}}));
}

TEST_F(RunnerTest, APartOfThemAndValuesThatWereRejected) {
  script_->act = [](size_t, size_t n) {
    return Delivery{.batches = (n + 1) / 2, .rejected = 7, .rejected_why = "too old"};
  };
  script_->hold();
  start(options());
  offer(1);
  ASSERT_TRUE(script_->has_tried(1));
  for (Ns t = 2; t <= 5; ++t) offer(t);
  script_->release();
  ASSERT_TRUE(becomes([](const SinkState& s) { return s.delivered == 5; }));
  EXPECT_EQ(script_->attempts, (std::vector<std::vector<Ns>>{{1}, {2, 3, 4, 5}, {4, 5}, {5}}));
  EXPECT_EQ(runner_->state().rejected, 28);
  EXPECT_EQ(runner_->state().last_error, "7 values were rejected: too old");
}

TEST_F(RunnerTest, TheEndWaitsForWhatIsQueued) {
  script_->act = [](size_t, size_t) { return Delivery{.batches = 1}; };
  start(options());
  for (Ns t = 1; t <= 5; ++t) offer(t);
  runner_.reset();
  EXPECT_EQ(script_->attempts.back(), std::vector<Ns>{5});
}

TEST_F(RunnerTest, TheEndTriesOnceMoreInAPause) {
  RunnerOptions o = options();
  o.first_pause = o.longest_pause = 3600'000 * kMillisecond;
  o.last_time = 30'000 * kMillisecond;  // it ends as soon as all is delivered
  script_->act = [](size_t attempt, size_t n) {
    return attempt == 0 ? Delivery{.result = fail(Code::io, "no")} : Delivery{.batches = n};
  };
  start(o);
  offer(1);
  ASSERT_TRUE(becomes([](const SinkState& s) { return s.failures == 1; }));
  runner_.reset();
  EXPECT_EQ(script_->attempts.size(), 2u);
}

TEST_F(RunnerTest, TheEndHasALimit) {
  script_->act = [](size_t, size_t) { return Delivery{.result = fail(Code::io, "no")}; };
  start(options());
  offer(1);
  const Ns begin = steady_clock_now();
  runner_.reset();
  EXPECT_GE(steady_clock_now() - begin, 250 * kMillisecond);
  EXPECT_LT(steady_clock_now() - begin, 3'000 * kMillisecond);
}

TEST_F(RunnerTest, SeveralEndTogether) {
  script_->act = [](size_t, size_t) { return Delivery{.result = fail(Code::io, "no")}; };
  std::vector<std::unique_ptr<SinkRunner>> runners;
  for (int i = 0; i < 4; ++i) {
    start(options());
    offer(1);
    runners.push_back(std::move(runner_));
  }
  const Ns begin = steady_clock_now();
  for (const auto& runner : runners) runner->begin_end();
  runners.clear();
  EXPECT_GE(steady_clock_now() - begin, 250 * kMillisecond);
  EXPECT_LT(steady_clock_now() - begin, 800 * kMillisecond);
}

TEST_F(RunnerTest, TheEndInterruptsASinkThatTakesLong) {
  script_->hold();
  start(options());
  offer(1);
  ASSERT_TRUE(script_->has_tried(1));
  runner_.reset();
  EXPECT_TRUE(script_->is_interrupted);
}

TEST_F(RunnerTest, ASinkThatHangsIsLeftBehind) {
  script_->hangs = true;
  start(options());
  offer(1);
  ASSERT_TRUE(script_->has_tried(1));
  const Ns begin = steady_clock_now();
  runner_.reset();
  EXPECT_LT(steady_clock_now() - begin, 5'000 * kMillisecond);
  script_->release();
  EXPECT_TRUE(comes([&] { return script_.use_count() == 1; }));  // the thread has gone, and the sink with it
}

}  // namespace
}  // namespace spotter::sink

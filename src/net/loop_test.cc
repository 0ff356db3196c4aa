#include "net/loop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "base/time.h"
#include "net/testing.h"

namespace spotter::net {
namespace {

TEST(LoopTest, RunsWhatOtherThreadsPostUntilItStops) {
  Loop loop;
  std::thread::id ran;
  std::thread other([&] {
    loop.post([&] { ran = std::this_thread::get_id(); });
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  other.join();
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(LoopTest, WaitsWithoutWorkUntilAnotherThreadStopsIt) {
  Loop loop;
  std::atomic<bool> is_stopped = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the loop is asleep by then
    is_stopped = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(is_stopped);
  other.join();
}

TEST(LoopTest, AStopBeforeTheRunEndsThatRunAndNoOther) {
  Loop loop;
  int runs = 0;
  loop.post([&] {
    ++runs;
    loop.stop();
  });
  loop.stop();
  loop.run();
  EXPECT_EQ(runs, 0);
  loop.run();
  EXPECT_EQ(runs, 1);
}

TEST(LoopTest, Signals) {
  Loop loop;
  std::vector<int> seen;
  loop.on_signals({SIGUSR1, SIGUSR2}, [&](int signal) { seen.push_back(signal); });
  for (const int signal : {SIGUSR1, SIGUSR2, SIGUSR1}) {
    const size_t before = seen.size();
    std::raise(signal);
    EXPECT_TRUE(run_until(loop, [&] { return seen.size() > before; }));
  }
  EXPECT_EQ(seen, (std::vector<int>{SIGUSR1, SIGUSR2, SIGUSR1}));
}

TEST(TimerTest, ActsOnceAfterItsDelay) {
  Loop loop;
  Timer timer(loop);
  int acts = 0;
  const Ns begin = loop.now();
  timer.set(3 * kMillisecond, [&] { ++acts; });
  EXPECT_TRUE(run_until(loop, [&] { return acts > 0; }));
  EXPECT_GE(loop.now() - begin, 3 * kMillisecond);
  EXPECT_FALSE(run_until(loop, [&] { return acts > 1; }, std::chrono::milliseconds(10)));
}

TEST(TimerTest, SetAnewInsideItsOwnAct) {
  Loop loop;
  Timer timer(loop);
  int acts = 0;
  std::function<void()> act = [&] {
    if (++acts < 3) timer.set(0, act);
  };
  timer.set(0, act);
  EXPECT_TRUE(run_until(loop, [&] { return acts == 3; }));
}

TEST(TimerTest, WhatItHeldLivesUntilItsActIsOver) {
  Loop loop;
  Timer timer(loop);
  std::optional<std::string> seen;
  timer.set(0, [&, text = std::string(100, 'x')] {
    timer.set(kMillisecond, [] {});
    timer.cancel();
    seen = text;
  });
  EXPECT_TRUE(run_until(loop, [&] { return seen.has_value(); }));
  EXPECT_EQ(seen, std::string(100, 'x'));
}

TEST(TimerTest, DestroyedInsideItsOwnAct) {
  Loop loop;
  auto timer = std::make_unique<Timer>(loop);
  std::optional<std::string> seen;
  timer->set(0, [&, text = std::string(100, 'x')] {
    timer.reset();
    seen = text;
  });
  EXPECT_TRUE(run_until(loop, [&] { return seen.has_value(); }));
  EXPECT_EQ(seen, std::string(100, 'x'));
}

TEST(TimerTest, OneThatIsDueAlreadyIsReplacedCancelledOrDestroyed) {
  Loop loop;
  Timer replaced(loop), cancelled(loop), first(loop);
  auto destroyed = std::make_unique<Timer>(loop);
  std::string acts;
  first.set(0, [&] {  // the others are due with it
    replaced.set(0, [&] { acts += "new"; });
    cancelled.cancel();
    destroyed.reset();
  });
  for (Timer* t : {&replaced, &cancelled, destroyed.get()}) t->set(0, [&] { acts += "old"; });
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(run_until(loop, [&] { return acts == "new"; })) << acts;
  EXPECT_FALSE(run_until(loop, [&] { return acts != "new"; }, std::chrono::milliseconds(10)));
}

// A child that lives until it is told to end.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ != 0) return;
    pause();
    _exit(0);
  }
  ~Child() {
    kill();
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void kill() const { ::kill(pid_, SIGKILL); }
  i64 pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(ProcessWatchTest, TellsTheEndOnce) {
  Loop loop;
  const Child child;
  int ends = 0;
  const auto watch = ProcessWatch::open(loop, child.pid(), [&] { ++ends; });
  ASSERT_TRUE(watch);
  EXPECT_FALSE(run_until(loop, [&] { return ends > 0; }, std::chrono::milliseconds(10)));
  child.kill();
  EXPECT_TRUE(run_until(loop, [&] { return ends > 0; }));
  EXPECT_FALSE(run_until(loop, [&] { return ends > 1; }, std::chrono::milliseconds(10)));
}

TEST(ProcessWatchTest, DestroyedInsideItsOwnCall) {
  Loop loop;
  const Child child;
  std::unique_ptr<ProcessWatch> watch;
  std::string seen;
  auto opened = ProcessWatch::open(loop, child.pid(), [&, text = std::string(100, 'x')] {
    watch.reset();
    seen = text;
  });
  ASSERT_TRUE(opened);
  watch = std::move(*opened);
  child.kill();
  EXPECT_TRUE(run_until(loop, [&] { return seen == std::string(100, 'x'); }));
}

TEST(ProcessWatchTest, DestroyedBeforeTheEndIsTold) {
  Loop loop;
  const Child child;
  bool told = false;
  auto watch = ProcessWatch::open(loop, child.pid(), [&] { told = true; });
  ASSERT_TRUE(watch);
  child.kill();
  watch->reset();
  EXPECT_FALSE(run_until(loop, [&] { return told; }, std::chrono::milliseconds(10)));
}

TEST(ProcessWatchTest, WhatIsNoProcess) {
  Loop loop;
  EXPECT_EQ(ProcessWatch::open(loop, 1 << 30, [] {}).error().code, Code::not_found);
  EXPECT_EQ(ProcessWatch::open(loop, -1, [] {}).error().code, Code::io);
  const DescriptorLimit none(DescriptorLimit::next_descriptor());
  EXPECT_EQ(ProcessWatch::open(loop, getpid(), [] {}).error().code, Code::io);
}

}  // namespace
}  // namespace spotter::net

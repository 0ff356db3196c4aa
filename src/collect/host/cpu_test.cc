// The processors' times while the kernel books them anew.
#include <gtest/gtest.h>

#include "base/time.h"
#include "collect/list.h"
#include "collect/steady_counter.h"
#include "collect/test_machine.h"

namespace spotter::collect {
namespace {

constexpr Ns kTick = 10 * kMillisecond;

struct CpuTest : testing::Test {
  TestMachine machine{"intel_8gpu"};  // of two nodes
  std::unique_ptr<Collector> cpu = *kCpu.open({.host = machine.host(), .per_core = true});

  // Processor 0 and the machine alike.
  void set(const std::string& times) {
    machine.write("proc/stat", "cpu  " + times + "\ncpu0 " + times + "\nintr 5\n");
  }
  // Of the machine, a node and a core.
  std::vector<Ns> times(const char* column) {
    const auto tables = cpu->sample();
    EXPECT_TRUE(tables) << tables.error().message;
    std::vector<Ns> found;
    for (const Table& table : *tables) found.push_back(table.integer(0, table.column(column)) / kTick);
    return found;
  }
};

using Three = std::vector<Ns>;

TEST(SteadyCounter, AStepBackIsNone) {
  SteadyCounter counter;
  EXPECT_EQ(counter.update(5'000), 5'000);
  EXPECT_EQ(counter.update(4'990), 5'000);
  EXPECT_EQ(counter.update(5'000), 5'000);
  EXPECT_EQ(counter.update(5'010), 5'010);
}

TEST(SteadyCounter, OneThatBeginsAnewDoes) {
  SteadyCounter counter;
  EXPECT_EQ(counter.update(100 * kSecond), 100 * kSecond);
  EXPECT_EQ(counter.update(kSecond), kSecond);
  EXPECT_EQ(counter.update(2 * kSecond), 2 * kSecond);
}

// When a disk comes back, all that waited for it give what they slept to idle at once.
TEST(SteadyCounter, OfManyProcessorsEachMayGoBack) {
  SteadyCounter counter;
  EXPECT_EQ(counter.update(1000 * kSecond, 128), 1000 * kSecond);
  EXPECT_EQ(counter.update(900 * kSecond, 128), 1000 * kSecond);
  EXPECT_EQ(counter.update(1001 * kSecond, 128), 1001 * kSecond);
}

TEST_F(CpuTest, IowaitThatBecomesIdle) {
  set("1000000 0 50000 9000000 20000 0 0 0 0 0");
  EXPECT_EQ(times("iowait_ns"), (Three{20000, 20000, 20000}));
  set("1000000 0 50000 9000100 19998 0 0 0 0 0");
  EXPECT_EQ(times("iowait_ns"), (Three{20000, 20000, 20000}));
  set("1000000 0 50000 9000100 20003 0 0 0 0 0");
  EXPECT_EQ(times("iowait_ns"), (Three{20003, 20003, 20003}));
}

TEST_F(CpuTest, GuestsThatAreRoundedUpFirst) {
  set("1000000 7 50000 9000000 20000 0 0 0 400000 7");
  EXPECT_EQ(times("user_ns"), (Three{600000, 600000, 600000}));
  set("1000000 7 50000 9000000 20000 0 0 0 400001 8");
  EXPECT_EQ(times("user_ns"), (Three{600000, 600000, 600000}));
  EXPECT_EQ(times("nice_ns"), (Three{0, 0, 0}));  // not below
}

TEST_F(CpuTest, AProcessorThatWasTakenOut) {
  set("1000000 0 50000 9000000 20000 0 0 0 0 0");
  EXPECT_EQ(times("idle_ns"), (Three{9000000, 9000000, 9000000}));
  set("1000000 0 50000 12 20000 0 0 0 0 0");
  EXPECT_EQ(times("idle_ns"), (Three{12, 12, 12}));
}

}  // namespace
}  // namespace spotter::collect

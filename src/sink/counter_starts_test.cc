#include "sink/counter_starts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace spotter::sink {
namespace {

constexpr Ns kBoot = 100;

TEST(CounterStartsTest, SinceBootUntilItBeginsAnew) {
  CounterStarts starts;
  const auto look = [&](Ns now, double value) {
    starts.begin("", "disk", now, {kBoot});
    const Ns start = starts.of_row("sda", std::vector<double>{value})[0];
    starts.end();
    return start;
  };
  EXPECT_EQ(look(1000, 5), kBoot);
  EXPECT_EQ(look(1010, 5), kBoot);
  EXPECT_EQ(look(1020, 9), kBoot);
  EXPECT_EQ(look(1030, 3), 1020);  // it began anew after the look at 1020
  EXPECT_EQ(look(1040, 4), 1020);
  EXPECT_EQ(look(1050, std::nan("")), 1020);
  EXPECT_EQ(look(1060, 3), 1050);
}

TEST(CounterStartsTest, RowsThatComeAndGo) {
  CounterStarts starts;
  const auto look = [&](Ns now, const std::vector<std::string>& rows) {
    starts.begin("", "disk", now, {kBoot});
    std::vector<Ns> found;
    for (const std::string& row : rows) found.push_back(starts.of_row(row, std::vector<double>{1})[0]);
    starts.end();
    return found;
  };
  EXPECT_EQ(look(1000, {"a"}), std::vector<Ns>{kBoot});
  EXPECT_EQ(look(1010, {"a", "b"}), (std::vector<Ns>{kBoot, 1000}));
  EXPECT_EQ(look(1020, {"b"}), std::vector<Ns>{1000});
  EXPECT_EQ(look(1030, {"a", "b"}), (std::vector<Ns>{1020, 1000}));
}

TEST(CounterStartsTest, TablesApart) {
  CounterStarts starts;
  for (const char* table : {"disk", "network"}) {
    starts.begin("", table, 1000, {kBoot});
    EXPECT_EQ(starts.of_row("a", std::vector<double>{1})[0], kBoot) << table;
    starts.end();
  }
}

TEST(CounterStartsTest, WhoLooksAtOtherRowsOfATable) {
  CounterStarts starts;
  for (const Ns now : {1000, 1010, 1020}) {
    for (const char* by : {"nvidia", "amd"}) {
      starts.begin(by, "gpu", now, {kBoot});
      EXPECT_EQ(starts.of_row(by, std::vector<double>{1})[0], kBoot) << by << now;
      starts.end();
    }
  }
}

TEST(CounterStartsTest, AClockThatIsSetBackToBeforeTheBoot) {
  CounterStarts starts;
  starts.begin("", "disk", 50, {kBoot});
  EXPECT_EQ(starts.of_row("a", std::vector<double>{1})[0], 50);
  starts.end();
}

}  // namespace
}  // namespace spotter::sink

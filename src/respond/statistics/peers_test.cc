#include "respond/statistics/peers.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <random>

#include "base/time.h"

namespace spotter::respond {
namespace {

using Kind = PeerEvent::Kind;

constexpr PeerOptions kMegahertz = {.floor = 10};

// Windows of 5 s of members 0, 1, ...
class Windows {
 public:
  std::vector<PeerEvent> add(const std::vector<double>& values) {
    std::vector<PeerValue> members;
    for (size_t i = 0; i < values.size(); ++i) members.push_back({.member = i, .value = values[i]});
    return peers.add(now += 5 * kSecond, members);
  }

  Peers peers{kMegahertz};
  Ns now = 0;
};

const std::vector<double> kAlike = {1980, 1975, 1980, 1985, 1990, 1980, 1970, 1980};
std::vector<double> with(size_t member, double value) {
  std::vector<double> values = kAlike;
  values[member] = value;
  return values;
}

TEST(PeerDeviations, AreInSpreadsOfTheMembers) {
  const auto wide = deviations_of(std::vector<double>{80, 90, 100, 110, 120}, kMegahertz);
  EXPECT_EQ(wide.median, 100);
  EXPECT_NEAR(wide.r[4], 20 / 14.826, 1e-12);  // the MAD is 10
  const auto narrow = deviations_of(std::vector<double>{1000, 1000, 1000, 700}, kMegahertz);
  EXPECT_EQ(narrow.r[3], -6);  // 5 % of the median
  const auto small = deviations_of(std::vector<double>{0, 0, 0, 40}, kMegahertz);
  EXPECT_EQ(small.r[3], 4);  // the floor
}

TEST(PeerDeviations, TwoHalvesAreNoOutliers) {
  for (double r : deviations_of(std::vector<double>{1000, 1000, 2000, 2000}, kMegahertz).r)
    EXPECT_LT(std::abs(r), 1);
}

TEST(PeerDeviations, WhatIsNotFiniteIsLeftOut) {
  const double none = std::nan(""), most = HUGE_VAL;
  const auto deviations = deviations_of(std::vector<double>{1000, none, 1000, most, 1000, 500}, kMegahertz);
  EXPECT_EQ(deviations.r, (std::vector<double>{0, 0, 0, 0, 0, -10}));
  EXPECT_TRUE(deviations_of(std::vector<double>{1000, none, 1000, 500}, kMegahertz).r.empty());
}

TEST(Peers, FourWindowsOfFive) {
  Windows windows;
  EXPECT_TRUE(windows.add(kAlike).empty());
  for (double value : {1155, 1155, 1980, 1155}) EXPECT_TRUE(windows.add(with(5, value)).empty());
  const auto events = windows.add(with(5, 1150));
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].kind, Kind::began);
  EXPECT_EQ(events[0].member, 5);
  EXPECT_EQ(events[0].value, 1150);
  EXPECT_EQ(events[0].median, 1980);
  EXPECT_LT(events[0].r, -6);
  EXPECT_EQ(events[0].since, 10 * kSecond);
}

TEST(Peers, ThreeOfFiveAreNotEnough) {
  Windows windows;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(windows.add(with(5, i % 5 < 3 ? 1155 : 1980)).empty());
}

TEST(Peers, BothBoundsHaveToBePassed) {
  Windows near, spread;
  for (int i = 0; i < 10; ++i) {
    // 14 % away from members that are equal but for 1 %: the spread is 5 % of them, r -2.8.
    EXPECT_TRUE(near.add(with(5, 1980 * 0.86)).empty());
    // 40 % away from members that are 10 % apart.
    EXPECT_TRUE(spread.add({80, 90, 100, 110, 120, 140}).empty());
  }
  PeerOptions options = kMegahertz;
  options.least_spread = 0;
  options.floor = 1;
  Peers peers(options);  // r is large, but it is 2 % away
  for (int i = 0; i < 10; ++i) {
    std::vector<PeerValue> values;
    for (u64 m = 0; m < 8; ++m) values.push_back({.member = m, .value = m == 3 ? 1020.0 : 1000});
    EXPECT_TRUE(peers.add(i, values).empty());
  }
}

TEST(Peers, RecoversAfterFiveWindows) {
  Windows windows;
  for (int i = 0; i < 4; ++i) windows.add(with(5, 1155));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(windows.add(kAlike).empty());
  const auto events = windows.add(kAlike);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].kind, Kind::recovered);
  EXPECT_EQ(events[0].value, 1980);
  EXPECT_TRUE(windows.add(kAlike).empty());
}

TEST(Peers, AMemberThatLeavesIsComparedNoMore) {
  Windows windows;
  for (int i = 0; i < 4; ++i) windows.add(with(7, 1155));
  std::vector<double> others = kAlike;
  others.pop_back();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(windows.add(others).empty());
  const auto events = windows.add(others);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].kind, Kind::not_compared);
  EXPECT_EQ(events[0].member, 7);
}

TEST(Peers, AreForgottenWhenTheyAreOutlyingNoMore) {
  if (mallinfo2().uordblks == 0) GTEST_SKIP() << "the allocator of a sanitizer does not tell";
  Peers peers(kMegahertz);
  const auto add_some = [&](u64 from, u64 until) {  // each member is there for one window, and outlying
    for (u64 i = from; i < until; ++i)
      peers.add(static_cast<Ns>(i),
                std::vector<PeerValue>{{0, 100}, {1, 100}, {2, 100}, {3, 100}, {4 + i, 500}});
  };
  add_some(0, 100);
  const size_t before = mallinfo2().uordblks;
  add_some(100, 5000);
  EXPECT_LE(mallinfo2().uordblks, before + 4096);
}

TEST(Peers, FewerThanFourAreNotCompared) {
  Windows windows;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(windows.add({1980, 1980, 1155}).empty());
}

TEST(Peers, HeavyTailsOfManyValuesAreNoOutliers) {
  Peers peers({.floor = 0.001});
  std::mt19937_64 random(1);
  std::student_t_distribution<double> tails(3);
  i64 events = 0;
  for (int window = 0; window < 1000; ++window) {
    std::vector<PeerValue> values;
    for (u64 member = 0; member < 200; ++member)
      values.push_back({.member = member, .value = 1 + 0.05 * tails(random)});
    events += std::ssize(peers.add(window, values));
  }
  EXPECT_EQ(events, 0);
}

TEST(Peers, OptionsAreChecked) {
  EXPECT_TRUE(check(kMegahertz));
  EXPECT_FALSE(check(PeerOptions{}));
  EXPECT_FALSE(check(PeerOptions{.floor = std::nan("")}));
  EXPECT_FALSE(check(PeerOptions{.floor = 1, .least_members = 2}));
  EXPECT_FALSE(check(PeerOptions{.floor = 1, .spreads = 0}));
  EXPECT_FALSE(check(PeerOptions{.floor = 1, .share = -1}));
  EXPECT_FALSE(check(PeerOptions{.floor = 1, .least_spread = -1}));
  EXPECT_FALSE(check(PeerOptions{.floor = 1, .outlying = 6}));
  EXPECT_FALSE(check(PeerOptions{.floor = 1, .recovered = 0}));
}

}  // namespace
}  // namespace spotter::respond

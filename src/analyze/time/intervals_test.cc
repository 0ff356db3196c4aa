#include "analyze/time/intervals.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace spotter::analyze {
namespace {

constexpr size_t kTimes = 128;
using Bits = std::bitset<kTimes>;

// A random union, built in order of start, and the nanoseconds that it covers.
std::pair<Union, Bits> random_union(std::mt19937& random) {
  std::vector<Interval> intervals(random() % 12);
  Bits bits;
  for (Interval& i : intervals) {
    i.start = static_cast<Ns>(random() % 100);
    i.end = i.start + static_cast<Ns>(random() % 15);
    for (Ns t = i.start; t < i.end; ++t) bits.set(static_cast<size_t>(t));
  }
  std::sort(intervals.begin(), intervals.end(), [](auto a, auto b) { return a.start < b.start; });
  Union u;
  for (const Interval& i : intervals) extend(u, i.start, i.end);
  return {u, bits};
}

void expect_is_union_of(const Union& u, const Bits& bits) {
  Bits covered;
  for (size_t i = 0; i < u.size(); ++i) {
    EXPECT_LT(u[i].start, u[i].end);
    if (i > 0) {
      EXPECT_LT(u[i - 1].end, u[i].start);
    }
    for (Ns t = u[i].start; t < u[i].end; ++t) covered.set(static_cast<size_t>(t));
  }
  EXPECT_EQ(covered, bits);
  EXPECT_EQ(length(u), static_cast<Ns>(bits.count()));
}

TEST(Intervals, TouchingOnesBecomeOneAndEmptyOnesVanish) {
  Union u;
  extend(u, 1, 3);
  extend(u, 3, 5);
  extend(u, 7, 7);
  extend(u, 8, 9);
  EXPECT_EQ(u, (Union{{1, 5}, {8, 9}}));
  EXPECT_EQ(length(u), 5);
}

TEST(Intervals, WhatTwoHaveTogetherAndWhatOneHasAlone) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const auto [a, bits_of_a] = random_union(random);
    const auto [b, bits_of_b] = random_union(random);
    expect_is_union_of(intersection(a, b), bits_of_a & bits_of_b);
    expect_is_union_of(difference(a, b), bits_of_a & ~bits_of_b);
  }
}

TEST(Intervals, UnionsCoverWhatTheirPartsCover) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Union> parts;
    Bits all;
    const size_t count = random() % 6;
    for (size_t i = 0; i < count; ++i) {
      auto [u, bits] = random_union(random);
      expect_is_union_of(u, bits);
      parts.push_back(u);
      all |= bits;
    }
    if (count >= 2) {
      Union first_two = unite(parts[0], parts[1]);
      EXPECT_EQ(first_two, unite(parts[1], parts[0]));
    }
    expect_is_union_of(unite(parts), all);
  }
}

TEST(Intervals, TimeBySetCountsEachNanosecondOnce) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    Unions unions;
    std::array<Bits, 3> bits;
    for (size_t k = 0; k < 3; ++k) std::tie(unions[k], bits[k]) = random_union(random);
    std::array<Ns, 8> expected{};
    for (size_t t = 0; t < kTimes; ++t) {
      const size_t set = size_t{bits[0][t]} | size_t{bits[1][t]} << 1 | size_t{bits[2][t]} << 2;
      if (set != 0) ++expected[set];
    }
    EXPECT_EQ(time_by_set(unions), expected);
  }
}

}  // namespace
}  // namespace spotter::analyze

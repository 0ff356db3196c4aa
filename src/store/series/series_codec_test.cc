#include "store/series/series_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace spotter::store {
namespace {

constexpr i64 kLeast = std::numeric_limits<i64>::min(), kMost = std::numeric_limits<i64>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string encoded(const std::vector<i64>& values) {
  ByteWriter out;
  encode_integers(out, values);
  return out.out();
}

void expect_same(const std::vector<i64>& values) {
  const std::string bytes = encoded(values);
  ByteReader in(bytes);
  std::vector<i64> back(values.size());
  ASSERT_TRUE(decode_integers(in, back));
  EXPECT_EQ(back, values);
  EXPECT_TRUE(in.at_end());
}

size_t expect_same_reals(const std::vector<double>& values) {
  ByteWriter out;
  encode_reals(out, values);
  ByteReader in(out.out());
  std::vector<double> back(values.size());
  EXPECT_TRUE(decode_reals(in, back));
  EXPECT_TRUE(in.at_end());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(std::bit_cast<u64>(back[i]), std::bit_cast<u64>(values[i])) << values[i];
  return out.out().size();
}

TEST(SeriesCodec, IntegersOfAnyKind) {
  expect_same(std::vector<i64>{});
  expect_same(std::vector<i64>{kLeast});
  expect_same(std::vector<i64>{5, 5, 5});
  expect_same(std::vector<i64>{kLeast, kMost, kLeast, 0, kMost, -1});
  expect_same(std::vector<i64>{0, kLeast, 0, kLeast});  // the difference is its own opposite
  expect_same(std::vector<i64>{100, 0, 4096, 8192, 4096});
}

TEST(SeriesCodec, RandomIntegers) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const int shift = static_cast<int>(random() % 64);
    const i64 scale = round % 3 == 0 ? 1 : 1 + static_cast<i64>(random() % 10000);
    std::vector<i64> values(random() % 100);
    for (i64& value : values)
      value =
          static_cast<i64>(static_cast<u64>(static_cast<i64>(random()) >> shift) * static_cast<u64>(scale));
    expect_same(values);
  }
}

TEST(SeriesCodec, MultiplesAndSteadyGrowthAreShort) {
  EXPECT_LE(encoded(std::vector<i64>(60, 1'700'000'000'000)).size(), 7u);
  std::vector<i64> ticks, steady;
  for (i64 i = 0; i < 60; ++i) {
    ticks.push_back(10'000'000 * (900 * i + i * i % 17));  // 10 ms each
    steady.push_back(1'000'000'007 * i);
  }
  EXPECT_LE(encoded(ticks).size(), 2u * 60 + 10);
  EXPECT_LE(encoded(steady).size(), 70u);
}

TEST(SeriesCodec, Reals) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_same_reals({});
  expect_same_reals({nan, -nan, std::bit_cast<double>(u64{0x7ff0000000000001}), 0.0, -0.0});
  expect_same_reals({kInfinity, -kInfinity, 1e308, -1e308, 5e-324, 1.0 / 3});
  expect_same_reals({1e15, 0.1, 1e-12});  // digits that no common power can hold
  EXPECT_LE(expect_same_reals({0.52, 0.5, 0.49, 12.07}), 12u);
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> values(random() % 100);
    const double scale = std::pow(10, static_cast<double>(random() % 15));
    for (double& value : values)
      value = round % 2 ? std::bit_cast<double>(random())
                        : std::round(static_cast<double>(random() % 100000)) / scale;
    expect_same_reals(values);
  }
}

TEST(SeriesCodec, Validity) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<u8> valid(random() % 50);
    for (u8& one : valid) one = random() % (1 + static_cast<u64>(round) % 5) == 0;
    ByteWriter out;
    encode_validity(out, valid);
    ByteReader in(out.out());
    std::vector<u8> back(valid.size());
    ASSERT_TRUE(decode_validity(in, back));
    EXPECT_EQ(back, valid);
    EXPECT_TRUE(in.at_end());
  }
}

TEST(SeriesCodec, BytesThatEndEarlyAreDamaged) {
  const std::string bytes = encoded({1, 2, 4, 8, 16, 1000});
  for (size_t length = 0; length < bytes.size(); ++length) {
    ByteReader in(std::string_view(bytes).substr(0, length));
    std::vector<i64> back(6);
    EXPECT_FALSE(decode_integers(in, back)) << length;
  }
  ByteReader runs(std::string_view("\0\0\0\0", 4));  // runs of nothing
  std::vector<u8> valid(3);
  EXPECT_FALSE(decode_validity(runs, valid));
  ByteReader wide("\xff\x88");  // a real of more than eight bytes
  std::vector<double> reals(1);
  EXPECT_FALSE(decode_reals(wide, reals));
}

}  // namespace
}  // namespace spotter::store

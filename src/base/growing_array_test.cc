#include "base/growing_array.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/types.h"

namespace spotter {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(GrowingArray, NeverMovesWhileItGrows) {
  GrowingArray<u64> array(size_t{1} << 32);  // 32 GiB of addresses
  array.push_back(0);
  const u64* const first = array.data();
  for (u64 i = 1; i < 3'000'000; ++i) array.push_back(i);
  EXPECT_EQ(array.data(), first);
  ASSERT_EQ(array.size(), 3'000'000u);
  for (u64 i = 0; i < array.size(); ++i) ASSERT_EQ(array[i], i);
}

TEST(GrowingArray, ExtendAndAppend) {
  GrowingArray<u32> array(1'000'000);
  u32* two = array.extend(2);
  two[0] = 7, two[1] = 8;
  const std::vector<u32> more = {9, 10};
  array.append(more);
  array.append({});
  EXPECT_EQ(std::vector<u32>(array.span().begin(), array.span().end()), (std::vector<u32>{7, 8, 9, 10}));

  u32* many = array.extend(900'000);  // much more than one step at once
  std::iota(many, many + 900'000, 0u);
  EXPECT_EQ(array.size(), 900'004u);
  EXPECT_EQ(array[900'003], 899'999u);
}

TEST(GrowingArray, FillsToItsLimit) {
  const size_t limit = 5 * kMiB + 13;
  GrowingArray<u8> array(limit);
  std::memset(array.extend(limit), 0xAB, limit);
  EXPECT_EQ(array.size(), limit);
  EXPECT_EQ(array[limit - 1], 0xAB);
}

TEST(GrowingArray, MoveLeavesAnEmptyOne) {
  GrowingArray<u32> a(100);
  a.push_back(5);
  GrowingArray<u32> b(std::move(a));
  EXPECT_EQ(a.size(), 0u);
  ASSERT_EQ(b.size(), 1u);
  EXPECT_EQ(b[0], 5u);
  GrowingArray<u32> c(100);
  c.push_back(1);
  c.push_back(2);
  c = std::move(b);
  ASSERT_EQ(c.size(), 1u);
  EXPECT_EQ(c[0], 5u);
}

TEST(GrowingArray, ManyCanBeReservedAtOnce) {
  std::vector<GrowingArray<u64>> arrays;
  for (int i = 0; i < 200; ++i) arrays.emplace_back(size_t{1} << 32).push_back(static_cast<u64>(i));
  EXPECT_EQ(arrays[199][0], 199u);
}

TEST(Reservation, StepsGrow) {
  Reservation memory(size_t{1} << 30);
  EXPECT_EQ(memory.usable(), 0u);
  memory.make_usable(1);
  const size_t first = memory.usable();  // small: eight columns of a small trace take one each
  EXPECT_GE(first, 1u);
  EXPECT_LE(first, kMiB / 8);
  memory.make_usable(2 * kMiB);
  const size_t small = memory.usable();
  memory.make_usable(small + 1);
  EXPECT_GE(memory.usable(), small + small / 4);
  memory.make_usable(100 * kMiB);
  const size_t before = memory.usable();
  EXPECT_GE(before, 100 * kMiB);
  memory.make_usable(before + 1);
  EXPECT_GE(memory.usable(), before + before / 8);
  memory.data()[memory.usable() - 1] = 1;
}

TEST(GrowingArrayDeathTest, SaysWhenItIsFull) {
  GrowingArray<u8> array(4096);
  EXPECT_EXIT(array.extend(4097), testing::ExitedWithCode(1), "beyond the 4096 bytes");
}

// A child whose address space allows only a part of what is asked for.
[[noreturn]] void grow_under_a_limit(size_t elements) {
  const rlimit limit = {size_t{1} << 30, size_t{1} << 30};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(3);
  GrowingArray<u8> array(size_t{1} << 40);
  std::memset(array.extend(elements), 1, elements);
  std::_Exit(array[elements - 1] == 1 ? 0 : 2);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPOTTER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPOTTER_SANITIZED 1
#endif
#endif

TEST(GrowingArrayDeathTest, TakesLessAddressSpaceWhereTheSystemGivesLess) {
#ifdef SPOTTER_SANITIZED
  GTEST_SKIP() << "a sanitizer's own shadow memory is beyond the limit that this sets";
#endif
  EXPECT_EXIT(grow_under_a_limit(10 * kMiB), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(grow_under_a_limit(2000 * kMiB), testing::ExitedWithCode(1), "address-space limit");
}

// On the small pages at the beginning as on the huge ones behind them, and where another array was before.
TEST(GrowingArray, ElementsCanBeAskedToBeZero) {
  for (int round = 0; round < 2; round++) {
    GrowingArray<u64> array(1'000'000);
    for (const size_t n : {1u, 1000u, 40'000u, 400'000u}) {
      u64* const first = array.extend_zeroed(n);
      EXPECT_TRUE(std::all_of(first, first + n, [](u64 value) { return value == 0; })) << n;
      std::fill_n(first, n, ~u64{0});
    }
  }
}

TEST(GrowingArray, MemoryGoesToTheNextOneOfItsKind) {
  constexpr size_t limit = 777'777;  // of no other test
  const u32* before = nullptr;
  {
    GrowingArray<u32> array(limit);
    array.push_back(1);
    before = array.data();
  }
  const GrowingArray<u32> other(limit + 100'000);
  EXPECT_NE(other.data(), before);
  GrowingArray<u32> next(limit);
  EXPECT_EQ(next.data(), before);
  EXPECT_EQ(next.size(), 0u);
  const GrowingArray<u32> third(limit);
  EXPECT_NE(third.data(), before);
}

// Whether there is memory at the beginning of a page.
bool is_mapped(void* address) {
  unsigned char resident = 0;
  return mincore(address, 1, &resident) == 0;
}

TEST(GrowingArray, OnlySoMuchMemoryIsKept) {
  constexpr size_t bytes = 300 * kMiB;
  void* before = nullptr;
  {
    GrowingArray<u8> array(bytes);
    array.extend(bytes);
    before = array.data();
  }
  EXPECT_FALSE(is_mapped(before));
}

TEST(GrowingArray, WhatIsKeptCanBeGivenBack) {
  constexpr size_t limit = 888'888;  // of no other test
  void* before = nullptr;
  {
    GrowingArray<u64> array(limit);
    array.extend(limit);
    before = array.data();
  }
  EXPECT_TRUE(is_mapped(before));
  free_spare_arrays();
  EXPECT_FALSE(is_mapped(before));
  GrowingArray<u64> next(limit);
  next.push_back(1);
  EXPECT_EQ(next[0], 1u);
}

}  // namespace
}  // namespace spotter

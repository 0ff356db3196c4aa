#include "read/simd.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "read/test_simd.h"

namespace spotter::read {

#if defined(__x86_64__)
extern const SimdTable kAvx2Table;  // simd_avx2_test.cc
#endif

namespace {

constexpr size_t kRoom = 64;  // readable bytes on each side of what is tested

// Each test runs with the functions of this machine's baseline and, where it has them, those of AVX2.
class Simd : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) return;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
      simd = kAvx2Table;
      return;
    }
#endif
    GTEST_SKIP() << "this machine has no AVX2";
  }

  // Bytes of a random alphabet, so that equal neighbours are frequent.
  std::string random_bytes(size_t n) {
    std::string bytes(n, '\0');
    const unsigned letters = 1 + static_cast<unsigned>(random() % 256),
                   first = static_cast<unsigned>(random());
    for (char& c : bytes) c = static_cast<char>(first + random() % letters);
    return bytes;
  }

  SimdTable simd = read::sse2::kTable;
  std::mt19937 random{7};
};

INSTANTIATE_TEST_SUITE_P(Flags, Simd, testing::Values(false, true),
                         [](const testing::TestParamInfo<bool>& p) { return p.param ? "avx2" : "baseline"; });

TEST_P(Simd, MasksOfRandomBytes) {
  for (int round = 0; round < 20'000; round++) {
    const std::string a = random_bytes(2 * kRoom), b = random_bytes(2 * kRoom);
    const size_t at = random() % 32;
    const char wanted = a[at + random() % 32];
    u32 equal_char = 0, equal_bytes = 0, digits = 0;
    for (size_t i = 0; i < 32; i++) {
      equal_char |= u32{a[at + i] == wanted} << i;
      equal_bytes |= u32{a[at + i] == b[at + i]} << i;
      digits |= u32{a[at + i] >= '0' && a[at + i] <= '9'} << i;
    }
    ASSERT_EQ(simd.equal_char(&a[at], wanted), equal_char);
    ASSERT_EQ(simd.equal_bytes(&a[at], &b[at]), equal_bytes);
    ASSERT_EQ(simd.digits(&a[at]), digits);
  }
}

// Every character at every place.
TEST_P(Simd, MasksOfEveryCharacter) {
  for (int c = 0; c < 256; c++) {
    for (size_t i = 0; i < 32; i++) {
      const char here = static_cast<char>(c), elsewhere = static_cast<char>(c + 1);
      std::string bytes(kRoom + 32, elsewhere);
      bytes[i] = here;
      ASSERT_EQ(simd.equal_char(bytes.data(), here), 1u << i) << c;
      ASSERT_EQ(simd.equal_bytes(bytes.data(), std::string(kRoom + 32, here).data()), 1u << i) << c;
      const u32 others = elsewhere >= '0' && elsewhere <= '9' ? ~(1u << i) : 0;
      ASSERT_EQ(simd.digits(bytes.data()), others | u32{c >= '0' && c <= '9'} << i) << c;
    }
  }
}

// Numbers of every length between characters of every kind, which must not matter.
TEST_P(Simd, Digits) {
  for (int round = 0; round < 200'000; round++) {
    const u32 n = static_cast<u32>(random() % 17);
    std::string text = random_bytes(2 * kRoom + n);
    u64 value = 0;
    for (u32 i = 0; i < n; i++) {
      const u32 digit = round % 3 == 0 ? 9 : static_cast<u32>(random() % 10);
      text[kRoom + i] = static_cast<char>('0' + digit);
      value = value * 10 + digit;
    }
    ASSERT_EQ(simd.digits16(&text[kRoom], n), value) << text.substr(kRoom, n);
    if (n <= 8) {
      ASSERT_EQ(simd.digits8(&text[kRoom + n], n), value) << text.substr(kRoom, n);
    }
  }
}

TEST_P(Simd, DigitsBesideEveryCharacter) {
  for (int before = 0; before < 256; before++) {
    for (int behind = 0; behind < 256; behind++) {
      std::string text(2 * kRoom, static_cast<char>(before));
      for (size_t i = kRoom; i < text.size(); i++) text[i] = static_cast<char>(behind);
      text.replace(kRoom, 5, "90817");
      ASSERT_EQ(simd.digits16(&text[kRoom], 5), 90817u) << before << " " << behind;
      ASSERT_EQ(simd.digits8(&text[kRoom + 5], 5), 90817u) << before << " " << behind;
    }
  }
}

TEST(SimdBits, FirstAndRun) {
  for (u32 i = 0; i < 32; i++) {
    EXPECT_EQ(SPOTTER_SIMD::first_bit(~0u << i), i);
    EXPECT_EQ(SPOTTER_SIMD::leading_run((1u << i) - 1), i);
  }
  EXPECT_EQ(SPOTTER_SIMD::first_bit(0), 32u);
  EXPECT_EQ(SPOTTER_SIMD::leading_run(~0u), 32u);
}

}  // namespace
}  // namespace spotter::read

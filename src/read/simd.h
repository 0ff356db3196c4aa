// The few vector operations of the scanner, over 32 bytes at a time, as AVX2, SSE2, NEON or plain code,
// chosen by the flags this translation unit is compiled with. Everything is in a namespace named after the
// choice, so that two units with different flags do not share inline functions. All may read up to 64 bytes
// beyond `p`: buffers are padded.
#pragma once
#include <bit>
#include <cstring>

#include "base/types.h"

#if defined(__AVX2__)
#include <immintrin.h>
#define SPOTTER_SIMD avx2
#elif defined(__SSE2__)
#include <emmintrin.h>
#define SPOTTER_SIMD sse2
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#define SPOTTER_SIMD neon
#else
#define SPOTTER_SIMD plain
#endif

namespace spotter::read::SPOTTER_SIMD {

#if defined(__AVX2__)
struct Bytes {
  __m256i v;
  explicit Bytes(const char* p) : v(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))) {}
  u32 equal(char c) const { return mask(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(c))); }
  u32 equal(const Bytes& o) const { return mask(_mm256_cmpeq_epi8(v, o.v)); }
  u32 digits() const {  // bytes '0'..'9'
    const __m256i d = _mm256_sub_epi8(v, _mm256_set1_epi8('0'));
    return mask(_mm256_cmpeq_epi8(_mm256_min_epu8(d, _mm256_set1_epi8(9)), d));
  }
  static u32 mask(__m256i m) { return static_cast<u32>(_mm256_movemask_epi8(m)); }
};
#elif defined(__SSE2__)
struct Bytes {
  __m128i lo, hi;
  explicit Bytes(const char* p)
      : lo(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
        hi(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16))) {}
  u32 equal(char c) const {
    const __m128i x = _mm_set1_epi8(c);
    return mask(_mm_cmpeq_epi8(lo, x), _mm_cmpeq_epi8(hi, x));
  }
  u32 equal(const Bytes& o) const { return mask(_mm_cmpeq_epi8(lo, o.lo), _mm_cmpeq_epi8(hi, o.hi)); }
  u32 digits() const { return mask(is_digit(lo), is_digit(hi)); }
  static __m128i is_digit(__m128i x) {
    const __m128i d = _mm_sub_epi8(x, _mm_set1_epi8('0'));
    return _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);
  }
  static u32 mask(__m128i l, __m128i h) {
    return static_cast<u32>(_mm_movemask_epi8(l)) | static_cast<u32>(_mm_movemask_epi8(h)) << 16;
  }
};
#elif defined(__ARM_NEON)
struct Bytes {
  uint8x16_t lo, hi;
  explicit Bytes(const char* p)
      : lo(vld1q_u8(reinterpret_cast<const u8*>(p))), hi(vld1q_u8(reinterpret_cast<const u8*>(p + 16))) {}
  u32 equal(char c) const {
    const uint8x16_t x = vdupq_n_u8(static_cast<u8>(c));
    return mask(vceqq_u8(lo, x), vceqq_u8(hi, x));
  }
  u32 equal(const Bytes& o) const { return mask(vceqq_u8(lo, o.lo), vceqq_u8(hi, o.hi)); }
  u32 digits() const {
    const uint8x16_t zero = vdupq_n_u8('0'), nine = vdupq_n_u8(9);
    return mask(vcleq_u8(vsubq_u8(lo, zero), nine), vcleq_u8(vsubq_u8(hi, zero), nine));
  }
  static u32 mask(uint8x16_t l, uint8x16_t h) {  // one bit per byte: weigh the lanes, then add pairs thrice
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t sum = vpaddq_u8(vandq_u8(l, weight), vandq_u8(h, weight));
    sum = vpaddq_u8(sum, sum);
    sum = vpaddq_u8(sum, sum);
    return vgetq_lane_u32(vreinterpretq_u32_u8(sum), 0);
  }
};
#else
struct Bytes {
  const char* p;
  explicit Bytes(const char* at) : p(at) {}
  template <class F>
  static u32 collect(F f) {
    u32 m = 0;
    for (u32 i = 0; i < 32; i++) m |= u32{f(i)} << i;
    return m;
  }
  u32 equal(char c) const {
    return collect([&](u32 i) { return p[i] == c; });
  }
  u32 equal(const Bytes& o) const {
    return collect([&](u32 i) { return p[i] == o.p[i]; });
  }
  u32 digits() const {
    return collect([&](u32 i) { return p[i] >= '0' && p[i] <= '9'; });
  }
};
#endif

// Number of leading ones / trailing zeros of a mask; 32 if there is none that ends it.
inline u32 first_bit(u32 mask) { return static_cast<u32>(std::countr_zero(mask)); }
inline u32 leading_run(u32 mask) { return static_cast<u32>(std::countr_one(mask)); }

// Ones from each odd bit of `mask` (the first, the third, ...) to just before the next one: what is between
// quotes.
inline u32 ones_between(u32 mask) {
  mask ^= mask << 1;
  mask ^= mask << 2;
  mask ^= mask << 4;
  mask ^= mask << 8;
  return mask ^ mask << 16;
}

// The value of n decimal digits, 0 <= n <= 8, that end at `end`. Reads 8 bytes before `end`.
inline u64 digits8(const char* end, u32 n) {
  u64 x;
  std::memcpy(&x, end - 8, 8);
  if (n == 0) return 0;
  x = (x & 0x0F0F0F0F0F0F0F0Fu) >> (8 * (8 - n))
                                       << (8 * (8 - n));  // bytes before the first digit become zero
  x = x * 10 + (x >> 8);                                  // pairs
  constexpr u64 mask = 0x000000FF000000FFu;
  return (((x & mask) * 0x000F424000000064u) + (((x >> 16) & mask) * 0x0000271000000001u)) >> 32;
}

// The value of n decimal digits, 0 <= n <= 16, that begin at p.
inline u64 digits16(const char* p, u32 n) {
  if (n <= 8) return digits8(p + n, n);
  return digits8(p + n - 8, n - 8) * 100000000u + digits8(p + n, 8);
}

}  // namespace spotter::read::SPOTTER_SIMD

// Part of the scanner's code, compiled for each instruction set (scanner_impl.h).
#pragma once
#include <cstring>
#include <vector>

#include "base/strings.h"
#include "read/simd.h"

namespace spotter::SPOTTER_SIMD {
namespace {

// The strings seen last, in front of the pool: a hit costs one hash of 16 bytes and one or two comparisons
// of 32. Texts must be followed by readable bytes, and preceded by 8, as in the scanner's buffer.
class RecentStrings {
 public:
  StringId intern(const char* p, size_t n, Strings& pool) {
    if (n == 0 || n > sizeof(Entry::text)) return pool.intern({p, n});
    u64 head, tail;
    std::memcpy(&head, p, 8);
    std::memcpy(&tail, p + n - 8, 8);
    const u64 hash =
        (n < 8 ? 0 : head * 0x9E3779B97F4A7C15u) ^ (tail >> (n < 8 ? 8 * (8 - n) : 0)) * 0xC2B2AE3D27D4EB4Fu;
    Entry& e = entries_[(hash ^ n) * 0x9FB21C651E98DF25u >> (64 - kBits)];
    if (e.size == n && equal(e.text, p, n)) return e.id;
    e.id = pool.intern({p, n});
    e.size = static_cast<u32>(n);
    std::memset(e.text, 0, sizeof e.text);
    std::memcpy(e.text, p, n);
    return e.id;
  }

 private:
  static constexpr int kBits = 9;
  struct Entry {
    char text[96] = {};
    u32 size = 0;
    StringId id = 0;
  };
  static bool equal(const char* stored, const char* p, size_t n) {
    for (; n > 32; n -= 32, stored += 32, p += 32) {
      if (Bytes(p).equal(Bytes(stored)) != ~0u) return false;
    }
    const u32 mask = n == 32 ? ~0u : (1u << n) - 1;
    return (Bytes(p).equal(Bytes(stored)) & mask) == mask;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(size_t{1} << kBits);
};

}  // namespace
}  // namespace spotter::SPOTTER_SIMD

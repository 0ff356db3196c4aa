// Part of the scanner's code, compiled for each instruction set (scanner_impl.h).
#pragma once
#include <cstring>
#include <vector>

#include "base/text/strings.h"
#include "read/simd.h"

namespace spotter::read::SPOTTER_SIMD {
namespace {

// The strings seen last, in front of the pool: a hit costs one hash of 24 bytes and a comparison, 32 bytes at
// a time. Texts must be followed by readable bytes, and preceded by 8, as in the scanner's buffer.
class RecentStrings {
 public:
  explicit RecentStrings(Strings& pool) : pool_(pool) {}

  StringId intern(const char* p, size_t n) {
    Entry& e = entries_[slot_of(p, n)];
    if (!e.text || e.size != n || !equal(e.text, p, n)) {
      e.id = pool_.intern({p, n});
      e.text = pool_[e.id].data();
      e.size = n;
    }
    return e.id;
  }

 private:
  static constexpr int kBits = 9;
  struct Entry {
    const char* text = nullptr;  // in the pool
    size_t size = 0;
    StringId id = 0;
  };

  static size_t slot_of(const char* p, size_t n) {
    u64 head, middle, tail;
    std::memcpy(&tail, p + n - 8, 8);
    u64 hash = n;
    if (n >= 8) {
      std::memcpy(&head, p, 8);
      std::memcpy(&middle, p + n / 2 - 4, 8);
      hash ^= (head ^ middle << 1) * 0x9E3779B97F4A7C15u;
    } else if (n > 0) {
      tail >>= 8 * (8 - n);
    } else {
      tail = 0;
    }
    hash ^= tail * 0xC2B2AE3D27D4EB4Fu;
    return hash * 0x9FB21C651E98DF25u >> (64 - kBits);
  }

  static bool equal(const char* stored, const char* p, size_t n) {
    for (; n >= 32; n -= 32, stored += 32, p += 32) {
      if (Bytes(p).equal(Bytes(stored)) != ~0u) return false;
    }
    const u32 mask = (1u << n) - 1;
    return (Bytes(p).equal(Bytes(stored)) & mask) == mask;
  }

  Strings& pool_;
  std::vector<Entry> entries_ = std::vector<Entry>(size_t{1} << kBits);
};

}  // namespace
}  // namespace spotter::read::SPOTTER_SIMD

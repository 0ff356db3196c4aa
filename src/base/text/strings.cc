#include "base/text/strings.h"

#include <algorithm>
#include <cstring>

#include "base/result.h"

namespace spotter {
namespace {

constexpr size_t kFirstSlots = 64;
constexpr size_t kLeastBlock = size_t{4} << 10;
constexpr size_t kMostBlock = size_t{1} << 20;

__extension__ using u128 = unsigned __int128;

u64 load64(const char* p) {
  u64 word;
  std::memcpy(&word, p, 8);
  return word;
}

u64 load32(const char* p) {
  u32 word;
  std::memcpy(&word, p, 4);
  return word;
}

// The two halves of the full product folded together: one multiplication mixes 128 bits into 64.
u64 mix(u64 a, u64 b) {
  const u128 product = static_cast<u128>(a) * b;
  return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

// Odd numbers with about as many ones as zeros: the fractions of the square roots of 2, 3 and 5.
constexpr u64 kA = 0x6a09e667f3bcc909, kB = 0xbb67ae8584caa73b, kC = 0x3c6ef372fe94f82b;

// 16 bytes a step; the last 16 may overlap those before, and the length tells texts of equal words apart.
u64 hash_of(std::string_view text) {
  const char* p = text.data();
  const size_t n = text.size();
  u64 state = kC ^ n;
  u64 first = 0, last = 0;
  if (n > 16) {
    for (size_t i = 0; i + 16 < n; i += 16) state = mix(load64(p + i) ^ kA, load64(p + i + 8) ^ state);
    first = load64(p + n - 16), last = load64(p + n - 8);
  } else if (n >= 8) {
    first = load64(p), last = load64(p + n - 8);
  } else if (n >= 4) {
    first = load32(p), last = load32(p + n - 4);
  } else if (n > 0) {
    const auto byte = [&](size_t i) { return static_cast<u64>(static_cast<u8>(p[i])); };
    first = byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
  }
  return mix(mix(first ^ kA, last ^ state) ^ kC, kB);
}

u32 tag_of(u64 hash) { return static_cast<u32>(hash >> 32); }

}  // namespace

Strings::Strings() : slots_(kFirstSlots) { intern({}); }

// The slot of an equal string, or the free slot where it belongs.
size_t Strings::find_slot(std::string_view text, u64 hash) const {
  const size_t mask = slots_.size() - 1;
  const u32 tag = tag_of(hash);
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.id == kNone || (slot.tag == tag && views_[slot.id] == text)) return i;
  }
}

StringId Strings::find(std::string_view text) const { return slots_[find_slot(text, hash_of(text))].id; }

StringId Strings::intern(std::string_view text) {
  const u64 hash = hash_of(text);
  size_t i = find_slot(text, hash);
  if (slots_[i].id != kNone) return slots_[i].id;

  if ((views_.size() + 1) * 2 > slots_.size()) {
    grow();
    i = find_slot(text, hash);
  }
  if (views_.size() >= kNone) end_process("out of memory: more than 4,294,967,295 distinct strings");
  const StringId id = static_cast<StringId>(views_.size());
  views_.push_back(keep(text));
  slots_[i] = {tag_of(hash), id};
  return id;
}

void Strings::grow() {
  slots_.assign(slots_.size() * 2, Slot{});
  const size_t mask = slots_.size() - 1;
  for (StringId id = 0; id < views_.size(); ++id) {
    const u64 hash = hash_of(views_[id]);
    size_t i = hash & mask;
    while (slots_[i].id != kNone) i = (i + 1) & mask;
    slots_[i] = {tag_of(hash), id};
  }
}

// Blocks grow with the pool, so that a small pool is small. A long text gets a block of its own, so that the
// rest of the current one is not wasted.
std::string_view Strings::keep(std::string_view text) {
  static constexpr char kEmpty[kReadable] = {};
  if (text.empty()) return {kEmpty, 0};
  if (block_used_ + text.size() > block_size_) {
    const size_t next = std::clamp(arena_bytes_, kLeastBlock, kMostBlock);
    if (text.size() > next / 4) {
      char* own = new_block(text.size());
      std::memcpy(own, text.data(), text.size());
      return {own, text.size()};
    }
    block_ = new_block(next);
    block_size_ = next;
    block_used_ = 0;
  }
  char* place = block_ + block_used_;
  std::memcpy(place, text.data(), text.size());
  block_used_ += text.size();
  return {place, text.size()};
}

char* Strings::new_block(size_t bytes) {
  arena_bytes_ += bytes;
  return blocks_.emplace_back(std::make_unique<char[]>(bytes + kReadable)).get();
}

size_t Strings::memory_bytes() const {
  return arena_bytes_ + views_.capacity() * sizeof(views_[0]) + slots_.capacity() * sizeof(Slot) +
         blocks_.capacity() * sizeof(blocks_[0]);
}

}  // namespace spotter

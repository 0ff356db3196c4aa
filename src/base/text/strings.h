// Strings: a pool of distinct strings, each with a dense id in order of first arrival. Id 0 is the empty
// string. Views stay valid as long as the pool lives, and 32 bytes behind each may be read. One writer;
// reading finished strings needs no lock.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter {

using StringId = u32;

class Strings {
 public:
  Strings();
  StringId intern(std::string_view text);      // the id of an equal string, or a new one
  StringId find(std::string_view text) const;  // kNone if absent
  std::string_view operator[](StringId id) const { return views_[id]; }
  size_t size() const { return views_.size(); }
  size_t memory_bytes() const;

 private:
  struct Slot {
    u32 tag = 0;  // upper half of the hash
    StringId id = kNone;
  };
  size_t find_slot(std::string_view text, u64 hash) const;
  void grow();
  std::string_view keep(std::string_view text);
  char* new_block(size_t bytes);

  static constexpr size_t kReadable = 32;  // bytes behind a string

  std::vector<std::string_view> views_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* block_ = nullptr;  // the one that short texts go to
  size_t block_used_ = 0, block_size_ = 0, arena_bytes_ = 0;
};

}  // namespace spotter

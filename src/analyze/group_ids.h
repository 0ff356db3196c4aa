// GroupIds: numbers keys of several parts 0, 1, 2 ... in order of first arrival.
#pragma once
#include <array>
#include <unordered_map>

#include "base/types.h"

namespace spotter::analyze {

template <size_t N>
class GroupIds {
 public:
  using Key = std::array<u64, N>;
  u32 id(const Key& key) { return ids_.try_emplace(key, static_cast<u32>(ids_.size())).first->second; }
  size_t size() const { return ids_.size(); }

 private:
  struct Hash {
    size_t operator()(const Key& key) const {
      u64 hash = 0;
      for (const u64 part : key) hash = (hash ^ part) * 0x9e3779b97f4a7c15 + (hash >> 29);
      return hash;
    }
  };
  std::unordered_map<Key, u32, Hash> ids_;
};

}  // namespace spotter::analyze

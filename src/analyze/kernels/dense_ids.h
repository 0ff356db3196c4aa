// DenseIds: numbers keys 0, 1, 2 … in order of first arrival, so that statistics take room for the keys that
// occur, not for every string of a trace. One array access per key, no hashing.
#pragma once
#include <vector>

#include "base/types.h"

namespace spotter::analyze {

class DenseIds {
 public:
  explicit DenseIds(size_t keys) : id_of_(keys, kNone) {}
  u32 id(size_t key) {
    u32& id = id_of_[key];
    if (id == kNone) id = size_++;
    return id;
  }
  u32 size() const { return size_; }

 private:
  std::vector<u32> id_of_;
  u32 size_ = 0;
};

}  // namespace spotter::analyze

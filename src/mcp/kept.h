// Kept: what was made of captures last, as far as there is room. With a new version of a capture what was
// made of the old one goes.
#pragma once
#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "mcp/world.h"

namespace spotter::mcp {

// Thread-safe.
template <typename T>
class Kept {
 public:
  using Ptr = std::shared_ptr<const T>;

  // `most` of them, and `most_weight` of their weights together; the newest is always kept.
  Kept(size_t most, i64 most_weight) : most_(most), most_weight_(most_weight) {}

  Ptr find(const Capture& capture, const std::string& what) {
    const std::lock_guard lock(mutex_);
    const auto it = std::ranges::find_if(all_, [&](const One& one) {
      return one.id == capture.id && one.version == capture.version && one.what == what;
    });
    if (it == all_.end()) return nullptr;
    all_.splice(all_.begin(), all_, it);
    return it->made;
  }

  void keep(const Capture& capture, const std::string& what, Ptr made, i64 weight) {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [&](const One& one) {
      return one.id == capture.id && (one.version != capture.version || one.what == what);
    });
    all_.push_front({capture.id, capture.version, what, std::move(made), weight});
    i64 sum = 0;
    auto it = all_.begin();
    for (size_t count = 0; it != all_.end(); ++it, ++count) {
      sum += it->weight;
      if (count > 0 && (count == most_ || sum > most_weight_)) break;
    }
    all_.erase(it, all_.end());
  }

 private:
  struct One {
    std::string id, version, what;
    Ptr made;
    i64 weight;
  };
  const size_t most_;
  const i64 most_weight_;
  std::mutex mutex_;
  std::list<One> all_;  // the last used first
};

}  // namespace spotter::mcp

// The bytes that unfinished requests and unread answers of all connections may hold together. Of too many,
// those of the peer that holds most go, the oldest first: a crowd of half-sent requests takes the place of
// its own. One thread.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "base/types.h"

namespace spotter::net {

class ByteBudget {
 public:
  static constexpr size_t kMost = size_t{64} << 20;  // unless set_most() says otherwise

  // Each holder has a number, the later the higher.
  u64 add(std::string peer, std::function<void()> close);
  void holds(u64 number, size_t bytes);  // now; may close others, or this one
  void remove(u64 number);
  void set_most(size_t most) { most_ = most; }
  size_t held() const { return held_; }

 private:
  struct Holder {
    std::string peer;
    std::function<void()> close;
    size_t bytes = 0;
  };
  void make_room();

  std::map<u64, Holder> holders_;
  size_t held_ = 0, most_ = kMost;
  u64 next_ = 1;
};

}  // namespace spotter::net

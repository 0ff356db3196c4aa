// Growth: by how much counters grew in a window of time, each by a name. Points are kept ten to a window, so
// it may be a tenth longer. One thread.
#pragma once
#include <deque>
#include <map>
#include <string>

#include "base/types.h"

namespace spotter::respond {

class Growth {
 public:
  explicit Growth(Ns window) : window_(window) {}

  // A counter that is smaller than before began anew. 0 at the first look.
  i64 add(const std::string& name, Ns at, i64 count) {
    auto& points = counters_[name];
    if (!points.empty() && count < points.back().count) points.clear();
    if (points.empty() || at - points.back().at >= window_ / 10) points.push_back({.at = at, .count = count});
    while (points.size() > 1 && at - points[1].at >= window_) points.pop_front();
    return count - points.front().count;
  }
  void forget(Ns at) {  // those that nobody has told of for a window
    std::erase_if(counters_, [&](const auto& c) { return at - c.second.back().at > 2 * window_; });
  }

 private:
  struct Point {
    Ns at = 0;
    i64 count = 0;
  };
  Ns window_;
  std::map<std::string, std::deque<Point>> counters_;
};

}  // namespace spotter::respond

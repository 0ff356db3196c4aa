// LogSegments: from bytes of a log, as they come, to what a person sees as lines: it ends one at \n and at
// \r, with which bars of progress are drawn again, keeps the first 4 KiB of each, and takes out the colours
// of terminals. Of a pod's log only \n ends one: what the pod itself wrote is within it. One thread.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace spotter::respond {

class LogSegments {
 public:
  static constexpr size_t kLongest = 4096;
  // What containerd and CRI-O write of a pod's in one line at most, and what they put before it.
  static constexpr size_t kLongestOfPod = (size_t{16} << 10) + 256;

  static LogSegments of_pod() {
    LogSegments segments;
    segments.ends_ = "\n";
    segments.longest_ = kLongestOfPod;
    return segments;
  }

  using Visit = std::function<void(std::string_view)>;
  void add(std::string_view bytes, const Visit& visit);
  // What no \n or \r has ended yet is one, too: the file is at its end, or has been replaced.
  void finish(const Visit& visit);

  // Of the segment that is visited: where it begins, and where what ended it does, in bytes since the first
  // one that was added.
  i64 begin() const { return begin_; }
  i64 end() const { return end_; }

  i64 cut() const { return cut_; }  // segments that were longer

 private:
  void keep(std::string_view bytes);

  std::string_view ends_ = "\n\r";
  size_t longest_ = kLongest;
  i64 begin_ = 0, end_ = 0;
  std::string open_;
  bool is_cut_ = false;
  i64 cut_ = 0;
};

// Without \x1b[...m.
std::string without_colours(std::string_view text);

}  // namespace spotter::respond

// What if events of a name took longer or shorter? NAME=FACTOR: every event whose name contains NAME takes
// FACTOR of its time; a host span's time is also that of what it calls on the host.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analysis.h"

namespace spotter {

inline constexpr Param kWhatIf = {"what_if", "",
                                  "NAME=FACTOR: how long the path would be if all whose name contains NAME "
                                  "took FACTOR of its time (nccl=0.5)"};

// Times that would be are held to this, as those of traces are (kMaxTime): their differences fit 64 bits.
inline constexpr Ns kLatestTime = 2 * kMaxTime;

class WhatIf {
 public:
  // Of an empty text nothing changes. Errors: invalid (no "=", no name, a factor that is no number of 0 to
  // 1,000,000).
  static Result<WhatIf> parse(std::string_view text);

  bool is_set() const { return !name_.empty(); }
  bool fits(const Trace& trace, EventId e);
  Ns scaled(Ns time) const {  // at most kMaxTime
    return static_cast<Ns>(std::min(static_cast<double>(time) * factor_ + 0.5, double{kMaxTime}));
  }

 private:
  std::string name_;
  double factor_ = 1;
  std::vector<u8> known_;  // per StringId of the trace: 0 not asked yet, 1 no, 2 yes
};

}  // namespace spotter

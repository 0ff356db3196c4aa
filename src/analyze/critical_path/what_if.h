// What if events of a name took longer or shorter? NAME=FACTOR: every event whose name contains NAME takes
// FACTOR of its time; a host span's time is also that of what it calls on the host.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analysis.h"
#include "base/name_factor.h"

namespace spotter::analyze {

// Times that would be are held to this, as those of traces are (kMaxTime): their differences fit 64 bits.
inline constexpr Ns kLatestTime = 2 * kMaxTime;

// Nothing, or what parse_name_factor takes.
Result<void> check_what_if(const std::string& text);

inline constexpr Param kWhatIf = {"what_if", "",
                                  "NAME=FACTOR: how long the path would be if all whose name contains NAME "
                                  "took FACTOR of its time (nccl=0.5)",
                                  check_what_if};

class WhatIf {
 public:
  // Of a text that was checked. Of an empty one nothing changes.
  explicit WhatIf(std::string_view text = {});

  bool is_set() const { return !what_.name.empty(); }
  bool fits(const Trace& trace, EventId e);
  // Says in `table` that nothing of what was asked about has such a name, if that is so.
  void note_unknown_name(Table& table) const;
  Ns scaled(Ns time) const {  // at most kMaxTime
    return static_cast<Ns>(std::min(static_cast<double>(time) * what_.factor + 0.5, double{kMaxTime}));
  }

 private:
  NameFactor what_;
  std::vector<u8> known_;  // per StringId of the trace: 0 not asked yet, 1 no, 2 yes
};

}  // namespace spotter::analyze

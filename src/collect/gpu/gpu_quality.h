// Quality: why numbers of a GPU are null, or to be doubted, as words joined by "+".
#pragma once
#include <string>

#include "base/types.h"

namespace spotter::collect {

enum class Doubt : u8 {
  lost,           // the GPU does not answer: it fell off the bus, or needs a reset
  blank,          // the driver gave a placeholder instead of a number; null
  stale,          // the driver repeats an old number; null
  contradictory,  // two numbers that cannot both be true; the doubtful one is null
  multiplexed,    // measured in turns with others and extrapolated
  paused,         // profiling is paused for a capture; null
  denied,         // the driver refuses this user; null
};

class Quality {
 public:
  void add(Doubt doubt) { bits_ = static_cast<u8>(bits_ | (1u << static_cast<u8>(doubt))); }
  void add(Quality other) { bits_ |= other.bits_; }
  bool has(Doubt doubt) const { return bits_ >> static_cast<u8>(doubt) & 1; }

  // Empty: nothing to say.
  std::string text() const {
    constexpr const char* kWords[] = {"lost",        "blank",  "stale", "contradictory",
                                      "multiplexed", "paused", "denied"};
    std::string text;
    for (u8 i = 0; i < std::size(kWords); ++i) {
      if (bits_ >> i & 1) text += (text.empty() ? "" : "+") + std::string(kWords[i]);
    }
    return text;
  }

 private:
  u8 bits_ = 0;
};

}  // namespace spotter::collect

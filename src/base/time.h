// Lengths of time in the one unit that there is.
#pragma once
#include "base/types.h"

namespace spotter {

inline constexpr Ns kMicrosecond = 1000;
inline constexpr Ns kMillisecond = 1000 * kMicrosecond;
inline constexpr Ns kSecond = 1000 * kMillisecond;
inline constexpr Ns kMinute = 60 * kSecond;
inline constexpr Ns kHour = 60 * kMinute;
inline constexpr Ns kDay = 24 * kHour;

}  // namespace spotter

// How long things may take.
#pragma once
#include "base/time.h"

namespace spotter::mcp {

inline constexpr Ns kUsualCall = 30 * kSecond, kCaptureCall = 120 * kSecond;
inline constexpr Ns kLook = 50 * kMillisecond;  // between looks whether something takes too long

}  // namespace spotter::mcp

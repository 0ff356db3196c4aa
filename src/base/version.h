#pragma once

namespace spotter {

inline constexpr const char* kVersion = SPOTTER_VERSION;

}  // namespace spotter

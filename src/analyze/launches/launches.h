// Launches of device work, as the two analyses of launches count them.
#pragma once
#include "analyze/analysis.h"
#include "trace/device_work.h"

namespace spotter::analyze {

inline constexpr Param kRuntimeCutoff = {"runtime_cutoff_ns", 50'000,
                                         "a host call that takes longer is an outlier"};
inline constexpr Param kLaunchDelayCutoff = {"launch_delay_cutoff_ns", 100'000,
                                             "a launch delay that is longer is an outlier"};

struct LaunchCutoffs {
  Ns runtime, delay;
};
LaunchCutoffs cutoffs_of(const ParamValues& params);

// One row of device work and the host call that started it.
struct Launch {
  Ns host = 0, device = 0;  // durations
  Ns delay = 0;             // from the call's end to the row's start, at least 0
  bool is_short = false;    // the row runs shorter than the call, and the call is no outlier
  bool is_runtime_outlier = false, is_delay_outlier = false;
};

// Of a row of device work whose launch is known.
Launch launch_of(const Trace& trace, size_t row, const LaunchCutoffs& cutoffs);

}  // namespace spotter::analyze

#include "analyze/launches/launches.h"

#include <algorithm>

namespace spotter::analyze {

LaunchCutoffs cutoffs_of(const ParamValues& params) {
  return {params[kRuntimeCutoff.name], params[kLaunchDelayCutoff.name]};
}

Launch launch_of(const Trace& trace, size_t row, const LaunchCutoffs& cutoffs) {
  const trace::DeviceWork& work = trace.device_work();
  const EventId call = work.launch[row];
  Launch launch;
  launch.host = trace.dur[call];
  launch.device = work.end[row] - work.start[row];
  launch.delay = std::max<Ns>(0, work.start[row] - trace.end(call));
  launch.is_runtime_outlier = launch.host > cutoffs.runtime;
  launch.is_short = !launch.is_runtime_outlier && launch.device < launch.host;
  launch.is_delay_outlier = launch.delay > cutoffs.delay;
  return launch;
}

}  // namespace spotter::analyze

// How busy a device is, as heights over time: with any work, and, of its multiprocessors, how many.
#pragma once
#include <optional>
#include <vector>

#include "analyze/buckets.h"

namespace spotter::analyze {

// Height 1 where any stream of the device has work; disjoint, ascending.
std::vector<Piece> busy_pieces(const trace::DeviceWork& work, i64 device);

// Of all multiprocessors: height 1'000'000.
inline constexpr i64 kAllMultiprocessors = 1'000'000;

// min(sum of the blocks per multiprocessor of the kernels that run, 1), as the TensorBoard plugin's "Est. SM
// Efficiency" adds them up (torch_tb_profiler, gpu_metrics_parser.py): disjoint, ascending. Kernels without
// the number, or with none above 0, count as nothing; nullopt where no kernel of the device has it. Reads
// Arg::blocks_per_sm.
std::optional<std::vector<Piece>> multiprocessor_pieces(const Trace& trace, i64 device);

// The numbers of the devices with work, ascending.
std::vector<i64> devices_of(const trace::DeviceWork& work);

}  // namespace spotter::analyze

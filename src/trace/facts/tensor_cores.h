// Whether a kernel computes on matrix units: NVIDIA's Tensor Cores, AMD's MFMA. Told by its name, after the
// one table of name rules in tensor_cores.cc. A name that no rule knows is unknown, not "no".
#pragma once
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace spotter::trace {

enum class TensorCores : u8 { no, yes, unknown };
const char* tensor_cores_name(TensorCores answer);

TensorCores tensor_cores(std::string_view kernel_name);

// Per row of DeviceWork; copies, sets and communication have none.
std::vector<TensorCores> tensor_cores_by_row(const Trace& trace);

// Whether an operator of this name may compute on matrix units if its operands' types are such: products of
// matrices, convolutions, attention, recurrent cells.
bool is_tensor_core_operator(std::string_view name);

}  // namespace spotter::trace

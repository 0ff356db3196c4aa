// The calls of operators with their times: what groups of operators add up.
#pragma once
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

struct OperatorCall {
  EventId event = kNone;
  u32 parent = kNone;  // the call around it, of operators_around
  Ns host_self = 0;    // its duration without the calls in it and its calls into the device's runtime
  Ns device_self = 0, tensor_self = 0;    // of the device work that it launched: all, on tensor cores
  Ns device_total = 0, tensor_total = 0;  // with that of the calls in it
  bool may_use_tensor_cores = false;      // by its name, by what it launched, or by a call in it
  bool is_operator = true;  // else PyTorch's mark of something else: data loading, an optimizer, a step, DDP
};

struct OperatorCalls {
  std::vector<OperatorCall> calls;  // by thread, then by start: a call comes before those in it
  i64 launches_outside = 0;         // with device work, in no operator
};

// An operator whose one and only inner call is of the same operator is one call together with that, as in
// PyTorch's own profiler: it is listed once. Reads trace::kDeviceWorkArgs, kStepArgs and Arg::external_id.
OperatorCalls operator_calls(const Trace& trace);

}  // namespace spotter::analyze

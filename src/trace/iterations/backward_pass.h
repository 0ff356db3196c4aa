// Whether a trace is of training.
#pragma once
#include "trace/trace.h"

namespace spotter::trace {

// By names: operators of the autograd engine, kernels of a backward pass or an optimizer.
bool has_backward_pass(const Trace& trace);

}  // namespace spotter::trace

// Steps that the annotations of inference engines mark (facts/engine_marks.h).
#pragma once
#include "trace/steps.h"

namespace spotter::trace {

Steps engine_steps(const Trace& trace);

// What engines' marks tell of steps that have marks of their own.
void add_batches(const Steps& engine_marks, Steps& steps);

}  // namespace spotter::trace

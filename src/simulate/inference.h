// Inference: a job that serves a language model, iteration after iteration, as vLLM does. Each iteration is a
// step of the job: it copies its inputs to the device, runs the model once, chooses tokens and waits for them
// on the host. Every --prefill-every-th one, the first among them, reads the prompt of a new request; the
// others make a token for each request that has begun, at most --batch. Ranks of a tensor-parallel group work
// on the same requests; the groups serve each for itself.
//
// Prefill runs operator by operator, decode is one CUDA graph; with --cuda-graphs both are graphs between the
// attention of two layers (piecewise), with --eager neither is a graph. No event marks the iterations but the
// annotations of --annotations.
#pragma once
#include <string>

#include "simulate/program.h"

namespace spotter::simulate {

struct IterationBatch {
  i64 context_requests = 0, context_tokens = 0, generation_requests = 0, generation_tokens = 0;
  bool is_prefill() const { return context_requests > 0; }
};

IterationBatch batch_of(const Spec& spec, i64 index);  // of the index-th iteration, from 0
bool runs(When when, const Spec& spec, i64 index);     // whether such an instruction is a part of that step

// The annotation around the step of this number; empty: there is none.
std::string step_annotation(const Spec& spec, i64 number);

Program build_inference_program(const Spec& spec);

Result<void> validate_inference(const Spec& spec);

}  // namespace spotter::simulate

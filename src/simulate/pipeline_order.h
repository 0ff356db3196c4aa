// In which order a pipeline stage runs its micro-batches: one forward, one backward (1F1B), and interleaved
// where each stage has several parts of the model. As Megatron-LM does
// (megatron/core/pipeline_parallel/schedules.py).
#pragma once
#include <vector>

#include "simulate/spec.h"

namespace spotter::simulate {

struct PipelineItem {
  enum class What : u8 { forward, backward, exchange_next, exchange_previous } what = What::forward;
  i64 micro_batch = 0;
  i64 chunk = 0;                         // number of the stage's part of the model
  bool receives = false, sends = false;  // by itself; else an exchange does it, or there is nobody
};

std::vector<PipelineItem> pipeline_order(const Spec& spec, i64 stage);

// The number of the part among all of the model.
inline i64 chunk_number(const Spec& spec, i64 stage, i64 chunk) { return chunk * spec.pipeline + stage; }

}  // namespace spotter::simulate

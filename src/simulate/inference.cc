#include "simulate/inference.h"

#include <algorithm>

#include "simulate/costs.h"

namespace spotter::simulate {
namespace {

// What changes how long a device or a link takes, or stops a rank; the others are of a training loop.
bool is_of_inference(const Fault& fault) {
  return slows_device(fault.type) || fault.type == FaultType::slow_link || fault.type == FaultType::hang;
}

}  // namespace

IterationBatch batch_of(const Spec& spec, i64 index) {
  if (index % spec.prefill_every == 0) return {.context_requests = 1, .context_tokens = kPromptTokens};
  const i64 begun = index / spec.prefill_every + 1, running = std::min(begun, spec.batch);
  return {.generation_requests = running, .generation_tokens = running};
}

bool runs(When when, const Spec& spec, i64 index) {
  return when == When::always || (when == When::prefill) == batch_of(spec, index).is_prefill();
}

std::string step_annotation(const Spec& spec, i64 number) {
  if (!spec.inference) return fmt::format("ProfilerStep#{}", number);
  if (!spec.annotations) return {};
  const IterationBatch b = batch_of(spec, number - spec.first_step);
  return fmt::format("execute_context_{}({})_generation_{}({})", b.context_requests, b.context_tokens,
                     b.generation_requests, b.generation_tokens);
}

Result<void> validate_inference(const Spec& spec) {
  if (!spec.inference) {
    if (spec.eager || spec.annotations)
      return fail(Code::invalid, "{} is of --inference", spec.eager ? "--eager" : "--annotations");
    return {};
  }
  if (spec.pipeline > 1 || spec.virtual_stages > 1 || spec.expert > 1)
    return fail(Code::invalid, "--inference has neither a pipeline nor experts; see --tp");
  if (spec.eager && spec.cuda_graphs)
    return fail(Code::invalid, "--eager is without graphs; leave out --cuda-graphs");
  if (spec.micro_batches > 1 || spec.events > 0)
    return fail(Code::invalid, "--micro-batches and --events are of training; ask for more --steps");
  if (spec.memory_events || spec.all_memory_events || spec.all_shapes)
    return fail(Code::invalid, "--memory-events, --all-memory-events and --all-shapes are of training");
  for (const Fault& fault : spec.faults)
    if (!is_of_inference(fault))
      return fail(Code::invalid, "the fault {} is of training jobs", kind_of(fault.type).name);
  return {};
}

}  // namespace spotter::simulate

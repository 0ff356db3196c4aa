#include <algorithm>

#include "analyze/list.h"
#include "analyze/steps/busy_by_step.h"
#include "analyze/steps/iteration_rates.h"
#include "analyze/steps/step_windows.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kStepNumberField,
    {"found_from", Type::text, Unit::none, Role::detail,
     "What tells the iterations: profiler steps, optimizer steps, engine annotations, annotation, graph launches or kernel sequence."},
    {"mark", Type::text, Unit::none, Role::detail,
     "The engine whose annotations they are, else what marks them, as in steps."},
    {"phase", Type::text, Unit::none, Role::value,
     "prefill, decode, mixed (both), or idle (no request); null where no annotation tells."},
    {"context_requests", Type::integer, Unit::count, Role::value,
     "Requests whose prompts it reads; null where no annotation tells, as are the next three."},
    {"context_tokens", Type::integer, Unit::count, Role::value, "Tokens of prompts that it reads."},
    {"generation_requests", Type::integer, Unit::count, Role::value, "Requests for which it makes tokens."},
    {"generation_tokens", Type::integer, Unit::count, Role::value,
     "Tokens for that: one of each request, more with speculative decoding."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start of the iteration, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration of the iteration on the host."},
    {"device_busy_ns", Type::integer, Unit::ns, Role::value,
     "Time in which device work of the iteration runs, as in steps; null in a trace without device work."},
    {"tokens_per_s", Type::real, Unit::per_s, Role::value,
     "Tokens of both kinds over dur_ns, or device_busy_ns where that is longer; null where they are not told."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kIterations.name, std::span(kColumns).subspan(1));
  const trace::Steps& steps = trace.steps();
  if (!steps.are_iterations) {
    table.notes.add("no_iterations", Severity::info,
                    "traces without iterations of inference have no rows here");
    return table;
  }
  trace::add_step_notes(steps, table.notes);
  const bool has_device_work = !trace.device_work().event.empty();
  if (!has_device_work)
    table.notes.add("no_device_work", Severity::info,
                    "traces without device work have the host's times of iterations alone");
  const std::vector<Ns> busy = busy_by_step(trace);
  for (size_t s = 0; s < steps.steps.size(); ++s) {
    const auto& [number, start, end, batch] = steps.steps[s];
    const bool is_told = batch.phase != trace::Phase::unknown;
    table.append({number, std::string_view(trace::step_source_name(steps.source)),
                  std::string_view(steps.engine ? steps.engine : steps.mark_name.c_str()),
                  is_told ? Value(std::string_view(trace::phase_name(batch.phase))) : Value(),
                  or_null(batch.context_requests), or_null(batch.context_tokens),
                  or_null(batch.generation_requests), or_null(batch.generation_tokens),
                  trace.info().base_ns + start, end - start, has_device_work ? Value(busy[s]) : Value(),
                  tokens_per_s(batch.tokens(), std::max(end - start, busy[s]))});
  }
  return table;
}

}  // namespace

const Analysis kIterations = {
    .name = "iterations",
    .summary = "The iterations of an inference engine: prefill or decode, requests, tokens, time.",
    .doc =
        "One row per iteration: one pass through the model for a batch of requests. They are the steps of a trace of "
        "inference. Annotations of an engine tell them, with what they work on: of vLLM (execute_context_2(6144)_generation_3(3), "
        "also with sums of lengths, and execute_new_1_cached_3), SGLang (step[DECODE bs=16] and the like), ATOM (prefill[...], "
        "decode[...]) and TensorRT-LLM ([Executor] _forward_step ...). Where ProfilerStep marks or optimizers tell the steps "
        "these stay, and have what the only such annotation that begins in each tells. An annotation that repeats evenly marks "
        "iterations in a trace without a backward pass. Without any annotation that marks steps "
        "iterations are found in the sequence of what the thread launches that launches most: turns that end with a wait for "
        "the device, else with a copy to the host, else with a kernel that chooses tokens, where at least three turns hold half "
        "of the device time or more, half of them consist of the same work as another, and two kernels or launches of graphs "
        "occur exactly once in each; else a sequence of eight or more pieces of work that repeats itself exactly, three times "
        "or more, to the end. found_from is graph launches where half of them launch one. Such an iteration ends where the "
        "next begins. A trace with a backward pass has no such iterations. Tokens are those that go "
        "through the model in the iteration. An old annotation of vLLM (new and cached requests) calls requests cached that "
        "still read later chunks of their prompts: they count as generation. With speculative decoding SGLang annotates passes "
        "of the draft model, too, each of which is a row.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze

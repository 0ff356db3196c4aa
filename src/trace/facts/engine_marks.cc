#include "trace/facts/engine_marks.h"

#include <algorithm>

#include "base/text/number.h"

namespace spotter::trace {
namespace {

// In a pattern {c} and {ct} stand for the number of context requests and tokens, {g} and {gt} for those of
// generation, {n} for any number, and * at the end for any text.
struct Spelling {
  const char* engine;
  std::string_view pattern;
  Phase phase = Phase::unknown;  // unknown: the numbers of requests tell
  bool one_token_each = false;   // each generation request has one token
};

// The first that matches a name counts. Sources:
//   vLLM         GPUWorker.annotate_profile (vllm/v1/worker/gpu_worker.py): to 0.11 new and cached requests,
//                then requests with tokens; with detailed_trace_annotation also sums over query (sq) and key
//                lengths (sk)
//   SGLang       build_step_span_name (sglang/srt/utils/profile_utils.py): ForwardMode, batch size, of EXTEND
//                the new tokens; with roofline annotations c_ and g_ sums
//   ATOM         ModelRunner.run_model; "bs=117/128" is a batch and what its graph was captured for, p and d
//                the prefill and decode requests of a batch that has both
//   TensorRT-LLM PyExecutor._forward_step; NVTX ranges, which a trace has from importers
constexpr Spelling kSpellings[] = {
    {"vLLM", "execute_context_{c}({ct})_generation_{g}({gt})"},
    {"vLLM", "execute_{n}_context_{c}(sq{ct}sk{n}sqsq{n}sqsk{n})_generation_{g}(sq{gt}sk{n}sqsq{n}sqsk{n})"},
    {"vLLM", "execute_new_{c}_cached_{g}"},
    {"SGLang", "step[EXTEND bs={c} toks={ct}*", Phase::prefill},
    {"SGLang", "step[SPLIT_PREFILL bs={c}*", Phase::prefill},
    {"SGLang", "step[DECODE bs={g} g_sq={gt} *", Phase::decode},
    {"SGLang", "step[DECODE bs={g}*", Phase::decode, true},
    {"SGLang", "step[TARGET_VERIFY bs={g}*", Phase::decode},
    {"SGLang", "step[MIXED bs={n} c={c} g={g} c_sq={ct} c_sk={n} c_sqsq={n} c_sqsk={n} g_sq={gt} *"},
    {"SGLang", "step[MIXED bs={n}*", Phase::mixed},
    {"SGLang", "step[IDLE *", Phase::idle},
    {"ATOM", "prefill[bs={c} tok={ct}*", Phase::prefill},
    {"ATOM", "decode[bs={n} tok={n} p={c} d={g}*"},
    {"ATOM", "decode[bs={n}/{n} tok={n} p={c} d={g}*"},
    {"ATOM", "decode[bs={g} tok={gt}*", Phase::decode},
    {"ATOM", "decode[bs={g}/{n} tok={gt}*", Phase::decode},
    {"ATOM", "eager_decode[bs={g} tok={gt}*", Phase::decode},
    {"TensorRT-LLM", "[Executor] _forward_step {n}: {c} ctx reqs, {ct} ctx tokens, {g} gen reqs*"},
    {"TensorRT-LLM", "[Executor] _forward_step {n}: {c} ctx reqs, {g} gen reqs*"},
};

// Takes the number that `text` begins with.
std::optional<i64> take_number(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<i64> number = number_in<i64>(text.substr(0, digits));
  text.remove_prefix(digits);
  return number;
}

std::optional<i64>* place_of(std::string_view hole, Batch& batch) {
  if (hole == "c") return &batch.context_requests;
  if (hole == "ct") return &batch.context_tokens;
  if (hole == "g") return &batch.generation_requests;
  if (hole == "gt") return &batch.generation_tokens;
  return nullptr;
}

std::optional<Batch> match(std::string_view pattern, std::string_view name) {
  Batch batch;
  while (!pattern.empty()) {
    if (pattern == "*") return batch;
    if (pattern[0] == '{') {
      const size_t end = pattern.find('}');
      const std::optional<i64> number = take_number(name);
      if (!number) return std::nullopt;
      if (std::optional<i64>* place = place_of(pattern.substr(1, end - 1), batch)) *place = number;
      pattern.remove_prefix(end + 1);
      continue;
    }
    if (name.empty() || name[0] != pattern[0]) return std::nullopt;
    name.remove_prefix(1);
    pattern.remove_prefix(1);
  }
  return name.empty() ? std::optional(batch) : std::nullopt;
}

Phase phase_of(const Batch& batch) {
  const bool reads = batch.context_requests > 0, makes = batch.generation_requests > 0;
  if (reads) return makes ? Phase::mixed : Phase::prefill;
  return makes ? Phase::decode : Phase::idle;
}

}  // namespace

const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::unknown:
      break;
    case Phase::prefill:
      return "prefill";
    case Phase::decode:
      return "decode";
    case Phase::mixed:
      return "mixed";
    case Phase::idle:
      return "idle";
  }
  return "unknown";
}

std::optional<i64> Batch::tokens() const {
  // Of a prefill nobody tells the tokens that it generates, as there are none; the other way round as well.
  const bool only_reads = phase == Phase::prefill && !generation_tokens;
  const bool only_makes = phase == Phase::decode && !context_tokens;
  if ((!context_tokens && !only_makes) || (!generation_tokens && !only_reads)) return std::nullopt;
  return context_tokens.value_or(0) + generation_tokens.value_or(0);
}

std::optional<EngineMark> engine_mark(std::string_view name) {
  for (const Spelling& spelling : kSpellings) {
    std::optional<Batch> batch = match(spelling.pattern, name);
    if (!batch) continue;
    batch->phase = spelling.phase == Phase::unknown ? phase_of(*batch) : spelling.phase;
    if (spelling.one_token_each) batch->generation_tokens = batch->generation_requests;
    return EngineMark{spelling.engine, *batch};
  }
  return std::nullopt;
}

}  // namespace spotter::trace

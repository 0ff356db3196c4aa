// Engine marks: the annotations in which inference engines wrap an iteration (one pass through the model for
// a batch of requests), and what their names tell of the batch. engine_marks.cc holds the one table of
// spellings and its sources. Constant data: any thread.
#pragma once
#include <optional>
#include <string_view>

#include "base/types.h"

namespace spotter::trace {

// Prefill reads prompts (the engines also say context, or extend), decode makes further tokens (generation);
// an iteration may do both for different requests, or run without any (idle).
enum class Phase : u8 { unknown, prefill, decode, mixed, idle };
inline constexpr size_t kPhases = 5;
const char* phase_name(Phase phase);

// What an iteration works on; what nobody told has no value. Tokens are those that go through the model: of
// prompts, those of this chunk; of generation, one for each request, or more with speculative decoding.
struct Batch {
  Phase phase = Phase::unknown;
  std::optional<i64> context_requests = {}, context_tokens = {};
  std::optional<i64> generation_requests = {}, generation_tokens = {};

  std::optional<i64> tokens() const;  // of both; none where one is not known
  bool operator==(const Batch&) const = default;
};

struct EngineMark {
  const char* engine;  // "vLLM"
  Batch batch;
};

// nullopt: no engine writes annotations of this name.
std::optional<EngineMark> engine_mark(std::string_view name);

}  // namespace spotter::trace

// The text of an on-demand request: lines KEY=VALUE that a training process (libkineto) reads. It drops a
// request with a single bad line without a word to anyone, so a text is checked here, by the same grammar,
// before it is handed out.
//
// Grammar: lines end in '\n'; '#' begins a comment anywhere; blanks and tabs around keys and values do not
// count; exactly one '=' a line; keys are case sensitive; a later line overrides an earlier one. Booleans are
// n y no yes f t false true 0 1 in any case; integers decimal, not negative.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/notes.h"
#include "base/result.h"
#include "base/types.h"

namespace spotter::kineto {

// How long after it has got a request a client may look at it.
inline constexpr i64 kTickMs = 1000;

// What a text asks for; unset values are the client's defaults.
struct Config {
  std::string log_file;                     // empty: /tmp/libkineto_activities_<pid>.json
  std::vector<std::string> activity_types;  // lower case; empty: the client's default set
  i64 duration_ms = 500;
  i64 warmup_ms = 5000;
  i64 start_time_ms = 0;  // Unix time; 0: as soon as may be
  i64 iterations = 0;
  i64 warmup_iterations = 0;
  std::optional<i64> start_iteration;  // also 0 where only a round-up is given
  i64 roundup = 0;                     // 0: none
  bool shapes = false, memory = false, stacks = false, flops = false, modules = false;
  bool memory_snapshot = false;  // instead of a trace
  std::string trace_id;

  bool by_iterations() const { return iterations > 0 && start_iteration.has_value(); }
};

// Reads a text as the client does. An error (invalid) is what makes the client drop the whole request, with
// the line. Notes say what it would ignore, and what it does that one would not expect.
Result<Config> read_config(std::string_view text, Notes& notes);

// The text that asks for this; read_config gives it back.
std::string config_text(const Config& config);

// When the trace begins in a process that gets the config at `now` (Unix ms). An error where the client would
// find that the start leaves no time for the warm-up and drop the request. Iterations: as if by time.
Result<i64> start_of(const Config& config, i64 now_ms);

// Where the process with this pid (as it sees itself) writes: the name gets _<pid> before .pt.trace.json or
// .json, and stays as it is without one. In the whole path, as the client does it.
std::string output_path(const std::string& log_file, i64 pid);

}  // namespace spotter::kineto

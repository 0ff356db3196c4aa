// The part of a run that reads: every wanted file is loaded, mapped and freed, several at once.
#pragma once
#include <optional>
#include <vector>

#include "analyze/phases.h"
#include "analyze/run.h"

namespace spotter::analyze {

bool wants(const RunRequest& request, std::optional<i64> rank);

// Errors: invalid (the trace has no steps, or none of these).
Result<void> check_steps(const Trace& trace, Range range);

// One result per file of the job, in its order. `params`: one per analysis. Phases: load, select_steps, then
// a map and a reduce of each analysis.
std::vector<FileResult> run_files(const Job& job, const RunRequest& request,
                                  const std::vector<ParamValues>& params, const Loader& load, Phases& phases);

inline constexpr size_t kLoadPhase = 0, kSelectPhase = 1;
inline constexpr size_t map_phase(size_t analysis) { return 2 + 2 * analysis; }
inline constexpr size_t reduce_phase(size_t analysis) { return 3 + 2 * analysis; }

}  // namespace spotter::analyze

// The one caller of analyses: loads each trace once, runs every wanted map on it, frees it, and reduces at
// the end. Cross-cutting work lives here: parameters, step selection, ranks, memory and threads, progress,
// cancelling, notes.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "base/result.h"
#include "trace/load.h"

namespace spotter {

struct Range {
  i64 first, last;  // both included
};

struct RunRequest {
  std::vector<const Analysis*> analyses;
  std::vector<std::pair<std::string, i64>>
      params;  // name, value; a name that none of the analyses has is an error
  std::optional<Range> steps;
  std::vector<Range> ranks;  // empty: all
  int threads = 1;
  i64 memory_bytes = 0;  // budget for traces held at one time; 0: half of the machine
  std::function<void(i64 done_bytes, i64 total_bytes)> on_progress;  // any thread
  const std::atomic<bool>* cancelled = nullptr;
};

struct PhaseTime {
  std::string phase;
  Ns wall_ns;
};  // summed over threads

struct RunResult {
  std::vector<Table> tables;      // one per wanted analysis, in order
  Notes notes;                    // of the job and of every trace
  std::vector<PhaseTime> timing;  // load, each analysis's map and reduce
};

Result<RunResult> run(const Job& job, const RunRequest& request, const Loader& load);

}  // namespace spotter

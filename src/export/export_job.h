// The traces of a job -> one file that timeline viewers open: the events as they are in the files, and beside
// them counters and arrows. One trace is held at a time, as columns; texts are streamed.
//
//   each rank: file ─► load ─► Part (which events, where to) ─┬─► events  ─► TraceWriter
//                        └──► run the counters' analyses ─────┼─► counters
//              file ─► texts of the events ─► Rewriter ───────┘
//
// One trace stays as it is. Several are merged: their times are brought to one clock, their processes get
// new ids and the rank in their names, their flows new ids.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "analyze/run.h"
#include "export/flows.h"
#include "export/trace_writer.h"
#include "trace/job.h"
#include "trace/load.h"

namespace spotter::export_ {

struct ExportRequest {
  std::vector<analyze::Range> ranks;    // empty: all
  std::optional<analyze::Range> steps;  // of each rank
  std::optional<Ns> from, to;           // from the first event of the job on; [from, to)
  i64 bucket_ns = 0;                    // of the counters that have buckets; 0: as they choose
  int threads = 1;
  std::function<void(i64 done_bytes, i64 total_bytes)> on_progress;
  const std::atomic<bool>* cancelled = nullptr;
  // Arrows between rows of the trace, which is what is exported of one rank, and the arguments they need.
  std::function<std::vector<ExtraFlow>(const Trace& trace)> flows;
  ArgSet flow_args;
};

// Notes: of the traces, of the counters, and what was changed or left out. Errors: as of a run; invalid
// (nothing lies in the window; standard input and pipes, which cannot be read twice).
Result<Notes> export_job(const Job& job, const ExportRequest& request, const Loader& load, TraceWriter& out);

}  // namespace spotter::export_

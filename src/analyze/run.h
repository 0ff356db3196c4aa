// Runs analyses, and alone does: loads each trace once, runs every wanted map on it, frees it, and reduces at
// the end. The two halves may run on different hosts. Who wants findings with them calls diagnose::run().
// Cross-cutting work lives here: parameters, step selection, ranks, memory and threads, progress, cancelling,
// notes.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/compat.h"
#include "analyze/flight_recorder/flight_records.h"
#include "base/result.h"
#include "trace/load.h"

namespace spotter::analyze {

struct Range {
  i64 first, last;  // both included
  bool operator==(const Range&) const = default;
};

struct RunRequest {
  std::vector<const Analysis*> analyses;
  ParamSettings params;                        // a name that none of the analyses has is an error
  std::map<size_t, ParamSettings> own_params;  // of the analysis at that place; they go before `params`
  std::optional<Range> steps;
  std::vector<Range> ranks;            // empty: all
  const Analysis* in_parts = nullptr;  // of `analyses`, the last such one: its ranks' tables are wanted, not
                                       // what they reduce to
  const FlightRecords* records = nullptr;  // beside the traces; with them there need not be any trace
  const Compat* compat =
      nullptr;  // on the rows that it sees; `analyses` are already what stands in (stand_ins())
  int threads = 1;
  i64 memory_bytes = 0;  // budget for traces held at one time; 0: half of the machine
  std::function<void(i64 done_bytes, i64 total_bytes)> on_progress;  // any thread
  const std::atomic<bool>* cancelled = nullptr;
};

struct PhaseTime {
  std::string phase;
  Ns wall_ns;
};  // summed over threads

// What became of one file.
struct FileResult {
  RankEvidence evidence;
  std::optional<Error> error;
  bool unwanted = false;         // its contents give a rank that is not asked for
  std::optional<Ns> start = {};  // of its first span, Unix time, whichever steps are wanted
  Notes notes;
  std::vector<Table> tables;  // one per analysis, unless unwanted or failed
};

// A job of which every wanted file was loaded, mapped and freed.
struct MappedJob {
  std::vector<FileResult> files;
  Notes notes;                    // of the job
  std::vector<PhaseTime> timing;  // load, select_steps, each analysis's map and reduce
};

// A file that the answer is from, and whose it is.
struct RankFile {
  std::optional<i64> rank;
  std::string path;
};

struct RunResult {
  std::vector<Table> tables;      // one per wanted analysis, in order; of RunRequest::in_parts without rows
  std::vector<RankTable> parts;   // of RunRequest::in_parts
  std::vector<RankFile> files;    // by rank, those without one last
  std::set<i64> unread;           // ranks whose traces are there and could not be read
  Notes notes;                    // of the job and of every trace
  std::optional<Ns> start = {};   // of the first span of the wanted ranks, Unix time
  std::vector<PhaseTime> timing;  // load, each analysis's map and reduce
};

// Errors: invalid (a parameter that no analysis has, or not the one whose own it is; of another type;
// negative).
Result<void> check_request(const RunRequest& request);

// Every parameter of each of the request's analyses, in their order. Errors: as check_request().
Result<std::vector<ParamSettings>> settings_of(const RunRequest& request);

Result<MappedJob> map_files(const Job& job, const RunRequest& request, const Loader& load);
// The files may be those of several jobs, all mapped for this request.
Result<RunResult> reduce_files(MappedJob mapped, const RunRequest& request);
// One after the other.
Result<RunResult> run(const Job& job, const RunRequest& request, const Loader& load);

}  // namespace spotter::analyze

// Collector: samples one kind of thing into tables; has no thread and no sleep of its own (sampler.h has). To
// add one: a file here with a CollectorKind, its name in list.h, a case in tests/golden.
//
// A cell that the machine does not tell is null, never 0. Counters are handed on as the kernel or the device
// counts; whoever wants a rate takes differences.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/system/host.h"
#include "table/batch.h"
#include "table/table.h"
#include "table/table_kind.h"

namespace spotter::collect {

class Identities;
class LoggedStepsBoard;
class ProfilingPause;
struct TorchStep;

using table::TableKind;  // of each table that a collector gives

struct CollectorState {
  const char* name = "";
  bool is_open = false;  // false: there is nothing for it here, says last_error
  Ns period = 0;
  i64 samples = 0, failed = 0;
  i64 late = 0;            // began more than a tenth of the period after its time
  i64 skipped = 0;         // times that had passed before it could begin
  Ns busy = 0;             // processor time, all samples together
  i64 left_out = 0;        // things that its last sample has no rows of, by its notes of losses
  std::string last_error;  // of the last sample that failed; empty after one that did not
  std::string silent;      // what did not answer in the last sample, which is one without it; empty: nothing
};

// The kind of a note that a table has where a part of what there is does not answer: a GPU that is lost.
inline constexpr const char* kDoesNotAnswer = "does_not_answer";

// What a collector may look at.
struct Surroundings {
  Host host = {};
  std::shared_ptr<Identities> identities = {};                   // who a process is
  bool per_core = false;                                         // rows for each core
  std::function<std::vector<CollectorState>()> collectors = {};  // for what the agent says of itself
  std::function<std::vector<SinkState>()> consumers = {};
  std::function<std::vector<NotifierCounts>()> notifiers = {};
  std::function<std::vector<IncidentCount>()> incidents = {};
  std::function<std::vector<CaptureCount>()> automatic_captures = {};
  std::string dcgm_address = "localhost:5555";  // of DCGM's host engine
  std::string textfile_directory = {};          // of the files of other programs; empty: none
  bool dcgm_embedded = false;                   // whether to run one in this process where none answers
  // Who opens probes in processes, if not this one (steps/step_probe.h); empty: this one.
  std::function<Result<Descriptor>(i64 thread, const TorchStep& step)> probe_opener = {};
  std::vector<std::string> step_logs = {};   // globs of log files of jobs (logs/log_places.h)
  std::vector<std::string> step_lines = {};  // the user's expressions for them (respond/steps/step_lines.h)
  std::shared_ptr<LoggedStepsBoard> logged_steps = {};         // what logs tell of steps
  std::shared_ptr<const ProfilingPause> profiling_pause = {};  // whether dcgm leaves the counters to others
};

class Collector {
 public:
  virtual ~Collector() = default;
  // A table for each TableKind of which there is something to say now (TableKind::every), in their order and
  // of their name and columns. Called by one thread at a time, through ask(). Errors: what keeps it from
  // saying anything now; it is called again.
  virtual Result<std::vector<Table>> sample() = 0;
};

struct CollectorKind {
  const char* name;
  const char* help;  // one sentence
  Ns period;         // by default
  // It asks a driver or a file system that may hang: it is asked last, and gets a thread of its own when it
  // does.
  bool may_block = false;
  bool is_on = true;  // by default
  std::span<const TableKind> tables;
  // Errors: not_found (there is nothing of the kind on this machine, in a sentence for a person; asked again
  // every minute, since drivers come up late), denied, io.
  Result<std::unique_ptr<Collector>> (*open)(const Surroundings& surroundings);
};

// What a collector of that kind says now; each table knows what is declared of its rows.
Result<std::vector<Table>> ask(const CollectorKind& kind, Collector& collector);

}  // namespace spotter::collect

// Telemetry: the measuring side of an agent: the sampler, what it has measured last, and who takes it: the
// history and the push sinks. Made and asked on the loop's thread.
//
//   sampler's threads --batches--> newest
//                              \-> queue -> thread of the history
//                              \-> queue -> thread of a sink ...
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/history_writer.h"
#include "api/metrics_query.h"
#include "base/host.h"
#include "collect/profiling_pause.h"
#include "collect/sampler.h"
#include "net/loop.h"
#include "sink/list.h"
#include "store/history_query.h"

namespace spotter::api {

struct SinkOptions {
  std::string kind;
  sink::Settings settings;
};

struct TelemetryOptions {
  std::vector<collect::Wanted> collectors = {};  // none: nothing is measured
  bool per_core = false;                         // rows for each core
  std::string dcgm_address = "localhost:5555";   // of DCGM's host engine
  bool dcgm_embedded = false;                    // whether to run one in the agent where none answers
  std::optional<store::HistoryOptions> history = {};
  // Each has a name of its own (sink::name_of), and none is called history.
  std::vector<SinkOptions> sinks = {};
};

// Those that are on by default, at their own periods.
std::vector<collect::Wanted> usual_collectors();

class Telemetry {
 public:
  // A history that cannot be opened is no error: the agent has other work, and its status says so. Errors:
  // invalid (a sink's settings), busy.
  static Result<std::unique_ptr<Telemetry>> open(net::Loop& loop, TelemetryOptions options, Host host,
                                                 const std::string& host_name);
  ~Telemetry();

  // The newest batches, the last one first: each kind of table is in one of them, whatever its period.
  std::vector<SharedBatch> latest() const;
  // Tables in JSON. `done` is called on the loop's thread, at once or later, but not after this has gone.
  // Errors: invalid, not_found (there is no history), busy, those of the history.
  using Done = std::function<void(Result<std::string>)>;
  void query(const MetricsQuery& query, Done done);
  // The same of what the history knows beside samples. Errors: not_found, busy, those of the history.
  void catalogue(store::CatalogueTable which, Done done);
  void note_capture(store::CaptureNote note);  // for the history

  std::vector<collect::CollectorState> collectors() const;
  std::vector<SinkState> consumers() const;                          // any thread
  const std::string& why_no_history() const { return no_history_; }  // empty: there is one
  collect::ProfilingPause& profiling_pause() { return *profiling_pause_; }
  collect::Identities& identities() { return *identities_; }

 private:
  Telemetry(net::Loop& loop, Host host);
  struct Part {
    SharedBatch batch;
    size_t index = 0;  // of the table in it
    const Table& table() const { return batch->tables[index]; }
  };
  using Parts = std::vector<Part>;
  static SharedBatch join(const Parts& parts, Ns unix_now);
  void take(const SharedBatch& batch);
  Part& newest_of(const Table& table, const std::string& by);
  using Read = std::function<Result<std::string>(store::History&)>;
  void ask_history(Read read, Done done);

  net::Loop& loop_;
  Host host_;
  std::shared_ptr<collect::Identities> identities_;
  std::shared_ptr<collect::ProfilingPause> profiling_pause_ = std::make_shared<collect::ProfilingPause>();
  mutable std::mutex mutex_;
  Parts newest_;          // of each table, by who looked
  size_t next_part_ = 0;  // where the next table to come is looked for first
  std::unique_ptr<HistoryWriter> history_;
  std::string no_history_;  // why there is none
  std::shared_ptr<std::map<u64, Done>> queries_ = std::make_shared<std::map<u64, Done>>();  // under way
  u64 next_query_ = 0;
  std::vector<std::unique_ptr<sink::SinkRunner>> sinks_;
  std::unique_ptr<collect::Sampler> sampler_;  // last: it hands on to all others
};

}  // namespace spotter::api

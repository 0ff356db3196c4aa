// Telemetry: the measuring side of an agent: the sampler, who takes what it samples, and the answers to
// questions about it. Made and asked on the loop's thread.
//
//   sampler's threads --batches--> newest
//                              \-> queue -> thread of the history
//                              \-> other consumers (consumers.h)
//
// Others than the sampler hand in batches by offer().
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/queries.h"
#include "agent/telemetry/consumer.h"
#include "agent/telemetry/history_writer.h"
#include "agent/telemetry/newest.h"
#include "agent/telemetry/telemetry_options.h"
#include "base/system/host.h"
#include "collect/gpu/profiling_pause.h"
#include "collect/process/identities.h"
#include "collect/sampler.h"
#include "net/loop.h"
#include "store/history_query.h"
#include "wire/metrics_query.h"

namespace spotter::agent {

// Of the agent; all outlive its telemetry.
struct TelemetrySite {
  net::Loop& loop;
  const Host& host;
  const std::string& host_name;
  std::shared_ptr<collect::Identities> identities;
  std::shared_ptr<const collect::ProfilingPause> profiling_pause;
  std::string helper = {};  // the socket of root's helper (helper.h); empty: there is none
  std::function<std::vector<NotifierCounts>()> notifiers = {};         // any thread
  std::function<std::vector<IncidentCount>()> incidents = {};          // any thread
  std::function<std::vector<CaptureCount>()> automatic_captures = {};  // any thread
  std::vector<Consumer*> consumers = {};                               // beside those of the options
};

class Telemetry {
 public:
  explicit Telemetry(TelemetrySite site);
  ~Telemetry();

  // A history that cannot be opened is no error: the agent has other work, its status says so, and it is
  // tried again. Called once. Errors: invalid (a sink's settings), busy.
  Result<void> begin(const TelemetryOptions& options);

  // Hands a batch to all who take batches: it is among the newest from now on, and goes to all consumers. Any
  // thread, while this lives; it waits for nobody.
  //
  // The batch is of now (unix_ns), with the time until the next one of its kind (period_ns; 0: it stays among
  // the newest for good). `by` is a name that no collector has. Of each `by` and table the newest is kept as
  // long as this lives, so there are few of these names, and none that somebody else makes up.
  void offer(const SharedBatch& batch);
  std::vector<SharedBatch> latest() const { return newest_.latest(); }  // any thread

  // What `make` makes of the tables for `who` (none takes all the room for questions) goes to `done`, on the
  // loop's thread, at once or later, but not after this has gone. `make` is called where the tables were
  // read: for the history on a thread that may take its time and knows nothing of the loop's; for the newest
  // samples, and errors, at once. std::identity: the tables themselves. Errors: invalid, not_found (there is
  // no history), busy, those of the history.
  template <class Make>
  void query(const wire::MetricsQuery& query, std::string who, Make make,
             std::function<void(Made<Make>)> done) {
    answer(query, asker(std::move(who), std::move(make), std::move(done)));
  }
  // The same of what the history knows beside samples: one table.
  template <class Make>
  void catalogue(store::CatalogueTable which, std::string who, Make make,
                 std::function<void(Made<Make>)> done) {
    answer(which, asker(std::move(who), std::move(make), std::move(done)));
  }
  void note_capture(store::CaptureNote note);  // for the history

  bool measures() const { return has_begun_; }  // what is to be measured; it may be nothing
  std::vector<collect::CollectorState> collectors() const;
  std::vector<SinkState> consumers() const;  // any thread
  // Why none is to be kept; empty: one is, and among the consumers.
  const std::string& why_no_history() const { return no_history_; }

 private:
  Result<void> open_consumers(const TelemetryOptions& options);
  void answer(const wire::MetricsQuery& query, Asker asker);
  void answer(store::CatalogueTable which, Asker asker);
  // Errors: not_found (there is no history).
  void ask_history(std::function<Tables(store::History&)> read, Asker asker);

  TelemetrySite site_;
  bool has_begun_ = false;
  Newest newest_;
  std::unique_ptr<HistoryWriter> history_;
  std::string no_history_;  // why there is none
  Queries queries_;
  std::vector<std::unique_ptr<Consumer>> others_;
  std::vector<Consumer*> consumers_;           // all of them; constant while the sampler lives
  std::unique_ptr<collect::Sampler> sampler_;  // last: it hands on to all others
};

}  // namespace spotter::agent

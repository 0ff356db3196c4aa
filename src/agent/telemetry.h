// Telemetry: the measuring side of an agent: the sampler, what it has measured last, and who takes it: the
// history and the push sinks. Made and asked on the loop's thread.
//
//   sampler's threads --batches--> newest
//                              \-> queue -> thread of the history
//                              \-> queue -> thread of a sink ...
//
// Others than the sampler hand in batches by offer().
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "agent/history_writer.h"
#include "base/host.h"
#include "collect/gpu/profiling_pause.h"
#include "collect/sampler.h"
#include "net/loop.h"
#include "sink/list.h"
#include "store/history_query.h"
#include "wire/metrics_query.h"

namespace spotter::agent {

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
  // A history that cannot be opened is no error: the agent has other work, its status says so, and it is
  // tried again. Errors: invalid (a sink's settings), busy.
  static Result<std::unique_ptr<Telemetry>> open(net::Loop& loop, TelemetryOptions options, Host host,
                                                 const std::string& host_name);
  ~Telemetry();

  // Hands a batch to all who take batches: it is among the newest from now on, and goes to the history and
  // the sinks. Any thread, while this lives; it waits for nobody.
  //
  // The batch is of now (unix_ns), with the time until the next one of its kind (period_ns; 0: it stays among
  // the newest for good). `by` is a name that no collector has. Of each `by` and table the newest is kept as
  // long as this lives, so there are few of these names, and none that somebody else makes up.
  void offer(const SharedBatch& batch);
  // The newest batches, the last one first: each kind of table is in one of them, whatever its period. Any
  // thread.
  std::vector<SharedBatch> latest() const;

  // What a question is answered with; notes are in the tables. Errors: invalid, not_found (there is no
  // history), busy, those of the history.
  using Tables = Result<std::vector<Table>>;
  // What `make` makes of the tables goes to `done`, on the loop's thread, at once or later, but not after
  // this has gone. `make` is called where the tables were read: for the history on a thread that may take its
  // time and knows nothing of the loop's; for the newest samples, and errors, at once. std::identity: the
  // tables themselves.
  template <class Make>
  using Made = std::remove_cvref_t<std::invoke_result_t<Make, Tables>>;
  template <class Make>
  void query(const wire::MetricsQuery& query, Make make, std::function<void(Made<Make>)> done) {
    answer(query, asker(std::move(make), std::move(done)));
  }
  // The same of what the history knows beside samples: one table.
  template <class Make>
  void catalogue(store::CatalogueTable which, Make make, std::function<void(Made<Make>)> done) {
    answer(which, asker(std::move(make), std::move(done)));
  }
  void note_capture(store::CaptureNote note);  // for the history

  std::vector<collect::CollectorState> collectors() const;
  std::vector<SinkState> consumers() const;  // any thread
  // Why none is to be kept; empty: one is, and among the consumers.
  const std::string& why_no_history() const { return no_history_; }
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
  Part& newest_of(const Table& table, const std::string& by);

  struct Asker {
    std::function<void(Tables)> make;
    std::function<void()> done;  // once, after it
  };
  template <class Make>
  static Asker asker(Make make, std::function<void(Made<Make>)> done) {
    const auto made = std::make_shared<std::optional<Made<Make>>>();
    return {[made, make = std::move(make)](Tables tables) { made->emplace(make(std::move(tables))); },
            [made, done = std::move(done)] { done(std::move(**made)); }};
  }
  void answer(const wire::MetricsQuery& query, Asker asker);
  void answer(store::CatalogueTable which, Asker asker);
  using Read = std::function<Tables(store::History&)>;
  void ask_history(Read read, Asker asker);

  net::Loop& loop_;
  Host host_;
  std::shared_ptr<collect::Identities> identities_;
  std::shared_ptr<collect::ProfilingPause> profiling_pause_ = std::make_shared<collect::ProfilingPause>();
  mutable std::mutex mutex_;
  Parts newest_;          // of each table, by who looked
  size_t next_part_ = 0;  // where the next table to come is looked for first
  std::unique_ptr<HistoryWriter> history_;
  std::string no_history_;  // why there is none
  // What is done when a query under way has ended.
  using Queries = std::map<u64, std::function<void()>>;
  std::shared_ptr<Queries> queries_ = std::make_shared<Queries>();
  u64 next_query_ = 0;
  std::vector<std::unique_ptr<sink::SinkRunner>> sinks_;
  std::unique_ptr<collect::Sampler> sampler_;  // last: it hands on to all others
};

}  // namespace spotter::agent

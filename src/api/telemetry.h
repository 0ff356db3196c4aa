// Telemetry: the measuring side of an agent: the sampler, what it has measured last, and who takes it. Made
// and asked on the loop's thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/host.h"
#include "api/metrics_query.h"
#include "collect/sampler.h"

namespace spotter::api {

struct TelemetryOptions {
  std::vector<collect::Wanted> collectors;  // none: nothing is measured
  bool per_core = false;                    // rows for each core
};

// Those that are on by default, at their own periods.
std::vector<collect::Wanted> usual_collectors();

class Telemetry {
 public:
  Telemetry(TelemetryOptions options, Host host);
  ~Telemetry();

  // The newest batches, the last one first: each kind of table is in one of them, whatever its period.
  std::vector<SharedBatch> latest() const;
  // `done` is called on the loop's thread, at once or later. Errors: invalid, not_found (there is no history), busy, those
  // of the history.
  using Done = std::function<void(Result<std::vector<Table>>)>;
  void query(const MetricsQuery& query, Done done);
  std::vector<collect::CollectorState> collectors() const;
  std::vector<ConsumerState> consumers() const;
  collect::Identities& identities() { return *identities_; }

 private:
  void take(const SharedBatch& batch);

  Host host_;
  std::shared_ptr<collect::Identities> identities_;
  mutable std::mutex mutex_;
  std::map<std::string, SharedBatch> newest_;  // by table
  std::unique_ptr<collect::Sampler> sampler_;  // last: it hands on to all others
};

}  // namespace spotter::api

// Telemetry: the measuring side of an agent: the sampler, what it has measured last, and who takes it. Made
// and asked on the loop's thread.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "base/host.h"
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
  using SharedTable = std::shared_ptr<const Table>;

  Telemetry(TelemetryOptions options, Host host);
  ~Telemetry();

  // The newest table of each kind, in the order of the list of collectors. One that has not come for three
  // periods is not among them: its numbers are no longer true.
  std::vector<SharedTable> latest() const;
  std::vector<collect::CollectorState> collectors() const;
  std::vector<ConsumerState> consumers() const;
  collect::Identities& identities() { return *identities_; }

 private:
  struct Newest {
    SharedBatch batch;
    size_t table = 0;  // which of the batch's
    Ns came = 0;
  };
  void take(const SharedBatch& batch);

  Host host_;
  std::shared_ptr<collect::Identities> identities_;
  mutable std::mutex mutex_;
  std::vector<std::pair<const collect::TableKind*, Newest>> newest_;
  std::unique_ptr<collect::Sampler> sampler_;  // last: it hands on to all others
};

}  // namespace spotter::api

#include "api/telemetry.h"

#include <algorithm>

#include "collect/identities.h"
#include "collect/list.h"

namespace spotter::api {
std::vector<collect::Wanted> usual_collectors() {
  std::vector<collect::Wanted> usual;
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    if (kind->is_on) usual.push_back({kind, kind->period});
  }
  return usual;
}

Telemetry::Telemetry(TelemetryOptions options, Host host)
    : host_(std::move(host)), identities_(std::make_shared<collect::Identities>(host_)) {
  collect::Surroundings surroundings{host_, identities_, options.per_core};
  surroundings.consumers = [this] { return consumers(); };
  sampler_ = std::make_unique<collect::Sampler>(std::move(options.collectors), std::move(surroundings),
                                                [this](const SharedBatch& batch) { take(batch); });
}

Telemetry::~Telemetry() = default;

void Telemetry::take(const SharedBatch& batch) {
  std::lock_guard lock(mutex_);
  for (const Table& table : batch->tables) newest_[table.name()] = batch;
}

std::vector<SharedBatch> Telemetry::latest() const {
  std::vector<SharedBatch> batches;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [table, batch] : newest_) {
      if (std::ranges::find(batches, batch) == batches.end()) batches.push_back(batch);
    }
  }
  std::ranges::sort(batches, std::greater(), [](const SharedBatch& batch) { return batch->unix_ns; });
  return batches;
}

void Telemetry::query(const MetricsQuery& query, Done done) {
  if (query.since == 0) return done(newest_tables(latest(), query));
  done(fail(Code::not_found, "this agent keeps no history: it was begun with --history off"));
}

std::vector<collect::CollectorState> Telemetry::collectors() const { return sampler_->states(); }

std::vector<ConsumerState> Telemetry::consumers() const { return {}; }

}  // namespace spotter::api

#include "api/telemetry.h"

#include <algorithm>

#include "collect/identities.h"
#include "collect/list.h"

namespace spotter::api {
namespace {

constexpr Ns kStalePeriods = 3, kLeastStale = 5'000'000'000;

}  // namespace

std::vector<collect::Wanted> usual_collectors() {
  std::vector<collect::Wanted> usual;
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    if (kind->is_on) usual.push_back({kind, kind->period});
  }
  return usual;
}

Telemetry::Telemetry(TelemetryOptions options, Host host)
    : host_(std::move(host)), identities_(std::make_shared<collect::Identities>(host_)) {
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    for (const collect::TableKind& table : kind->tables) newest_.push_back({&table, {}});
  }
  collect::Surroundings surroundings{host_, identities_, options.per_core};
  surroundings.consumers = [this] { return consumers(); };
  sampler_ = std::make_unique<collect::Sampler>(std::move(options.collectors), std::move(surroundings),
                                                [this](const SharedBatch& batch) { take(batch); });
}

Telemetry::~Telemetry() = default;

void Telemetry::take(const SharedBatch& batch) {
  const Ns now = host_.steady_now();
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < batch->tables.size(); ++i) {
    const auto it = std::ranges::find_if(
        newest_, [&](const auto& entry) { return batch->tables[i].name() == entry.first->name; });
    if (it != newest_.end()) it->second = {batch, i, now};
  }
}

std::vector<Telemetry::SharedTable> Telemetry::latest() const {
  const Ns now = host_.steady_now();
  std::vector<SharedTable> tables;
  std::lock_guard lock(mutex_);
  for (const auto& [kind, newest] : newest_) {
    if (!newest.batch) continue;
    if (now - newest.came > std::max(kLeastStale, kStalePeriods * newest.batch->period_ns)) continue;
    tables.emplace_back(newest.batch, &newest.batch->tables[newest.table]);
  }
  return tables;
}

std::vector<collect::CollectorState> Telemetry::collectors() const { return sampler_->states(); }

std::vector<ConsumerState> Telemetry::consumers() const { return {}; }

}  // namespace spotter::api

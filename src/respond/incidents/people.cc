// What people do to incidents, and which ones there are.
#include <algorithm>
#include <array>
#include <utility>

#include "respond/alerts/alert.h"
#include "respond/incidents/incidents.h"
#include "respond/incidents/symptoms.h"

namespace spotter::respond {
namespace {

constexpr size_t kMostMended = 10'000;

}  // namespace

bool Incidents::is_mended(const Condition& condition) const {
  const auto it = mended_.find(fingerprint(condition));
  return it != mended_.end() && condition.since <= it->second;
}

Result<Incidents::Changes> Incidents::acknowledge(const std::string& id, Acknowledgement by) {
  TRY_ASSIGN(Kept* const kept, named(id));
  if (!kept->incident.is_open()) return fail(Code::invalid, "{} is resolved", id);
  Changes changes;
  if (kept->incident.acknowledged && kept->incident.acknowledged->by == by.by) return changes;
  const Ns at = by.at;
  kept->incident.acknowledged = std::move(by);
  move(*kept, kept->incident.state, "somebody has acknowledged it", Word::changed, at, changes);
  return changes;
}

Result<Incidents::Changes> Incidents::resolve(const std::string& id, const std::string& by, Ns at) {
  TRY_ASSIGN(Kept* const kept, named(id));
  Incident& incident = kept->incident;
  if (!incident.is_open()) return fail(Code::invalid, "{} is resolved", id);
  Changes changes;
  for (const auto& [key, condition] : kept->firing) {
    if (!is_by_hand(condition) && condition.rule != kAlert) continue;
    if (mended_.size() >= kMostMended) mended_.erase(mended_.begin());
    mended_[key] = at;
  }
  if (!kept->firing.empty()) {
    incident.ending = Ending::over;
    incident.has_job_ended = false;
    incident.resolved_by = by;
  }
  conditions_ -= kept->firing.size();
  kept->firing.clear();
  if (incident.state != IncidentState::recovering) incident.before = incident.state;
  incident.closed = at;
  move(*kept, IncidentState::resolved, fmt::format("{} has resolved it", by),
       incident.told != 0 ? Word::resolved : Word::none, at, changes);
  return changes;
}

Result<Incidents::Changes> Incidents::silence(const Silence& silence, Ns at) {
  TRY(silences_.add(silence, at));
  Changes changes;
  for (Kept& kept : incidents_) {
    const auto until = silenced(kept, at);
    if (kept.incident.is_open() && until && until != kept.incident.silenced_until)
      move(kept, kept.incident.state, "somebody has silenced it", Word::none, at, changes);
  }
  return changes;
}

std::optional<Incident> Incidents::find(const std::string& id) const {
  for (const Kept& kept : incidents_) {
    if (kept.incident.id() == id) return kept.incident;
  }
  return {};
}

std::vector<Condition> Incidents::firing(const std::string& id) const {
  std::vector<Condition> all;
  for (const Kept& kept : incidents_) {
    if (kept.incident.id() != id) continue;
    for (const auto& [key, condition] : kept.firing) all.push_back(condition);
  }
  return all;
}

std::optional<Incident> Incidents::open(const Condition& condition) const {
  const std::string key = incident_key(options_.cluster, condition);
  for (const Kept& kept : incidents_) {
    if (kept.incident.is_open() && kept.incident.key() == key) return kept.incident;
  }
  return {};
}

std::optional<Incident> Incidents::concluded(const Condition& condition) const {
  for (const Kept& kept : incidents_) {
    const Incident& incident = kept.incident;
    const bool is_concluded =
        incident.state == IncidentState::verdict || incident.state == IncidentState::inconclusive;
    const bool is_its = !condition.job.empty() && incident.job.id == condition.job;
    if (is_concluded && is_its && incident.family == condition.family) return incident;
  }
  return {};
}

std::vector<i64> Incidents::suspects(const std::string& id, Ns at) const {
  std::map<i64, int> named;  // how directly
  for (const Kept& kept : incidents_) {
    if (kept.incident.id() != id) continue;
    for (const Condition* condition : related(kept, at)) {
      const int as_cause = rank_as_cause(*condition);
      if (!condition->rank || as_cause == 0) continue;
      const auto known = named.emplace(*condition->rank, as_cause).first;
      known->second = std::min(known->second, as_cause);
    }
  }
  std::vector<i64> ranks;
  for (const auto& [rank, as_cause] : named) ranks.push_back(rank);
  std::ranges::sort(ranks, {}, [&](i64 rank) { return std::pair(named.at(rank), rank); });
  return ranks;
}

bool Incidents::is_open(const std::string& job) const {
  return std::ranges::any_of(
      incidents_, [&](const Kept& kept) { return kept.incident.is_open() && kept.incident.job.id == job; });
}

std::set<std::string> Incidents::open_jobs() const {
  std::set<std::string> jobs;
  for (const Kept& kept : incidents_) {
    if (kept.incident.is_open() && !kept.incident.job.id.empty()) jobs.insert(kept.incident.job.id);
  }
  return jobs;
}

std::vector<Incident> Incidents::all() const {
  std::vector<Incident> all;
  for (auto it = incidents_.rbegin(); it != incidents_.rend(); ++it) all.push_back(it->incident);
  return all;
}

std::vector<IncidentCount> Incidents::open_counts() const {
  constexpr std::array kUrgencies = {Urgency::info, Urgency::warning, Urgency::critical};
  std::vector<IncidentCount> counts;
  counts.reserve(std::size(kIncidentStateNames) * kUrgencies.size());
  for (const char* state : kIncidentStateNames) {
    for (const Urgency urgency : kUrgencies)
      counts.push_back({.state = state, .severity = urgency_name(urgency)});
  }
  for (const Kept& kept : incidents_)
    ++counts[static_cast<size_t>(kept.incident.state) * kUrgencies.size() +
             static_cast<size_t>(kept.incident.urgency)]
          .incidents;
  counts.resize(static_cast<size_t>(IncidentState::resolved) * kUrgencies.size());
  return counts;
}

}  // namespace spotter::respond

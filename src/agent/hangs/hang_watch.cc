#include "agent/hangs/hang_watch.h"

#include <algorithm>
#include <set>
#include <utility>

#include "respond/rules/list.h"

namespace spotter::agent {
namespace {

// A rank that stands still like the others tells nothing new of why, unless its kernel says that it is
// stopped, has ended or waits for a device.
bool tells_why(const respond::Condition& condition) {
  constexpr std::string_view kStates = "TtZXD";
  if (condition.rule != respond::kProgressStopped.name) return true;
  return std::ranges::any_of(respond::hosted_ranks_of(condition), [&](const respond::HostedRank& rank) {
    return kStates.find(rank.state) != kStates.npos;
  });
}

}  // namespace

HangWatch::HangWatch(Parts parts)
    : parts_(std::move(parts)),
      ras_({parts_.loop, parts_.host, parts_.host_name, parts_.registry, *parts_.identities, parts_.take}),
      evidence_({parts_.loop, parts_.host, parts_.host_name, parts_.identities, parts_.analyses, parts_.paces,
                 parts_.rules, ras_, parts_.incidents}) {}

void HangWatch::begin(const respond::Incident& incident) {
  for (const respond::Condition& condition : parts_.rules.firing()) {
    if (condition.job == incident.job.id) told_.emplace(respond::fingerprint(condition), incident.id());
  }
  for (const respond::Condition& condition : parts_.incidents.firing(incident.id()))
    if (tells_why(condition)) told_.emplace(respond::fingerprint(condition), incident.id());
  gather(incident);
}

bool HangWatch::gather(const respond::Incident& incident) {
  const bool hears_others = parts_.leading.why_alone(incident.job.id).empty();
  return evidence_.gather(incident, hears_others, [this, id = incident.id()](respond::Conclusion conclusion) {
    const Ns now = parts_.host.unix_now();
    for (std::string& sentence : parts_.rules.ruled_out(now))
      conclusion.against.push_back(std::move(sentence));
    if (const auto of = parts_.incidents.find(id)) {
      if (std::string alone = parts_.leading.why_alone(of->job.id); !alone.empty())
        conclusion.not_known.push_back(std::move(alone));
    }
    parts_.apply(parts_.incidents.conclude(id, std::move(conclusion), now));
  });
}

void HangWatch::fires(const respond::Condition& condition) {
  if (condition.family != "progress" || !tells_why(condition)) return;
  const u64 key = respond::fingerprint(condition);
  if (told_.contains(key)) return;
  const auto incident = parts_.incidents.concluded(condition);
  if (!incident) return;
  // What comes while it is gathered already is said again in half a minute.
  if (gather(*incident)) told_.emplace(key, incident->id());
}

void HangWatch::pass(Ns now) {
  std::set<std::string> jobs;
  for (std::string& job : parts_.paces.late(now)) jobs.insert(std::move(job));
  std::set<u64> firing;
  for (const respond::Condition& condition : parts_.rules.firing()) {
    firing.insert(respond::fingerprint(condition));
    if (condition.family == "progress" && !condition.job.empty()) jobs.insert(condition.job);
  }
  std::set<std::string> incidents;
  for (const auto& [key, id] : told_) incidents.insert(id);
  for (const std::string& id : incidents)
    for (const respond::Condition& condition : parts_.incidents.firing(id))
      firing.insert(respond::fingerprint(condition));
  std::erase_if(told_, [&](const auto& told) { return !firing.contains(told.first); });
  std::map<std::string, RasWatch::Suspected> suspected;
  for (const std::string& job : jobs) {
    const auto pace = parts_.paces.of(job);
    if (pace && parts_.leading.leads(job))
      suspected[job] = {.user = pace->user, .world_size = pace->world_size};
  }
  ras_.pass(suspected);
}

}  // namespace spotter::agent

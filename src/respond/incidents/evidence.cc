// What is found out for an incident, and what becomes of it.
#include <algorithm>
#include <set>
#include <utility>

#include "base/same_host.h"
#include "respond/incidents/incidents.h"
#include "respond/incidents/says.h"
#include "respond/incidents/symptoms.h"

namespace spotter::respond {
namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& each : from) {
    if (std::ranges::find(to, each) == to.end()) to.push_back(each);
  }
}

constexpr size_t kMostEvidence = 16;

void add_evidence(std::vector<Evidence>& to, std::vector<Evidence> more) {
  for (Evidence& each : more) {
    if (to.size() < kMostEvidence && std::ranges::find(to, each.says, &Evidence::says) == to.end())
      to.push_back(std::move(each));
  }
}

// Those of a verdict that is not told, or no more.
void erase_doubts(std::vector<std::string>& against) {
  std::erase_if(against, [](const std::string& text) { return text.starts_with(kDoubt); });
}

// Where a condition names a cause, what was measured confirms it or speaks against it.
void take_hint(Conclusion& conclusion) {
  if (!conclusion.hint) return;
  auto& [verdict, evidence] = *conclusion.hint;
  if (!conclusion.verdict) {
    conclusion.verdict = std::move(verdict);
    conclusion.evidence.insert(conclusion.evidence.begin(), std::move(evidence));
    return;
  }
  const Suspect& hinted = verdict.suspects.front();
  const bool is_of_it = std::ranges::any_of(conclusion.verdict->suspects, [&](const Suspect& suspect) {
    return suspect.rank && hinted.rank ? suspect.rank == hinted.rank
                                       : is_same_host(suspect.host, hinted.host);
  });
  if (is_of_it) {
    conclusion.verdict->confidence = more_sure(conclusion.verdict->confidence);
    conclusion.evidence.push_back(std::move(evidence));
  } else {
    conclusion.against.push_back(kDoubt + evidence.says);
  }
}

}  // namespace

// The conditions of an incident, and of others at about the same time that may be its cause.
std::vector<const Condition*> Incidents::related(const Kept& kept, Ns at) const {
  std::vector<const Condition*> all;
  std::set<std::string_view> hosts;
  for (const auto& [key, condition] : kept.firing) {
    // What one of several jobs has is no cause of what the others have.
    if (!kept.incident.shared_by) all.push_back(&condition);
    hosts.insert(condition.host);
  }
  for (const Kept& other : incidents_) {
    if (&other == &kept || !other.incident.is_open() || is_symptom_family(other.incident.family)) continue;
    if (other.incident.shared_by) continue;  // its jobs have the same conditions
    for (const auto& [key, condition] : other.firing) {
      const bool is_here =
          condition.job.empty() ? hosts.contains(condition.host) : condition.job == kept.incident.job.id;
      const Ns distance = condition.since > kept.incident.opened ? condition.since - kept.incident.opened
                                                                 : kept.incident.opened - condition.since;
      if (is_here && (distance <= options_.together || at - condition.since <= options_.together))
        all.push_back(&condition);
    }
  }
  return all;
}

void Incidents::settle(Kept& kept, Conclusion conclusion, std::string why, Ns at, Changes& changes) {
  Incident& incident = kept.incident;
  const auto conditions = related(kept, at);
  const std::optional<Verdict> before = incident.verdict;
  if (std::string not_it = conclusion.verdict ? why_not_the_cause(*conclusion.verdict, incident.symptom) : "";
      !not_it.empty()) {
    conclusion.verdict.reset();
    erase_doubts(conclusion.against);
    conclusion.against.insert(conclusion.against.begin(), std::move(not_it));
  }
  if (conclusion.verdict) {
    // What was measured and what was traced are independent of one another.
    Verdict& verdict = *conclusion.verdict;
    for (const Condition* condition : conditions) {
      if (rank_as_cause(*condition) == 0 || !names(*condition, verdict.suspects)) continue;
      verdict.confidence = Confidence::high;
      conclusion.evidence.push_back({.says = says(*condition)});
      break;
    }
  } else {
    conclusion.verdict = verdict_of(conditions);
    take_hint(conclusion);
  }
  // A verdict stays until there is a better one.
  const bool is_taken =
      conclusion.verdict && (!before || conclusion.verdict->confidence >= before->confidence);
  if (is_taken) {
    incident.verdict = std::move(conclusion.verdict);
    erase_doubts(incident.against);
  } else {
    erase_doubts(conclusion.against);
  }
  // Changes on the hosts of suspects count for more.
  if (options_.look_back) options_.look_back(incident);
  // So does what speaks for it.
  if (is_taken || !before) {
    if (!conclusion.evidence.empty()) incident.evidence = std::move(conclusion.evidence);
  } else {
    add_evidence(incident.evidence, std::move(conclusion.evidence));
  }
  std::erase(incident.not_known, kNoAnswer);
  append(incident.against, conclusion.against);
  append(incident.not_known, conclusion.not_known);
  if (!conclusion.to_trace.empty()) incident.to_trace = std::move(conclusion.to_trace);
  const bool was_settled = incident.state != IncidentState::pending &&
                           incident.state != IncidentState::firing &&
                           incident.state != IncidentState::investigating;
  const IncidentState to = incident.verdict ? IncidentState::verdict : IncidentState::inconclusive;
  if (was_settled &&
      (incident.state == IncidentState::recovering || incident.state == IncidentState::resolved)) {
    incident.before = to;
    return move(kept, incident.state, std::move(why), Word::none, at, changes);
  }
  const bool is_news = incident.verdict.has_value() && (!before || !is_same(*before, *incident.verdict));
  const Word word = !was_settled ? Word::verdict : is_news ? Word::changed : Word::none;
  move(kept, to, std::move(why), word, at, changes);
}

Result<Incidents::Changes> Incidents::investigate(const std::string& id, CaptureOfIncident capture, Ns at) {
  TRY_ASSIGN(Kept* const kept, named(id));
  Changes changes;
  kept->incident.captures.push_back(std::move(capture));
  const bool waits = kept->incident.state == IncidentState::firing;
  kept->asked = at;
  move(*kept, waits ? IncidentState::investigating : kept->incident.state, "a capture was begun", Word::none,
       at, changes);
  return changes;
}

Result<Incidents::Changes> Incidents::conclude(const std::string& id, Conclusion conclusion, Ns at) {
  TRY_ASSIGN(Kept* const kept, named(id));
  Changes changes;
  std::string why = conclusion.verdict ? "the evidence names a cause" : "the evidence names no cause";
  settle(*kept, std::move(conclusion), std::move(why), at, changes);
  return changes;
}

Result<Incidents::Changes> Incidents::amend(const std::string& id, const std::function<void(Incident&)>& edit,
                                            Ns at) {
  TRY_ASSIGN(Kept* const kept, named(id));
  Changes changes;
  edit(kept->incident);
  move(*kept, kept->incident.state, "more is known of it", Word::none, at, changes);
  return changes;
}

}  // namespace spotter::respond

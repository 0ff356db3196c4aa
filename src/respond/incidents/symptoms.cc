#include "respond/incidents/symptoms.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>

#include "respond/incidents/says.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr size_t kShown = 3;  // conditions that an incident shows

// The most telling first.
bool is_worse(const Condition& a, const Condition& b) {
  if (a.urgency != b.urgency) return a.urgency > b.urgency;
  if (a.since != b.since) return a.since < b.since;
  return fingerprint(a) < fingerprint(b);
}

bool is_same(const Suspect& a, const Suspect& b) {
  return a.rank == b.rank && a.host == b.host && a.gpu == b.gpu;
}

std::optional<i64> gpu_of(const Condition& condition) {
  i64 gpu = 0;
  if (std::sscanf(condition.device.c_str(), "gpu %ld", &gpu) != 1) return {};
  return gpu;
}

}  // namespace

bool is_by_hand(const Condition& condition) {
  const Rule* rule = find_rule(condition.rule);
  return rule && std::string_view(rule->recover) == kByHand;
}

int rank_as_cause(const Condition& condition) {
  const Rule* rule = find_rule(condition.rule);
  return rule ? rule->rank_as_cause : 0;
}

bool is_same(const Verdict& a, const Verdict& b) {
  return a.cause == b.cause && std::ranges::equal(a.suspects, b.suspects,
                                                  [](const auto& x, const auto& y) { return is_same(x, y); });
}

bool names(const Condition& condition, const std::vector<Suspect>& suspects) {
  return std::ranges::any_of(suspects, [&](const Suspect& suspect) {
    if (condition.rank && suspect.rank) return condition.rank == suspect.rank;
    return !condition.host.empty() && condition.host == suspect.host;
  });
}

std::optional<Verdict> verdict_of(const std::vector<const Condition*>& conditions) {
  const Condition* cause = nullptr;
  for (const Condition* each : conditions) {
    const int rank = rank_as_cause(*each);
    if (rank == 0) continue;
    if (!cause || rank < rank_as_cause(*cause) || (rank == rank_as_cause(*cause) && is_worse(*each, *cause)))
      cause = each;
  }
  if (!cause) return {};
  Verdict verdict;
  verdict.cause = cause->rule;
  // That something is broken is as good as a trace; a metric that is unlike others' is a hint.
  verdict.confidence = rank_as_cause(*cause) <= 2 ? Confidence::medium : Confidence::low;
  verdict.suspects = {{.rank = cause->rank, .host = cause->host, .gpu = gpu_of(*cause)}};
  verdict.sentence = says(*cause);
  verdict.remedy = find_rule(cause->rule)->remedy;
  return verdict;
}

void describe(Incident& incident, const std::map<u64, Condition>& firing) {
  if (firing.empty()) return;
  std::vector<const Condition*> sorted;
  std::set<std::string_view> hosts;
  for (const auto& [key, condition] : firing) {
    sorted.push_back(&condition);
    if (!condition.host.empty()) hosts.insert(condition.host);
  }
  std::ranges::sort(sorted, [](const Condition* a, const Condition* b) { return is_worse(*a, *b); });
  const Condition& worst = *sorted.front();
  incident.condition_count = std::ssize(sorted);
  incident.conditions.clear();
  for (size_t i = 0; i < std::min(kShown, sorted.size()); ++i) incident.conditions.push_back(*sorted[i]);
  incident.urgency = std::max(incident.urgency, worst.urgency);
  if (incident.shared_by) {
    SharedBy& by = *incident.shared_by;
    by.job_count = incident.condition_count;  // each of them has one
    by.jobs.clear();
    for (size_t i = 0; i < std::min(SharedBy::kMostNamed, sorted.size()); ++i)
      by.jobs.push_back(sorted[i]->job);
  } else if (incident.job.user.empty()) {
    incident.job.user = worst.user;
  }
  Symptom& symptom = incident.symptom;
  symptom = {.rule = worst.rule,
             .source = worst.source,
             .unit = worst.unit,
             .before = worst.baseline,
             .now = worst.value,
             .spreads = worst.spreads,
             .since_step = worst.step,
             .since = worst.since,
             .hosts = std::ssize(hosts)};
}

}  // namespace spotter::respond

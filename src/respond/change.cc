#include "respond/change.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

namespace spotter::respond {
namespace {

constexpr size_t kMostShown = 3;
constexpr double kLeastWeight = 0.01;  // five hours of the heaviest
constexpr double kSuspected = 3;

struct KindWeight {
  std::string_view kind;
  double weight;
};
constexpr KindWeight kWeights[] = {{"code", 1},    {"environment", 1}, {"deployment", 1},
                                   {"driver", 1},  {"kernel", 1},      {"power", 1},
                                   {"network", 1}, {"storage", 1},     {"boot", 0.7}};
constexpr double kOther = 0.5;

double weight_of(std::string_view kind) {
  const auto* it = std::ranges::find(kWeights, kind, &KindWeight::kind);
  return it == std::end(kWeights) ? kOther : it->weight;
}

using Names = std::set<std::string, std::less<>>;

// Hosts that are known to have to do with it; empty: not known.
Names hosts_of(const Incident& incident) {
  Names hosts;
  for (const Condition& condition : incident.conditions) hosts.insert(condition.host);
  if (incident.verdict) {
    for (const Suspect& suspect : incident.verdict->suspects) hosts.insert(suspect.host);
  }
  hosts.insert(incident.host);
  hosts.erase("");
  return hosts;
}

Names suspected_hosts(const Incident& incident) {
  Names hosts;
  if (incident.verdict) {
    for (const Suspect& suspect : incident.verdict->suspects) hosts.insert(suspect.host);
  }
  hosts.erase("");
  return hosts;
}

double weight_of(const Change& change, const Incident& incident, Ns began) {
  const Ns age = began - change.change.at;
  if (age < 0) return 0;
  if (!change.job.empty() && change.job != incident.job.id) return 0;
  const Names touched(change.hosts.begin(), change.hosts.end()), there = hosts_of(incident);
  const auto is_there = [&](const std::string& host) { return there.contains(host); };
  if (!touched.empty() && !there.empty() && std::ranges::none_of(touched, is_there)) return 0;
  const double hours = static_cast<double>(age) / static_cast<double>(kHour);
  const bool is_exact = !touched.empty() && touched == suspected_hosts(incident);
  return weight_of(change.change.kind) * std::exp(-hours) * (is_exact ? kSuspected : 1);
}

std::string_view kind_of(std::string_view name) { return name.substr(0, name.find('/')); }
std::string_view what_of(std::string_view name) {
  return name.substr(std::min(name.find('/') + 1, name.size()));
}

ChangeBefore change_of(const std::string& name, const std::string& before, const std::string& after, Ns at) {
  return {.at = at,
          .kind = std::string(kind_of(name)),
          .what = std::string(what_of(name)),
          .before = before,
          .after = after};
}

}  // namespace

std::vector<ChangeBefore> differences(const Facts& before, const FactValues& now, Ns at, bool is_whole) {
  std::vector<ChangeBefore> changes;
  for (const auto& [name, value] : now) {
    const auto known = before.find(name);
    if (known == before.end() ? is_whole : known->second.value != value)
      changes.push_back(change_of(name, known == before.end() ? "" : known->second.value, value, at));
  }
  for (const auto& [name, fact] : before) {
    if (is_whole && !now.contains(name)) changes.push_back(change_of(name, fact.value, "", at));
  }
  return changes;
}

Facts kept_facts(const Facts& before, const FactValues& now, Ns at) {
  Facts kept;
  for (const auto& [name, value] : now) {
    const auto known = before.find(name);
    const bool is_same = known != before.end() && known->second.value == value;
    kept[name] = {value, is_same ? known->second.since : at};
  }
  return kept;
}

std::vector<ChangeBefore> changes_before(const std::vector<Change>& changes, const Incident& incident) {
  const Ns began = incident.symptom.since > 0 ? incident.symptom.since : incident.opened;
  std::vector<std::pair<double, const Change*>> weighed;
  for (const Change& change : changes) {
    const double weight = weight_of(change, incident, began);
    if (weight >= kLeastWeight) weighed.emplace_back(weight, &change);
  }
  std::ranges::sort(weighed, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->change.at > b.second->change.at;
  });
  // Each host tells of what was changed on all of them.
  const auto is_same = [](const ChangeBefore& a, const ChangeBefore& b) {
    return a.kind == b.kind && a.what == b.what && a.before == b.before && a.after == b.after &&
           a.link == b.link;
  };
  std::vector<ChangeBefore> shown;
  for (const auto& [weight, change] : weighed) {
    const bool is_shown =
        std::ranges::any_of(shown, [&](const ChangeBefore& each) { return is_same(each, change->change); });
    if (!is_shown && shown.size() < kMostShown) shown.push_back(change->change);
  }
  return shown;
}

}  // namespace spotter::respond

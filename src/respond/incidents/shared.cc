#include "respond/incidents/shared.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <utility>

#include "respond/alerts/alert.h"

namespace spotter::respond {
namespace {

// The most urgent one comes first, and of these the oldest.
std::tuple<int, Ns, u64> place(const Condition& condition) {
  return {-static_cast<int>(condition.urgency), condition.since, fingerprint(condition)};
}

}  // namespace

// After some are over.
void SharedConditions::Job::find_since() {
  since = std::numeric_limits<Ns>::max();
  for (const auto& [key, condition] : firing) since = std::min(since, condition.since);
}

SharedConditions::Words SharedConditions::take(const Condition& condition) {
  Words words;
  if (condition.job.empty() || condition.family == kAlert) return words;
  const u64 key = fingerprint(condition);
  Jobs& jobs = families_[condition.family];
  const auto it = jobs.find(condition.job);
  const bool is_known = it != jobs.end() && it->second.firing.contains(key);
  if (!condition.is_firing) {
    if (!is_known) return words;
    --count_;
    it->second.firing.erase(key);
    it->second.find_since();
    tell(it->second, words);
    part(jobs);
    return words;
  }
  if (!is_known && count_ >= kMost) {
    ++left_out_;
    return words;
  }
  count_ += !is_known;
  Job& job = jobs[condition.job];
  job.since = job.firing.empty() ? condition.since : std::min(job.since, condition.since);
  job.firing[key] = condition;
  if (!job.is_joined)
    join(condition.family, jobs, condition.job, words);
  else if (!job.told || fingerprint(*job.told) == key || place(condition) < place(*job.told))
    tell(job, words);
  return words;
}

// The jobs that it has it together with: itself, where others are in it already; none, where there are too
// few of them.
std::vector<std::string> SharedConditions::beside(const Jobs& jobs, const std::string& name) const {
  const Ns since = jobs.at(name).since;
  std::vector<std::pair<Ns, std::string>> near;
  for (const auto& [other, job] : jobs) {
    if (job.firing.empty() || std::abs(job.since - since) > kTogether) continue;
    if (job.is_joined) return {name};
    near.emplace_back(job.since, other);
  }
  std::ranges::sort(near);
  // Of the stretches of that length that have its own beginning, the one with the most jobs.
  size_t first = 0, count = 0;
  for (size_t begin = 0, end = 0; begin < near.size() && near[begin].first <= since; ++begin) {
    while (end < near.size() && near[end].first - near[begin].first <= kTogether) ++end;
    if (end - begin > count) std::tie(first, count) = std::pair(begin, end - begin);
  }
  std::vector<std::string> names;
  for (size_t i = first; count >= kLeast && i < first + count; ++i) names.push_back(near[i].second);
  std::ranges::sort(names);
  return names;
}

void SharedConditions::join(const std::string& family, Jobs& jobs, const std::string& name, Words& words) {
  const std::vector<std::string> names = beside(jobs, name);
  if (names.empty() || refused_[family] == names) return;
  if (names.size() >= kLeast && !speaks_(family, names)) {
    refused_[family] = names;
    return;
  }
  for (const std::string& each : names) {
    Job& job = jobs.at(each);
    job.is_joined = true;
    tell(job, words);
    if (each == name) continue;
    for (const auto& [key, condition] : job.firing) words.again.push_back(condition);
  }
}

void SharedConditions::tell(Job& job, Words& words) {
  const auto best =
      std::ranges::min_element(job.firing, {}, [](const auto& each) { return place(each.second); });
  if (!job.is_joined) return;
  if (job.told && (best == job.firing.end() || fingerprint(best->second) != fingerprint(*job.told))) {
    job.told->is_firing = false;
    job.told->is_shared = true;
    words.shared.push_back(*std::exchange(job.told, std::nullopt));
  }
  if (best == job.firing.end()) return;
  job.told = best->second;
  words.shared.push_back(best->second);
  words.shared.back().is_shared = true;
}

// Whose conditions are over has nothing in common with others any more once all of theirs are.
void SharedConditions::part(Jobs& jobs) {
  const bool is_over = std::ranges::none_of(
      jobs, [](const auto& each) { return each.second.is_joined && !each.second.firing.empty(); });
  std::erase_if(jobs, [&](const auto& each) {
    return each.second.firing.empty() && (is_over || !each.second.is_joined);
  });
}

void SharedConditions::restore(const Incident& incident, Ns at) {
  if (!incident.shared_by || !incident.is_open()) return;
  Jobs& jobs = families_[incident.family];
  for (const std::string& name : incident.shared_by->jobs) jobs[name].is_joined = true;
  for (Condition condition : incident.conditions) {
    if (incident.state == IncidentState::recovering || !condition.is_firing || count_ >= kMost) continue;
    condition.is_shared = false;
    condition.at = at;
    Job& job = jobs[condition.job];
    job.is_joined = true;
    count_ += job.firing.emplace(fingerprint(condition), condition).second;
    job.find_since();
    job.told = condition;
  }
  part(jobs);
}

void SharedConditions::pass(Ns at) {
  if (at >= passed_ && at - passed_ < kMinute) return;
  passed_ = at;
  refused_.clear();
  for (auto& [family, jobs] : families_) {
    for (auto& [name, job] : jobs) {
      count_ -= std::erase_if(job.firing, [&](const auto& each) { return at - each.second.at > kForgotten; });
      job.find_since();
    }
    part(jobs);
  }
}

bool SharedConditions::is_shared(const Condition& condition) const {
  const auto family = families_.find(condition.family);
  if (family == families_.end()) return false;
  const auto job = family->second.find(condition.job);
  return job != family->second.end() && job->second.is_joined;
}

std::vector<std::string> SharedConditions::jobs(const std::string& family) const {
  std::vector<std::string> names;
  const auto it = families_.find(family);
  if (it == families_.end()) return names;
  for (const auto& [name, job] : it->second) {
    if (job.is_joined && !job.firing.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace spotter::respond

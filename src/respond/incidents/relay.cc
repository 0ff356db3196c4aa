#include "respond/incidents/relay.h"

#include <algorithm>
#include <utility>

namespace spotter::respond {

bool Relay::is_own(const Job& job) const {
  return job.place >= kMostTurns || job.place >= job.leaders.own || job.leaders.hosts.empty();
}

void Relay::put(const Condition& condition, const Leaders& leaders, Ns at) {
  const u64 key = fingerprint(condition);
  Job& job = jobs_[condition.job];
  keep(job, leaders);
  if (!job.kept.contains(key)) {
    if (!condition.is_firing && is_own(job)) return own_.push_back(condition);
    if (count_ >= kMostKept) {
      ++left_out_;
      return;
    }
    ++count_;
  }
  job.kept[key] = condition;
  job.unsent.insert(key);
  if (is_own(job)) return give_own(job);
  if (job.waits_since == 0) job.waits_since = at;
}

// More than those that may lead are nobody's here.
void Relay::keep(Job& job, const Leaders& leaders) {
  const size_t count = std::min(leaders.hosts.size(), kMostTurns);
  job.leaders.hosts.assign(leaders.hosts.begin(), leaders.hosts.begin() + static_cast<std::ptrdiff_t>(count));
  job.leaders.own = leaders.own;
}

void Relay::stand_in(const std::map<std::string, Leaders>& jobs, Ns at) {
  for (auto& [name, job] : jobs_) job.stands_in = job.stands_in && jobs.contains(name);
  for (const auto& [name, leaders] : jobs) {
    Job& job = jobs_[name];
    keep(job, leaders);
    if (!std::exchange(job.stands_in, true)) job.first_again = at + kFirstAgain;
  }
}

void Relay::watch(const std::map<std::string, Leaders>& jobs, Ns at) {
  for (auto& [name, job] : jobs_) job.watches = job.watches && jobs.contains(name);
  for (const auto& [name, leaders] : jobs) {
    Job& job = jobs_[name];
    keep(job, leaders);
    if (!std::exchange(job.watches, true)) job.watch_again = at + kFirstAgain;
  }
}

void Relay::introduce(const std::string& name, const Leaders& leaders) {
  Job& job = jobs_[name];
  keep(job, leaders);
  job.introduces = true;
}

bool Relay::leads(const std::string& name) const {
  const auto it = jobs_.find(name);
  return it != jobs_.end() && is_own(it->second) && it->second.leaders.own < it->second.leaders.hosts.size();
}

void Relay::is_this_host(const std::string& name, size_t place) {
  const auto it = jobs_.find(name);
  if (it == jobs_.end()) return;
  it->second.leaders.own = std::min(it->second.leaders.own, place);
  if (is_own(it->second)) give_own(it->second);
}

// All that is unsent; what is over is forgotten with it.
void Relay::give_own(Job& job) {
  for (const u64 key : std::exchange(job.unsent, {})) {
    const auto kept = job.kept.find(key);
    if (kept == job.kept.end()) continue;
    own_.push_back(kept->second);
    if (kept->second.is_firing) continue;
    job.kept.erase(kept);
    --count_;
  }
  job.waits_since = 0;
}

bool Relay::asks_first(const Job& job, Ns at) {
  return job.leaders.own != 0 && (job.place > 0 || job.stands_in) && at >= job.first_again &&
         (job.stands_in || job.watches || !job.kept.empty());
}

// Whether who has it, and is told nothing, is still there.
bool Relay::asks_on(const Job& job, Ns at) {
  return job.watches && job.kept.empty() && at >= std::max(job.watch_again, job.again);
}

// Where the clock was set back nothing waits until it is again what it was.
void Relay::set_back(Ns at) {
  for (auto& [name, job] : jobs_) {
    for (Ns* time : {&job.waits_since, &job.again, &job.first_again, &job.watch_again, &job.asked})
      *time = std::min(*time, at);
  }
}

std::vector<Relay::Errand> Relay::pass(Ns at) {
  if (at < last_pass_ - kMinute) set_back(at);
  last_pass_ = at;
  // Who was asked for longest ago comes first: jobs whose leaders hang keep no others from theirs.
  std::vector<std::pair<Ns, std::string>> due;
  for (const auto& [name, job] : jobs_) {
    if (job.is_asking || job.leaders.hosts.empty()) continue;
    const bool tells = !is_own(job) && !job.unsent.empty() && at >= job.again;
    const bool asks = asks_first(job, at) || (!is_own(job) && asks_on(job, at));
    const bool introduces = !is_own(job) && job.introduces;
    if (tells || asks || introduces) due.emplace_back(job.asked, name);
  }
  std::ranges::sort(due);
  std::vector<Errand> errands;
  for (const auto& [asked, name] : due) {
    if (asking_ >= kMostErrands) break;
    Job& job = jobs_.at(name);
    const size_t place = asks_first(job, at) ? 0 : job.place;
    Errand errand{.job = name, .to = job.leaders.hosts[place], .place = place};
    // To one who has nothing of it yet all is told that fires.
    for (const auto& [key, condition] : job.kept) {
      if (errand.conditions.size() < kMostAtOnce && (place != job.place || job.unsent.contains(key)))
        errand.conditions.push_back(condition);
    }
    const bool asks = asks_first(job, at) || asks_on(job, at);
    errand.is_introduction = errand.conditions.empty() && !asks;
    job.introduces = false;
    job.is_asking = true;
    job.asked = at;
    ++asking_;
    errands.push_back(std::move(errand));
  }
  // What is over and told is no more to be thought of.
  std::erase_if(jobs_, [this](const auto& each) {
    const Job& job = each.second;
    return job.kept.empty() && job.unsent.empty() && !job.is_asking && !job.stands_in && !job.watches &&
           (!job.introduces || is_own(job));
  });
  return errands;
}

void Relay::answered(const Errand& errand, bool is_taken, Ns at) {
  --asking_;
  const auto it = jobs_.find(errand.job);
  if (it == jobs_.end()) return;
  Job& job = it->second;
  job.is_asking = false;
  if (!is_taken && errand.is_introduction) return;
  if (is_taken) {
    const bool is_another = errand.place != job.place;
    job.place = errand.place;
    if (errand.place == 0) job.stands_in = false;
    if (is_another) {
      for (const auto& [key, condition] : job.kept) job.unsent.insert(key);
    }
    for (const Condition& sent : errand.conditions) {
      const u64 key = fingerprint(sent);
      const auto kept = job.kept.find(key);
      if (kept == job.kept.end() || kept->second.at != sent.at || kept->second.is_firing != sent.is_firing)
        continue;  // there is news of it
      job.unsent.erase(key);
      if (sent.is_firing) continue;
      job.kept.erase(kept);
      --count_;
    }
    job.waits_since = job.unsent.empty() ? 0 : at;
    if (errand.place == 0 || is_another) job.first_again = at + kFirstAgain;
    // What it was told may have ended something.
    job.watch_again = at + (errand.conditions.empty() ? kFirstAgain : kTurn);
    return;
  }
  if (errand.place == 0 && (job.place > 0 || (job.stands_in && job.unsent.empty()))) {
    job.first_again = at + kFirstAgain;
    return;
  }
  job.again = at + kAgain;
  if (job.waits_since == 0) job.waits_since = at;
  const auto turn = static_cast<size_t>(std::max<Ns>(at - job.waits_since, 0) / kTurn);
  const size_t before = job.place;
  // One that has answered before has its turn, too; where there are fewer, this host waits all the same.
  const size_t place = std::min(std::max(job.place, turn), kMostTurns);
  job.place = place < job.leaders.hosts.size() || place == kMostTurns ? place : before;
  if (job.place == before) return;
  job.first_again = at + kFirstAgain;
  // Whoever is next has none of it.
  for (const auto& [key, condition] : job.kept) job.unsent.insert(key);
  if (is_own(job)) give_own(job);
}

std::vector<Condition> Relay::own() { return std::exchange(own_, {}); }

}  // namespace spotter::respond

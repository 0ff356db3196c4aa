#include "respond/incidents/members.h"

#include <algorithm>
#include <set>

namespace spotter::respond {

std::optional<double> heard_ratio(const JobPace& before, const std::optional<JobPace>& now, Ns since) {
  const bool goes_on = now && now->last_step > since && now->steps > before.steps;
  if (!goes_on || before.step <= 0 || now->step <= 0) return {};
  return static_cast<double>(now->step) / static_cast<double>(before.step);
}

void Members::see(const Report& report, Ns at) {
  auto& hosts = jobs_[report.job.id];
  if (!hosts.contains(report.host)) {
    if (count_ >= kMostHosts) return;
    ++count_;
  }
  Member& member = hosts[report.host];
  const bool is_new = member.here.ranks != report.job.ranks;
  ranks_ -= member.here.ranks.size();
  member = {report.job, at};
  if (is_new) leave_to(report.host, hosts);
  if (ranks_ + member.here.ranks.size() > kMostRanks) member.here.ranks.clear();
  ranks_ += member.here.ranks.size();
}

// Who says last that he has a rank has it: of hosts that a job has left, nothing is left.
void Members::leave_to(const std::string& host, std::map<std::string, Member>& hosts) {
  const JobHere& own = hosts[host].here;
  const std::set<i64> its(own.ranks.begin(), own.ranks.end());
  for (auto it = hosts.begin(); it != hosts.end();) {
    JobHere& here = it->second.here;
    const bool is_other = it->first != host && !here.ranks.empty() && here.user == own.user;
    if (is_other) ranks_ -= std::erase_if(here.ranks, [&](i64 rank) { return its.contains(rank); });
    const bool is_left = is_other && here.ranks.empty();
    count_ -= is_left;
    it = is_left ? hosts.erase(it) : std::next(it);
  }
}

void Members::pass(Ns at) {
  for (auto& [job, hosts] : jobs_) {
    for (auto& [name, member] : hosts) member.seen = std::min(member.seen, at);  // clocks are set back
    count_ -= std::erase_if(hosts, [&](const auto& host) {
      const bool is_old = at - host.second.seen > kForgotten;
      if (is_old) ranks_ -= host.second.here.ranks.size();
      return is_old;
    });
  }
  std::erase_if(jobs_, [](const auto& job) { return job.second.empty(); });
}

std::vector<std::string> Members::hosts(const std::string& job) const {
  std::vector<std::string> names;
  if (const auto it = jobs_.find(job); it != jobs_.end())
    for (const auto& [name, member] : it->second) names.push_back(name);
  return names;
}

i64 Members::world_size(const std::string& job) const {
  i64 most = 0;
  if (const auto it = jobs_.find(job); it != jobs_.end())
    for (const auto& [name, member] : it->second) most = std::max(most, member.here.world_size);
  return most;
}

std::optional<JobPace> Members::pace(const std::string& job) const {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return {};
  std::optional<JobPace> best;
  for (const auto& [name, member] : it->second) {
    const JobHere& here = member.here;
    if (best && here.steps <= best->steps) continue;
    best = JobPace{.user = here.user,
                   .ranks = {here.ranks.begin(), here.ranks.end()},
                   .world_size = here.world_size,
                   .first = here.age == 0 ? 0 : member.seen - here.age,
                   .steps = here.steps,
                   .step = here.step,
                   .last_step = member.seen,
                   .last_writing = here.wrote_ago ? std::max<Ns>(member.seen - *here.wrote_ago, 1) : 0};
  }
  return best;
}

// The job's ranks by host, ascending.
std::map<std::string, std::vector<i64>> Members::places(const std::string& job, const std::string& own_host,
                                                        const std::vector<i64>& own) const {
  std::map<std::string, std::vector<i64>> ranks;
  if (const auto it = jobs_.find(job); it != jobs_.end())
    for (const auto& [name, member] : it->second) ranks[name] = member.here.ranks;
  if (!own.empty() || ranks.empty()) ranks[own_host] = own;
  for (auto& [name, here] : ranks) std::ranges::sort(here);
  return ranks;
}

Chosen Members::choose(const std::string& job, const std::string& own_host, const std::vector<i64>& own,
                       const std::vector<std::string>& hosts, const std::vector<i64>& suspects) const {
  std::map<std::string, std::vector<i64>> ranks = places(job, own_host, own);
  for (const std::string& host : hosts) ranks[host];
  i64 world = world_size(job), count = 0;
  for (const auto& [name, here] : ranks) count += std::ssize(here);
  Chosen chosen;
  if (std::max(world, count) <= kWhole) {
    if (ranks.size() > 1) {
      for (const auto& [name, here] : ranks) chosen.hosts.push_back(name);
    } else {
      chosen.ranks = own;
    }
    return chosen;
  }
  std::set<i64> taken;
  std::set<std::string> asked;
  const auto take = [&](const std::string& host, i64 rank) {
    if (taken.size() >= kScouts || !taken.insert(rank).second) return;
    asked.insert(host);
  };
  for (const i64 suspect : suspects) {
    for (const auto& [name, here] : ranks)
      if (std::ranges::binary_search(here, suspect)) take(name, suspect);
  }
  // Of hosts at equal distances their first ranks, then of each their second, until there are enough.
  std::vector<const std::pair<const std::string, std::vector<i64>>*> known;
  for (const auto& each : ranks)
    if (!each.second.empty()) known.push_back(&each);
  size_t deepest = 0;
  for (const auto* each : known) deepest = std::max(deepest, each->second.size());
  for (size_t depth = 0; depth < deepest && taken.size() < kScouts; ++depth) {
    const size_t wanted = std::min(kScouts, known.size());
    for (size_t i = 0; i < wanted; ++i) {
      const auto& [name, here] = *known[i * known.size() / wanted];
      if (depth < here.size()) take(name, here[depth]);
    }
  }
  chosen.ranks.assign(taken.begin(), taken.end());
  if (ranks.size() > 1) chosen.hosts.assign(asked.begin(), asked.end());
  return chosen;
}

Chosen Members::choose_more(const std::string& job, const std::string& own_host, const std::vector<i64>& own,
                            const ListedRanks& group, const std::vector<i64>& traced) const {
  const std::map<std::string, std::vector<i64>> ranks = places(job, own_host, own);
  const std::set<i64> known(traced.begin(), traced.end());
  std::map<i64, std::string_view> left;  // their hosts
  for (const auto& [host, here] : ranks)
    for (const i64 rank : here) left.emplace(rank, host);
  const auto is_untraced = [&](const auto& rank) { return !known.contains(rank.first); };
  if (group.is_whole) {
    const std::set<i64> members(group.ranks.begin(), group.ranks.end());
    std::erase_if(left, [&](const auto& rank) { return !members.contains(rank.first); });
  } else if (std::ranges::count_if(left, is_untraced) >= 2 * std::ssize(known)) {
    return {};  // a second try would most likely miss it, too
  }
  // Those that are new first, and of the others one at least: whoever waits for them.
  const auto take = [&](Chosen& chosen, auto&& is_wanted, size_t most) {
    for (const auto& [rank, host] : left)
      if (is_wanted(rank) && chosen.ranks.size() < most) chosen.ranks.push_back(rank);
  };
  Chosen chosen;
  take(chosen, [&](i64 rank) { return !known.contains(rank); }, kScouts - 1);
  if (chosen.ranks.empty()) return {};
  take(
      chosen, [&](i64 rank) { return known.contains(rank); },
      group.is_whole ? kScouts : chosen.ranks.size() + 1);
  std::ranges::sort(chosen.ranks);
  if (ranks.size() < 2) return chosen;
  std::set<std::string> hosts;
  for (const i64 rank : chosen.ranks) hosts.emplace(left.at(rank));
  chosen.hosts.assign(hosts.begin(), hosts.end());
  return chosen;
}

}  // namespace spotter::respond

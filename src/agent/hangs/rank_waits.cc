#include "agent/hangs/rank_waits.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "agent/jobs/job_ranks.h"
#include "process/kernel_wait.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostRanks = 64;
constexpr std::chrono::seconds kBetween{1};
constexpr Ns kPatience = 3 * kSecond;

}  // namespace

// One that is stopped or waits for a disk for a moment is neither: what is the same twice counts.
std::vector<respond::HostedRank> look_at_ranks(const Host& host, const std::string& host_name,
                                               collect::Identities& identities, const std::string& job) {
  std::vector<JobRank> here = ranks_of(identities, job);
  if (here.size() > kMostRanks) here.resize(kMostRanks);
  std::vector<process::KernelWait> first;
  for (const JobRank& rank : here) first.push_back(process::read_kernel_wait(host, rank.pid));
  std::this_thread::sleep_for(kBetween);
  std::vector<respond::HostedRank> ranks;
  for (size_t i = 0; i < here.size(); ++i) {
    process::KernelWait now = process::read_kernel_wait(host, here[i].pid);
    respond::HostedRank& rank = ranks.emplace_back();
    rank.host = host_name;
    rank.rank = here[i].rank;
    rank.pid = here[i].pid;
    if (now.state != first[i].state) continue;
    rank.state = now.state;
    if (now.function == first[i].function) rank.function = std::move(now.function);
    if (now.stack == first[i].stack) rank.stack = std::move(now.stack);
  }
  return ranks;
}

void RankWaits::add(const respond::Condition& condition) {
  const auto [it, is_first] = looks_.try_emplace(condition.job);
  Look& look = it->second;
  if (look.is_late) return parts_.tell(condition);
  look.waiting.push_back(condition);
  if (!is_first) return;
  const std::string job = condition.job;
  const bool has_begun =
      threads_.run([this, job, host = parts_.host, host_name = parts_.host_name,
                    identities = parts_.identities, post = post_, alive = std::weak_ptr(alive_)] {
        std::vector<respond::HostedRank> ranks = look_at_ranks(host, host_name, *identities, job);
        post([this, job, alive, ranks = std::move(ranks)] {
          if (!alive.expired()) looked(job, ranks);
        });
      });
  if (!has_begun) return looked(job, {});
  look.patience = std::make_unique<net::Timer>(parts_.loop);
  look.patience->set(kPatience, [this, job] { give_up(job); });
}

void RankWaits::looked(const std::string& job, const std::vector<respond::HostedRank>& ranks) {
  auto look = looks_.extract(job);
  for (respond::Condition& condition : look.mapped().waiting) {
    std::vector<respond::HostedRank> of_it;
    for (const respond::HostedRank& rank : ranks) {
      if (!condition.rank || rank.rank == condition.rank) of_it.push_back(rank);
    }
    condition.kernel_wait = respond::kernel_wait_of(of_it);
    parts_.tell(condition);
  }
}

// /proc hangs with the process: what is told meanwhile is told without it.
void RankWaits::give_up(const std::string& job) {
  Look& look = looks_.at(job);
  look.is_late = true;
  for (const respond::Condition& condition : std::exchange(look.waiting, {})) parts_.tell(condition);
}

}  // namespace spotter::agent

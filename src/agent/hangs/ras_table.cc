#include "agent/hangs/ras_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "respond/rules/ras_rows.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostRows = 64, kMostNamed = 8, kMostGroups = 32;

class Ranks {
 public:
  Ranks(const wire::RasAnswer& answer, const RasJob& job) : job_(job) {
    std::set<i64> here;
    for (const JobRank& rank : job.here) here.insert(rank.rank);
    for (const wire::RasCommunicator& communicator : answer.communicators) {
      if (job.world_size == 0 || communicator.size != job.world_size) continue;
      for (const wire::RasCountedRank& counted : communicator.ranks) see(counted.rank, here);
      for (const wire::RasRank& missing : communicator.missing) see(missing, here);
    }
  }

  std::optional<i64> of(const wire::RasRank& rank, i64 size) const {
    if (job_.world_size > 0 && size == job_.world_size) return rank.rank;
    const auto known = ranks_.find({rank.host, rank.pid});
    if (known != ranks_.end()) return known->second;
    if (std::ssize(job_.here) != job_.world_size) return {};
    const auto here = std::ranges::find(job_.here, rank.pid, &JobRank::pid);
    return here == job_.here.end() ? std::nullopt : std::optional(here->rank);
  }
  std::string host_of(const wire::RasRank& rank) const {
    const bool is_here = own_.contains(rank.host) || std::ssize(job_.here) == job_.world_size;
    return is_here ? job_.host : rank.host;
  }

 private:
  void see(const wire::RasRank& rank, const std::set<i64>& here) {
    if (rank.host.empty() || rank.pid < 0) return;
    ranks_.try_emplace({rank.host, rank.pid}, rank.rank);
    if (here.contains(rank.rank)) own_.insert(rank.host);
  }

  const RasJob& job_;
  std::map<std::pair<std::string, i64>, i64> ranks_;  // in the job, by address and pid
  std::set<std::string> own_;                         // addresses of this host
};

std::string counts_of(const wire::RasMismatch& mismatch) {
  std::string text;
  for (size_t i = 0; i < std::min(kMostGroups, mismatch.groups.size()); ++i)
    text += fmt::format("{}{}:{}", i == 0 ? "" : " ", mismatch.groups[i].launched, mismatch.groups[i].ranks);
  return text;
}

}  // namespace

Table ras_table(const wire::RasAnswer& answer, const RasJob& job) {
  Table table("nccl_ras", respond::ras_columns());
  const Ranks ranks(answer, job);
  respond::RasRow row{.job = job.name, .user = job.user};
  append(table, row);
  const auto add = [&](const std::vector<wire::RasRank>& named, i64 size) {
    for (size_t i = 0; i < std::min(kMostNamed, named.size()) && table.rows() < kMostRows; ++i) {
      row.rank = ranks.of(named[i], size);
      row.host = ranks.host_of(named[i]);
      append(table, row);
    }
  };
  for (const wire::RasCommunicator& communicator : answer.communicators) {
    row.communicator = fmt::format("{:x}", communicator.hash);
    for (const wire::RasMismatch& mismatch : communicator.mismatches) {
      if (mismatch.groups.size() < 2 || table.rows() >= kMostRows) continue;
      const wire::RasGroup& least = mismatch.groups.front();
      row.operation = mismatch.operation;
      row.launched = least.launched;
      row.most = mismatch.groups.back().launched;
      row.ranks = least.ranks;
      row.counts = counts_of(mismatch);
      row.rank.reset();
      row.host.clear();
      if (least.named.empty()) append(table, row);
      add(least.named, communicator.size);
    }
    row.operation.clear();
    row.launched = row.most = 0;
    row.ranks = std::ssize(communicator.missing);
    row.counts = fmt::format("{} missing", row.ranks);
    add(communicator.missing, communicator.size);
  }
  return table;
}

}  // namespace spotter::agent

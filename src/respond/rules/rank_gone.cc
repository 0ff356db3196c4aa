// rank_gone: a rank's processes have ended while others of its job on this host go on. That a rank of another
// host has gone is told by the others, which wait for it (collective_stuck, progress_stopped).
#include <map>

#include "respond/rules/list.h"
#include "respond/rules/rank_steps.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"job"};
constexpr const char* kNames[] = {"job", "rank", "user", "world_size"};
enum : size_t { kJob, kRank, kUser, kWorldSize };

class RankGone : public Watch {
 public:
  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    columns_.find(sample.table);
    std::map<std::string, size_t> here;  // ranks of a job that are here now
    for (auto& [rank, last] : ranks_) last.is_here = false;
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const auto rank = columns_.integer(row, kRank);
      std::string job(columns_.text(row, kJob));
      if (job.empty() || !rank || columns_.integer(row, kWorldSize).value_or(0) < 2) continue;
      ++here[job];
      ranks_[{.job = std::move(job), .rank = rank, .user = std::string(columns_.text(row, kUser))}] = {
          .at = sample.at, .is_here = true};
    }
    for (const auto& [of, last] : ranks_) {
      Sign& sign = signs.emplace_back(Condition(), !last.is_here && here.contains(of.job));
      sign.condition.job = of.job;
      sign.condition.rank = of.rank;
      sign.condition.user = of.user;
      sign.condition.source = "/proc";
      sign.condition.since = last.at;
    }
    // With the last rank of a job its end is the job's.
    std::erase_if(ranks_, [&](const auto& rank) { return !here.contains(rank.first.job); });
  }

 private:
  struct Last {
    Ns at = 0;
    bool is_here = true;
  };
  Columns columns_{kNames};
  std::map<RankOfJob, Last> ranks_;
};

}  // namespace

const Rule kRankGone = {
    .name = "rank_gone",
    .family = "progress",
    .urgency = Urgency::critical,
    .meaning = "The processes of a rank have ended while other ranks of its job on this host go on.",
    .remedy = "look into its log: it ended by itself or was ended",
    .rank_as_cause = 1,
    .hold = "10s",
    .recover = "0s",
    .tables = kTables,
    .settings = {},
    .make = [](const Settings&) -> std::unique_ptr<Watch> { return std::make_unique<RankGone>(); },
};

}  // namespace spotter::respond

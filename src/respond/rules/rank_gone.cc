// rank_gone: a rank's processes have ended while others of its job on this host go on. That a rank of another
// host has gone is told by the others, which wait for it (collective_stuck, progress_stopped).
//
// Ranks end at a job's end, too, and one of them may save for long what they have made: where most have
// ended, or of two all but the first one, it is the job that ends, unless those that are left go on with
// steps.
#include <algorithm>
#include <map>

#include "respond/rules/list.h"
#include "respond/rules/rank_steps.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"job", "step"};
constexpr const char* kNames[] = {"job", "rank", "user", "world_size"};
enum : size_t { kJob, kRank, kUser, kWorldSize };

constexpr Ns kUnderWay =
    2 * kSecond;  // a step that ends so soon after a rank was seen last was begun with it

class RankGone : public Watch {
 public:
  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    if (sample.table.name() == "step") return see_steps(sample);
    columns_.find(sample.table);
    size_t known = 0;
    for (auto& [job, ranks] : jobs_) {
      for (auto& [of, last] : ranks.all) last.is_here = false;
      known += ranks.all.size();
    }
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const auto rank = columns_.integer(row, kRank);
      std::string job(columns_.text(row, kJob));
      if (job.empty() || !rank || columns_.integer(row, kWorldSize).value_or(0) < 2) continue;
      const RankOfJob of = {.job = job, .rank = rank, .user = std::string(columns_.text(row, kUser))};
      Ranks& ranks = jobs_[job];
      const bool is_new = !ranks.all.contains(of);
      if (is_new && known >= kMostWatched) continue;
      known += is_new;
      ranks.all[of] = {.at = sample.at, .is_here = true};
    }
    // With the last rank of a job its end is the job's.
    std::erase_if(jobs_, [](const auto& job) { return job.second.here() == 0; });
    for (const auto& [job, ranks] : jobs_) {
      const bool may_end = ranks.may_end();
      for (const auto& [of, last] : ranks.all) {
        const bool is_gone = !last.is_here && (!may_end || ranks.last_step > last.at + kUnderWay);
        Sign& sign = signs.emplace_back(Condition(), is_gone);
        sign.condition.job = of.job;
        sign.condition.rank = of.rank;
        sign.condition.user = of.user;
        sign.condition.source = "/proc";
        sign.condition.since = last.at;
      }
    }
  }

 private:
  struct Last {
    Ns at = 0;
    bool is_here = true;
  };
  struct Ranks {
    std::map<RankOfJob, Last> all = {};
    Ns last_step = 0;  // when one of them ended

    i64 here() const {
      return std::ranges::count_if(all, [](const auto& rank) { return rank.second.is_here; });
    }
    bool may_end() const {
      const i64 gone = std::ssize(all) - here();
      return gone > here() || (gone == here() && all.begin()->second.is_here);
    }
  };

  void see_steps(const Sample& sample) {
    rows_.each(sample, [&](const StepRow& row) {
      const auto it = jobs_.find(row.of.job);
      if (it == jobs_.end() || !row.age) return;
      it->second.last_step = std::max(it->second.last_step, sample.at - *row.age);
    });
  }

  Columns columns_{kNames};
  StepRows rows_;
  std::map<std::string, Ranks> jobs_;
};

}  // namespace

const Rule kRankGone = {
    .name = "rank_gone",
    .family = "progress",
    .urgency = Urgency::critical,
    .meaning =
        "The processes of a rank have ended while other ranks of its job on this host go on. Where most of "
        "them have ended it is the job's end, unless the others go on with steps.",
    .remedy = "read its log, then restart the job: the others wait for it",
    .rank_as_cause = 1,
    .hold = "10s",
    .recover = "0s",
    .tables = kTables,
    .settings = {},
    .make = [](const Settings&) -> std::unique_ptr<Watch> { return std::make_unique<RankGone>(); },
};

}  // namespace spotter::respond

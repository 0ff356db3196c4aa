// collective_stuck: ranks wait in a collective for others that do not arrive. PyTorch's watchdog says so in a
// log, or NCCL does (ras_rows.h), twice with some time between and the same counts: a difference alone is
// usual, as a fast job outruns the question. It lasts until NCCL says otherwise, a step ends, or the job
// does.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/text/number.h"
#include "respond/rules/list.h"
#include "respond/rules/log_rows.h"
#include "respond/rules/rank_steps.h"
#include "respond/rules/ras_rows.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"log_event", "nccl_ras", "step", "job"};
constexpr const char* kNames[] = {"job"};

constexpr Setting kSettings[] = {
    // A rank that saves or evaluates alone has the others wait for it as well.
    {"apart", "1m", "How far apart two answers of NCCL that say the same have to be.", is_duration},
};

// "... ran for 600019 milliseconds before timing out."
std::optional<double> seconds_in(std::string_view line) {
  constexpr std::string_view kBefore = "ran for ";
  const size_t at = line.find(kBefore);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + kBefore.size());
  const auto milliseconds = number_in<i64>(rest.substr(0, rest.find(' ')));
  return milliseconds ? std::optional(static_cast<double>(*milliseconds) / 1e3) : std::nullopt;
}

class CollectiveStuck : public Watch {
 public:
  explicit CollectiveStuck(const Settings& s) : apart_(duration_of(s, "apart")) {}

  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    const std::string_view name = sample.table.name();
    if (name == "log_event") return see_lines(sample, signs);
    if (name == "nccl_ras") return see_answers(sample, signs);
    if (name == "step") return see_steps(sample, signs);
    see_jobs(sample, signs);
  }

 private:
  // A difference, or a missing rank: communicator, operation, rank, counts.
  using Key = std::tuple<std::string, std::string, std::optional<i64>, std::string>;
  struct Job {
    std::map<Key, Ns> since = {};         // of the last answer: when it was said first
    std::map<u64, Condition> stuck = {};  // by fingerprint
    Ns began = 0;                         // the first of them
  };
  static constexpr size_t kMost = 64;  // conditions of a job

  Job* job_of(const std::string& name) {  // nullptr: there are too many
    const bool has_room = jobs_.size() < kMostWatched || jobs_.contains(name);
    return has_room ? &jobs_[name] : nullptr;
  }

  static void add(Job& job, Condition condition, Ns at, std::vector<Sign>& signs) {
    condition.rule = kCollectiveStuck.name;
    const u64 key = fingerprint(condition);
    if (job.stuck.size() >= kMost && !job.stuck.contains(key)) return;
    if (job.stuck.empty()) job.began = at;
    job.stuck[key] = condition;
    signs.emplace_back(std::move(condition), true);
  }

  void see_lines(const Sample& sample, std::vector<Sign>& signs) {
    log_rows_.each(sample, [&](const LogRow& row) {
      if (row.kind != kCollectiveTimeout) return;
      Condition condition = condition_of(row);
      condition.value = seconds_in(row.text);
      if (condition.value) condition.unit = "s";
      if (Job* const job = job_of(row.job)) add(*job, std::move(condition), sample.at, signs);
    });
  }

  void see_answers(const Sample& sample, std::vector<Sign>& signs) {
    std::map<std::string, std::vector<RasRow>> answers;
    ras_rows_.each(sample, [&](const RasRow& row) { answers[row.job].push_back(row); });
    for (const auto& [name, rows] : answers)
      if (Job* const job = job_of(name)) see_answer(*job, rows, sample.at, signs);
  }

  void see_answer(Job& job, const std::vector<RasRow>& rows, Ns at, std::vector<Sign>& signs) const {
    std::map<Key, Ns> since;
    std::map<u64, Condition> before;
    for (auto it = job.stuck.begin(); it != job.stuck.end();) {
      const auto next = std::next(it);
      if (it->second.source == kSource) before.insert(job.stuck.extract(it));
      it = next;
    }
    for (const RasRow& row : rows) {
      if (row.communicator.empty() || since.size() >= kMostWatched) continue;
      const Key key(row.communicator, row.operation, row.rank, row.counts);
      const auto known = job.since.find(key);
      const Ns first = since[key] = known == job.since.end() ? at : known->second;
      if (at - first < apart_) continue;
      Condition condition = condition_of(row);
      condition.since = first;
      add(job, std::move(condition), at, signs);
    }
    job.since = std::move(since);
    for (auto& [key, condition] : before)
      if (!job.stuck.contains(key)) signs.emplace_back(std::move(condition), false);
  }

  static Condition condition_of(const RasRow& row) {
    Condition condition;
    condition.job = row.job;
    condition.user = row.user;
    condition.rank = row.rank;
    condition.host = row.host;
    if (!row.operation.empty()) condition.device = fmt::format("{} {}", row.operation, row.most);
    if (!row.rank || row.operation.empty())
      condition.device +=
          (condition.device.empty() ? "communicator " : " of communicator ") + row.communicator;
    condition.source = kSource;
    condition.unit = "count";
    condition.value = static_cast<double>(row.ranks);
    return condition;
  }
  static Condition condition_of(const LogRow& row) { return respond::condition_of(row); }

  // A step that ended since: they have arrived.
  void see_steps(const Sample& sample, std::vector<Sign>& signs) {
    step_rows_.each(sample, [&](const StepRow& row) {
      const auto it = jobs_.find(row.of.job);
      if (it == jobs_.end() || it->second.stuck.empty() || !row.age) return;
      if (sample.at - *row.age > it->second.began) end(it->second, signs);
    });
  }

  // Nobody says again what lasts.
  void see_jobs(const Sample& sample, std::vector<Sign>& signs) {
    columns_.find(sample.table);
    std::map<std::string, bool> here;
    for (size_t row = 0; row < sample.table.rows(); ++row) here[std::string(columns_.text(row, 0))] = true;
    for (auto& [name, job] : jobs_) {
      if (!here.contains(name)) {
        // With the job ends what NCCL says. That it was given up is why it ended, and is told for a while.
        std::erase_if(job.stuck, [](const auto& entry) { return entry.second.source != kSource; });
        end(job, signs);
        continue;
      }
      for (const auto& [key, condition] : job.stuck) signs.emplace_back(condition, true);
    }
    std::erase_if(jobs_, [&](const auto& job) { return !here.contains(job.first); });
  }

  static void end(Job& job, std::vector<Sign>& signs) {
    for (auto& [key, condition] : job.stuck) signs.emplace_back(std::move(condition), false);
    job = Job();
  }

  static constexpr const char* kSource = "NCCL RAS";
  Ns apart_;
  LogRows log_rows_;
  RasRows ras_rows_;
  StepRows step_rows_;
  Columns columns_{kNames};
  std::map<std::string, Job> jobs_;
};

}  // namespace

const Rule kCollectiveStuck = {
    .name = "collective_stuck",
    .family = "progress",
    .urgency = Urgency::critical,
    .meaning =
        "Ranks wait in a collective for others: PyTorch's watchdog has given up, or NCCL has said twice that "
        "the same ranks are behind or missing.",
    .remedy = "look at the ranks that have not arrived, not at those that wait",
    .rank_as_cause = 0,
    .hold = "0s",
    .recover = "0s",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<CollectiveStuck>(s); },
};

}  // namespace spotter::respond

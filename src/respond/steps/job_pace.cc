#include "respond/steps/job_pace.h"

#include <algorithm>
#include <vector>

#include "base/lower_median.h"
#include "base/saturated.h"

namespace spotter::respond {
namespace {

constexpr size_t kMostEntries = 2000;    // of steps whose times are known
constexpr i64 kEntriesOfSample = 10;     // so that of steps of 1 ms more than three minutes are known
constexpr i64 kMostSteps = 1'000'000;    // of a sample; more are not counted
constexpr size_t kUsual = 50, kFew = 8;  // entries
constexpr Ns kForgotten = 5 * kMinute;
constexpr Ns kLeft = 10 * kSecond;  // without a row
constexpr i64 kLateSteps = 5;
constexpr Ns kLate = 10 * kSecond;

constexpr const char* kNames[] = {"job", "rank", "user", "world_size"};
enum : size_t { kJob, kRank, kUser, kWorldSize };

std::optional<Ns> median_of(std::vector<Ns> values) {
  if (values.empty()) return {};
  return lower_median(values);
}

}  // namespace

void JobPaces::see(const Sample& sample) {
  if (sample.table.name() == "step")
    see_steps(sample);
  else if (sample.table.name() == "job")
    see_jobs(sample);
  else
    return;
  std::erase_if(jobs_, [&](const auto& job) { return sample.at - job.second.seen > kForgotten; });
}

JobPaces::Job* JobPaces::job_of(const std::string& name) {
  if (jobs_.size() < kMostJobs || jobs_.contains(name)) return &jobs_[name];
  ++left_out_;
  return nullptr;
}

void JobPaces::see_steps(const Sample& sample) {
  rows_.each(sample, [&](const StepRow& row) {
    if (row.of.job.empty()) return;
    Job* const known = job_of(row.of.job);
    if (!known) return;
    Job& job = *known;
    const std::pair of(row.of.rank, row.of.user);
    if (job.counted.size() >= kMostRanks && !job.counted.contains(of)) {
      ++left_out_;
      return;
    }
    job.seen = sample.at;
    job.pace.user = row.of.user;
    const auto before = job.counted.find(of);
    const bool is_anew = before != job.counted.end() && row.steps < before->second;
    const i64 count = before == job.counted.end() || is_anew ? 0 : row.steps - before->second;
    job.counted[of] = row.steps;
    if (is_anew) {
      // Its processes are others: it is as young as they are.
      job.first_count.erase(of);
      job.pace.first = job.pace.steps = 0;
      job.last.clear();
      job.waits.clear();
    }
    const i64 first = job.first_count.try_emplace(of, row.steps).first->second;
    if (row.steps > 0 && job.pace.first == 0) job.pace.first = sample.at;
    job.pace.steps = std::max(job.pace.steps, row.steps - first);
    // The host may have got other ranks of it, or steps of a hook in the place of a log's.
    const bool has_left = sample.at - job.shown_at > kLeft;
    if (!job.has_shown || row.of.rank < job.shown || (row.of.rank != job.shown && has_left)) {
      job.has_shown = true;
      job.shown = row.of.rank;
      job.last.clear();
    }
    if (row.of.rank == job.shown) job.shown_at = sample.at;
    if (row.of.rank != job.shown || !row.step || count == 0) return;
    const Ns end = sample.at - row.age.value_or(0);
    // The last one stands for the longest, the others for as many each of the rest.
    i64 later = std::min(count, kMostSteps) - 1;
    for (i64 entries = std::min(later, kEntriesOfSample - 1); entries > 0; --entries) {
      const i64 steps = later / entries;
      later -= steps;
      job.last.push_back({.end = subtract_saturated(end, multiply_saturated(later + 1, *row.step)),
                          .took = *row.step,
                          .steps = steps});
    }
    job.last.push_back({.end = end, .took = row.longest.value_or(*row.step), .steps = 1});
    while (job.last.size() > kMostEntries) job.last.pop_front();
    std::vector<Ns> usual;
    for (size_t i = job.last.size() - std::min(kUsual, job.last.size()); i < job.last.size(); ++i)
      usual.push_back(job.last[i].took);
    const auto few = static_cast<std::ptrdiff_t>(std::min(kFew, usual.size()));
    job.pace.longest = *std::max_element(usual.end() - few, usual.end());
    job.pace.step = lower_median(usual);  // which reorders them
    constexpr size_t kWaits = 8;
    if (job.pace.last_step != 0) job.waits.push_back(subtract_saturated(end, job.pace.last_step));
    if (job.waits.size() > kWaits) job.waits.pop_front();
    if (!job.waits.empty()) job.pace.between = *std::ranges::max_element(job.waits);
    job.pace.last_step = end;
  });
}

void JobPaces::see_jobs(const Sample& sample) {
  writes_.see(sample);
  Columns columns(kNames);
  columns.find(sample.table);
  std::map<std::string, std::set<i64>> ranks;
  for (size_t row = 0; row < sample.table.rows(); ++row) {
    const std::string name(columns.text(row, kJob));
    if (name.empty()) continue;
    Job* const job = job_of(name);
    if (!job) continue;
    job->seen = sample.at;
    if (job->pace.user.empty()) job->pace.user = columns.text(row, kUser);
    if (const auto size = columns.integer(row, kWorldSize)) job->pace.world_size = *size;
    if (const auto rank = columns.integer(row, kRank)) ranks[name].insert(*rank);
  }
  for (auto& [name, all] : ranks) jobs_[name].pace.ranks = std::move(all);
}

std::optional<JobPace> JobPaces::of(const std::string& job) const {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return {};
  JobPace pace = it->second.pace;
  pace.last_writing = writes_.last(job);
  return pace;
}

std::vector<std::string> JobPaces::going() const {
  std::vector<std::string> jobs;
  for (const auto& [name, job] : jobs_)
    if (job.pace.step > 0) jobs.push_back(name);
  return jobs;
}

std::vector<std::string> JobPaces::late(Ns now) const {
  std::vector<std::string> jobs;
  for (const auto& [name, job] : jobs_) {
    const JobPace& pace = job.pace;
    if (pace.step > 0 && now - pace.last_step > std::max(kLateSteps * pace.step, kLate)) jobs.push_back(name);
  }
  return jobs;
}

CaptureCost JobPaces::cost(const std::string& job, Ns since, Ns from, Ns until) const {
  CaptureCost cost;
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return cost;
  std::vector<Ns> before, during, after;
  i64 steps_during = 0;
  Ns took_during = 0;
  for (const Ended& step : it->second.last) {
    if (step.end <= from) {
      if (step.end > since) before.push_back(step.took);
    } else if (step.end - step.took < until) {
      during.push_back(step.took);
      steps_during += step.steps;
      took_during = add_saturated(took_during, multiply_saturated(step.steps, step.took));
    } else if (after.size() < kUsual) {
      after.push_back(step.took);
    }
  }
  if (before.size() > kUsual)
    before.erase(before.begin(), before.end() - static_cast<std::ptrdiff_t>(kUsual));
  const auto usual = median_of(before);
  if (!usual || *usual <= 0) return cost;
  const auto ratio = [&](const std::vector<Ns>& steps) -> std::optional<double> {
    const auto median = median_of(steps);
    if (!median) return {};
    return static_cast<double>(*median) / static_cast<double>(*usual);
  };
  cost.overhead_ratio = ratio(during);
  cost.aftermath_ratio = ratio(after);
  if (!during.empty()) {
    const Ns longer = subtract_saturated(took_during, multiply_saturated(steps_during, *usual));
    cost.cost_s = std::max(0.0, static_cast<double>(longer) / static_cast<double>(kSecond));
  }
  return cost;
}

}  // namespace spotter::respond

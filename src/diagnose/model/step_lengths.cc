#include "diagnose/model/step_lengths.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/lower_median.h"
#include "base/saturated.h"

namespace spotter::diagnose {
namespace {

using analyze::JobProgram;
using analyze::RankProgram;

// Where the first step is so much longer than the others, for no more work, and that ends so late behind the
// host, as a share of its length, it waited for what was before the recording: other ranks that begin later.
constexpr double kLonger = 1.2, kLate = 0.1;

struct Step {
  Ns left = -kMaxTime;  // when the host of the last rank had launched all of it
  Ns end = -kMaxTime;   // and its work was done
  Ns work = 0;          // of the devices, without communication
};

// Whether the first is that much longer than the others.
bool is_longer(const std::vector<Ns>& all) {
  std::vector<Ns> others(all.begin() + 1, all.end());
  return static_cast<double>(all[0]) > kLonger * static_cast<double>(lower_median(others));
}

void append_lengths(Ns start, const std::vector<Step>& steps, std::vector<Ns>& all) {
  std::vector<Ns> lengths;
  Ns before = start;
  for (const Step& step : steps) {
    const Ns end = std::max(before, step.end);
    lengths.push_back(end - before);
    before = end;
  }
  if (lengths.size() >= 3) {
    std::vector<Ns> work;
    for (const Step& step : steps) work.push_back(step.work);
    const auto late = static_cast<double>(steps[0].end - steps[0].left);
    const bool has_waited = late > kLate * static_cast<double>(lengths[0]);
    if (has_waited && is_longer(lengths) && !is_longer(work)) lengths.erase(lengths.begin());
  }
  all.insert(all.end(), lengths.begin(), lengths.end());
}

void add(const RankProgram& rank, u32 step, Step& of) {
  of.left = std::max(of.left, rank.at(rank.step_rows[step + 1]));
  of.end = std::max(of.end, rank.done(step));
  for (u32 row = rank.step_rows[step]; row < rank.step_rows[step + 1]; ++row)
    if (rank.rows()[row].op == analyze::SkeletonOp::run)
      of.work = add_saturated(of.work, rank.rows()[row].device);
}

StepFacts facts_of(const std::vector<Ns>& lengths, size_t count) {
  double sum = 0, squares = 0;
  for (const Ns each : lengths) {
    const auto length = static_cast<double>(each);
    sum += length;
    squares += length * length;
  }
  StepFacts facts{.count = static_cast<i64>(count)};
  if (sum <= 0) return facts;
  const auto n = static_cast<double>(lengths.size());
  const double mean = sum / n;
  facts.mean = static_cast<Ns>(mean);
  facts.deviation = std::sqrt(std::max(0.0, squares / n - mean * mean)) / mean;
  return facts;
}

// When the first of them begins; kMaxTime: there is none.
std::pair<Ns, std::vector<Step>> steps_together(const JobProgram& job) {
  std::vector<Step> steps(job.step_numbers.size());
  Ns start = kMaxTime;
  for (const RankProgram& rank : job.ranks)
    for (u32 s = 0; s < rank.steps(); ++s) {
      start = std::min(start, rank.at(rank.step_rows[s]));
      add(rank, s, steps[rank.job_steps[s]]);
    }
  return {start, std::move(steps)};
}

}  // namespace

StepFacts steps_of_job(const JobProgram& job) {
  const auto [start, steps] = steps_together(job);
  std::vector<Ns> lengths;
  if (start < kMaxTime) append_lengths(start, steps, lengths);
  return facts_of(lengths, steps.size());
}

Ns recorded_a_step(const JobProgram& job) {
  const auto [start, steps] = steps_together(job);
  Ns end = start;
  for (const Step& step : steps) end = std::max(end, step.end);
  return steps.empty() ? 0 : (end - start) / std::ssize(steps);
}

StepFacts steps_of_ranks(const JobProgram& job) {
  std::vector<Ns> lengths;
  for (const RankProgram& rank : job.ranks) {
    if (rank.steps() == 0) continue;
    std::vector<Step> steps(rank.steps());
    for (u32 s = 0; s < rank.steps(); ++s) add(rank, s, steps[s]);
    append_lengths(rank.at(rank.step_rows[0]), steps, lengths);
  }
  return facts_of(lengths, job.step_numbers.size());
}

}  // namespace spotter::diagnose

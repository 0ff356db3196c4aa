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

struct Lengths {
  std::vector<Ns> all;
  bool without_first = false;

  double mean() const {
    double sum = 0;
    for (const Ns each : all) sum += static_cast<double>(each);
    return all.empty() ? 0 : sum / static_cast<double>(all.size());
  }
  // A standard deviation, of the mean.
  double deviation() const {
    double squares = 0;
    const double usual = mean();
    for (const Ns each : all) {
      const double beyond = static_cast<double>(each) - usual;
      squares += beyond * beyond;
    }
    return usual <= 0 ? 0 : std::sqrt(squares / static_cast<double>(all.size())) / usual;
  }
};

// `end`: of each step but the last.
Lengths lengths_by(Ns start, const std::vector<Step>& steps, Ns Step::* end) {
  Lengths lengths;
  Ns before = start;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Ns here = std::max(before, i + 1 < steps.size() ? steps[i].*end : steps[i].end);
    lengths.all.push_back(here - before);
    before = here;
  }
  return lengths;
}

// By the marks of the host or the ends of its work, whichever is steadier: a host that runs ahead marks no
// step's length, and one that waits has devices that catch up.
Lengths lengths_of(Ns start, const std::vector<Step>& steps) {
  Lengths host = lengths_by(start, steps, &Step::left), device = lengths_by(start, steps, &Step::end);
  if (steps.size() >= 3) {
    std::vector<Ns> work;
    for (const Step& step : steps) work.push_back(step.work);
    const auto late = static_cast<double>(steps[0].end - steps[0].left);
    const bool has_waited = late > kLate * static_cast<double>(device.all[0]);
    device.without_first = has_waited && is_longer(device.all) && !is_longer(work);
    if (device.without_first) device.all.erase(device.all.begin());
  }
  return device.deviation() <= host.deviation() ? device : host;
}

void add(const RankProgram& rank, u32 step, Step& of) {
  of.left = std::max(of.left, rank.at(rank.step_rows[step + 1]));
  of.end = std::max(of.end, rank.done(step));
  for (u32 row = rank.step_rows[step]; row < rank.step_rows[step + 1]; ++row)
    if (rank.rows()[row].op == analyze::SkeletonOp::run)
      of.work = add_saturated(of.work, rank.rows()[row].device);
}

StepFacts facts_of(const Lengths& lengths, size_t count) {
  return {.count = static_cast<i64>(count),
          .mean = static_cast<Ns>(lengths.mean()),
          .deviation = lengths.deviation(),
          .without_first = lengths.without_first};
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
  return facts_of(start < kMaxTime ? lengths_of(start, steps) : Lengths(), steps.size());
}

Ns recorded_a_step(const JobProgram& job) {
  const auto [start, steps] = steps_together(job);
  Ns end = start;
  for (const Step& step : steps) end = std::max(end, step.end);
  return steps.empty() ? 0 : (end - start) / std::ssize(steps);
}

StepFacts steps_of_ranks(const JobProgram& job) {
  Lengths lengths;
  for (const RankProgram& rank : job.ranks) {
    if (rank.steps() == 0) continue;
    std::vector<Step> steps(rank.steps());
    for (u32 s = 0; s < rank.steps(); ++s) add(rank, s, steps[s]);
    const Lengths own = lengths_of(rank.at(rank.step_rows[0]), steps);
    lengths.all.insert(lengths.all.end(), own.all.begin(), own.all.end());
    lengths.without_first |= own.without_first;
  }
  return facts_of(lengths, job.step_numbers.size());
}

}  // namespace spotter::diagnose

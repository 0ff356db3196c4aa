#include <algorithm>

#include "base/lower_median.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr double kLeast = 0.05;  // that the stage with most computes beyond the mean of all

// Of a rank in a step, in ns, by what its kinds of work usually take there: a slow device is no work. 0: it
// does nothing.
double work_of(const JobModel& model, u32 rank) {
  double sum = 0;
  u32 known = 0;
  for (u32 s = 0; s < model.cells.steps(rank); ++s) {
    const Cell& cell = model.cells.at(rank, s);
    if (!cell.is_known || cell.factor <= 0) continue;
    sum += static_cast<double>(cell.device) / cell.factor;
    ++known;
  }
  return known == 0 ? 0 : sum / known;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  if (!model.stages.is_pipeline() || model.stages.are_unclear) return {};
  std::vector<double> work;  // of stages
  double mean = 0;
  for (const std::vector<u32>& ranks : model.stages.ranks) {
    std::vector<double> of_ranks;
    for (const u32 r : ranks) of_ranks.push_back(work_of(model, r));
    work.push_back(lower_median(of_ranks));
    if (work.back() <= 0) return {};
    mean += work.back() / static_cast<double>(model.stages.ranks.size());
  }
  const auto [least, most] = std::ranges::minmax_element(work);
  if (*most < (1 + kLeast) * mean) return {};
  const auto place = [&](auto it) { return static_cast<size_t>(it - work.begin()); };
  Candidate c;
  for (size_t i = 0; i < work.size(); ++i)
    if (work[i] >= (1 + kLeast) * mean)
      c.ranks.insert(c.ranks.end(), model.stages.ranks[i].begin(), model.stages.ranks[i].end());
  std::ranges::sort(c.ranks);
  c.what = fmt::format(
      "The {} stages of the pipeline have unequal work: stage {} computes {} in each step and stage {} {}; the others "
      "wait for the one that has most",
      work.size(), place(most), human(static_cast<Ns>(*most)), place(least), human(static_cast<Ns>(*least)));
  c.is_opportunity = true;
  c.undo = [&model, work, mean](analyze::Scenario& s) {
    for (size_t i = 0; i < work.size(); ++i)
      for (const u32 r : model.stages.ranks[i])
        for (u32 step = 0; step < model.cells.steps(r); ++step)
          s.device[model.step_index(r, step)] *= mean / work[i];
  };
  return {std::move(c)};
}

}  // namespace

const Mechanism kUnequalStages = {
    .name = "unequal_stages",
    .summary =
        "What the stages of a pipeline compute in a step (the median of a stage's ranks, at the usual speed of their kernels): the "
        "one that has most takes 5 % more than the mean of all. Its time is what the job gains where all have the mean. The last "
        "stage often has more: the output layer and the loss. A single rank that is slower than its stage is slow_device; a whole "
        "stage on slower devices looks the same as one with more work.",
    .remedy =
        "Move layers from the stages that compute most to the others (the last one has the output layer, the first one the "
        "embedding), or give such a stage more ranks.",
    .evidence = "--table rank_strip",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

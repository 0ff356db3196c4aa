#include <algorithm>

#include "base/lower_median.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr double kLeast = 0.05;  // that the stage with most computes beyond the mean of all

// The job's steps of which all ranks have work.
std::vector<u32> common_steps(const JobModel& model) {
  std::vector<u32> steps;
  for (u32 s = 0; s < model.steps; ++s) {
    const auto has_work = [&](u32 r) {
      const Cell* cell = model.cells.find(r, s);
      return cell && cell->is_known && cell->factor > 0;
    };
    bool have_all = true;
    for (u32 r = 0; r < model.job.ranks.size(); ++r) have_all &= has_work(r);
    if (have_all) steps.push_back(s);
  }
  return steps;
}

// Of a rank in one of these steps, in ns, by what its kinds of work usually take there: a slow device is no
// work.
double work_of(const JobModel& model, u32 rank, const std::vector<u32>& steps) {
  double sum = 0;
  for (const u32 s : steps) {
    const Cell& cell = *model.cells.find(rank, s);
    sum += static_cast<double>(cell.device) / cell.factor;
  }
  return sum / static_cast<double>(steps.size());
}

// Stages are told from each other by whom transfers come from: without some ranks they are numbered wrongly,
// and what is left out has its work, too.
bool are_whole(const JobModel& model) {
  return model.job.absent.empty() && model.evidence.silent.empty() &&
         std::ranges::none_of(model.job.ranks, [](const auto& rank) { return rank.is_unmarked(); });
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  if (!model.stages.is_pipeline() || model.stages.are_unclear || !are_whole(model)) return {};
  const std::vector<u32> steps = common_steps(model);
  if (steps.empty()) return {};
  std::vector<double> work;  // of stages
  double mean = 0;
  for (const std::vector<u32>& ranks : model.stages.ranks) {
    std::vector<double> of_ranks;
    for (const u32 r : ranks) of_ranks.push_back(work_of(model, r, steps));
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
  c.against = "a stage all of whose devices are slower looks the same as one with more work";
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

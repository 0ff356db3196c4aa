#include <algorithm>

#include "analyze/replay/exchanges.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

// Sends of a rank of the first stage in a step, one for each micro-batch and chunk; in one kernel with a
// receive, too.
i64 sends_a_step(const JobModel& model) {
  const analyze::RankProgram& rank = model.job.ranks[model.stages.ranks[0][0]];
  i64 sends = 0;
  for (const analyze::SkeletonRow& row : rank.rows()) {
    if (row.op != analyze::SkeletonOp::collective) continue;
    const analyze::Direction direction = analyze::direction_of(rank.skeleton.strings[row.name]);
    sends += direction == analyze::Direction::send || direction == analyze::Direction::both ? 1 : 0;
  }
  return rank.steps() > 0 ? sends / rank.steps() : 0;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  const auto stages = static_cast<i64>(model.stages.ranks.size());
  if (stages < 2) return {};
  const i64 batches = sends_a_step(model);
  if (batches == 0) return {};
  const double bubble = static_cast<double>(stages - 1) / static_cast<double>(batches + stages - 1);
  Candidate c;
  c.ranks = all_ranks(model);
  c.what = fmt::format(
      "The pipeline of {} stages is filled and drained in each step: with {} micro-batch{} that is {} of it. Two chunks a stage "
      "(interleaving) would halve it",
      stages, batches, batches == 1 ? "" : "es", percent_of(bubble));
  c.is_opportunity = true;
  c.known_gain = static_cast<Ns>(static_cast<double>(model.whole) * bubble / 2);
  return {std::move(c)};
}

}  // namespace

const Mechanism kPipelineBubble = {
    .name = "pipeline_bubble",
    .summary =
        "Stages wait while a pipeline is filled and drained: (p - 1) / (m + p - 1) of a step with p stages and m micro-batches. Its time is what two chunks a "
        "stage would give back, half of that. Stages that wait for more than that have a slow one among them.",
    .remedy = "More micro-batches in a step, or interleaved stages.",
    .evidence = "--table rank_strip",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

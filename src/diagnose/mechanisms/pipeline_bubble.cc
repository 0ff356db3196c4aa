#include <algorithm>
#include <map>

#include "analyze/replay/exchanges.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

// How a pipeline is run: parts that take turns on a stage (1: not interleaved), micro-batches in a step.
struct Schedule {
  i64 parts = 1, batches = 0;
};

// By the sends of a rank of the first stage, one for each micro-batch and part, in one kernel with a receive,
// too. It sends activations of every part on to the second stage, and gradients of all parts but the first
// back to the last stage, where that is another one. Of whom a send is to is known from PyTorch 2.4 on.
Schedule schedule_of(const JobModel& model) {
  const analyze::RankProgram& rank = model.job.ranks[model.stages.ranks[0][0]];
  std::map<i64, i64> sends;  // by the other rank
  i64 all = 0;
  for (const analyze::SkeletonRow& row : rank.rows()) {
    if (row.op != analyze::SkeletonOp::collective) continue;
    const analyze::Direction direction = analyze::direction_of(rank.skeleton.strings[row.name]);
    if (direction != analyze::Direction::send && direction != analyze::Direction::both) continue;
    ++sends[row.peer];
    ++all;
  }
  const i64 steps = std::max<i64>(1, rank.steps());
  if (sends.size() != 2 || sends.contains(analyze::kNoPeer)) return {1, all / steps};
  const i64 on = std::max(sends.begin()->second, sends.rbegin()->second), back = all - on;
  if (on == back) return {1, all / steps};
  const i64 forth = on - back;  // of the first part
  return {(on + forth / 2) / forth, forth / steps};
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  const auto stages = static_cast<i64>(model.stages.ranks.size());
  if (stages < 2) return {};
  const auto [parts, batches] = schedule_of(model);
  if (batches == 0) return {};
  const double bubble = static_cast<double>(stages - 1) / static_cast<double>(parts * batches + stages - 1);
  Candidate c;
  c.ranks = all_ranks(model);
  c.what = fmt::format(
      "The pipeline of {} stages{} is filled and drained in each step: with {} micro-batch{} that is {} of it. {} a stage "
      "{}would halve it",
      stages, parts == 1 ? "" : fmt::format(", each with {} parts that take turns,", parts), batches,
      batches == 1 ? "" : "es", percent_of(bubble),
      parts == 1 ? "Two chunks" : fmt::format("{} parts", 2 * parts), parts == 1 ? "(interleaving) " : "");
  c.is_opportunity = true;
  c.known_gain = static_cast<Ns>(static_cast<double>(model.whole) * bubble / 2);
  return {std::move(c)};
}

}  // namespace

const Mechanism kPipelineBubble = {
    .name = "pipeline_bubble",
    .summary =
        "Stages wait while a pipeline is filled and drained: (p - 1) / (v m + p - 1) of a step with p stages, m micro-batches and v parts that take turns on a stage "
        "(interleaving; of two stages it is not seen). Its time is what twice as many parts would give back, half of that. Stages that wait for more than that have a slow one among them.",
    .remedy = "More micro-batches in a step, or interleaved stages.",
    .evidence = "--table rank_strip",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

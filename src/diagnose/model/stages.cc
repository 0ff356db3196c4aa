#include "diagnose/model/stages.h"

#include <algorithm>
#include <map>

namespace spotter::diagnose {
namespace {

using analyze::RankProgram;
using analyze::SkeletonOp;
using analyze::SkeletonRow;

// Whom the rank gets the first data of a step from; kNoPeer: it begins by itself.
i64 source_of(const RankProgram& rank) {
  bool is_in_step = false;
  for (const SkeletonRow& row : rank.rows()) {
    is_in_step |= row.op == SkeletonOp::step;
    if (!is_in_step || row.op != SkeletonOp::collective || row.peer == analyze::kNoPeer) continue;
    return rank.skeleton.strings[row.name] == "send" ? analyze::kNoPeer : row.peer;
  }
  return analyze::kNoPeer;
}

// Whether a rank sends or receives without the trace saying to or from whom.
bool has_unclear_sends(const RankProgram& rank) {
  return std::ranges::any_of(rank.rows(), [&](const SkeletonRow& row) {
    if (row.op != SkeletonOp::collective || row.peer != analyze::kNoPeer) return false;
    const std::string_view name = rank.skeleton.strings[row.name];
    return name == "send" || name == "recv" || name.find("SendRecv") != name.npos;
  });
}

}  // namespace

Stages stages_of(const analyze::JobProgram& job) {
  std::map<i64, u32> by_rank;
  std::vector<i64> source;
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    if (job.ranks[r].rank) by_rank.emplace(*job.ranks[r].rank, r);
    source.push_back(source_of(job.ranks[r]));
  }
  Stages stages;
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    u32 stage = 0;
    i64 from = source[r];
    // As long as there are ranks: a circle is no pipeline.
    while (from != analyze::kNoPeer && stage < job.ranks.size()) {
      ++stage;
      const auto other = by_rank.find(from);
      from = other == by_rank.end() ? analyze::kNoPeer : source[other->second];
    }
    stages.of.push_back(stage == job.ranks.size() ? 0 : stage);
  }
  const u32 count = stages.of.empty() ? 0 : *std::ranges::max_element(stages.of) + 1;
  stages.ranks.resize(count);
  for (u32 r = 0; r < stages.of.size(); ++r) stages.ranks[stages.of[r]].push_back(r);
  stages.are_unclear = !stages.is_pipeline() && std::ranges::any_of(job.ranks, has_unclear_sends);
  std::erase_if(stages.ranks, [](const std::vector<u32>& ranks) { return ranks.empty(); });
  for (u32 s = 0; s < stages.ranks.size(); ++s)
    for (const u32 r : stages.ranks[s]) stages.of[r] = s;
  return stages;
}

}  // namespace spotter::diagnose

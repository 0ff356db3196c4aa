#include "diagnose/model/stages.h"

#include <algorithm>
#include <map>

#include "analyze/replay/exchanges.h"

namespace spotter::diagnose {
namespace {

using analyze::JobProgram;
using analyze::Member;
using analyze::RankProgram;
using analyze::SkeletonOp;
using analyze::SkeletonRow;

constexpr u32 kNotHere = kNone - 1;  // a rank without a file

class Sources {
 public:
  explicit Sources(const JobProgram& job) : job_(job) {
    for (u32 r = 0; r < job.ranks.size(); ++r)
      if (job.ranks[r].rank) by_number_.emplace(*job.ranks[r].rank, r);
  }

  // Whom the rank gets the first data of a step from; kNone: it begins by itself.
  u32 of(u32 rank) const {
    const RankProgram& program = job_.ranks[rank];
    bool is_in_step = false;
    for (u32 i = 0; i < program.rows().size(); ++i) {
      const SkeletonRow& row = program.rows()[i];
      is_in_step |= row.op == SkeletonOp::step;
      if (!is_in_step || row.op != SkeletonOp::collective) continue;
      if (row.peer != analyze::kNoPeer) {
        if (program.skeleton.strings[row.name] == "send") return kNone;
        const auto peer = by_number_.find(row.peer);
        return peer == by_number_.end() ? kNotHere : peer->second;
      }
      const auto members = job_.members_of(job_.calls[program.call[i]]);
      if (members.size() == 2 && is_exchange(program, row)) {
        const Member& sender = sender_of(job_.calls[program.call[i]]);
        return sender.rank == rank ? kNone : sender.rank;
      }
    }
    return kNone;
  }

 private:
  // Where neither is called a send: who comes last, since the other one waits for data.
  const Member& sender_of(const analyze::JobCall& call) const {
    const auto members = job_.members_of(call);
    return call.is_send || job_.start(members[0]) > job_.start(members[1]) ? members[0] : members[1];
  }
  static bool is_exchange(const RankProgram& rank, const SkeletonRow& row) {
    return analyze::direction_of(rank.skeleton.strings[row.name]) != analyze::Direction::none;
  }

  const JobProgram& job_;
  std::map<i64, u32> by_number_;
};

// Whether a rank sends or receives without anything telling to or from whom.
bool has_unclear_sends(const JobProgram& job, const RankProgram& rank) {
  for (u32 i = 0; i < rank.rows().size(); ++i) {
    const SkeletonRow& row = rank.rows()[i];
    if (row.op == SkeletonOp::collective && row.peer == analyze::kNoPeer &&
        analyze::direction_of(rank.skeleton.strings[row.name]) != analyze::Direction::none &&
        job.calls[rank.call[i]].members < 2)
      return true;
  }
  return false;
}

}  // namespace

Stages stages_of(const analyze::JobProgram& job) {
  const Sources sources(job);
  std::vector<u32> source;
  for (u32 r = 0; r < job.ranks.size(); ++r) source.push_back(sources.of(r));
  Stages stages;
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    u32 stage = 0;
    // As long as there are ranks: a circle is no pipeline.
    for (u32 from = source[r]; from != kNone && stage < job.ranks.size();
         from = from == kNotHere ? kNone : source[from])
      ++stage;
    stages.of.push_back(stage == job.ranks.size() ? 0 : stage);
  }
  const u32 count = stages.of.empty() ? 0 : *std::ranges::max_element(stages.of) + 1;
  stages.ranks.resize(count);
  for (u32 r = 0; r < stages.of.size(); ++r) stages.ranks[stages.of[r]].push_back(r);
  stages.are_unclear = !stages.is_pipeline() && std::ranges::any_of(job.ranks, [&](const RankProgram& rank) {
    return has_unclear_sends(job, rank);
  });
  std::erase_if(stages.ranks, [](const std::vector<u32>& ranks) { return ranks.empty(); });
  for (u32 s = 0; s < stages.ranks.size(); ++s)
    for (const u32 r : stages.ranks[s]) stages.of[r] = s;
  return stages;
}

}  // namespace spotter::diagnose

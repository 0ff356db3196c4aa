#include "diagnose/mechanisms/extra_rows.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/lower_median.h"

namespace spotter::diagnose {
namespace {

using Place = std::tuple<u32, u32, u32>;  // step of the job, stream, number on it

// Calls use(place, row) for each run in a step.
template <class F>
void for_each_run(const analyze::RankProgram& rank, F&& use) {
  std::vector<u32> numbers(rank.streams);
  u32 steps = 0;
  for (u32 i = 0; i < rank.rows().size(); ++i) {
    const analyze::SkeletonRow& row = rank.rows()[i];
    if (row.op == analyze::SkeletonOp::step) {
      ++steps;
      std::ranges::fill(numbers, 0);
    }
    if (row.op == analyze::SkeletonOp::run && steps > 0)
      use(Place(rank.job_steps[steps - 1], row.stream, numbers[row.stream]++), i);
  }
}

}  // namespace

std::vector<ExtraRow> extra_rows(const JobModel& model, u32 rank) {
  constexpr size_t kEnough = 8;
  std::map<Place, std::vector<i64>> counts;
  size_t peers = 0;
  for (const u32 r : model.stages.ranks[model.stages.of[rank]]) {
    if (r == rank || peers == kEnough) continue;
    ++peers;
    const analyze::RankProgram& program = model.job.ranks[r];
    for_each_run(program, [&](Place place, u32 row) { counts[place].push_back(program.rows()[row].count); });
  }
  std::vector<ExtraRow> rows;
  for_each_run(model.job.ranks[rank], [&](Place place, u32 row) {
    const i64 own = model.job.ranks[rank].rows()[row].count;
    std::vector<i64>& of_peers = counts[place];
    of_peers.resize(std::max(of_peers.size(), peers));
    const i64 usual = lower_median(of_peers);
    if (own > usual)
      rows.push_back({row, static_cast<double>(usual) / static_cast<double>(own), own - usual});
  });
  return rows;
}

}  // namespace spotter::diagnose

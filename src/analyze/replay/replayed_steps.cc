#include "analyze/replay/replayed_steps.h"

#include <algorithm>

namespace spotter::analyze {
namespace {

// `start_of`: of a rank's step; `end_of`: of a rank.
std::vector<JobStep> steps_of(const JobProgram& job, auto&& start_of, auto&& end_of) {
  std::vector<Ns> starts(job.step_numbers.size(), kMaxTime);
  Ns first = kMaxTime, end = -kMaxTime;
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    const RankProgram& rank = job.ranks[r];
    if (rank.steps() == 0) continue;
    for (u32 s = 0; s < rank.steps(); ++s) {
      Ns& start = starts[rank.job_steps[s]];
      start = std::min(start, start_of(r, s));
    }
    first = std::min(first, start_of(r, 0));
    end = std::max(end, end_of(r));
  }
  std::vector<JobStep> steps;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] == kMaxTime) continue;
    const Ns from = steps.empty() ? first : std::max(starts[i], steps.back().start);
    if (!steps.empty()) steps.back().end = from;
    steps.push_back({job.step_numbers[i], from, std::max(from, end)});
  }
  return steps;
}

}  // namespace

std::vector<JobStep> measured_steps(const JobProgram& job) {
  return steps_of(
      job, [&](u32 r, u32 s) { return job.ranks[r].at(job.ranks[r].step_rows[s]); },
      [&](u32 r) { return job.ranks[r].end(); });
}

std::vector<JobStep> replayed_steps(const JobProgram& job, const Replayed& played) {
  return steps_of(
      job, [&](u32 r, u32 s) { return played.step_start[job.ranks[r].first_step + s]; },
      [&](u32 r) { return played.finish[r]; });
}

}  // namespace spotter::analyze

#include "diagnose/model/launches.h"

#include <algorithm>

#include "base/saturated.h"

namespace spotter::diagnose {
namespace {

using analyze::SkeletonOp;
using analyze::SkeletonRow;

// Beyond the time that the host spent on the run: that is no launching.
Ns late_of(const SkeletonRow& run, Ns lead) { return std::max<Ns>(0, lead - run.host); }

Launches launches_of(const analyze::RankProgram& rank) {
  Launches all;
  all.host_by_step.resize(rank.steps());
  all.device_by_step.resize(rank.steps());
  i64 step = -1;
  for (const SkeletonRow& row : rank.rows()) {
    step += row.op == SkeletonOp::step ? 1 : 0;
    const bool is_in_step = step >= 0 && step < rank.steps();
    if (launches(row) && is_in_step) {
      Ns& host = all.host_by_step[static_cast<size_t>(step)];
      host = add_saturated(host, row.host);
    }
    if (row.op != SkeletonOp::run) continue;
    if (is_in_step) {
      Ns& device = all.device_by_step[static_cast<size_t>(step)];
      device = add_saturated(device, row.device);
    }
    const auto hull = rank.hull_of(row);
    if (hull.empty()) {
      all.unknown += row.count;
      continue;
    }
    if (all.runs == 0) all.late = late_of(row, hull[0].lead);
    ++all.runs;
    all.early += hull[0].lead == 0 ? 1 : 0;
    all.count += row.count;
    all.host = add_saturated(all.host, row.host);
    all.device = add_saturated(all.device, row.device);
  }
  return all;
}

}  // namespace

std::vector<Launches> launches_of(const analyze::JobProgram& job) {
  std::vector<Launches> all;
  for (const analyze::RankProgram& rank : job.ranks) all.push_back(launches_of(rank));
  return all;
}

void scale_launches(const analyze::JobProgram& job, u32 rank, u32 step, double ratio,
                    analyze::Scenario& scenario) {
  const analyze::RankProgram& program = job.ranks[rank];
  scenario.host_factor[program.first_step + step] *= ratio;
  // That is of all the host does: the rest takes as long as before.
  for (u32 i = program.step_rows[step]; i < program.step_rows[step + 1]; ++i) {
    Ns& host = scenario.host[program.first_row + i];
    if (!launches(program.rows()[i])) host = static_cast<Ns>(static_cast<double>(host) / ratio);
  }
}

}  // namespace spotter::diagnose

#include <algorithm>

#include "base/saturated.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

using analyze::SkeletonOp;
using analyze::SkeletonRow;

bool launches(const SkeletonRow& row) {
  return row.op == SkeletonOp::run || row.op == SkeletonOp::collective || row.op == SkeletonOp::wait;
}

struct Launches {
  i64 count = 0;
  Ns host = 0, device = 0;
};

Launches launches_of(const JobModel& model) {
  Launches all;
  for (const analyze::RankProgram& rank : model.job.ranks)
    for (const SkeletonRow& row : rank.rows()) {
      if (row.op != SkeletonOp::run) continue;
      all.count += row.count;
      all.host = add_saturated(all.host, row.host);
      all.device = add_saturated(all.device, row.device);
    }
  return all;
}

std::vector<Candidate> candidates(const JobModel& model) {
  const Launches all = launches_of(model);
  if (all.count == 0) return {};
  const Ns host = all.host / all.count, device = all.device / all.count;
  constexpr Ns kShort = 50'000;
  Candidate c;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) c.ranks.push_back(r);
  c.what = fmt::format(
      "The host takes {} to launch a kernel that runs for {} on average: the device waits for launches",
      human(host), human(device));
  c.is_confirmed = host > device;
  c.undo = [&model, device](analyze::Scenario& s) {
    for (u32 r = 0; r < model.job.ranks.size(); ++r)
      for (u32 i = 0; i < model.job.ranks[r].rows().size(); ++i)
        if (launches(model.job.ranks[r].rows()[i])) s.host[model.row_index(r, i)] = 0;
    s.leads = 0;
    if (device < kShort) s.gaps = 0;
  };
  return {std::move(c)};
}

}  // namespace

const Mechanism kLaunchBound = {
    .name = "launch_bound",
    .summary =
        "The device waits for the host that prepares and launches its kernels, one after the other, without a pause: what the job would gain if launches "
        "took no time; where kernels last under 50 µs on average, with the gaps between them.",
    .remedy =
        "Launch less: torch.compile fuses kernels, CUDA graphs (mode=\"reduce-overhead\") launch many at once; larger batches make "
        "kernels longer; foreach and fused optimizers.",
    .evidence = "--table kernel_launch_stats",
    .candidates = candidates,
};

}  // namespace spotter::diagnose

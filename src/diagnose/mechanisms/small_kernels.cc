#include "base/saturated.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr Ns kSmall = 10'000;

std::vector<Candidate> find_candidates(const JobModel& model) {
  i64 count = 0;
  Ns device = 0, gap = 0;
  for (const analyze::RankProgram& rank : model.job.ranks)
    for (const analyze::SkeletonRow& row : rank.rows()) {
      if (row.op != analyze::SkeletonOp::run) continue;
      count += row.count;
      device = add_saturated(device, row.device);
      gap = add_saturated(gap, row.gap);
    }
  if (count == 0 || device / count >= kSmall) return {};
  Candidate c;
  c.ranks = all_ranks(model);
  c.what = fmt::format(
      "Kernels last {} on average, with {} from one to the next: a CUDA graph or fusion would take the gaps away",
      human(device / count), human(gap / count));
  c.is_opportunity = true;
  c.undo = [](analyze::Scenario& s) { s.gaps = 0; };
  return {std::move(c)};
}

}  // namespace

const Mechanism kSmallKernels = {
    .name = "small_kernels",
    .summary =
        "Kernels are launched in time, but last under 10 µs on average, so that the gaps between them count: what the job would gain without these "
        "gaps. Where the host is late with its launches it is launch_bound.",
    .remedy = "Fuse kernels (torch.compile) or replay them as a CUDA graph.",
    .evidence = "--table kernel_breakdown",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

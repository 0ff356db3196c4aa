#include <algorithm>

#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::vector<Candidate> find_candidates(const JobModel& model) {
  if (std::ranges::all_of(model.job.calls, [](const analyze::JobCall& c) { return c.transfer == 0; }))
    return {};
  Candidate c;
  c.ranks = all_ranks(model);
  c.what = "Communication that no computation hides holds the steps up";
  c.is_opportunity = true;
  c.undo = [](analyze::Scenario& s) { std::ranges::fill(s.transfer, 0); };
  return {std::move(c)};
}

}  // namespace

const Mechanism kExposedCommunication = {
    .name = "exposed_communication",
    .summary =
        "What the job would gain if all transfers took no time: what waits for a late rank is no transfer, and what computation hides "
        "gains nothing.",
    .remedy =
        "Overlap more (bucket sizes, prefetch, a further stream), send fewer bytes (a smaller type, accumulation over more "
        "micro-batches), or keep groups that talk much within a host.",
    .evidence = "--table comm_steps",
    .candidates = find_candidates,
    .is_rest = true,
};

}  // namespace spotter::diagnose

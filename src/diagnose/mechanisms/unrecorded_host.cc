#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::vector<Candidate> find_candidates(const JobModel& model) {
  Candidate c;
  for (u32 r = 0; r < model.job.ranks.size(); ++r)
    if (!model.job.ranks[r].tells_silences && model.job.ranks[r].launchers == 0) c.ranks.push_back(r);
  if (c.ranks.empty()) return {};
  c.what = fmt::format("Most of what {} did was left out of the trace, so nothing can be told of its pauses",
                       lower_first(host_of(model, c.ranks)));
  c.is_caveat = true;
  c.is_certain = true;
  return {std::move(c)};
}

}  // namespace

const Mechanism kUnrecordedHost = {
    .name = "unrecorded_host",
    .summary =
        "A trace is a sample of its host's operators, by PyTorch's numbers for them (half of those that follow each other are 3 apart or more), or has fewer than 20 operators "
        "and calls of a host that is silent for most of its time.",
    .remedy = "Record the host's operators whole.",
    .evidence = "--table summary",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

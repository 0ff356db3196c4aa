#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::vector<Candidate> find_candidates(const JobModel& model) {
  Candidate c;
  i64 most = 0;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    if (model.job.ranks[r].launchers == 0) continue;
    c.ranks.push_back(r);
    most = std::max(most, model.job.ranks[r].launchers);
  }
  if (c.ranks.empty()) return {};
  c.what = fmt::format(
      "{} launches from {} threads: what one of them waits for does not hold up the others, so nothing can be "
      "told of the host's pauses",
      host_of(model, c.ranks), most);
  c.is_caveat = true;
  c.is_certain = true;
  return {std::move(c)};
}

}  // namespace

const Mechanism kManyLaunchers = {
    .name = "many_launchers",
    .summary =
        "Four threads or more make a twentieth of the launches each, and no two of them 80 %, as executors of requests do. The replay has one host for "
        "each rank: what one thread waits for would hold up all.",
    .remedy = "Look at single threads: the timeline has them.",
    .evidence = "--table timeline",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

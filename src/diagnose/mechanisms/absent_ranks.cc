#include <algorithm>

#include "base/saturated.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::vector<Candidate> find_candidates(const JobModel& model) {
  Ns waited = 0;
  bool are_single = true;
  for (const analyze::JobCall& call : model.job.calls) {
    waited = add_saturated(waited, call.waited);
    are_single &= call.waited == 0 || call.members == 1;
  }
  if (waited == 0) return {};
  const std::set<i64>& absent = model.job.absent;
  Candidate c;
  c.untraced = absent;
  const bool is_one = absent.size() == 1;
  c.what =
      absent.empty()
          ? std::string(
                "The ranks' recordings do not begin and end together, and in collectives that only some have "
                "those wait for the others")
          : fmt::format("{} {} {} no file here, and the others wait for {} in collectives and sends",
                        is_one ? "Rank" : "Ranks", analyze::range_text(absent), is_one ? "has" : "have",
                        is_one ? "it" : "them");
  if (are_single) c.against = "a link that is far slower than such devices' usually are looks like that, too";
  c.is_caveat = true;
  c.most = waited;
  c.undo = [](analyze::Scenario& s) { s.waits_for_absent = false; };
  return {std::move(c)};
}

}  // namespace

const Mechanism kAbsentRanks = {
    .name = "absent_ranks",
    .summary =
        "Ranks that the groups of collectives list have no file, or none of that time: what calls with them take beyond the median of their group, operation and "
        "size with all members (the 10 % quantile, where none has all), and of a group with one rank here beyond what such devices' network needs, counts as waiting for them, and is no transfer.",
    .remedy = "Analyse the files of all ranks together: then what holds these up has a name.",
    .evidence = "--table collectives",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

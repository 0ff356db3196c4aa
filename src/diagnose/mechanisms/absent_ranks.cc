#include <algorithm>
#include <iterator>
#include <set>

#include "base/saturated.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::string of_ranks(const std::set<i64>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", analyze::range_text(ranks));
}

// Of the absent ranks those whose files are there.
std::set<i64> unread(const JobModel& model) {
  std::set<i64> ranks;
  std::ranges::set_intersection(model.job.absent, model.evidence.unread, std::inserter(ranks, ranks.end()));
  return ranks;
}

bool has_damage(const JobModel& model) {
  return model.job.absent.empty() ? !model.evidence.damaged.empty() : !unread(model).empty();
}

std::string what_of(const JobModel& model) {
  const std::set<i64>& absent = model.job.absent;
  const std::set<i64>& damaged = model.evidence.damaged;
  if (absent.empty())
    return fmt::format("{}, and in collectives that only some have those wait for the others",
                       damaged.empty()
                           ? "The ranks' recordings do not begin and end together"
                           : fmt::format("A part of what {} recorded is damaged", of_ranks(damaged)));
  const std::set<i64> not_read = unread(model);
  std::set<i64> without_file;
  std::ranges::set_difference(absent, not_read, std::inserter(without_file, without_file.end()));
  std::string what;
  if (!without_file.empty())
    what = fmt::format("{} {} {} no file here", without_file.size() == 1 ? "Rank" : "Ranks",
                       analyze::range_text(without_file), without_file.size() == 1 ? "has" : "have");
  if (!not_read.empty())
    what += fmt::format("{} of {} could not be read",
                        what.empty() ? (not_read.size() == 1 ? "The file" : "The files")
                                     : (not_read.size() == 1 ? ", the file" : ", the files"),
                        of_ranks(not_read));
  return fmt::format("{}, and the others wait for {} in collectives and sends", what,
                     absent.size() == 1 ? "it" : "them");
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  Ns waited = 0;
  bool are_single = true;
  for (const analyze::JobCall& call : model.job.calls) {
    waited = add_saturated(waited, call.waited);
    are_single &= call.waited == 0 || call.members == 1;
  }
  if (waited == 0) return {};
  Candidate c;
  c.untraced = model.job.absent;
  c.what = what_of(model);
  if (has_damage(model))
    c.remedy =
        "Copy the damaged files again from where they were written, or capture once more: then what holds these up "
        "has a name.";
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
        "Ranks that the groups of collectives list have no file, none that can be read, or none of that time: what calls with them take beyond the median of their group, operation and "
        "size with all members (the 10 % quantile, where none has all), and of a group with one rank here beyond what such devices' network needs, counts as waiting for them, and is no transfer.",
    .remedy = "Analyse the files of all ranks together: then what holds these up has a name.",
    .evidence = "--table collectives",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

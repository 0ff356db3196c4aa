#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/saturated.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::string of_ranks(const std::set<i64>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", analyze::range_text(ranks));
}

std::set<i64> both(const std::set<i64>& a, const std::set<i64>& b) {
  std::set<i64> ranks;
  std::ranges::set_intersection(a, b, std::inserter(ranks, ranks.end()));
  return ranks;
}

// Of the absent ranks those that have a program: without their calls.
std::set<i64> without_device(const JobModel& model) {
  std::set<i64> ranks;
  for (const analyze::RankProgram& rank : model.job.ranks)
    if (model.job.is_absent(rank)) ranks.insert(*rank.rank);
  return ranks;
}

bool has_damage(const JobModel& model) {
  return model.job.absent.empty() ? !model.evidence.damaged.empty()
                                  : !both(model.job.absent, model.evidence.unread).empty();
}

// Why there is nothing of them.
std::string why_absent(const JobModel& model) {
  std::set<i64> left = model.job.absent;
  std::string all;
  const auto tell = [&](const std::set<i64>& ranks, const char* one, const char* several) {
    if (ranks.empty()) return;
    all +=
        fmt::format("{}{} {}", all.empty() ? "" : ", ", of_ranks(ranks), ranks.size() == 1 ? one : several);
    for (const i64 rank : ranks) left.erase(rank);
  };
  const auto those = [&](const std::set<i64>& ranks) { return both(left, ranks); };
  tell(those(model.evidence.unread), "has a file that could not be read",
       "have files that could not be read");
  tell(those(model.job.apart), "was recorded at another time", "were recorded at another time");
  tell(those(model.evidence.silent), "has a file without events", "have files without events");
  tell(those(without_device(model)), "has a file without device work", "have files without device work");
  tell(std::set<i64>(left), "has no file here", "have no file here");
  all[0] = 'R';
  return all;
}

std::string what_of(const JobModel& model) {
  const std::set<i64>& absent = model.job.absent;
  const std::set<i64>& damaged = model.evidence.damaged;
  if (absent.empty())
    return fmt::format("{}, and in collectives that only some have those wait for the others",
                       damaged.empty()
                           ? "The ranks' recordings do not begin and end together"
                           : fmt::format("A part of what {} recorded is damaged", of_ranks(damaged)));
  return fmt::format("{}, and the others wait for {} in collectives and sends", why_absent(model),
                     absent.size() == 1 ? "it" : "them");
}

struct WaitingGroup {
  std::string_view words = {};  // empty: no group waits longer than the others
  bool is_one_of_many = false;
};

// The group whose ranks here wait for others by far the most.
WaitingGroup waiting_group(const JobModel& model) {
  constexpr double kByFar = 1.5;
  std::map<std::string_view, Ns> waits;
  for (const analyze::JobCall& call : model.job.calls) {
    if (call.waited == 0) continue;
    const analyze::Member& first = model.job.members_of(call)[0];
    Ns& of_group = waits[model.job.ranks[first.rank].skeleton.strings[model.job.row(first).group]];
    of_group = add_saturated(of_group, call.waited);
  }
  const auto most = std::ranges::max_element(waits, {}, [](const auto& group) { return group.second; });
  const bool is_alone = std::ranges::all_of(waits, [&](const auto& group) {
    return group.first == most->first ||
           kByFar * static_cast<double>(group.second) <= static_cast<double>(most->second);
  });
  if (most == waits.end() || !is_alone) return {};
  return {most->first, waits.size() > 1};
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
  const WaitingGroup group = waiting_group(model);
  c.group = group.words;
  if (group.is_one_of_many) {
    c.subject = group.words;
    c.what += fmt::format(" (by far the longest in group {})", group.words);
  }
  if (has_damage(model))
    c.remedy =
        "Copy the damaged files again from where they were written, or capture once more: then what holds these up "
        "has a name.";
  else if (!without_device(model).empty())
    c.remedy = "Record all ranks with ProfilerActivity.CUDA: then what holds these up has a name.";
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
        "Ranks that the groups of collectives list have no file, none that can be read, none of that time, or none with device work: what calls with them take beyond the median of their group, operation and "
        "size with all members (the 10 % quantile, where none has all), and of a group with one rank here beyond what such devices' network needs, counts as waiting for them, and is no transfer. Its group is the one whose ranks wait 1.5 times as long for others as those of any other do.",
    .remedy = "Analyse the files of all ranks together: then what holds these up has a name.",
    .evidence = "--table collectives",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

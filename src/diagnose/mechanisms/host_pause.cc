#include <algorithm>
#include <cmath>

#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/pause_sums.h"
#include "diagnose/mechanisms/standstill.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr Ns kLeast = 500'000;
constexpr double kBeyond = 0.2;  // of the ideal

bool is_pause(const PauseAt& p) {
  // Behind a wait for the device a host is silent anyhow, by as much as is usual there.
  const bool is_own = !p.follows_sync || p.ideal > 0;
  return p.kind == analyze::Cause::silence && is_own && p.host > kLeast &&
         static_cast<double>(p.excess()) > kBeyond * static_cast<double>(p.ideal);
}

// The first step of those that optimizers end begins with the recording: what it waits for until it is in an
// operator may be a call that had begun before.
bool begins_with_recording(const JobModel& model, const PauseAt& p) {
  const analyze::RankProgram& rank = model.job.ranks[p.rank];
  return rank.are_by_optimizer && p.step == 0 && rank.at(p.row) - rank.at(rank.step_rows[0]) <= kLeast;
}

// Behind which its host gives the device nothing more: nothing that was recorded waits for its end, be it a
// loop that is left or the profiler that stops.
bool ends_recording(const JobModel& model, const PauseAt& p) {
  using analyze::SkeletonOp;
  const std::vector<analyze::SkeletonRow>& rows = model.job.ranks[p.rank].rows();
  return std::none_of(rows.begin() + p.row + 1, rows.end(), [](const analyze::SkeletonRow& row) {
    return row.op == SkeletonOp::run || row.op == SkeletonOp::collective || row.op == SkeletonOp::compute;
  });
}

bool is_in_each_step(const JobModel& model, const RankPauses& rank) {
  return 10 * rank.steps.size() >= 9 * size_t{model.job.ranks[rank.rank].steps()};
}

// What all ranks do alike in every step belongs to the program.
bool is_own_code(const JobModel& model, const std::vector<RankPauses>& ranks) {
  return ranks.size() == model.job.ranks.size() &&
         std::ranges::all_of(ranks, [&](const RankPauses& r) { return is_in_each_step(model, r); });
}

// What half of the job's ranks or more have in the same steps, about as long, is one thing: a checkpoint, an
// evaluation. Else each rank is by itself.
std::vector<std::vector<RankPauses>> alike(const JobModel& model, const std::vector<RankPauses>& ranks) {
  constexpr double kAlike = 0.25;
  constexpr size_t kSeveral = 3;
  std::vector<std::vector<RankPauses>> groups, all;
  for (const RankPauses& rank : ranks) {
    const auto group = std::ranges::find_if(groups, [&](const std::vector<RankPauses>& g) {
      const auto excess = static_cast<double>(g[0].excess);
      return step_numbers(model, g[0].rank, g[0].steps) == step_numbers(model, rank.rank, rank.steps) &&
             std::abs(static_cast<double>(rank.excess) - excess) <= kAlike * excess;
    });
    if (group == groups.end())
      groups.push_back({rank});
    else
      group->push_back(rank);
  }
  std::vector<RankPauses> single;
  for (std::vector<RankPauses>& group : groups) {
    if (group.size() >= kSeveral && 2 * group.size() >= model.job.ranks.size())
      all.push_back(std::move(group));
    else if (group.size() == 1)
      single.push_back(std::move(group[0]));
    else
      for (RankPauses& rank : group) all.push_back({std::move(rank)});
  }
  // So is what most ranks have as long, each in steps of its own: a collection of garbage.
  std::ranges::sort(single, {}, &RankPauses::excess);
  const Ns median = single.empty() ? 0 : single[single.size() / 2].excess;
  const bool are_one_thing =
      single.size() >= kSeveral && 2 * single.size() >= model.job.ranks.size() &&
      std::ranges::all_of(single, [&](const RankPauses& rank) {
        return std::abs(static_cast<double>(rank.excess - median)) <= kAlike * static_cast<double>(median);
      });
  std::ranges::sort(single, {}, &RankPauses::rank);
  if (are_one_thing)
    all.push_back(std::move(single));
  else
    for (RankPauses& rank : single) all.push_back({std::move(rank)});
  return all;
}

bool are_at_once(const JobModel& model, const std::vector<RankPauses>& ranks) {
  return std::ranges::all_of(ranks, [&](const RankPauses& rank) {
    return step_numbers(model, rank.rank, rank.steps) == step_numbers(model, ranks[0].rank, ranks[0].steps);
  });
}

// "aten::item", "aten::item (62 % of that) and aten::to (30 %)".
std::string where(const PauseFacts& facts) {
  constexpr double kAllBut = 0.8, kWorthNaming = 0.2;
  std::string text = render::short_name(facts.first.name, 56);
  if (facts.first.share >= kAllBut) return text;
  text += fmt::format(" ({} of that)", percent_of(facts.first.share));
  if (facts.second.share >= kWorthNaming && !facts.second.name.empty())
    text += fmt::format(" and {} ({})", render::short_name(facts.second.name, 56),
                        percent_of(facts.second.share));
  return text;
}

std::string sentence(const JobModel& model, const Candidate& c, const std::vector<RankPauses>& ranks,
                     const PauseFacts& facts) {
  const bool is_covered = 2 * facts.covered >= facts.host;
  const bool is_one = c.ranks.size() == 1;
  const std::string hosts = is_single(model) ? "The host"
                                             : fmt::format("The {} of {}", is_one ? "host" : "hosts",
                                                           lower_first(who(model, c.ranks)));
  std::string text = fmt::format(
      "{} {} for {}", hosts,
      is_one ? (is_covered ? "launches nothing" : "pauses") : (is_covered ? "launch nothing" : "pause"),
      facts.count == 1 ? human(facts.longest) : human(facts.median));
  if (!c.subject.empty()) text += " in " + where(facts);
  const bool are_uneven = facts.count > 1 && facts.longest > 2 * facts.median;
  if (are_uneven) text += fmt::format(" (up to {})", human(facts.longest));
  if (!are_at_once(model, ranks) && facts.count <= 2 * ranks.size())
    text += ", at other steps on each";
  else if (!c.steps.empty())
    text += fmt::format(", in {} {}", c.steps.size() == 1 ? "step" : "steps", steps_text(c.steps));
  else if (facts.count > 1)
    text += ", " + times_text(static_cast<double>(facts.count) / static_cast<double>(model.steps) /
                              static_cast<double>(ranks.size()));
  return text;
}

Candidate of_ranks(const JobModel& model, std::vector<RankPauses> ranks) {
  Candidate c;
  c.steps = few_steps(model, ranks);
  ranks = in_steps(model, std::move(ranks), c.steps);
  const PauseFacts facts = facts_of(model, ranks);
  c.ranks = ranks_of(ranks);
  c.subject = facts.first.name;
  c.what = sentence(model, c, ranks, facts);
  c.most = facts.excess;
  c.is_opportunity = c.steps.empty() && is_own_code(model, ranks);
  if (c.is_opportunity)
    c.against =
        "all ranks and steps have it alike: it is the program's own work, or nothing that was recorded";
  // Without a device no time of one is idle.
  if (model.job.ranks[c.ranks[0]].streams == 0) c.evidence = "--table call_tree";
  c.undo = [&model, ranks](analyze::Scenario& s) { end_pauses(model, ranks, s); };
  return c;
}

std::vector<RankPauses> outside(const JobModel& model, const std::vector<RankPauses>& ranks,
                                const std::vector<i64>& steps) {
  std::vector<i64> others;
  if (!steps.empty())
    for (const i64 step : model.job.step_numbers)
      if (std::ranges::find(steps, step) == steps.end()) others.push_back(step);
  return others.empty() ? std::vector<RankPauses>() : in_steps(model, ranks, others);
}

// What whole stages do alike in every step has no peers to stand out from: it is as long as it usually is,
// and yet no operator runs in most of it.
std::vector<Candidate> usual_silences(const JobModel& model) {
  const auto is_bare = [](const PauseAt& p) {
    return p.kind == analyze::Cause::silence && !p.follows_sync && p.ideal > kLeast && 2 * p.covered < p.host;
  };
  std::vector<std::vector<RankPauses>> stages(model.stages.ranks.size());
  std::vector<RankPauses> all;
  for (RankPauses& rank : pauses_by_rank(model, is_bare, &PauseAt::covered))
    if (is_in_each_step(model, rank)) stages[model.stages.of[rank.rank]].push_back(std::move(rank));
  for (size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].size() < model.stages.ranks[s].size()) stages[s].clear();
    all.insert(all.end(), stages[s].begin(), stages[s].end());
  }
  if (all.size() == model.job.ranks.size()) return {of_ranks(model, all)};
  std::vector<Candidate> found;
  for (const std::vector<RankPauses>& stage : stages) {
    if (stage.empty()) continue;
    Candidate c = of_ranks(model, stage);
    c.against = "no other rank does the same work: it may be the program's own";
    c.is_opportunity = stage.size() > 1;
    found.push_back(std::move(c));
  }
  return found;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::vector<Candidate> found = usual_silences(model);
  if (std::optional<Candidate> still = standstill(model)) found.push_back(std::move(*still));
  // Whoever waits in a job that hangs waits to the end of its recording.
  const bool hangs = !kHang.candidates(model).empty();
  const auto is_at_end = [&](const PauseAt& p) {
    return (hangs && p.step + 1 == model.job.ranks[p.rank].steps()) || ends_recording(model, p);
  };
  const auto all = pauses_by_rank(model, [&](const PauseAt& p) { return is_pause(p) && !is_at_end(p); });
  if (all.empty()) return found;
  if (is_own_code(model, all) && standing_out(model, all).size() == all.size()) {
    found.push_back(of_ranks(model, all));
  } else {
    const auto recorded = pauses_by_rank(model, [&](const PauseAt& p) {
      return is_pause(p) && !is_at_end(p) && !begins_with_recording(model, p);
    });
    for (const std::vector<RankPauses>& ranks : alike(model, standing_out(model, recorded))) {
      found.push_back(of_ranks(model, ranks));
      // Beside few long ones there may be short ones in the other steps.
      if (const auto rest = outside(model, ranks, found.back().steps); !rest.empty())
        found.push_back(of_ranks(model, rest));
    }
  }
  return found;
}

}  // namespace

const Mechanism kHostPause = {
    .name = "host_pause",
    .summary =
        "The host launches nothing for over 0.5 ms, and 20 % longer than a quarter of its peers and steps do at the same place; no data "
        "loading, call of the allocator, compilation or work of the profiler is there, and what is usual behind a wait for the device does not count, nor a pause behind which its rank launches nothing more. What all ranks (or all of a stage of several) have alike in every step is an opportunity, if no operator runs in most of it. So is a host of a job without devices that is within one operator for the last 0.3 s of its recording or longer, while most others begin nothing as long as they are recorded: a fault, whatever it costs.",
    .remedy =
        "See what the host does there: garbage collection (gc.freeze(), gc.disable() with a collection every n steps on all "
        "ranks at once), logging, checkpoints, locks, other processes on its processors.",
    .evidence = "--table call_tree",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

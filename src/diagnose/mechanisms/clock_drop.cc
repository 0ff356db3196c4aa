#include <algorithm>
#include <set>

#include "base/saturated.h"
#include "diagnose/mechanisms/alike.h"
#include "diagnose/mechanisms/level_shifts.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::string since(const JobModel& model, u32 rank, u32 step) {
  const Ns after = model.job.ranks[rank].at(model.job.ranks[rank].step_rows[step]) -
                   model.job.ranks[rank].at(model.job.ranks[rank].step_rows[0]);
  return fmt::format("from step {} ({} into the recording) on", model.step_number(rank, step), human(after));
}

// Of the job.
u32 first_step(const JobModel& model, const RankShift& shift) {
  return model.job.ranks[shift.row.rank].job_steps[shift.drop.first];
}

Candidate of_ranks(const JobModel& model, const std::vector<RankShift>& shifts) {
  Candidate c;
  const RankShift* earliest = &shifts[0];
  double excess = 0;
  std::set<i64> steps;
  c.most = 0;
  for (const RankShift& shift : shifts) {
    c.ranks.push_back(shift.row.rank);
    excess += shift.excess() / static_cast<double>(shifts.size());
    const std::vector<i64> numbers = step_numbers(model, shift.row.rank, shift.drop.steps());
    steps.insert(numbers.begin(), numbers.end());
    if (first_step(model, shift) < first_step(model, *earliest)) earliest = &shift;
    c.most = add_saturated(c.most, above_peers(model, shift.row, shift.drop.steps()));
  }
  std::ranges::sort(c.ranks);
  c.steps.assign(steps.begin(), steps.end());
  const auto& [row, drop] = *earliest;
  const bool is_one = shifts.size() == 1, recovers = drop.recovers;
  const bool have_peers = std::ranges::any_of(c.ranks, [&](u32 rank) {
    return std::ranges::any_of(model.stages.ranks[model.stages.of[rank]],
                               [&](u32 peer) { return std::ranges::find(c.ranks, peer) == c.ranks.end(); });
  });
  c.what = fmt::format(
      "{} {} {} longer {} than {}", who(model, c.ranks), is_one ? "computes" : "compute", percent_of(excess),
      recovers ? "in steps " + steps_text(c.steps) : since(model, row.rank, drop.first),
      have_peers ? fmt::format("{} peers, and no longer {}", is_one ? "its" : "their",
                               recovers ? "in the others" : "before")
                 : fmt::format("{}, for the same work", recovers ? "in the others" : "before"));
  c.undo = [&model, shifts](analyze::Scenario& s) {
    for (const RankShift& shift : shifts) level(model, shift.row, shift.drop.steps(), s);
  };
  return c;
}

Candidate of_job(const JobModel& model, const CommonShift& shift) {
  u32 rank = shift.ranks[0];  // one that has this step: most have
  for (const u32 r : shift.ranks)
    if (!model.job.ranks[rank].step_at(shift.from)) rank = r;
  Candidate c;
  c.ranks = shift.ranks;
  for (u32 s = shift.from; s < shift.levels.size(); ++s) c.steps.push_back(model.job.step_numbers[s]);
  c.what = fmt::format("{} {} {} longer {} than before, for the same work", who(model, c.ranks),
                       are_all(model, c.ranks) ? "computes" : "compute", percent_of(shift.excess),
                       since(model, rank, *model.job.ranks[rank].step_at(shift.from)));
  // By what all have: what one has beyond that is its own.
  c.undo = [&model, shift](analyze::Scenario& s) {
    for (const u32 r : shift.ranks)
      for (u32 step = 0; step < model.cells.steps(r); ++step)
        if (const u32 of_job = model.job.ranks[r].job_steps[step]; of_job >= shift.from)
          s.device[model.step_index(r, step)] *= shift.before / shift.levels[of_job];
  };
  return c;
}

// Of one stage, or of one host, which has one supply and one fan.
bool are_one(const JobModel& model, const RankShift& a, const RankShift& b) {
  const u32 first = first_step(model, a), other = first_step(model, b);
  const std::string& host = model.job.ranks[a.row.rank].host;
  const bool are_together = model.stages.of[a.row.rank] == model.stages.of[b.row.rank] ||
                            (!host.empty() && host == model.job.ranks[b.row.rank].host);
  return are_together && first <= other + 1 && other <= first + 1 && a.drop.recovers == b.drop.recovers &&
         are_alike(a.excess(), b.excess());
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  LevelShifts shifts = level_shifts(model);
  std::vector<Candidate> all;
  if (shifts.common) all.push_back(of_job(model, *shifts.common));
  std::ranges::sort(shifts.of_ranks, {}, [](const RankShift& shift) { return -shift.excess(); });
  const auto fits = [&](const RankShift& a, const RankShift& b) { return are_one(model, a, b); };
  for (const std::vector<RankShift>& group : groups_of(std::move(shifts.of_ranks), fits))
    all.push_back(of_ranks(model, group));
  return all;
}

}  // namespace

const Mechanism kClockDrop = {
    .name = "clock_drop",
    .summary =
        "From some step of the recording to its end, or in steps one after the other, a device takes longer for the same kernels "
        "than its peers' (as slow_device measures it), evenly, and does not in the others. Where it recovers, these are more than a "
        "fifth of the steps, of which there are six or more, by 2 % or more. Of all ranks together, or of most of a stage, as of one without peers, the level has to "
        "shift by 2 % or more after two steps or more.",
    .remedy =
        "Look at power, temperature and clocks at that time (spotter metrics --metric 'gpu_*'): throttling ends "
        "with the cause of it, a power cap, cooling or a neighbour.",
    .evidence = "--table steps",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

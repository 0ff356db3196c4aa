#include <algorithm>
#include <vector>

#include "base/lower_median.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr double kLeast = 0.02;  // of a step: what ranks on one machine differ by anyhow
constexpr Ns kTimesOthers = 3;   // of the other ranks' usual lateness
constexpr size_t kLeastRanks = 2;

// Where devices work they say more: what keeps a host from launching, and which device is slow.
bool has_devices(const JobModel& model) {
  return std::ranges::any_of(model.job.ranks, [](const auto& rank) { return rank.streams > 0; });
}

Ns usual_of_others(const JobModel& model, u32 rank) {
  std::vector<Ns> others;
  for (u32 r = 0; r < model.job.ranks.size(); ++r)
    if (r != rank) others.push_back(model.lateness(r));
  return lower_median(others);
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::vector<Candidate> found;
  const size_t ranks = model.job.ranks.size();
  if (ranks < kLeastRanks || model.steps == 0 || has_devices(model)) return found;
  const auto least = static_cast<Ns>(kLeast * static_cast<double>(model.step_ns()));
  for (u32 r = 0; r < ranks; ++r) {
    const Ns late = model.lateness(r), usual = usual_of_others(model, r);
    if (late < kTimesOthers * usual + least) continue;
    Candidate c;
    c.ranks = {r};
    c.what = fmt::format(
        "{} comes last to the calls of all ranks, which wait {} for it in each step ({} for the "
        "others)",
        who(model, c.ranks), human(late), human(usual));
    c.most = c.known_gain = late * model.steps;
    found.push_back(std::move(c));
  }
  return found;
}

}  // namespace

const Mechanism kSlowHost = {
    .name = "slow_host",
    .summary =
        "In a job without devices: a rank starts the calls of all ranks (collectives) so late that the others wait 2 % of "
        "a step and three times as long for it as for each other. Its own operators, its data or what else runs on its "
        "processors hold it up.",
    .remedy =
        "Compare its host with the others': the processor time that it gets (limits of its control group, what else runs "
        "there), its storage and its data (spotter metrics --table job).",
    .evidence = "--table stragglers",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

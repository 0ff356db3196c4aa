#include <algorithm>

#include "base/lower_median.h"
#include "base/saturated.h"
#include "diagnose/mechanisms/alike.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"
#include "diagnose/model/launches.h"

namespace spotter::diagnose {
namespace {

constexpr Ns kShort = 50'000;       // kernels of which the gaps between them count, too
constexpr double kSlower = 1.3;     // times what launching takes others: hosts of one kind differ by less
constexpr double kRecorded = 1.3;   // times what the job takes that is not recorded
constexpr double kMostSteps = 0.7;  // of a rank's steps: fewer are a step's own trouble
constexpr i64 kLeastSteps = 2;      // before and after a change
constexpr double kSameWork = 0.1;  // by how much the device's time may differ between steps that are compared

// What launching should take a rank in a step of the job, and takes it.
struct Compared {
  u32 step;  // its own
  double ratio;
};

// Of the steps in which it takes a rank longer than its stage's median.
std::vector<Compared> slower_steps(const JobModel& model, u32 r) {
  std::vector<Compared> slower;
  for (u32 s = 0; s < model.job.ranks[r].steps(); ++s) {
    std::vector<double> of_peers;
    for (const u32 peer : model.stages.ranks[model.stages.of[r]])
      if (const auto step = model.job.ranks[peer].step_at(model.job.ranks[r].job_steps[s]))
        of_peers.push_back(static_cast<double>(model.launches[peer].host_by_step[*step]));
    if (of_peers.size() < 2) continue;
    const auto own = static_cast<double>(model.launches[r].host_by_step[s]);
    const double usual = lower_median(of_peers);
    if (usual > 0 && own > kSlower * usual) slower.push_back({s, usual / own});
  }
  return slower;
}

// Pieces of device work that it launches in a step, by the median of its stage.
double times_as_many(const JobModel& model, u32 r) {
  const auto a_step = [&](u32 rank) {
    return static_cast<double>(model.launches[rank].count) /
           static_cast<double>(std::max<size_t>(1, model.job.ranks[rank].steps()));
  };
  std::vector<double> of_stage;
  for (const u32 peer : model.stages.ranks[model.stages.of[r]]) of_stage.push_back(a_step(peer));
  const double usual = lower_median(of_stage);
  return usual > 0 ? a_step(r) / usual : 1;
}

// A rank whose host is slower than its stage's.
struct SlowRank {
  u32 rank;
  std::vector<Compared> slower;
  double times;  // as long as its peers
  double more;   // times as many launches
};

std::optional<SlowRank> slow_rank(const JobModel& model, u32 r) {
  SlowRank slow{r, slower_steps(model, r), 0, times_as_many(model, r)};
  if (slow.slower.empty() ||
      static_cast<double>(slow.slower.size()) < kMostSteps * static_cast<double>(model.job.ranks[r].steps()))
    return {};
  for (const Compared& c : slow.slower) slow.times += 1 / c.ratio / static_cast<double>(slow.slower.size());
  return slow;
}

// On one host, for the same reason.
bool are_one(const JobModel& model, const SlowRank& a, const SlowRank& b) {
  const std::string& host = model.job.ranks[a.rank].host;
  return !host.empty() && host == model.job.ranks[b.rank].host &&
         model.stages.of[a.rank] == model.stages.of[b.rank] && are_alike(a.times - 1, b.times - 1) &&
         (a.more > kSlower) == (b.more > kSlower);
}

Candidate of_ranks(const JobModel& model, const std::vector<SlowRank>& slow) {
  Candidate c;
  double times = 0, more = 0;
  for (const SlowRank& one : slow) {
    c.ranks.push_back(one.rank);
    times += one.times / static_cast<double>(slow.size());
    more += one.more / static_cast<double>(slow.size());
  }
  std::ranges::sort(c.ranks);
  c.what = fmt::format("The host of {} takes {:.1f} times as long to launch {} work as {} peers' do{}",
                       lower_first(who(model, c.ranks)), times, slow.size() == 1 ? "its" : "their",
                       slow.size() == 1 ? "its" : "their",
                       more <= kSlower    ? ""
                       : slow.size() == 1 ? fmt::format(": it launches {:.1f} times as much", more)
                                          : fmt::format(": they launch {:.1f} times as much", more));
  c.remedy =
      more > kSlower
          ? fmt::format(
                "Find what differs on {}: another path through the code, eager where the others are compiled, "
                "settings for debugging or profiling.",
                slow.size() == 1 ? "this rank" : "these ranks")
          : "Look at what slows this host's launches: the clock and the load of its processors, where its threads are pinned, "
            "other processes, and settings for debugging.";
  c.undo = [&model, slow](analyze::Scenario& s) {
    for (const SlowRank& one : slow)
      for (const Compared& compared : one.slower)
        scale_launches(model.job, one.rank, compared.step, compared.ratio, s);
  };
  return c;
}

// Of the job's steps, the median over the ranks.
struct Medians {
  std::vector<double> host, device;
};

Medians medians_of(const JobModel& model) {
  Medians medians;
  for (u32 s = 0; s < model.steps; ++s) {
    std::vector<double> host, device;
    for (u32 r = 0; r < model.job.ranks.size(); ++r)
      if (const auto step = model.job.ranks[r].step_at(s)) {
        host.push_back(static_cast<double>(model.launches[r].host_by_step[*step]));
        device.push_back(static_cast<double>(model.launches[r].device_by_step[*step]));
      }
    medians.host.push_back(host.empty() ? 0 : lower_median(host));
    medians.device.push_back(device.empty() ? 0 : lower_median(device));
  }
  return medians;
}

// From which step on launching the same work takes longer than in any step before; 0: none.
u32 change_of(const Medians& medians) {
  const auto steps = std::ssize(medians.host);
  const auto [least, most] = std::ranges::minmax_element(medians.device);
  if (steps < 2 * kLeastSteps || *most > (1 + kSameWork) * *least) return 0;
  for (i64 first = kLeastSteps; first + kLeastSteps <= steps; ++first) {
    const auto change = medians.host.begin() + first;
    if (*std::min_element(change, medians.host.end()) >
        kSlower * *std::max_element(medians.host.begin(), change))
      return static_cast<u32>(first);
  }
  return 0;
}

std::optional<Candidate> of_past(const JobModel& model) {
  const Medians medians = medians_of(model);
  const u32 first = medians.host.empty() ? 0 : change_of(medians);
  if (first == 0) return {};
  std::vector<double> before(medians.host.begin(), medians.host.begin() + first),
      after(medians.host.begin() + first, medians.host.end());
  const double usual = lower_median(before), now = lower_median(after);
  Candidate c;
  c.ranks = all_ranks(model);
  for (u32 s = first; s < model.steps; ++s) c.steps.push_back(model.job.step_numbers[s]);
  c.what =
      fmt::format("From step {} on the hosts take {:.1f} times as long to launch the same work as before",
                  c.steps[0], now / std::max(usual, 1.0));
  c.undo = [&model, first, usual](analyze::Scenario& s) {
    for (u32 r = 0; r < model.job.ranks.size(); ++r)
      for (u32 step = 0; step < model.job.ranks[r].steps(); ++step) {
        const auto own = static_cast<double>(model.launches[r].host_by_step[step]);
        if (model.job.ranks[r].job_steps[step] >= first && own > usual)
          scale_launches(model.job, r, step, usual / own, s);
      }
  };
  return c;
}

// What all ranks have alike is a fault where the device could do more than the host gives it: a launch takes
// longer than what it launches, and by more than recording adds to it (operators with their shapes a sixth,
// without CUPTI's part in each call). Else, and in an engine's iterations, it is how the job is built.
std::optional<Candidate> of_job(const JobModel& model) {
  i64 count = 0, unknown = 0;
  Ns host = 0, device = 0;
  for (const Launches& of_rank : model.launches) {
    count += of_rank.count;
    unknown += of_rank.unknown;
    host = add_saturated(host, of_rank.host);
    device = add_saturated(device, of_rank.device);
  }
  if (count == 0 || unknown > count) return {};
  const Ns mean = device / count;
  Candidate c;
  c.ranks = all_ranks(model);
  c.what = fmt::format(
      "The host takes {} to launch a kernel that runs for {} on average: the device waits for launches",
      human(host / count), human(mean));
  c.is_opportunity = static_cast<double>(host) <= kRecorded * static_cast<double>(device) ||
                     std::ranges::any_of(model.job.ranks, &analyze::RankProgram::are_iterations);
  // Between kernels that are launched in time the gaps are their own: small_kernels.
  const bool takes_gaps = mean < kShort && host / count > mean;
  c.undo = [&model, takes_gaps](analyze::Scenario& s) {
    for (u32 r = 0; r < model.job.ranks.size(); ++r)
      for (u32 i = 0; i < model.job.ranks[r].rows().size(); ++i)
        if (launches(model.job.ranks[r].rows()[i])) s.host[model.row_index(r, i)] = 0;
    s.leads = 0;
    if (takes_gaps) s.gaps = 0;
  };
  return c;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  if (std::ranges::any_of(model.launches, &Launches::disagree)) return {};
  std::vector<SlowRank> slow;
  for (u32 r = 0; r < model.job.ranks.size(); ++r)
    if (auto one = slow_rank(model, r)) slow.push_back(std::move(*one));
  const auto fits = [&](const SlowRank& a, const SlowRank& b) { return are_one(model, a, b); };
  std::vector<Candidate> all;
  for (const std::vector<SlowRank>& group : groups_of(std::move(slow), fits))
    all.push_back(of_ranks(model, group));
  if (all.empty())
    if (auto c = of_past(model)) all.push_back(std::move(*c));
  if (auto c = of_job(model)) all.push_back(std::move(*c));
  return all;
}

}  // namespace

const Mechanism kLaunchBound = {
    .name = "launch_bound",
    .summary =
        "The device waits for the host that prepares and launches its kernels, one after the other, without a pause. A fault where a launch takes 1.3 times as long as what it launches (recording alone makes launches longer), and no inference engine "
        "runs; else, where all ranks and steps are alike, an opportunity: what the job would gain if launches took no time; where kernels last under 50 µs on average, with the gaps between them. A fault also: it takes a rank 1.3 times as "
        "long as the median of its stage in 70 % of its steps, or all from some step on 1.3 times as long as in any step before, for the same work. Not told where the "
        "clocks of host and device disagree (device_clock), nor where most launches are missing.",
    .remedy =
        "Launch less: torch.compile fuses kernels, CUDA graphs (mode=\"reduce-overhead\") launch many at once, as engines do for decode; larger batches make "
        "kernels longer; foreach and fused optimizers.",
    .evidence = "--table kernel_launch_stats",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

// Ranks held against each other.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/stable_sort.h"
#include "diagnose/list.h"
#include "render/render.h"

namespace spotter::diagnose {
namespace {

using Measure = std::function<double(const RankFacts&)>;
using Ranks = std::vector<const RankFacts*>;

const RankFacts& most(const Ranks& ranks, const Measure& measure) {
  return **std::ranges::max_element(ranks, {}, [&](const RankFacts* r) { return measure(*r); });
}

const RankFacts& least(const Ranks& ranks, const Measure& measure) {
  return most(ranks, [&](const RankFacts& r) { return -measure(r); });
}

double median_of_others(const Ranks& ranks, const RankFacts& one, const Measure& measure) {
  std::vector<double> values;
  for (const RankFacts* r : ranks) {
    if (r != &one) values.push_back(measure(*r));
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Of the ranks of one job that have something, at least two.
Ranks comparable(const JobFacts& f, i64 RankFacts::* something) {
  Ranks ranks;
  if (f.are_apart) return ranks;
  for (const RankFacts& r : f.ranks) {
    if (r.*something > 0) ranks.push_back(&r);
  }
  if (ranks.size() < 2) ranks.clear();
  return ranks;
}

double mean_step(const RankFacts& r) { return ratio(r.step_sum, r.steps); }
double device_time(const RankFacts& r) { return static_cast<double>(r.device_time); }
double idle_share(const RankFacts& r) { return ratio(r.idle, r.device_time); }
double compute_time(const RankFacts& r) { return static_cast<double>(r.compute); }

constexpr double kSpread = 0.05;   // how much longer the longest time among ranks may be than the others'
constexpr double kWaiting = 0.08;  // share of device time in which ranks wait for each other
constexpr double kIdler = 0.1;     // share of idle time of one rank above that of the others

std::optional<Finding> find_out_of_step(const JobFacts& f, double threshold) {
  const Ranks ranks = comparable(f, &RankFacts::steps);
  if (ranks.empty()) return {};
  const RankFacts &slow = most(ranks, mean_step), &fast = least(ranks, mean_step);
  const double longer = mean_step(slow) - mean_step(fast);
  if (longer <= threshold * mean_step(fast)) return {};
  return Finding{
      .what = fmt::format("Steps of {} take {} on average, those of {} {}: the ranks are out of step.",
                          rank_name(slow), render::human_ns(std::llround(mean_step(slow))), rank_name(fast),
                          render::human_ns(std::llround(mean_step(fast)))),
      .rank = slow.rank,
      .time = std::llround(longer * static_cast<double>(slow.steps)),
      .share = longer / mean_step(slow)};
}

// Who is last to begin the collectives in which the others wait. One rank is named where no other comes near.
std::optional<Finding> find_waiting(const JobFacts& f, double threshold) {
  Ranks ranks = comparable(f, &RankFacts::collectives);
  const Ns waiting = sum_over(f, &RankFacts::own_wait), device = sum_over(f, &RankFacts::device_time);
  const double share = ratio(waiting, device > 0 ? device : sum_over(f, &RankFacts::span));
  if (ranks.empty() || share < threshold) return {};
  stable_sort(ranks, [](const RankFacts* a, const RankFacts* b) { return a->caused_wait > b->caused_wait; });
  const RankFacts &last = *ranks[0], &next = *ranks[1];
  const Ns caused = sum_over(f, &RankFacts::caused_wait);
  const std::string part = percent(ratio(last.caused_wait, caused));
  Finding finding{
      .what = fmt::format("Ranks wait in collectives for each other, {} in all ({} of their {}).",
                          render::human_ns(waiting), percent(share), device > 0 ? "device time" : "time"),
      .time = waiting,
      .share = share};
  if (2 * last.caused_wait >= caused && last.caused_wait >= 2 * next.caused_wait) {
    finding.what += fmt::format(" {} of that is for {}, which begins last.", part, rank_name(last));
    finding.remedy =
        fmt::format("Look at what it does before its collectives, with --ranks {}.", last.rank.value_or(0));
    finding.rank = last.rank;
  } else if (2 * (last.caused_wait + next.caused_wait) < caused) {
    finding.what += fmt::format(" No two ranks are behind half of that; {} is most of all, with {}.",
                                rank_name(last), part);
  } else {
    finding.what +=
        fmt::format(" Most is for {} ({}) and {} ({}), which begin last in turn.", rank_name(last), part,
                    rank_name(next), percent(ratio(next.caused_wait, caused)));
  }
  return finding;
}

// Whether another rank is the one that the others wait for, and no clock that differs looks so.
bool waits_for_another(const JobFacts& f, const RankFacts& rank) {
  if (f.clocks_may_differ) return false;
  const std::optional<Finding> waiting = find_waiting(f, kWaiting);
  return waiting && waiting->rank && waiting->rank != rank.rank;
}

// One against the median of the others: averages hide one rank among many.
Finding compared(const Ranks& ranks, const RankFacts& worst) {
  const double time = median_of_others(ranks, worst, device_time);
  return {.what = fmt::format(
              "The device of {} takes {} and is idle for {} of it; {} {} and {}.", rank_name(worst),
              render::human_ns(worst.device_time), percent(idle_share(worst)),
              ranks.size() == 2 ? "the other takes" : "the others (median) take",
              render::human_ns(std::llround(time)), percent(median_of_others(ranks, worst, idle_share))),
          .remedy = fmt::format("Look at this rank first, with --ranks {}.", worst.rank.value_or(0)),
          .rank = worst.rank};
}

// Not where steps tell it already, or it waits for another.
std::optional<Finding> find_slow(const JobFacts& f, double threshold) {
  const Ranks ranks = comparable(f, &RankFacts::device_time);
  if (ranks.empty() || find_out_of_step(f, kSpread)) return {};
  const RankFacts& worst = most(ranks, device_time);
  const double median = median_of_others(ranks, worst, device_time);
  if (device_time(worst) <= (1 + threshold) * median || waits_for_another(f, worst)) return {};
  Finding finding = compared(ranks, worst);
  finding.time = worst.device_time - std::llround(median);
  finding.share = ratio(*finding.time, worst.device_time);
  return finding;
}

// Not where a rank is told as the slow one already, or it waits for another.
std::optional<Finding> find_idle(const JobFacts& f, double threshold) {
  const Ranks ranks = comparable(f, &RankFacts::device_time);
  if (ranks.empty() || find_slow(f, kSpread)) return {};
  const RankFacts& worst = most(ranks, idle_share);
  const double more = idle_share(worst) - median_of_others(ranks, worst, idle_share);
  if (more <= threshold || waits_for_another(f, worst)) return {};
  Finding finding = compared(ranks, worst);
  finding.time = std::llround(more * device_time(worst));
  finding.share = more;
  return finding;
}

std::optional<Finding> find_uneven(const JobFacts& f, double threshold) {
  const Ranks ranks = comparable(f, &RankFacts::device_time);
  if (ranks.empty()) return {};
  const RankFacts &busy = most(ranks, compute_time), &spare = least(ranks, compute_time);
  const Ns more = busy.compute - spare.compute, waits = spare.communication - busy.communication;
  if (compute_time(busy) <= (1 + threshold) * compute_time(spare)) return {};
  return Finding{
      .what = fmt::format("The device of {} computes for {}, that of {} only for {}: {}", rank_name(busy),
                          render::human_ns(busy.compute), rank_name(spare), render::human_ns(spare.compute),
                          2 * waits >= more ? fmt::format("the latter communicates longer, {} against {}.",
                                                          render::human_ns(spare.communication),
                                                          render::human_ns(busy.communication))
                                            : std::string("the work is uneven.")),
      .rank = busy.rank,
      .time = more,
      .share = ratio(more, busy.compute)};
}

}  // namespace

const Rule kRanksOutOfStep = {
    .name = "ranks_out_of_step",
    .kind = Rule::Kind::cause,
    .summary = "The mean step of the slowest rank is longer than that of the fastest by more than {}.",
    .threshold = kSpread,
    .evidence = "steps",
    .find = find_out_of_step,
};
const Rule kSlowRank = {
    .name = "slow_rank",
    .kind = Rule::Kind::cause,
    .summary =
        "The time of one rank's device is longer than the median of the others' by more than {}, and no "
        "steps tell it.",
    .threshold = kSpread,
    .evidence = "temporal_breakdown, stragglers",
    .find = find_slow,
};
const Rule kIdleRank = {
    .name = "idle_rank",
    .kind = Rule::Kind::cause,
    .summary =
        "One rank's device is idle for a share of its time that is larger than the median of the "
        "others' by more than {}, and no rank is slow.",
    .threshold = kIdler,
    .evidence = "temporal_breakdown, stragglers",
    .find = find_idle,
};
const Rule kWaitsForRank = {
    .name = "waits_for_rank",
    .kind = Rule::Kind::cause,
    .summary =
        "Ranks wait for the last one to begin a collective for {} of their device time or more; without device "
        "work, of the traced time. Clocks of hosts that differ look so, too.",
    .threshold = kWaiting,
    .evidence = "stragglers",
    .find = find_waiting,
};
const Rule kUnevenWork = {
    .name = "uneven_work",
    .kind = Rule::Kind::cause,
    .summary = "One rank's device computes for longer than another's by more than {}.",
    .threshold = kSpread,
    .evidence = "temporal_breakdown, comm_comp_overlap",
    .find = find_uneven,
};

}  // namespace spotter::diagnose

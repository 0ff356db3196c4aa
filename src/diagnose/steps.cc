// Steps of one rank held against each other.
#include <algorithm>

#include "diagnose/list.h"
#include "render/render.h"

namespace spotter::diagnose {
namespace {

// How a rank's longest step stands to its others.
struct Longest {
  Ns median = 0;
  double times = 0;      // the median
  i64 also_as_long = 0;  // steps longer than `threshold` medians, itself among them
};

Longest longest_of(const RankFacts& r, double threshold) {
  if (r.steps < 3) return {};
  std::vector<Ns> sorted = r.step_durations;
  std::ranges::sort(sorted);
  Longest l{.median = sorted[(sorted.size() - 1) / 2]};
  l.times = ratio(r.step_max, l.median);
  const auto is_long = [&](Ns dur) { return ratio(dur, l.median) >= threshold; };
  l.also_as_long = std::ranges::count_if(sorted, is_long);
  return l;
}

// The rank whose longest step is the most medians long, among those of which few steps are long, or many.
const RankFacts* worst_of(const JobFacts& f, double threshold, bool many) {
  const RankFacts* worst = nullptr;
  double times = 0;
  for (const RankFacts& r : f.ranks) {
    const Longest l = longest_of(r, threshold);
    const bool are_many = l.also_as_long > std::max<i64>(1, r.steps / 10);
    if (l.times < threshold || are_many != many || l.times <= times) continue;
    worst = &r;
    times = l.times;
  }
  return worst;
}

std::optional<Finding> find_long(const JobFacts& f, double threshold) {
  const RankFacts* worst = worst_of(f, threshold, false);
  if (!worst) return {};
  const Longest l = longest_of(*worst, threshold);
  return Finding{.what = fmt::format("Step {} of {} takes {}, {:.1f} times the median.", worst->longest_step,
                                     rank_name(*worst), render::human_ns(worst->step_max), l.times),
                 .remedy = fmt::format("Look at it alone with --steps {}.", worst->longest_step),
                 .rank = worst->rank,
                 .time = worst->step_max - l.median,
                 .share = ratio(worst->step_max - l.median, worst->step_max)};
}

std::optional<Finding> find_uneven_steps(const JobFacts& f, double threshold) {
  const RankFacts* worst = worst_of(f, threshold, true);
  if (!worst) return {};
  const Longest l = longest_of(*worst, threshold);
  Ns more = 0;
  for (const Ns dur : worst->step_durations) more += std::max<Ns>(0, dur - l.median);
  return Finding{
      .what = fmt::format("{} of the {} steps of {} take {} times the median ({}) or more, up to {}.",
                          l.also_as_long, worst->steps, rank_name(*worst), threshold,
                          render::human_ns(l.median), render::human_ns(worst->step_max)),
      .remedy = "See what alternates with --table steps: data loading, logging, checkpoints.",
      .rank = worst->rank,
      .time = more,
      .share = ratio(more, worst->step_sum)};
}

}  // namespace

const Rule kLongStep = {
    .name = "long_step",
    .kind = Rule::Kind::cause,
    .summary =
        "Of three steps or more, the longest of a rank takes {} times the median or more, and at most a "
        "tenth of the others do.",
    .threshold = 1.3,
    .evidence = "steps",
    .find = find_long,
};
const Rule kUnevenSteps = {
    .name = "uneven_steps",
    .kind = Rule::Kind::cause,
    .summary = "Of three steps or more, over a tenth of a rank's take {} times the median or more.",
    .threshold = 1.3,
    .evidence = "steps",
    .find = find_uneven_steps,
};

}  // namespace spotter::diagnose

// Steps of one rank held against each other.
#include "diagnose/list.h"
#include "render/render.h"

namespace spotter {
namespace {

std::optional<Finding> find_long(const JobFacts& f, double threshold) {
  const RankFacts* worst = nullptr;
  const auto excess = [](const RankFacts& r) {
    return r.steps > 2 ? ratio(r.step_max * r.steps, r.step_sum) : 0;
  };
  for (const RankFacts& r : f.ranks) {
    if (!worst || excess(r) > excess(*worst)) worst = &r;
  }
  if (!worst || excess(*worst) < threshold) return {};
  const Ns mean = worst->step_sum / worst->steps;
  return Finding{.what = fmt::format("Step {} of {} takes {}, {:.1f} times the mean.", worst->longest_step,
                                     rank_name(*worst), human_ns(worst->step_max), excess(*worst)),
                 .remedy = fmt::format("Look at it alone with --steps {}.", worst->longest_step),
                 .rank = worst->rank,
                 .time = worst->step_max - mean,
                 .share = ratio(worst->step_max - mean, worst->step_max)};
}

}  // namespace

const Rule kLongStep = {
    .name = "long_step",
    .kind = Rule::Kind::cause,
    .summary = "Of three steps or more, the longest of a rank takes {} times the mean or more.",
    .threshold = 1.3,
    .evidence = "steps",
    .find = find_long,
};

}  // namespace spotter

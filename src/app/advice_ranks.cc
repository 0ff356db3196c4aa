// Advice that compares ranks with each other.
#include <algorithm>
#include <cmath>
#include <functional>

#include "app/sentences.h"
#include "render/render.h"

namespace spotter {
namespace {

constexpr double kSpread = 0.05;  // how much longer the longest time among ranks may be than the others'
constexpr double kIdler = 0.1;    // share of idle time of one rank above that of the others

using Measure = std::function<double(const RankFacts&)>;
using Ranks = std::vector<const RankFacts*>;

const RankFacts& most(const Ranks& ranks, const Measure& measure) {
  return **std::ranges::max_element(ranks, {}, [&](const RankFacts* r) { return measure(*r); });
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

// Of the ranks with device work or with steps, at least two.
Ranks comparable(const Facts& f, auto&& has) {
  Ranks ranks;
  for (const RankFacts& r : f.ranks) {
    if (has(r)) ranks.push_back(&r);
  }
  if (ranks.size() < 2) ranks.clear();
  return ranks;
}

// One rank that takes longer than the others; true if there is one.
bool say_slow_steps(const Facts& f, Sentences& out) {
  const Ranks ranks = comparable(f, [](const RankFacts& r) { return r.steps > 0; });
  if (ranks.empty()) return false;
  const Measure mean = [](const RankFacts& r) { return ratio(r.step_sum, r.steps); };
  const RankFacts &slow = most(ranks, mean),
                  &fast = most(ranks, [&](const RankFacts& r) { return -mean(r); });
  if (mean(slow) <= (1 + kSpread) * mean(fast)) return false;
  out.push_back(fmt::format("Steps of {} take {} on average, those of {} {}: the ranks are out of step.",
                            rank_name(slow), human_ns(std::llround(mean(slow))), rank_name(fast),
                            human_ns(std::llround(mean(fast)))));
  return true;
}

// Averages hide one rank among many, so the worst is held against the median of the others.
void say_straggler(const Ranks& ranks, bool steps_told, Sentences& out) {
  const Measure time = [](const RankFacts& r) { return static_cast<double>(r.device_time); };
  const Measure idle = [](const RankFacts& r) { return ratio(r.idle, r.device_time); };
  const RankFacts& slowest = most(ranks, time);
  const RankFacts& idlest = most(ranks, idle);
  const bool is_slow = !steps_told && time(slowest) > (1 + kSpread) * median_of_others(ranks, slowest, time);
  const bool is_idle = idle(idlest) > kIdler + median_of_others(ranks, idlest, idle);
  if (!is_slow && !is_idle) return;
  const RankFacts& worst = is_slow ? slowest : idlest;
  out.push_back(fmt::format(
      "The device of {} takes {} and is idle for {} of it; {} {} and {}: look at this rank first, with "
      "--ranks {}.",
      rank_name(worst), human_ns(worst.device_time), percent(idle(worst)),
      ranks.size() == 2 ? "the other takes" : "the others (median) take",
      human_ns(std::llround(median_of_others(ranks, worst, time))),
      percent(median_of_others(ranks, worst, idle)), worst.rank.value_or(0)));
}

void say_uneven_work(const Ranks& ranks, Sentences& out) {
  const Measure work = [](const RankFacts& r) { return static_cast<double>(r.compute); };
  const RankFacts& busy = most(ranks, work);
  const RankFacts& spare = most(ranks, [&](const RankFacts& r) { return -work(r); });
  if (work(busy) <= (1 + kSpread) * work(spare)) return;
  out.push_back(fmt::format("The device of {} computes for {}, that of {} only for {}: {}", rank_name(busy),
                            human_ns(busy.compute), rank_name(spare), human_ns(spare.compute),
                            spare.communication > busy.communication
                                ? fmt::format("it waits in collectives, {} against {}.",
                                              human_ns(spare.communication), human_ns(busy.communication))
                                : std::string("the work is uneven.")));
}

}  // namespace

void say_ranks(const Facts& f, Sentences& out) {
  const bool steps_told = say_slow_steps(f, out);
  // Files without a rank have no device time.
  const Ranks ranks = comparable(f, [](const RankFacts& r) { return r.device_time > 0; });
  if (ranks.empty()) return;
  say_straggler(ranks, steps_told, out);
  say_uneven_work(ranks, out);
}

}  // namespace spotter

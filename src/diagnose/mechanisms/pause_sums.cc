#include "diagnose/mechanisms/pause_sums.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/lower_median.h"
#include "base/saturated.h"

namespace spotter::diagnose {
namespace {

// Three of such sums still fit in 64 bits.
Ns add_up(Ns a, Ns b) { return std::min(add_saturated(a, b), kMaxTime); }

Ns excess_of(const PauseAt& pause, PauseLeft left) { return std::max<Ns>(0, pause.host - pause.*left); }

}  // namespace

std::vector<RankPauses> pauses_by_rank(const JobModel& model,
                                       const std::function<bool(const PauseAt&)>& counts, PauseLeft left) {
  std::vector<RankPauses> ranks;
  for (const PauseAt& pause : model.pauses) {
    if (!counts(pause)) continue;
    if (ranks.empty() || ranks.back().rank != pause.rank) ranks.push_back({.rank = pause.rank, .left = left});
    RankPauses& rank = ranks.back();
    rank.excess = add_up(rank.excess, excess_of(pause, left));
    rank.pauses.push_back(&pause);
    if (rank.steps.empty() || rank.steps.back() != pause.step) rank.steps.push_back(pause.step);
  }
  return ranks;
}

std::vector<RankPauses> standing_out(const JobModel& model, std::vector<RankPauses> ranks) {
  constexpr double kMuch = 0.003;
  std::vector<Ns> excess(model.job.ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) excess[i] = ranks[i].excess;
  const Ns middle = lower_median(excess);
  const Ns limit = 3 * middle + static_cast<Ns>(kMuch * static_cast<double>(model.whole));
  const auto stands_out = [&](const RankPauses& r) { return r.excess > limit; };
  if (std::ranges::none_of(ranks, stands_out)) return ranks;
  std::erase_if(ranks, [&](const RankPauses& r) { return !stands_out(r); });
  return ranks;
}

PauseFacts facts_of(const JobModel& model, const std::vector<RankPauses>& ranks) {
  PauseFacts facts;
  std::map<std::string_view, Ns> by_name;
  std::vector<Ns> times;
  for (const RankPauses& rank : ranks)
    for (const PauseAt* pause : rank.pauses) {
      const analyze::Skeleton& skeleton = model.job.ranks[rank.rank].skeleton;
      Ns& of_name = by_name[skeleton.strings[skeleton.rows[pause->row].name]];
      of_name = add_up(of_name, excess_of(*pause, rank.left));
      facts.excess = add_up(facts.excess, excess_of(*pause, rank.left));
      facts.covered = add_up(facts.covered, pause->covered);
      facts.host = add_up(facts.host, pause->host);
      times.push_back(pause->host);
    }
  facts.count = times.size();
  if (times.empty()) return facts;
  std::ranges::sort(times);
  facts.longest = times.back();
  facts.median = times[times.size() / 2];
  // What mostly is in nothing that was recorded has no name.
  const auto nameless = by_name.find("");
  if (nameless != by_name.end() && nameless->second > facts.excess / 2) return facts;
  for (const auto& [name, ns] : by_name) {
    if (name.empty()) continue;
    const PauseFacts::Name own{
        std::string(name),
        facts.excess > 0 ? static_cast<double>(ns) / static_cast<double>(facts.excess) : 0};
    if (facts.first.share < own.share || facts.first.name.empty())
      facts.second = std::exchange(facts.first, own);
    else if (facts.second.share < own.share)
      facts.second = own;
  }
  return facts;
}

void end_pauses(const JobModel& model, const std::vector<RankPauses>& ranks, analyze::Scenario& scenario) {
  for (const RankPauses& rank : ranks)
    for (const PauseAt* pause : rank.pauses)
      scenario.host[model.row_index(rank.rank, pause->row)] = std::min(pause->*rank.left, pause->host);
}

std::vector<u32> ranks_of(const std::vector<RankPauses>& ranks) {
  std::vector<u32> all;
  for (const RankPauses& rank : ranks) all.push_back(rank.rank);
  return all;
}

std::vector<i64> few_steps(const JobModel& model, const std::vector<RankPauses>& ranks) {
  constexpr Ns kPart = 10;
  std::map<i64, Ns> excess;
  for (const RankPauses& rank : ranks)
    for (const PauseAt* pause : rank.pauses) {
      Ns& of_step = excess[model.step_number(rank.rank, pause->step)];
      of_step = add_up(of_step, excess_of(*pause, rank.left));
    }
  Ns most = 0;
  for (const auto& [step, ns] : excess) most = std::max(most, ns);
  std::erase_if(excess, [&](const auto& of) { return of.second < most / kPart; });
  std::vector<i64> numbers;
  for (const auto& [step, ns] : excess) numbers.push_back(step);
  if (2 * static_cast<i64>(numbers.size()) >= model.steps) return {};
  return numbers;
}

std::vector<RankPauses> in_steps(const JobModel& model, std::vector<RankPauses> ranks,
                                 const std::vector<i64>& numbers) {
  if (numbers.empty()) return ranks;
  for (RankPauses& rank : ranks) {
    const auto is_in = [&](u32 step) {
      return std::ranges::find(numbers, model.step_number(rank.rank, step)) != numbers.end();
    };
    std::erase_if(rank.pauses, [&](const PauseAt* pause) { return !is_in(pause->step); });
    std::erase_if(rank.steps, [&](u32 step) { return !is_in(step); });
    rank.excess = 0;
    for (const PauseAt* pause : rank.pauses) rank.excess = add_up(rank.excess, excess_of(*pause, rank.left));
  }
  std::erase_if(ranks, [](const RankPauses& rank) { return rank.pauses.empty(); });
  return ranks;
}

}  // namespace spotter::diagnose

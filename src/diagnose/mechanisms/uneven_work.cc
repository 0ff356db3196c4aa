#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/lower_median.h"
#include "base/saturated.h"
#include "diagnose/mechanisms/device_rows.h"
#include "diagnose/mechanisms/extra_rows.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/uneven.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr double kLeast = 0.01;  // that some rank takes longer in a step
constexpr double kMore = 0.005;  // of the step: further calls that are worth a look
constexpr double kAgree = 0.3;   // how far what runs show of them is from what kinds of work show

struct RankStep {
  u32 rank, step;  // of the rank
  double factor;
};

// What a rank launches in a step from one collective to the next.
struct Segment {
  std::vector<u32> runs = {};
  Ns device = 0;
  i64 pieces = 0;
};

std::vector<Segment> segments_in(const analyze::RankProgram& rank, u32 step) {
  std::vector<Segment> segments(1);
  for (u32 i = rank.step_rows[step]; i < rank.step_rows[step + 1]; ++i) {
    const analyze::SkeletonRow& row = rank.rows()[i];
    if (row.op == analyze::SkeletonOp::collective) segments.emplace_back();
    if (row.op != analyze::SkeletonOp::run) continue;
    segments.back().runs.push_back(i);
    segments.back().device = add_saturated(segments.back().device, row.device);
    segments.back().pieces = add_saturated(segments.back().pieces, row.count);
  }
  return segments;
}

// Segment by segment, where all have the same ones: not all of a step's work depends on its size. False
// where they do not.
bool even_out_segments(const JobModel& model, const std::vector<RankStep>& ranks,
                       analyze::Scenario& scenario) {
  std::vector<std::vector<Segment>> segments;
  for (const RankStep& one : ranks) segments.push_back(segments_in(model.job.ranks[one.rank], one.step));
  const auto same = [](const Segment& a, const Segment& b) { return a.pieces == b.pieces; };
  for (const std::vector<Segment>& of_rank : segments)
    if (!std::ranges::equal(of_rank, segments[0], same)) return false;
  for (size_t k = 0; !segments.empty() && k < segments[0].size(); ++k) {
    double mean = 0;
    for (const std::vector<Segment>& of_rank : segments)
      mean += static_cast<double>(of_rank[k].device) / static_cast<double>(ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i)
      if (const Segment& own = segments[i][k]; own.device > 0)
        for (const u32 run : own.runs)
          scenario.run[model.row_index(ranks[i].rank, run)] *=
              static_cast<float>(mean / static_cast<double>(own.device));
  }
  return true;
}

// (a) Work can be moved between ranks, not removed: each step at the mean of its ranks. What is beyond the
// limit is no matter of work.
void even_out(const JobModel& model, const std::vector<u32>& stage, double limit,
              analyze::Scenario& scenario) {
  for (u32 s = 0; s < model.steps; ++s) {
    std::vector<RankStep> ranks;
    double sum = 0;
    for (const u32 r : stage)
      if (const Cell* cell = model.cells.find(r, s); cell && cell->factor <= limit) {
        ranks.push_back({r, *model.job.ranks[r].step_at(s), cell->factor});
        sum += cell->factor;
      }
    if (even_out_segments(model, ranks, scenario)) continue;
    for (const RankStep& one : ranks)
      scenario.device[model.step_index(one.rank, one.step)] *=
          sum / static_cast<double>(ranks.size()) / one.factor;
  }
}

// All stages whose ranks vary together: what is uneven in one is what the next ones are given.
std::optional<Candidate> of_stages(const JobModel& model) {
  struct Uneven {
    std::vector<u32> ranks;
    double limit;
  };
  std::vector<Uneven> stages;
  Candidate c;
  size_t varying = 0;
  double most = 0;
  const std::vector<RankShift> shifts = level_shifts(model).of_ranks;
  for (const std::vector<u32>& ranks : comparable_ranks(model)) {
    const std::vector<u32> vary = varying_ranks(model, ranks, shifts);
    if (vary.empty()) continue;
    const double limit = outer_limit(model, ranks);
    for (const u32 r : vary)
      for (u32 s = 0; s < model.cells.steps(r); ++s)
        if (const Cell& cell = model.cells.at(r, s); cell.factor <= limit)
          most = std::max(most, cell.excess());
    varying += vary.size();
    c.ranks.insert(c.ranks.end(), ranks.begin(), ranks.end());
    stages.push_back({ranks, limit});
  }
  if (stages.empty() || most < kLeast) return {};
  std::ranges::sort(c.ranks);
  c.what = fmt::format(
      "Work is uneven: on {} of {} ranks, others in each step, the same kernels take up to {} longer than on "
      "their peers, which wait for the one that has most",
      varying, c.ranks.size(), percent_of(most));
  c.undo = [&model, stages](analyze::Scenario& s) {
    for (const Uneven& stage : stages) even_out(model, stage.ranks, stage.limit, s);
  };
  return c;
}

// Of its steps, what a rank does more than is usual.
double more_of(const JobModel& model, u32 r) {
  double more = 0;
  for (u32 s = 0; s < model.cells.steps(r); ++s) more += model.cells.at(r, s).more;
  return model.cells.steps(r) == 0 ? 0 : more / model.cells.steps(r);
}

// What part of that its peers do not make up for with other work that it does not do, as ranks do whose
// batches have other shapes.
double part_beyond_peers(const JobModel& model, u32 r) {
  std::vector<double> of_peers;
  for (const u32 peer : model.stages.ranks[model.stages.of[r]])
    if (peer != r) of_peers.push_back(more_of(model, peer));
  const double own = more_of(model, r);
  return of_peers.empty() || own <= 0 ? 1 : std::max(0.0, 1 - lower_median(of_peers) / own);
}

// The runs without what the rank's peers do not do there; where these are not what it does more in all, each
// step by `part` of that.
void do_no_more(const JobModel& model, u32 r, const std::vector<ExtraRow>& rows, bool is_there, double part,
                analyze::Scenario& scenario) {
  if (is_there) {
    for (const ExtraRow& row : rows) {
      const size_t i = model.row_index(r, row.row);
      scenario.run[i] = static_cast<float>(row.part);
      scenario.host[i] = static_cast<Ns>(static_cast<double>(scenario.host[i]) * row.part);
    }
    return;
  }
  for (u32 step = 0; step < model.cells.steps(r); ++step) {
    const Cell& cell = model.cells.at(r, step);
    if (cell.device > 0)
      scenario.device[model.step_index(r, step)] *=
          std::max(0.0, 1 - part * cell.more * cell.factor / static_cast<double>(cell.device));
  }
}

// (b) A rank that does more of the same.
std::optional<Candidate> of_rank(const JobModel& model, u32 r) {
  if (model.stages.are_unclear) return {};
  const DeviceRow row = device_row(model, r);
  const double part = part_beyond_peers(model, r);
  double more = 0, pieces = 0;
  u32 steps = 0;
  for (u32 s = 0; s < model.cells.steps(r); ++s) {
    const double beyond = part * model.cells.at(r, s).more;
    more += beyond;
    pieces += model.cells.at(r, s).more_pieces;
    steps += beyond > kMore * static_cast<double>(model.step_ns()) ? 1 : 0;
  }
  if (row.known == 0 || 2 * steps < row.known ||
      more / row.known < kMore * static_cast<double>(model.step_ns()))
    return {};
  Candidate c;
  c.ranks = {r};
  const size_t peers = model.stages.ranks[model.stages.of[r]].size() - 1;
  c.what = fmt::format(
      "{} does more than the {}: {} of device work in each step that they do not do", who(model, c.ranks),
      peers == 1 ? "other" : fmt::format("{} others of its kind", peers), human(more / row.known));
  const std::vector<ExtraRow> rows = extra_rows(model, r);
  const double found = std::accumulate(rows.begin(), rows.end(), 0.0, [](double sum, const ExtraRow& extra) {
    return sum + static_cast<double>(extra.pieces);
  });
  const bool is_there = part == 1 && std::abs(found - pieces) <= kAgree * pieces;
  // Launching takes the host longer than running takes the device where the job is bound by that.
  double host = 0;
  for (const ExtraRow& extra : rows)
    host += (1 - extra.part) * static_cast<double>(model.job.ranks[r].rows()[extra.row].host);
  c.most = static_cast<Ns>(std::min(more * 2 + host, static_cast<double>(kMaxTime)));
  c.undo = [&model, r, rows, is_there, part](analyze::Scenario& s) {
    do_no_more(model, r, rows, is_there, part, s);
  };
  return c;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::vector<Candidate> all;
  if (auto c = of_stages(model)) all.push_back(std::move(*c));
  for (const std::vector<u32>& stage : model.stages.ranks)
    for (const u32 r : stage)
      if (stage.size() > 1)
        if (auto c = of_rank(model, r)) all.push_back(std::move(*c));
  return all;
}

}  // namespace

const Mechanism kUnevenWork = {
    .name = "uneven_work",
    .summary =
        "(a) Of three ranks or more, and 30 % of a stage, the same kernels take times that differ from step to step beyond "
        "what the stage shares: by 1 % (standard deviation) and four standard errors. (b) A rank runs more pieces of work than the "
        "median of its stage, beyond those of which it runs fewer, worth over 0.5 % of the step. A rank that does the same more slowly is slow_device.",
    .remedy =
        "Give each rank as much to do: sort or pack samples by length, balance tokens and experts between ranks.",
    .evidence = "--table operators",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose

#include <algorithm>
#include <cmath>
#include <numeric>

#include "diagnose/mechanisms/device_rows.h"
#include "diagnose/mechanisms/extra_rows.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/uneven.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

constexpr double kMore = 0.005;  // of the step: further calls that are worth a look
constexpr double kAgree = 0.3;   // how far what runs show of them is from what kinds of work show

// (a) Work can be moved between ranks, not removed: each step at the mean of its ranks. What is beyond the
// limit is no matter of work.
void even_out(const JobModel& model, const std::vector<u32>& stage, double limit,
              analyze::Scenario& scenario) {
  for (u32 s = 0; s < model.steps; ++s) {
    double sum = 0, n = 0;
    for (const u32 r : stage)
      if (const Cell* cell = model.cells.find(r, s); cell && cell->factor <= limit) {
        sum += cell->factor;
        ++n;
      }
    for (const u32 r : stage)
      if (const Cell* cell = model.cells.find(r, s); cell && cell->factor <= limit)
        scenario.device[model.step_index(r, *model.job.ranks[r].step_at(s))] *= sum / n / cell->factor;
  }
}

Candidate of_stage(const JobModel& model, const std::vector<u32>& stage, const std::vector<u32>& varying) {
  Candidate c;
  c.ranks = stage;
  const double limit = outer_limit(model, stage);
  double most = 0;
  for (const u32 r : varying)
    for (u32 s = 0; s < model.cells.steps(r); ++s)
      if (const Cell& cell = model.cells.at(r, s); cell.factor <= limit) most = std::max(most, cell.excess());
  c.what = fmt::format(
      "The same kernels take {} of {} ranks other times in each step, up to {} longer: their work is "
      "of unequal size, and in each step the others wait for the one that has most",
      varying.size(), stage.size(), percent_of(most));
  c.undo = [&model, stage, limit](analyze::Scenario& s) { even_out(model, stage, limit, s); };
  return c;
}

// The runs without what the rank's peers do not do there; where these are not what it does more in all, each
// step by so much.
void do_no_more(const JobModel& model, u32 r, const std::vector<ExtraRow>& rows, bool is_there,
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
          std::max(0.0, 1 - cell.more * cell.factor / static_cast<double>(cell.device));
  }
}

// (b) A rank that does more of the same.
std::optional<Candidate> of_rank(const JobModel& model, u32 r) {
  if (model.stages.are_unclear) return {};
  const DeviceRow row = device_row(model, r);
  double more = 0, pieces = 0;
  u32 steps = 0;
  for (u32 s = 0; s < model.cells.steps(r); ++s) {
    more += model.cells.at(r, s).more;
    pieces += model.cells.at(r, s).more_pieces;
    steps += model.cells.at(r, s).more > kMore * static_cast<double>(model.step_ns()) ? 1 : 0;
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
  const bool is_there = std::abs(found - pieces) <= kAgree * pieces;
  // Launching takes the host longer than running takes the device where the job is bound by that.
  double host = 0;
  for (const ExtraRow& extra : rows)
    host += (1 - extra.part) * static_cast<double>(model.job.ranks[r].rows()[extra.row].host);
  c.most = static_cast<Ns>(std::min(more * 2 + host, static_cast<double>(kMaxTime)));
  c.undo = [&model, r, rows, is_there](analyze::Scenario& s) { do_no_more(model, r, rows, is_there, s); };
  return c;
}

std::vector<Candidate> candidates(const JobModel& model) {
  std::vector<Candidate> all;
  for (const std::vector<u32>& ranks : comparable_ranks(model)) {
    const std::vector<u32> varying = varying_ranks(model, ranks);
    if (!varying.empty()) all.push_back(of_stage(model, ranks, varying));
  }
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
        "median of its stage, worth over 0.5 % of the step. A rank that does the same more slowly is slow_device.",
    .remedy =
        "Give each rank as much to do: sort or pack samples by length, balance tokens and experts between ranks.",
    .evidence = "--table operators",
    .candidates = candidates,
};

}  // namespace spotter::diagnose

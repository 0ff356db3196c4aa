// How long each step takes on each rank, on a page.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "render/render.h"
#include "report/list.h"
#include "table/ops.h"

namespace spotter::report {
namespace {

// Of the longest step: number, rank, length, and how the others compare.
Points longest_step(const Table& steps) {
  std::vector<i64> lengths;
  size_t worst = 0;
  const size_t dur = steps.column("dur_ns"), number = steps.column("number");
  for (size_t row = 0; row < steps.rows(); ++row) {
    lengths.push_back(steps.integer(row, dur));
    if (lengths[row] > lengths[worst]) worst = row;
  }
  const i64 longest = lengths[worst];
  std::ranges::sort(lengths);
  const double median = table::quantile(lengths, 0.5);
  const std::optional<i64> rank = table::optional_integer(steps, worst, "rank"),
                           step = table::optional_integer(steps, worst, "number");
  if (!step || is_null(steps.at(worst, number))) return {};
  return {{.text = fmt::format("The longest step is {}{}: {}; the median of all is {}.", *step,
                               rank ? fmt::format(" on rank {}", *rank) : std::string(),
                               render::human_ns(longest), render::human_ns(static_cast<Ns>(median))),
           .time = longest,
           .place = rank ? fmt::format("#/steps?v=1&ranks={}&steps={}", *rank, *step)
                         : fmt::format("#/steps?v=1&steps={}", *step)}};
}

HeatMap step_map(const Table& steps) {
  HeatMap map{.title = "Length of each step on each rank",
              .row_name = "rank",
              .column_name = "step",
              .rows = {},
              .columns = {},
              .cells = {}};
  std::map<i64, size_t> rows, columns;
  const auto rank_of = [&](size_t row) { return table::optional_integer(steps, row, "rank").value_or(-1); };
  const auto step_of = [&](size_t row) { return table::optional_integer(steps, row, "number").value_or(-1); };
  for (size_t row = 0; row < steps.rows(); ++row) {
    rows.try_emplace(rank_of(row));
    columns.try_emplace(step_of(row));
  }
  const auto name_all = [](std::map<i64, size_t>& places, std::vector<std::string>& names) {
    for (auto& [number, place] : places) {
      place = names.size();
      names.push_back(number < 0 ? "-" : fmt::format("{}", number));
    }
  };
  name_all(rows, map.rows);
  name_all(columns, map.columns);
  map.cells.resize(rows.size() * columns.size());
  for (size_t row = 0; row < steps.rows(); ++row) {
    auto& cell = map.cells[rows.at(rank_of(row)) * columns.size() + columns.at(step_of(row))];
    cell = std::max(cell.value_or(0), steps.integer(row, steps.column("dur_ns")));
  }
  return map;
}

}  // namespace

const Section kStepMap = {
    .name = "steps",
    .is_shown = [](const Subject& s) { return find_table(s, "steps") != nullptr; },
    .title = [](const Subject&) { return std::string("Steps"); },
    .parts = [](const Subject& s) -> std::vector<Part> {
      const Table& steps = *find_table(s, "steps");
      return {longest_step(steps), step_map(steps)};
    },
};

}  // namespace spotter::report

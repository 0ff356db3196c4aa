// The critical path of the steps, on a page: what it is spent on, and the names with most of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyze/statistics.h"
#include "report/list.h"
#include "table/ops.h"

namespace spotter::report {
namespace {

constexpr size_t kMostPathSteps = 40, kMostPathNames = 12;

struct PathPart {
  const char *column, *name, *kind;
};
constexpr PathPart kPathParts[] = {
    {"compute_ns", "compute", "compute"},
    {"communication_ns", "communication", "communication"},
    {"memory_ns", "memory", "memory"},
    {"host_operators_ns", "host operators", "operator"},
    {"host_gaps_ns", "host gaps", "idle"},
    {"data_loading_ns", "data loading", "annotation"},
    {"launches_ns", "launches", "runtime"},
    {"kernel_gaps_ns", "kernel gaps", "other"},
    {"synchronization_ns", "synchronization", "other"},
    {"unknown_ns", "unknown", "other"},
};

// Mean of the ranks. Of many steps the longest ones.
Bars path_bars(const Table& path) {
  Bars bars{.title = "Critical path of each step, mean of all ranks", .series = {}, .rows = {}};
  for (const PathPart& part : kPathParts) bars.series.push_back({part.name, part.kind});
  struct Sums {
    i64 ranks = 0, length = 0;
    std::array<i64, std::size(kPathParts)> parts = {};
  };
  std::map<i64, Sums> steps;
  for (size_t row = 0; row < path.rows(); ++row) {
    Sums& sums = steps[table::optional_integer(path, row, "step").value_or(-1)];
    ++sums.ranks;
    sums.length += table::optional_integer(path, row, "length_ns").value_or(0);
    for (size_t i = 0; i < std::size(kPathParts); ++i)
      sums.parts[i] += table::optional_integer(path, row, kPathParts[i].column).value_or(0);
  }
  std::vector<std::pair<i64, i64>> longest;  // length, step
  for (const auto& [step, sums] : steps) longest.emplace_back(-sums.length / sums.ranks, step);
  std::ranges::sort(longest);
  if (longest.size() > kMostPathSteps) {
    longest.resize(kMostPathSteps);
    bars.title += fmt::format(" (the {} longest of {})", kMostPathSteps, steps.size());
  }
  std::ranges::sort(longest, {}, &std::pair<i64, i64>::second);
  for (const auto& [length, step] : longest) {
    const Sums& sums = steps.at(step);
    std::vector<i64> values;
    for (const i64 part : sums.parts) values.push_back(std::max<i64>(0, part / sums.ranks));
    bars.rows.push_back({step < 0 ? "-" : fmt::format("{}", step), values});
  }
  return bars;
}

constexpr Field kNameColumns[] = {
    {"name", Type::text, Unit::none, Role::key, "What is on the path."},
    {"bound_by", Type::text, Unit::none, Role::value, "What the time is spent on."},
    {"pieces", Type::integer, Unit::count, Role::value, "How often, over all ranks."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "How long, over all ranks."},
    {"ratio", Type::real, Unit::ratio, Role::value, "Of the paths of all ranks."},
};

Table path_names(const Table& names) {
  const Table sums = table::sort(table::sum_by(names, {"name", "bound_by"}, {"pieces", "dur_ns"}),
                                 {{"dur_ns", true}, {"name", false}});
  const i64 total = table::sum_of(sums, "dur_ns");
  Table t("critical path by name", kNameColumns);
  for (size_t row = 0; row < std::min(sums.rows(), kMostPathNames); ++row)
    t.append({sums.at(row, 0), sums.at(row, 1), sums.at(row, 2), sums.at(row, 3),
              analyze::ratio(sums.integer(row, 3), total)});
  return t;
}

std::vector<Part> path_parts(const Subject& subject) {
  std::vector<Part> parts;
  if (const Table* path = find_table(subject, "critical_path")) parts.emplace_back(path_bars(*path));
  if (const Table* names = find_table(subject, "critical_path_names")) parts.emplace_back(path_names(*names));
  return parts;
}

}  // namespace

const Section kLongestChain = {
    .name = "critical_path",
    .is_shown =
        [](const Subject& s) {
          return find_table(s, "critical_path") || find_table(s, "critical_path_names");
        },
    .title = [](const Subject&) { return std::string("Critical path"); },
    .parts = path_parts,
};

}  // namespace spotter::report

// The iterations of an inference engine by phase.
#include <algorithm>

#include "report/list.h"

namespace spotter::report {
namespace {

constexpr size_t kMostRows = 16;

constexpr Field kColumns[] = {
    {"rank", Type::integer, Unit::none, Role::key, ""},
    {"phase", Type::text, Unit::none, Role::key, ""},
    {"iterations", Type::integer, Unit::count, Role::value, ""},
    {"mean", Type::real, Unit::ns, Role::value, ""},
    {"p50", Type::real, Unit::ns, Role::value, ""},
    {"p99", Type::real, Unit::ns, Role::value, ""},
    {"tokens", Type::real, Unit::per_s, Role::value, ""},
};

Table iteration_table(const Table& summary) {
  Table t("iterations", kColumns);
  const auto cell = [&](size_t row, const char* name) { return summary.at(row, summary.column(name)); };
  for (size_t row = 0; row < std::min(summary.rows(), kMostRows); ++row)
    t.append({cell(row, "rank"), cell(row, "phase"), cell(row, "iterations"), cell(row, "mean_ns"),
              cell(row, "p50_ns"), cell(row, "p99_ns"), cell(row, "tokens_per_s")});
  return t;
}

std::string title(const Subject& subject) {
  const Table& summary = subject.facts.iterations;
  return summary.rows() <= kMostRows
             ? "Iterations of inference"
             : "Iterations of inference (of the first ranks; iteration_summary has all)";
}

}  // namespace

const Section kIterations = {
    .name = "iterations",
    .is_shown = [](const Subject& s) { return s.facts.iterations.rows() > 0; },
    .title = title,
    .parts = [](const Subject& s) -> std::vector<Part> { return {iteration_table(s.facts.iterations)}; },
    .sentence =
        "tokens: of prompts that are read and that are made, over the iterations' own time, of the host or of their device work, whichever is longer.",
};

}  // namespace spotter::report

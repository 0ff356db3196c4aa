#include "diagnose/diff.h"

#include <utility>

#include "analyze/job/conditions.h"
#include "analyze/list.h"
#include "analyze/operators/path_diff.h"
#include "diagnose/compare.h"
#include "render/render.h"

namespace spotter::diagnose {
namespace {

constexpr Field kCauseColumns[] = {
    whole({"cause", Type::text, Unit::none, Role::value,
           "Why the second job is slower or faster, as a sentence; the first one is about the step."}),
};

struct Side {
  Table totals, conditions;
  i64 files = 0;
  Notes notes;
  Diagnosis diagnosis;
};

Result<Side> run_side(const Job& job, const DiffRequest& request, const Loader& load) {
  const bool is_diagnosed = request.findings || request.causes;
  Side side;
  TRY_ASSIGN(side.diagnosis,
             run(job, {.run = request.run, .findings = is_diagnosed, .path = is_diagnosed}, load));
  std::vector<Table>& tables = side.diagnosis.tables;
  side.notes = render::all_notes(tables, side.diagnosis.notes);
  side.totals = std::move(tables[0]);
  side.conditions = std::move(tables[1]);
  side.files = static_cast<i64>(tables[2].rows());
  tables.clear();
  return side;
}

}  // namespace

Table causes_table(std::span<const std::string> causes) {
  Table table(kCauses, kCauseColumns);
  for (const std::string& cause : causes) table.append({std::string_view(cause)});
  return table;
}

Result<Diff> diff(const Job& job_before, const Job& job_after, DiffRequest request, const Loader& load) {
  request.run.analyses = {request.by_path ? &analyze::kPaths : &analyze::kEventTotals, &analyze::kConditions,
                          &analyze::kSummary};
  if (request.by_shapes) request.run.params = {{analyze::kByShapesOfPaths.name, i64{1}}};
  TRY_ASSIGN(Side before, run_side(job_before, request, load));
  TRY_ASSIGN(Side after, run_side(job_after, request, load));
  Diff diff;
  diff.table = request.by_path ? analyze::path_diff(before.totals, after.totals)
                               : analyze::trace_diff(before.totals, after.totals, request.how);
  diff.notes = std::move(before.notes);
  diff.notes.merge(after.notes);
  const Notes differences = analyze::differing_conditions(before.conditions, after.conditions);
  if (request.causes) diff.causes = causes(before.diagnosis, after.diagnosis, differences);
  Notes untold;
  for (const Note& note : differences.all())
    if (diff.causes.empty() || !is_cause(note)) untold.add(note);
  diff.notes.merge(untold);
  if (before.files != after.files && untold.count("different_rank") == 0)
    diff.notes.add(
        "different_files", Severity::info,
        fmt::format("the jobs have different numbers of traces: {} and {}", before.files, after.files));
  diff.before = std::move(before.diagnosis);
  diff.after = std::move(after.diagnosis);
  return diff;
}

}  // namespace spotter::diagnose

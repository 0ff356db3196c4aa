// diff: two jobs -> what changed.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analyze/list.h"
#include "analyze/operators/trace_diff.h"
#include "app/commands.h"
#include "app/format_option.h"
#include "app/job_options.h"
#include "app/output.h"
#include "app/terminal.h"
#include "app/words.h"
#include "base/parallel_for.h"
#include "read/open.h"
#include "table/ops.h"

namespace spotter::app {
namespace {

struct Options {
  std::string before, after;
  analyze::RunRequest request;
  analyze::DiffOptions how;
  i64 top = 20;
  const render::Format* format = &render::all_formats()[0];
  std::string output;  // empty: standard output
};

struct Side {
  Table totals;
  i64 ranks = 0, steps = 0;  // steps of all ranks
  Notes notes;
};

Result<Job> open_side(const std::string& path, const Options& options) {
  TRY_ASSIGN(Job job, read::open_job(std::span(&path, 1)));
  TRY(check_output(options.output, job));
  return job;
}

Result<Side> run_side(const Job& job, const Options& options) {
  TRY_ASSIGN(analyze::RunResult result, analyze::run(job, options.request, read::load));
  Side side;
  side.notes = render::all_notes(result.tables, result.notes);
  side.totals = std::move(result.tables[0]);
  const Table& summary = result.tables[1];
  side.ranks = static_cast<i64>(summary.rows());
  for (size_t row = 0; row < summary.rows(); ++row)
    side.steps += summary.integer(row, summary.column("steps"));
  return side;
}

void compare_sizes(const Side& before, const Side& after, Notes& notes) {
  if (before.ranks != after.ranks)
    notes.add(
        "different_ranks", Severity::info,
        fmt::format("the jobs have different numbers of traces, {} and {}; --ranks chooses the same of both",
                    before.ranks, after.ranks));
  else if (before.steps != after.steps)
    notes.add(
        "different_steps", Severity::info,
        fmt::format(
            "the jobs have different numbers of steps, {} and {} in all traces; --steps chooses as many of both",
            before.steps, after.steps));
}

Result<void> diff(const Options& options) {
  TRY(check_output(options.output, *options.format));
  TRY_ASSIGN(const Job job_before, open_side(options.before, options));
  TRY_ASSIGN(const Job job_after, open_side(options.after, options));
  TRY_ASSIGN(const Side before, run_side(job_before, options));
  TRY_ASSIGN(const Side after, run_side(job_after, options));
  Table table = analyze::trace_diff(before.totals, after.totals, options.how);
  Notes notes = before.notes;
  notes.merge(after.notes);
  compare_sizes(before, after, notes);
  const size_t listed = options.top == 0 ? table.rows() : static_cast<size_t>(options.top);
  if (table.rows() > listed)
    notes.add("left_out", Severity::info, "names with smaller changes are left out; --top 0 lists all", -1,
              static_cast<i64>(table.rows() - listed));
  table = table::head(table, listed);
  const int fd = is_standard_output(options.output) ? STDOUT_FILENO : -1;
  const render::Document document{std::span(&table, 1), notes};
  const std::string bytes = render::render(*options.format, document, style_of(fd));
  say_notes(*options.format, document);
  return write_output(options.output, bytes);
}

}  // namespace

Action declare_diff(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();  // the action, which owns them, outlives every parse
  o->request.analyses = {&analyze::kEventTotals, &analyze::kSummary};
  o->request.threads = all_processors();
  app.add_option("BEFORE", o->before, "trace file, folder or pattern of the first job")
      ->required()
      ->type_name("");
  app.add_option("AFTER", o->after, "that of the second job")->required()->type_name("");
  add_job_part_options(app, o->request.ranks, o->request.steps, " of both");
  app.add_flag("--by-function", o->how.by_function,
               "compare kernels by their functions, without template arguments and parameters");
  app.add_flag("--by-rank", o->how.by_rank, "compare each rank with itself; else the sums over all ranks");
  add_option(app, "--top", "N", "list this many, those that change most; 0 lists all (default 20)",
             [o](const std::string& word) -> Result<void> {
               TRY_ASSIGN(o->top, parse_number(word, 0, INT64_MAX));
               return {};
             });
  add_format_option(app, o->format);
  app.add_option("-o,--output", o->output, "write to this file, whole or not at all; - is standard output")
      ->type_name("FILE");
  app.footer("Example: spotter diff traces/monday traces/tuesday --steps 3-7");
  return [options]() -> Result<int> {
    TRY(diff(*options));
    return 0;
  };
}

}  // namespace spotter::app

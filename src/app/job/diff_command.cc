// diff: two jobs -> what changed.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "analyze/operators/path_diff.h"
#include "analyze/operators/trace_diff.h"
#include "app/cli/command.h"
#include "app/cli/format_option.h"
#include "app/cli/interruption.h"
#include "app/cli/job_options.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/terminal.h"
#include "app/job/gates.h"
#include "app/job/open_paths.h"
#include "base/parallel_for.h"
#include "base/system/memory.h"
#include "diagnose/diff.h"
#include "read/open.h"
#include "render/list.h"
#include "table/ops.h"

namespace spotter::app {
namespace {

struct Options {
  std::string before, after;
  diagnose::DiffRequest request;
  i64 top = 20;
  std::vector<Gate> gates;
  const render::Format* named_format = nullptr;  // by --format
  const render::Format* format = &render::kText;
  std::string output;  // empty: standard output
};

// What the gates ended with, where one does not hold; 5 is that of analyze --fail-on.
constexpr int kGateExceeded = 6;

Result<Job> open_side(const std::string& path, const Options& options) {
  TRY_ASSIGN(Job job, open_paths(std::span(&path, 1)));
  TRY(check_output(options.output, job));
  return job;
}

// A person has no use for them.
Table without_unchanged(const Table& diff, bool by_path, Notes& notes) {
  const auto is_unchanged = by_path ? analyze::is_unchanged_path : analyze::is_unchanged;
  std::vector<size_t> changed;
  for (size_t row = 0; row < diff.rows(); ++row)
    if (!is_unchanged(diff, row)) changed.push_back(row);
  const auto others = static_cast<i64>(diff.rows() - changed.size());
  if (others > 0)
    notes.add("unchanged", Severity::info,
              others == 1 ? "1 name without a change is left out; the other formats list it, too"
                          : "names without a change are left out; the other formats list them, too",
              -1, others);
  return table::pick(diff, changed);
}

std::string text_of(const std::vector<std::string>& causes, int width) {
  std::string text;
  for (const std::string& cause : causes) text += render::wrapped("- " + cause, width, "  ") + "\n";
  return text.empty() ? text : text + "\n";
}

// Which gates do not hold is said on standard error. Of what could not be read none can hold.
Result<bool> is_any_exceeded(const Options& options, const diagnose::Diff& diff) {
  const i64 left_out = diff.before.notes.count("file_left_out") + diff.after.notes.count("file_left_out");
  if (!options.gates.empty() && left_out > 0)
    return fail(Code::invalid, "--fail-if: a file could not be read, and what it shows is not known");
  bool any = false;
  for (const Gate& gate : options.gates) {
    TRY_ASSIGN(const bool is_over, is_exceeded(gate, diff.before, diff.after));
    if (!is_over) continue;
    any = true;
    std::fprintf(stderr, "spotter: --fail-if %s: it has grown by more\n", gate.word.c_str());
  }
  return any;
}

// The exit status.
Result<int> diff(Options options) {
  keep_freed_memory();
  TRY(check_output(options.output, *options.format));
  TRY_ASSIGN(const Job job_before, open_side(options.before, options));
  TRY_ASSIGN(const Job job_after, open_side(options.after, options));
  const std::atomic<bool>* interrupted = interruption();
  const bool is_text = options.format == &render::kText;
  diagnose::DiffRequest& request = options.request;
  request.run.cancelled = interrupted;
  request.causes = is_text;  // people are told why
  request.findings = !options.gates.empty();
  TRY_ASSIGN(diagnose::Diff found, diagnose::diff(job_before, job_after, request, read::load));
  Table table = std::move(found.table);
  Notes notes = std::move(found.notes);
  if (is_text) table = without_unchanged(table, request.by_path, notes);
  const size_t listed = options.top == 0 ? table.rows() : static_cast<size_t>(options.top);
  if (table.rows() > listed)
    notes.add("left_out", Severity::info, "names with smaller changes are left out; --top 0 lists all", -1,
              static_cast<i64>(table.rows() - listed));
  table = table::head(table, listed);
  const int fd = is_standard_output(options.output) ? STDOUT_FILENO : -1;
  const render::Document document{std::span(&table, 1), notes};
  std::string bytes = render::render(*options.format, document, style_of(fd));
  if (is_text) bytes = text_of(found.causes, page_style_of(fd).width) + bytes;
  say_notes(*options.format, document);
  if (*interrupted) return fail(Code::cancelled, "interrupted");
  TRY_ASSIGN(const bool is_failure, is_any_exceeded(options, found));
  TRY(write_output(options.output, bytes));
  return is_failure ? kGateExceeded : 0;
}

}  // namespace

Command diff_command() {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();  // the action, which owns them, outlives every parse
  diagnose::DiffRequest& r = o->request;
  r.run.threads = all_processors();
  Command command = {
      .name = "diff",
      .summary = "Say what changed from one job's traces to another's.",
      .arguments = {{.name = "BEFORE",
                     .help = "trace file, folder or pattern of the first job",
                     .read = keep(o->before),
                     .offer = offer_files()},
                    {.name = "AFTER",
                     .help = "that of the second job",
                     .read = keep(o->after),
                     .offer = offer_files()}},
      .options = job_part_options(r.run.ranks, r.run.steps, " of both"),
      .footer = "Example: spotter diff traces/monday traces/tuesday --steps 3-7",
      .check = [o]() -> Result<void> {
        TRY_ASSIGN(o->format, choose_format(o->named_format, o->output));
        diagnose::DiffRequest& request = o->request;
        request.by_path |= request.by_shapes;
        if (request.by_path && (request.how.by_rank || request.how.by_function))
          return fail(
              Code::invalid,
              "--by-path is of all ranks, and of operators: it goes neither with --by-rank nor with --by-function");
        return {};
      },
      .action = [options]() -> Result<int> {
        say_when_interrupted(untouched(options->output));
        return diff(*options);
      },
  };
  append(
      command.options,
      {{.names = {"--by-function"},
        .help = "compare kernels by their functions, without template arguments and parameters",
        .read = set(r.how.by_function)},
       {.names = {"--by-path"},
        .help = "compare modules and operators by what they are in, in time per step",
        .read = set(r.by_path)},
       {.names = {"--by-shapes"},
        .help = "--by-path, with the shapes of the operands (record_shapes=True) in the paths",
        .read = set(r.by_shapes)},
       {.names = {"--by-rank"},
        .help = "compare each rank with itself; else the sums over all ranks",
        .read = set(r.how.by_rank)},
       {.names = {"--fail-if"},
        .value = "GATE",
        .help =
            "end with status 6 if a quantity has grown by more than a share of before, or a time (of memory a "
            "size): 'step>5%', 'communication>2ms'; may be repeated. step: the job's mean step; device: what a rank "
            "computes in it; communication: what of it no computing hides; memory: the most that a device "
            "has in use",
        .read = [o](const std::string& word) -> Result<void> {
          TRY_ASSIGN(Gate gate, parse_gate(word));
          o->gates.push_back(std::move(gate));
          return {};
        },
        .repeatable = true},
       {.names = {"--top"},
        .value = "N",
        .help = "list this many, those that change most; 0 lists all (default 20)",
        .read = number(o->top, 0, INT64_MAX)},
       format_option(o->named_format),
       output_option(o->output)});
  return command;
}

}  // namespace spotter::app

// export: traces -> one file for a timeline viewer.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "analyze/critical_path/path_finder.h"
#include "app/cli/command.h"
#include "app/cli/interruption.h"
#include "app/cli/job_options.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/terminal.h"
#include "app/job/open_paths.h"
#include "base/parallel_for.h"
#include "export/critical_path_flows.h"
#include "export/export_job.h"
#include "read/open.h"
#include "render/render.h"

namespace spotter::app {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string output;
  export_::ExportRequest request;
};

Result<void> export_traces(const Options& options) {
  TRY_ASSIGN(const Job job, open_paths(options.paths));
  const std::atomic<bool>* interrupted = interruption();
  TRY(check_output(options.output, job));
  watch_stream(options.output);
  TRY_ASSIGN(const std::unique_ptr<export_::TraceWriter> out, export_::TraceWriter::open(options.output));
  export_::ExportRequest request = options.request;
  request.cancelled = interrupted;
  Notes notes;
  {
    Progress progress;
    request.on_progress = [&](i64 done, i64 total) { progress.update(done, total); };
    TRY_ASSIGN(notes, export_::export_job(job, request, read::load, *out));
  }
  std::fputs(render::render_text_notes(notes, style_of(STDERR_FILENO)).c_str(), stderr);
  return {};
}

// A time on the trace's clock.
Option time_option(const char* name, const char* help, std::optional<Ns>& value) {
  return {.names = {name}, .value = "TIME", .help = help, .read = parsed(value, parse_duration_ns)};
}

}  // namespace

Command export_command() {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();  // the action, which owns them, outlives every parse
  export_::ExportRequest& r = o->request;
  r.threads = all_processors();
  Command command = {
      .name = "export",
      .summary = "Write traces as one file for a timeline viewer (Perfetto).",
      .arguments =
          {{.name = "PATH",
            .help = "trace files (.json, .json.gz, .json.zst), folders of them, or patterns; several are "
                    "merged on one clock",
            .read = keep_each(o->paths),
            .offer = offer_files(),
            .many = true}},
      .options = {{.names = {"-o", "--output"},
                   .value = "FILE",
                   .help =
                       "write to this file, whole or not at all; compressed if it ends in .gz; - is standard "
                       "output",
                   .read = keep(o->output),
                   .offer = offer_files(),
                   .required = true}},
      .footer =
          "Open the file in https://ui.perfetto.dev. Beside the events it has curves of how busy each device is, how\n"
          "well its multiprocessors are filled, how long its queues are and what its copies move.\n"
          "Examples:\n"
          "  spotter export traces/ -o job.json.gz --ranks 0-3 --steps 5-6\n"
          "  spotter export rank0.json.gz -o part.json --from 1.5s --to 1.6s",
      .check = [&r]() -> Result<void> {
        if (r.from && r.to && *r.from >= *r.to) return fail(Code::invalid, "--to: must be later than --from");
        return {};
      },
      .action = [options]() -> Result<int> {
        say_when_interrupted(untouched(options->output));
        TRY(export_traces(*options));
        return 0;
      },
  };
  append(command.options, job_part_options(r.ranks, r.steps));
  append(
      command.options,
      {time_option("--from", "only what begins so long after the first event, or later: 500ms, 1.5s", r.from),
       time_option("--to", "only what begins less than so long after it", r.to),
       {.names = {"--bucket"},
        .value = "TIME",
        .help =
            "length of a bucket of the curves of busy time and SM efficiency: 100us; default: a thousandth of "
            "the time, at least 10us",
        .read = parsed(r.bucket_ns, parse_duration_ns)},
       {.names = {"--critical-path"},
        .help = "draw the critical path of each step as arrows",
        .read = [&r](const std::string&) -> Result<void> {
          r.flows = export_::critical_path_flows;
          r.flow_args = analyze::kCriticalPathArgs;
          return {};
        }}});
  return command;
}

}  // namespace spotter::app

// export: traces -> one file for a timeline viewer.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "analyze/critical_path/path_finder.h"
#include "app/commands.h"
#include "app/interruption.h"
#include "app/job_options.h"
#include "app/output.h"
#include "app/terminal.h"
#include "app/words.h"
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
  const std::atomic<bool>* interrupted = interruption();
  TRY_ASSIGN(const Job job, read::open_job(options.paths));
  TRY(check_output(options.output, job));
  TRY_ASSIGN(const std::unique_ptr<export_::TraceWriter> out, export_::TraceWriter::open(options.output));
  export_::ExportRequest request = options.request;
  request.cancelled = interrupted;
  Notes notes;
  {
    Progress progress;
    request.on_progress = [&](i64 done, i64 total) { progress.update(done, total); };
    Result<Notes> done = export_::export_job(job, request, read::load, *out);
    if (!done && done.error().code == Code::cancelled)
      return fail(Code::cancelled, "interrupted{}", options.output == "-" ? "" : "; nothing was written");
    TRY_ASSIGN(notes, std::move(done));
  }
  std::fputs(render::render_text_notes(notes, style_of(STDERR_FILENO)).c_str(), stderr);
  return {};
}

// Declares a time on the trace's clock.
void add_time(CLI::App& app, const char* name, const char* help, std::optional<Ns>& value) {
  add_option(app, name, "TIME", help, [&value](const std::string& word) -> Result<void> {
    TRY_ASSIGN(value, parse_duration_ns(word));
    return {};
  });
}

}  // namespace

Action declare_export(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();  // the action, which owns them, outlives every parse
  export_::ExportRequest& r = o->request;
  r.threads = all_processors();
  app.add_option(
         "PATH", o->paths,
         "trace files (.json, .json.gz, .json.zst), folders of them, or patterns; several are merged on "
         "one clock")
      ->required()
      ->type_name("...");
  app.add_option(
         "-o,--output", o->output,
         "write to this file, whole or not at all; compressed if it ends in .gz; - is standard output")
      ->required()
      ->type_name("FILE");
  add_job_part_options(app, r.ranks, r.steps);
  add_time(app, "--from", "only what begins so long after the first event, or later: 500ms, 1.5s", r.from);
  add_time(app, "--to", "only what begins less than so long after it", r.to);
  add_option(
      app, "--bucket", "TIME",
      "length of a bucket of the curves of busy time and SM efficiency: 100us; default: a thousandth of the "
      "time, at least 10us",
      [&r](const std::string& word) -> Result<void> {
        TRY_ASSIGN(r.bucket_ns, parse_duration_ns(word));
        return {};
      });
  app.add_flag_callback(
      "--critical-path",
      [&r] {
        r.flows = export_::critical_path_flows;
        r.flow_args = analyze::kCriticalPathArgs;
      },
      "draw the critical path of each step as arrows");
  app.footer(
      "Open the file in https://ui.perfetto.dev. Beside the events it has curves of how busy each device is, how\n"
      "well its multiprocessors are filled, how long its queues are and what its copies move.\n"
      "Examples:\n"
      "  spotter export traces/ -o job.json.gz --ranks 0-3 --steps 5-6\n"
      "  spotter export rank0.json.gz -o part.json --from 1.5s --to 1.6s");
  app.callback([&r] {
    if (r.from && r.to && *r.from >= *r.to) throw CLI::ValidationError("--to", "must be later than --from");
  });
  return [options]() -> Result<int> {
    TRY(export_traces(*options));
    return 0;
  };
}

}  // namespace spotter::app

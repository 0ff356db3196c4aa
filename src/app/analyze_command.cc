// analyze: paths -> job -> tables -> bytes.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>

#include "analyze/list.h"
#include "app/commands.h"
#include "app/report.h"
#include "app/terminal.h"
#include "base/file.h"
#include "read/open.h"

namespace spotter {
namespace {

std::atomic<bool> interrupted = false;

void on_signal(int) { interrupted.store(true, std::memory_order_relaxed); }

void print_timing(const RunResult& result) {
  for (const PhaseTime& t : result.timing) {
    std::fprintf(stderr, "%10s  %s\n", human_ns(t.wall_ns).c_str(), t.phase.c_str());
  }
}

Result<RunRequest> request_of(const AnalyzeOptions& options, bool is_report) {
  RunRequest request;
  for (const std::string& name : options.tables) request.analyses.push_back(find_analysis(name));
  if (request.analyses.empty()) {
    for (const Analysis* a : all_analyses()) request.analyses.push_back(a);
  }
  request.params = options.params;
  if (is_report) set_report_params(request.params);
  request.steps = options.steps;
  request.ranks = options.ranks;
  request.threads = options.threads > 0 ? options.threads
                                        : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  request.memory_bytes = options.memory_bytes;
  request.cancelled = &interrupted;
  return request;
}

}  // namespace

Result<void> write_output(const std::string& path, std::string_view bytes) {
  if (!path.empty()) return write_file_atomically(path, bytes);
  const bool whole =
      std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
  if (!whole && errno == EPIPE) return {};  // the reader has seen enough
  if (!whole) return fail(Code::io, "standard output cannot be written: {}", errno_text(errno));
  return {};
}

Result<void> analyze_command(const AnalyzeOptions& options) {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  TRY_ASSIGN(const Job job, open_job(options.paths));

  const bool is_report = options.tables.empty() && options.format == Format::text;
  TRY_ASSIGN(RunRequest request, request_of(options, is_report));
  RunResult result;
  {
    Progress progress;
    request.on_progress = [&](i64 done, i64 total) { progress.update(done, total); };
    TRY_ASSIGN(result, run(job, request, load));
  }

  const TextStyle style = options.output.empty() ? style_of(STDOUT_FILENO) : TextStyle{};
  const std::string bytes = is_report ? report(result.tables, result.notes, style)
                                      : render(options.format, result.tables, result.notes, style);
  if (options.format == Format::csv) {
    std::fputs(render_text_notes(all_notes(result.tables, result.notes), style_of(STDERR_FILENO)).c_str(),
               stderr);
  }
  if (options.timing) print_timing(result);
  if (interrupted) return fail(Code::cancelled, "interrupted; nothing was written");
  return write_output(options.output, bytes);
}

}  // namespace spotter

// trace: options -> a capture of this host's agent -> its receipts, and the report of what was written.
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <filesystem>
#include <memory>

#include "api/capture_text.h"
#include "api/client.h"
#include "api/tables.h"
#include "app/agent_socket.h"
#include "app/commands.h"
#include "app/format_option.h"
#include "app/output.h"
#include "app/terminal.h"
#include "app/unregistered_text.h"
#include "app/words.h"
#include "base/file.h"
#include "capture/captures.h"

namespace spotter {
namespace {

constexpr int kAll = 0, kSome = 3, kNone = 4;  // exit statuses: how many of the targets were written
constexpr i64 kWaitMs = 20'000;
constexpr Ns kPatience = 30'000'000'000;
constexpr mode_t kEverybodyMayWrite = 01777;

struct Options {
  api::CaptureWish wish;
  std::string socket;
  const Format* format = &all_formats()[0];
  bool analyze = false;
  bool for_people() const { return format == &all_formats()[0]; }
};

// The processes write as their own users, who may be others where root asks. Whether it was not there before.
Result<bool> make_output(const std::string& path) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(path, error);
  if (is_new && geteuid() == 0) chmod(path.c_str(), kEverybodyMayWrite);
  if (error) return fail(Code::io, "the directory {} cannot be made: {}", path, error.message());
  return is_new;
}

struct Count {
  size_t all = 0, written = 0, over = 0;
};

// Empty where there is none, as the one who answered may be no agent.
std::string_view text_or_empty(const Table& receipts, size_t row, const char* column) {
  const Value cell = receipts.at(row, receipts.column(column));
  return is_null(cell) ? std::string_view() : std::get<std::string_view>(cell);
}

Count count(const Table& receipts) {
  Count n;
  for (size_t row = 0; row < receipts.rows(); row++) {
    n.all++;
    n.written += text_or_empty(receipts, row, "state") == "written";
    n.over += !is_null(receipts.at(row, receipts.column("took_ns")));
  }
  return n;
}

// Until all receipts are final; the agent's deadline ends it.
Result<api::Answer> wait(const std::string& socket, api::Answer answer) {
  Progress progress;
  while (!answer.over) {
    const Count n = count(answer.table);
    progress.update(static_cast<i64>(n.over), static_cast<i64>(n.all));
    const std::string target =
        fmt::format("/v1/captures/{}?seen={}&wait_ms={}", answer.capture, answer.revision, kWaitMs);
    TRY_ASSIGN(answer, api::ask(socket, "GET", target, {}, capture::receipt_columns(), kPatience));
  }
  return answer;
}

Result<api::Answer> begin(const Options& options, const std::string& socket) {
  auto answer = api::ask(socket, "POST", "/v1/captures", api::capture_text(options.wish),
                         capture::receipt_columns(), kPatience);
  // Nothing matches: a process may be missing for a reason that its environment tells.
  if (!answer && answer.error().code == Code::not_found && options.for_people()) {
    const auto processes = api::ask(socket, "GET", "/v1/processes", {}, api::processes_columns(), kPatience);
    if (processes) std::fputs(unregistered_text(processes->table).c_str(), stderr);
  }
  return answer;
}

std::vector<std::string> written_files(const Table& receipts) {
  std::vector<std::string> files;
  for (size_t row = 0; row < receipts.rows(); row++) {
    if (text_or_empty(receipts, row, "state") == "written")
      files.emplace_back(text_or_empty(receipts, row, "file"));
  }
  return files;
}

Result<int> trace(Options options) {
  if (options.wish.output.empty())
    options.wish.output = fmt::format("/tmp/spotter-{:%Y%m%dT%H%M%S}", fmt::gmtime(std::time(nullptr)));
  std::error_code error;
  TRY_ASSIGN(const bool is_new, make_output(options.wish.output));
  options.wish.output = std::filesystem::canonical(options.wish.output, error).string();
  if (error) return fail(Code::io, "{}: {}", options.wish.output, error.message());
  const std::string socket = socket_or_default(options.socket);
  Result<api::Answer> begun = begin(options, socket);
  if (!begun) {
    if (is_new) std::filesystem::remove(options.wish.output, error);  // it is empty
    return tl::unexpected(begun.error());
  }
  api::Answer answer = std::move(*begun);
  const Notes notes = answer.table.notes;
  if (options.for_people())
    std::fprintf(stderr, "tracing %zu processes, into %s\n", answer.table.rows(),
                 options.wish.output.c_str());
  TRY_ASSIGN(answer, wait(socket, std::move(answer)));

  const Table& receipts = answer.table;
  TRY(replace_file_atomically(options.wish.output + "/capture.json",
                              render(*find_format("json"), std::span(&receipts, 1), notes)));
  TRY(write_output("", render(*options.format, std::span(&receipts, 1), notes, style_of(STDOUT_FILENO))));
  const std::vector<std::string> files = written_files(receipts);
  if (options.analyze && !files.empty()) {
    std::fputc('\n', stdout);
    TRY(print_report(files));
  }
  const Count n = count(receipts);
  return n.written == n.all ? kAll : n.written > 0 ? kSome : kNone;
}

// "0,3-7" -> 0 3 4 5 6 7
Result<std::vector<i64>> parse_numbers(const std::string& word) {
  constexpr size_t kMost = 100'000;
  TRY_ASSIGN(const std::vector<Range> ranges, parse_ranges(word));
  std::vector<i64> numbers;
  for (const Range& range : ranges) {
    for (i64 n = range.first; n <= range.last; n++) {
      if (numbers.size() >= kMost) return fail(Code::invalid, "\"{}\" are more than {} numbers", word, kMost);
      numbers.push_back(n);
    }
  }
  return numbers;
}

void add_targets(CLI::App& app, api::CaptureWish& wish) {
  add_option(app, "--pid", "LIST", "these processes, or those below them: 123,456",
             [&wish](const std::string& word) -> Result<void> {
               TRY_ASSIGN(wish.pids, parse_numbers(word));
               return {};
             });
  add_option(app, "--rank", "LIST", "these ranks: 0,3-7", [&wish](const std::string& word) -> Result<void> {
    TRY_ASSIGN(wish.ranks, parse_numbers(word));
    return {};
  });
  app.add_option("--job-id", wish.job, "processes of this job (SLURM_JOB_ID, or the launcher's run id)")
      ->type_name("ID");
  app.add_flag("--all", wish.all, "launchers and workers, too");
}

void add_times(CLI::App& app, api::CaptureWish& wish) {
  const auto time = [&app](const char* name, const char* type, const char* help, std::optional<i64>& to) {
    add_option(app, name, type, help, [&to](const std::string& word) -> Result<void> {
      TRY_ASSIGN(to, parse_duration_ms(word));
      return {};
    });
  };
  const auto number = [&app](const char* name, const char* help, std::optional<i64>& to) {
    add_option(app, name, "N", help, [&to](const std::string& word) -> Result<void> {
      TRY_ASSIGN(to, parse_number(word, 1, 1'000'000'000));
      return {};
    });
  };
  time("--duration", "TIME", "how long to record: 500ms by default", wish.duration_ms);
  number("--iterations", "record this many iterations (optimizer steps) instead", wish.iterations);
  number("--roundup",
         "begin at an iteration that is a multiple of this, so that ranks begin with the same one",
         wish.roundup);
  time("--start-in", "TIME", "begin at one time in all processes, this far ahead: 15s", wish.start_in_ms);
  time("--warmup", "TIME", "of the profiler, before it records: 5s by default", wish.warmup_ms);
  time("--deadline", "TIME", "give up on what is not written by then", wish.deadline_ms);
}

}  // namespace

Action declare_trace(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();
  add_targets(app, o->wish);
  add_times(app, o->wish);
  app.add_option("--output", o->wish.output, "directory of the traces; default: a new one in /tmp")
      ->type_name("DIR");
  app.add_flag("--shapes", o->wish.shapes, "record the shapes of operators' inputs");
  app.add_flag("--stacks", o->wish.stacks, "record Python stacks (slow, large)");
  app.add_flag("--memory", o->wish.memory, "record memory events");
  app.add_flag("--flops", o->wish.flops, "estimate FLOPs");
  app.add_flag("--modules", o->wish.modules, "record the modules of operators");
  app.add_option("--activities", o->wish.activities,
                 "activity types, instead of PyTorch's default: cpu_op,kernel")
      ->delimiter(',')
      ->type_name("LIST");
  app.add_flag("--analyze", o->analyze, "print the report of what was written");
  add_socket_option(app, o->socket);
  add_format_option(app, o->format);
  app.footer(
      "Exit status: 0 if every process wrote a trace, 3 if some did, 4 if none did.\n"
      "Examples:\n"
      "  spotter trace --duration 1s --analyze\n"
      "  spotter trace --iterations 3 --roundup 10 --rank 0-7 --output /tmp/run1");
  return [options]() -> Result<int> { return trace(*options); };
}

}  // namespace spotter

// trace: options -> a capture by this host's agent or many hosts' -> its receipts, and the report of what was
// written.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>

#include "analyze/range_text.h"
#include "app/capture/capture_progress.h"
#include "app/capture/capture_report.h"
#include "app/capture/hosts.h"
#include "app/capture/trace_folder.h"
#include "app/capture/unregistered_text.h"
#include "app/cli/format_option.h"
#include "app/cli/interruption.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/terminal.h"
#include "app/cli/words.h"
#include "app/job/analyze_command.h"
#include "base/system/file.h"
#include "base/text/utf8.h"
#include "capture/captures.h"
#include "client/client.h"
#include "client/fleet.h"
#include "render/list.h"
#include "table/ops.h"
#include "wire/capture_request.h"
#include "wire/columns.h"

namespace spotter::app {
namespace {

constexpr int kAll = 0, kSome = 3, kNone = 4;  // exit statuses: how many of the targets were written
constexpr i64 kStartAheadMs = 15'000;          // for every process to ask and to warm up
constexpr i64 kClockToleranceMs = 20;
constexpr size_t kMostShown = 16;
constexpr Ns kPatience = 30'000'000'000;

struct Options {
  wire::CaptureRequest wish;
  HostOptions hosts;
  const render::Format* format = &render::kText;
  bool analyze = false;
  std::string report;  // file of the report; empty: standard output
  bool for_people() const { return format == &render::kText; }
};

struct Count {
  size_t all = 0, written = 0;
};

Count count(const Table& receipts) {
  Count n;
  for (size_t row = 0; row < receipts.rows(); row++) {
    n.all++;
    n.written += table::text_or_empty(receipts, row, "state") == "written";
  }
  return n;
}

i64 unix_ms_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// All ranks begin at one time, which is that of no host alone.
void set_common_start(wire::CaptureRequest& wish, bool is_local) {
  if (!is_local && !wish.start_in_ms && !wish.iterations) wish.start_in_ms = kStartAheadMs;
  if (wish.start_in_ms) wish.start_time_ms = unix_ms_now() + *wish.start_in_ms;
  wish.start_in_ms.reset();
}

// Why nothing was begun, where nothing was: the only host's reason, or that no process matches on any.
std::optional<Error> refusal(const client::Fleet& fleet) {
  const auto& members = fleet.members();
  const auto refused = [](const client::Fleet::Member& m) { return m.answer.capture.empty() && m.error; };
  const auto no_match = [](const client::Fleet::Member& m) { return m.matches_none; };
  if (members.size() == 1 && refused(members[0])) return members[0].error;
  if (!std::all_of(members.begin(), members.end(), no_match)) return std::nullopt;
  return Error{Code::not_found, fmt::format("on none of {} hosts a process matches; {}: {}", members.size(),
                                            members[0].address.shown(), members[0].error->message)};
}

Notes notes_of(const client::Fleet& fleet, bool has_common_start) {
  Notes notes;
  for (const client::Fleet::Member& member : fleet.members()) {
    const std::string host = member.address.shown();
    Notes own;
    if (member.matches_none) own.add("no_match", Severity::info, "on a host no process matches");
    if (has_common_start && std::abs(member.clock_ahead_ms) > kClockToleranceMs)
      own.add(
          "clock", Severity::info,
          fmt::format("a host's clock is {} ms {} this one's, and so its ranks begin",
                      std::abs(member.clock_ahead_ms), member.clock_ahead_ms > 0 ? "ahead of" : "behind"));
    notes.merge(own, host);
  }
  return notes;
}

bool is_empty_directory(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_empty(path, error) && !error;
}

// For the receipts: those of earlier captures in the same directory stay.
std::string free_name(const std::string& directory) {
  std::string path = directory + "/capture.json";
  std::error_code ignored;
  for (int n = 2; std::filesystem::exists(std::filesystem::symlink_status(path, ignored)); ++n)
    path = fmt::format("{}/capture-{}.json", directory, n);
  return path;
}

// The file that they are in; a new directory where none is named.
Result<std::string> keep_receipts(std::string directory, const render::Document& receipts) {
  if (directory.empty()) {
    TRY_ASSIGN(const TraceFolder made, make_new_folder());
    directory = made.path;
  }
  std::string file = free_name(directory);
  TRY(replace_file_atomically(file, render::render(render::kJson, receipts)));
  return file;
}

// Asks the agents and follows them until all receipts are final. The first Ctrl-C takes the request back, the
// second one gives up. `begun` is called when every agent has answered. Whether it was interrupted.
bool follow(net::Loop& loop, client::Fleet& fleet, const wire::CaptureRequest& wish,
            const std::function<bool()>& begun) {
  CaptureProgress progress;
  bool has_begun = false, is_interrupted = false;
  loop.on_signals({SIGINT, SIGTERM}, [&](int signal) {
    note_interruption(signal);
    if (!std::exchange(is_interrupted, true)) return fleet.end();
    fleet.give_up();
    loop.stop();
  });
  fleet.begin(wish, [&] {
    if (!has_begun && fleet.has_begun()) {
      has_begun = true;
      if (!begun()) return loop.stop();
    }
    if (fleet.is_over()) return loop.stop();
    if (has_begun && progress.is_due()) progress.show(fleet.receipts());
  });
  loop.run();
  loop.on_signals({}, {});
  end_at_once_when_interrupted();  // what comes after it
  return is_interrupted;
}

// A process may be missing for a reason that its environment tells.
void say_unregistered(const Hosts& hosts) {
  for (const auto& processes :
       client::ask(hosts.addresses, hosts.credentials, {"GET", "/v1/processes", {}, {}},
                   wire::processes_columns(), kPatience))
    if (processes) std::fputs(unregistered_text(processes->table).c_str(), stderr);
}

// Which processes match, and what will be written.
std::string preflight(const Table& targets, const Hosts& hosts, const std::string& output) {
  size_t processes = 0;
  for (size_t row = 0; row < targets.rows(); ++row)
    processes += !is_null(targets.at(row, targets.column("pid")));
  std::string text = fmt::format("tracing {} processes", processes);
  if (hosts.addresses.size() > 1) text += fmt::format("; {} hosts were asked", hosts.addresses.size());
  if (!output.empty()) text += ", into " + output;
  text += "\n";
  for (size_t row = 0; row < std::min(targets.rows(), kMostShown); ++row) {
    const Value pid = targets.at(row, targets.column("pid")), rank = targets.at(row, targets.column("rank"));
    text += "  " + to_printable(table::text_or_empty(targets, row, "host"));
    if (!is_null(rank)) text += fmt::format(" rank {}", std::get<i64>(rank));
    if (!is_null(pid)) text += fmt::format(" process {}", std::get<i64>(pid));
    const std::string_view file = table::text_or_empty(targets, row, "file"),
                           reason = table::text_or_empty(targets, row, "reason");
    text += reason.empty() ? " -> " + to_printable(base_name(file)) : ": " + to_printable(reason);
    text += "\n";
  }
  if (targets.rows() > kMostShown) text += fmt::format("  and {} more\n", targets.rows() - kMostShown);
  return text;
}

Result<int> trace(Options options) {
  TRY(check_output("", *options.format));
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  TRY_ASSIGN(TraceFolder output, prepare_folder(options.wish.output, options.hosts.is_local()));
  options.wish.output = output.path;
  if (options.wish.job.empty()) options.wish.job = hosts.job;
  set_common_start(options.wish, options.hosts.is_local());
  const auto drop_output = [&] {
    std::error_code ignored;
    if (output.is_new) std::filesystem::remove(output.path, ignored);  // if it is empty
  };

  net::Loop loop;
  client::Fleet fleet(loop, hosts.addresses, hosts.credentials);
  Notes notes;
  std::optional<Error> refused;
  const bool is_interrupted = follow(loop, fleet, options.wish, [&] {
    refused = refusal(fleet);
    if (refused) return false;
    notes = notes_of(fleet, options.wish.start_time_ms.has_value());
    if (options.for_people()) std::fputs(preflight(fleet.receipts(), hosts, output.path).c_str(), stderr);
    return true;
  });
  if (refused) {
    drop_output();
    if (is_interrupted) return fail(Code::cancelled, "interrupted");
    if (refused->code == Code::not_found && options.for_people() && options.hosts.is_local())
      say_unregistered(hosts);
    return tl::unexpected(*refused);
  }

  const auto has_begun = [](const client::Fleet::Member& m) { return !m.answer.capture.empty(); };
  const bool is_any = std::any_of(fleet.members().begin(), fleet.members().end(), has_begun);
  Table receipts = table::sort(fleet.receipts(), {{"rank"}, {"host"}, {"pid"}});
  notes.merge(std::exchange(receipts.notes, {}));
  const Count n = count(receipts);
  const std::string traced = fmt::format("{} of {} processes wrote a trace", n.written, n.all);
  say_when_interrupted(traced + "; their receipts are not written");
  // What the processes write to may be on their hosts only.
  if (output.is_new && is_empty_directory(output.path) && !options.hosts.is_local()) {
    drop_output();
    output.path.clear();
  }
  const bool is_elsewhere = output.path.empty();
  const Result<std::string> kept =
      is_any ? keep_receipts(output.path, {std::span(&receipts, 1), notes}) : std::string();
  if (kept && !kept->empty() && is_elsewhere && options.for_people())
    std::fprintf(stderr, "the receipts are in %s\n", kept->c_str());
  TRY(print(*options.format, {std::span(&receipts, 1), notes}));
  TRY_ASSIGN(const std::string receipts_file, kept);  // with a full disk they are at least told
  say_when_interrupted(receipts_file.empty()
                           ? traced
                           : fmt::format("{}; the receipts are in {}", traced, to_printable(receipts_file)));
  if (is_interrupted) return fail(Code::cancelled, "interrupted");
  // What was traced is traced, whatever becomes of the report.
  if (options.analyze) {
    const Result<void> report =
        report_capture(fleet, hosts.credentials, options.wish.output, receipts_file, options.report);
    if (!report && report.error().code == Code::cancelled) return tl::unexpected(report.error());
    if (!report) std::fprintf(stderr, "spotter: %s\n", to_printable(report.error().message).c_str());
  }
  return n.written == 0 ? kNone : n.written == n.all ? kAll : kSome;
}

// "0,3-7" -> 0 3 4 5 6 7
Result<std::vector<i64>> parse_numbers(const std::string& word) {
  constexpr size_t kMost = 100'000;
  TRY_ASSIGN(const std::vector<analyze::Range> ranges, analyze::parse_ranges(word));
  std::vector<i64> numbers;
  for (const analyze::Range& range : ranges) {
    for (i64 n = range.first; n <= range.last; n++) {
      if (numbers.size() >= kMost) return fail(Code::invalid, "\"{}\" are more than {} numbers", word, kMost);
      numbers.push_back(n);
    }
  }
  return numbers;
}

std::vector<Option> target_options(wire::CaptureRequest& wish) {
  return {
      {.names = {"--pid"},
       .value = "LIST",
       .help = "these processes, or those below them: 123,456",
       .read = parsed(wish.pids, parse_numbers)},
      {.names = {"--rank"},
       .value = "LIST",
       .help = "these ranks: 0,3-7",
       .read = parsed(wish.ranks, parse_numbers)},
      {.names = {"--job", "--job-id"},
       .value = "ID",
       .help = "processes of this job (SLURM_JOB_ID, or the launcher's run id)",
       .read = keep(wish.job)},
      {.names = {"--all"}, .help = "also launchers, data-loader workers and the like", .read = set(wish.all)},
  };
}

std::vector<Option> time_options(wire::CaptureRequest& wish) {
  const auto time = [](const char* name, const char* help, std::optional<i64>& to) {
    return Option{.names = {name}, .value = "TIME", .help = help, .read = parsed(to, parse_duration_ms)};
  };
  const auto count_of = [](const char* name, const char* help, std::optional<i64>& to) {
    return Option{.names = {name}, .value = "N", .help = help, .read = number(to, 1, 1'000'000'000)};
  };
  return {
      time("--duration", "how long to record: 500ms by default", wish.duration_ms),
      count_of("--iterations", "record this many iterations (optimizer steps) instead", wish.iterations),
      count_of("--roundup",
               "begin at an iteration that is a multiple of this, so that ranks begin with the same one",
               wish.roundup),
      time("--start-in", "begin at one time in all processes, this far ahead; default: 15s on other hosts",
           wish.start_in_ms),
      time("--warmup", "let the profiler warm up this long before it records: 5s by default", wish.warmup_ms),
      time("--deadline", "give up on traces that are not written after this time", wish.deadline_ms),
  };
}

std::vector<Option> content_options(wire::CaptureRequest& wish) {
  return {
      {.names = {"--output"},
       .value = "DIR",
       .help =
           "directory of the traces; default: a new one in /tmp. On other hosts it has to be there; default: the "
           "first one that their agents allow",
       .read = keep(wish.output),
       .offer = offer_folders()},
      {.names = {"--shapes"}, .help = "record the shapes of operators' inputs", .read = set(wish.shapes)},
      {.names = {"--stacks"}, .help = "record Python stacks (slow, large)", .read = set(wish.stacks)},
      {.names = {"--memory"}, .help = "record memory events", .read = set(wish.memory)},
      {.names = {"--flops"}, .help = "estimate FLOPs", .read = set(wish.flops)},
      {.names = {"--modules"}, .help = "record the modules of operators", .read = set(wish.modules)},
      {.names = {"--activities"},
       .value = "LIST",
       .help = "activity types, instead of PyTorch's default: cpu_op,kernel",
       .read = [&wish](const std::string& word) -> Result<void> {
         std::ranges::copy(split_commas(word), std::back_inserter(wish.activities));
         return {};
       },
       .repeatable = true},
  };
}

}  // namespace

Command trace_command() {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();
  Command command = {
      .name = "trace",
      .summary = "Trace running PyTorch processes, on this host or on many.",
      .options = target_options(o->wish),
      .footer =
          "Exit status: 0 if every process wrote a trace, 3 if some did, 4 if none did.\n"
          "Examples:\n"
          "  spotter trace --duration 1s --analyze\n"
          "  spotter trace --duration 1s --analyze -o report.html\n"
          "  spotter trace --iterations 3 --roundup 10 --rank 0-7 --output /tmp/run1\n"
          "  spotter trace --slurm-job 4711 --duration 500ms --analyze",
      .action = [options] { return trace(*options); },
  };
  append(command.options, time_options(o->wish));
  append(command.options, content_options(o->wish));
  command.options.push_back(
      {.names = {"--analyze"}, .help = "print the report of what was written", .read = set(o->analyze)});
  command.options.push_back({.names = {"-o", "--report"},
                             .value = "FILE",
                             .help = "write that report to this file; r.html: as a page for a browser",
                             .read = [o](const std::string& word) -> Result<void> {
                               TRY(check_report_output(word));
                               o->report = word;
                               return {};
                             },
                             .offer = offer_files(),
                             .needs = {"--analyze"}});
  append(command.options, host_options(o->hosts));
  command.options.push_back(format_option(o->format));
  return command;
}

}  // namespace spotter::app

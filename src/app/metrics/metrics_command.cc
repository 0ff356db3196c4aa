// metrics: what is measured on machines: which metrics there are, what agents have measured and measure now,
// and one sample without an agent.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include "agent/telemetry/table_kinds.h"
#include "app/cli/format_option.h"
#include "app/cli/interruption.h"
#include "app/cli/local_times.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/terminal.h"
#include "app/metrics/agent_samples.h"
#include "app/metrics/catalogue_view.h"
#include "app/metrics/metric_list.h"
#include "app/metrics/metric_words.h"
#include "app/metrics/metrics_missed.h"
#include "app/metrics/metrics_view.h"
#include "app/metrics/sample_once.h"
#include "base/moment.h"
#include "base/text/quantity.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"
#include "base/time.h"
#include "collect/list.h"
#include "render/list.h"
#include "table/ops.h"
#include "wire/metrics_query.h"

namespace spotter::app {
namespace {

constexpr Ns kViewed = kMinute;

struct Options {
  bool list = false, once = false, watch = false, raw = false;
  OnceOptions of_once;
  wire::MetricsQuery query;
  std::string catalogue;  // a table of it
  HostOptions hosts;
  const render::Format* format = &render::kText;
};

constexpr int kNothing = 1;  // exit status: of what was asked for there is nothing

void tell(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) std::fprintf(stderr, "spotter: %s\n", sentence.c_str());
}

wire::MetricsQuery viewed_query(const Options& options) {
  wire::MetricsQuery query = options.query;
  if (query.selection.metrics.empty()) query.selection.metrics = first_metrics();
  if (query.since == 0) query.since = kViewed;
  query.rates = true;
  return query;
}

// Who asks for nothing in particular wants to see the whole machine, whatever it has many of.
size_t most_things(const Options& options) {
  constexpr size_t kMost = 4;
  return options.query.selection.metrics.empty() ? kMost : SIZE_MAX;
}

// On a terminal each look is drawn over the last one; elsewhere they follow each other, until nobody reads
// them.
Result<int> watch(const Hosts& hosts, const Options& options) {
  constexpr auto kEvery = std::chrono::seconds(1);
  const bool is_drawn = is_terminal(STDOUT_FILENO);
  for (auto next = std::chrono::steady_clock::now();; std::this_thread::sleep_until(next += kEvery)) {
    const Result<Samples> samples = ask_agents(hosts, viewed_query(options), WithoutHistory::newest);
    render::TextStyle style = style_of(STDOUT_FILENO);
    size_t lines = SIZE_MAX;
    if (is_drawn) {
      style.width = std::min(style.width, terminal_width(STDOUT_FILENO));
      lines = terminal_height(STDOUT_FILENO) - 1;  // the cursor stands below
    }
    const std::string text =
        samples ? metrics_text(samples->tables, samples->notes, style, {lines, most_things(options)})
                : render::wrapped(to_printable(samples.error().message), style.width) + "\n";
    const std::string whole =
        is_drawn ? "\033[H\033[J" + cut_lines(text, terminal_width(STDOUT_FILENO)) : text + "\n";
    const bool is_written =
        std::fwrite(whole.data(), 1, whole.size(), stdout) == whole.size() && std::fflush(stdout) == 0;
    if (!is_written && errno == EPIPE) return 0;  // the reader has seen enough
    if (!is_written) return fail(Code::io, "standard output cannot be written: {}", errno_text(errno));
    say_when_interrupted("each look was shown whole");
  }
}

Result<int> show(const Options& options) {
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  if (options.watch) return watch(hosts, options);
  const bool is_view = options.query.since == 0 && options.format == &render::kText;
  wire::MetricsQuery query = options.query;
  query.rates = query.since != 0 && !options.raw;
  const auto ask = [&] {
    return is_view ? ask_agents(hosts, viewed_query(options), WithoutHistory::newest)
                   : ask_agents(hosts, query);
  };
  TRY_ASSIGN(Samples samples, ask().map_error([&](Error error) {
    if (error.code == Code::not_found && options.query.since == 0 && !hosts.addresses.front().socket.empty())
      error.message += "; --once samples this machine without an agent";
    return error;
  }));
  if (!is_view && options.format == &render::kText)
    samples.tables = with_local_times(samples.tables, query.since > kDay / 2);
  if (is_view) {
    TRY(write_output("", metrics_text(samples.tables, samples.notes, style_of(STDOUT_FILENO),
                                      {.most_things = most_things(options)})));
  } else {
    TRY(print(*options.format, {samples.tables, samples.notes}, "--metric"));
  }
  table::Selection asked = options.query.selection;
  if (asked.job.empty()) asked.job = hosts.job;
  // An agent that has just begun has nothing yet for who asked for nothing in particular; the view says so.
  if (is_view && asked.metrics.empty() && asked.job.empty()) return exit_status(samples);
  const bool is_empty = std::ranges::all_of(samples.tables, [](const Table& t) { return t.rows() == 0; });
  tell(missed(asked, samples.tables));
  return is_empty && samples.is_whole ? kNothing : exit_status(samples);
}

Result<std::string> parse_table_name(const std::string& word) {
  if (agent::find_table_kind(word)) return word;
  return fail(Code::invalid, "there is no table \"{}\"{}", word,
              did_you_mean(word, table_words(), "; `spotter metrics --list` lists the metrics"));
}

Ns unix_now() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

Option time_option(const char* name, const char* help, Ns& to) {
  return {.names = {name}, .value = "TIME", .help = help, .read = parsed(to, parse_duration_ns)};
}

// When, of which the agent is told how long ago that is.
Option ago_option(const char* name, const char* help, Ns& to) {
  return {.names = {name}, .value = "TIME", .help = help, .read = parsed(to, [](const std::string& word) {
                                                            return parse_ago(word, unix_now());
                                                          })};
}

Result<void> check_times(const wire::MetricsQuery& query) {
  if (query.since != 0 && query.until >= query.since)
    return fail(Code::invalid, "--until: it must be later than --since");
  return {};
}

// Of agents: which of their samples, and as what.
std::vector<Option> sample_options(Options& o) {
  Option until = ago_option("--until", "with --since: until so long ago, or then", o.query.until);
  Option step = time_option("--step", "with --since: at most one sample in this time", o.query.step);
  until.needs = step.needs = {"--since"};
  Option catalogue = catalogue_option(o.catalogue);
  catalogue.excludes = {"--list", "--watch", "--metric", "--job", "--since"};
  return {
      {.names = {"--list"},
       .help =
           "list every metric with its unit, source and meaning; collectors; options of sinks. In a format of one table: the metrics",
       .read = set(o.list),
       .excludes = {"--job", "--since", "--host", "--hostfile", "--slurm-job"}},
      {.names = {"--metric"},
       .value = "PATTERN",
       .help =
           "only metrics of such names, as in \"gpu_*\"; may be repeated. Default on a terminal: those that are "
           "looked at first",
       .read = [&o](const std::string& word) -> Result<void> {
         std::ranges::copy(split_commas(word), std::back_inserter(o.query.selection.metrics));
         return {};
       },
       .offer = offer_words(metric_words),
       .repeatable = true},
      {.names = {"--job"},
       .value = "ID",
       .help = "only what belongs to this job",
       .read = keep(o.query.selection.job)},
      ago_option(
          "--since",
          "from so long ago, as in 10m, or from then, as in 2026-11-23T14:05:00Z, of the agent's history; counters as "
          "what they grow by a second",
          o.query.since),
      until,
      step,
      {.names = {"--raw"},
       .help = "with --since: counters as they are",
       .read = set(o.raw),
       .needs = {"--since"}},
      {.names = {"--watch"},
       .help = "show the last minute, anew each second, until Ctrl-C",
       .read = set(o.watch),
       .excludes = {"--list", "--raw", "--format"}},
      catalogue,
  };
}

// Without an agent.
std::vector<Option> once_options(Options& o) {
  return {
      {.names = {"--once"},
       .help = "sample this machine once, without an agent",
       .read = set(o.once),
       .excludes = {"--list", "--watch", "--catalogue", "--metric", "--job", "--since", "--host",
                    "--hostfile", "--slurm-job"}},
      {.names = {"--root"},
       .value = "DIR",
       .help = "with --once: the root below which /proc and /sys are; default: /",
       .read = keep(o.of_once.root),
       .offer = offer_folders(),
       .needs = {"--once"}},
      {.names = {"--table"},
       .value = "NAME",
       .help = "with --once: only this table; may be repeated",
       .read = [&o](const std::string& word) -> Result<void> {
         TRY_ASSIGN(o.of_once.tables.emplace_back(), parse_table_name(word));
         return {};
       },
       .offer = offer_words(table_words),
       .repeatable = true,
       .needs = {"--once"}},
      {.names = {"--per-core"},
       .help = "with --once: rows for each core, too",
       .read = set(o.of_once.per_core),
       .needs = {"--once"}},
      {.names = {"--textfile-directory"},
       .value = "DIR",
       .help = "with --once: the folder of NAME.prom, metrics that other programs wrote",
       .read = keep(o.of_once.textfile_directory),
       .offer = offer_folders(),
       .needs = {"--once"}},
  };
}

Result<int> metrics(const Options& options) {
  if (!options.catalogue.empty()) return show_catalogue(options.hosts, options.catalogue, *options.format);
  if (!options.once && !options.list) return show(options);
  if (options.list) {
    const Table lists[] = {metric_list(options.query.selection), collector_list(), sink_list(),
                           sink_option_list()};
    const size_t shown = std::min(std::size(lists), options.format->most_tables);
    TRY(print(*options.format, {std::span(lists).first(shown), {}}));
    tell(unknown_metrics(options.query.selection, {}));
    return lists[0].rows() == 0 ? kNothing : 0;
  }
  const OneSample sample = sample_once(options.of_once);
  TRY(print(*options.format, {sample.tables, sample.notes}, "--table"));
  return 0;
}

}  // namespace

Command metrics_command() {
  const auto options = std::make_shared<Options>();
  Command command = {
      .name = "metrics",
      .summary = "Show a machine's metrics, as they are now or from the agent's history.",
      .options = sample_options(*options),
      .check = [options] { return check_times(options->query); },
      .action = [options] { return metrics(*options); },
  };
  append(command.options, host_options(options->hosts));
  append(command.options, once_options(*options));
  command.options.push_back(format_option(options->format));
  return command;
}

}  // namespace spotter::app

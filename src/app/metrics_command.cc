// metrics: what is measured on machines: which metrics there are, what agents have measured and measure now,
// and one sample without an agent.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "app/agent_samples.h"
#include "app/catalogue_view.h"
#include "app/commands.h"
#include "app/format_option.h"
#include "app/local_times.h"
#include "app/metrics_missed.h"
#include "app/metrics_view.h"
#include "app/output.h"
#include "app/sample_once.h"
#include "app/terminal.h"
#include "base/quantity.h"
#include "base/time.h"
#include "base/utf8.h"
#include "collect/list.h"
#include "report/metric_list.h"
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
  const render::Format* format = &render::all_formats()[0];
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

[[noreturn]] void watch(const Hosts& hosts, const Options& options) {
  constexpr auto kEvery = std::chrono::seconds(1);
  for (auto next = std::chrono::steady_clock::now();; std::this_thread::sleep_until(next += kEvery)) {
    const Result<Samples> samples = ask_agents(hosts, viewed_query(options), WithoutHistory::newest);
    const size_t lines = terminal_height(STDOUT_FILENO) - 1;  // the cursor stands below
    const std::string text =
        samples ? metrics_text(samples->tables, samples->notes, style_of(STDOUT_FILENO), lines)
                : fmt::format("{}\n", to_printable(samples.error().message));
    std::printf("\033[H\033[J%s", text.c_str());
    std::fflush(stdout);
  }
}

Result<int> show(const Options& options) {
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  if (options.watch) watch(hosts, options);
  const bool is_view = options.query.since == 0 && options.format == &render::all_formats()[0];
  wire::MetricsQuery query = options.query;
  query.rates = query.since != 0 && !options.raw;
  TRY_ASSIGN(Samples samples, is_view ? ask_agents(hosts, viewed_query(options), WithoutHistory::newest)
                                      : ask_agents(hosts, query));
  const render::TextStyle style = style_of(STDOUT_FILENO);
  if (!is_view && options.format == &render::all_formats()[0])
    samples.tables = with_local_times(samples.tables, query.since > kDay / 2);
  TRY(write_output("", is_view ? metrics_text(samples.tables, samples.notes, style, SIZE_MAX)
                               : render::render(*options.format, samples.tables, samples.notes, style)));
  table::Selection asked = options.query.selection;
  if (asked.job.empty()) asked.job = hosts.job;
  // An agent that has just begun has nothing yet for who asked for nothing in particular; the view says so.
  if (is_view && asked.metrics.empty() && asked.job.empty()) return exit_status(samples);
  const bool is_empty = std::ranges::all_of(samples.tables, [](const Table& t) { return t.rows() == 0; });
  tell(missed(asked, samples.tables));
  return is_empty && samples.is_whole ? kNothing : exit_status(samples);
}

CLI::Option* add_time(CLI::App& app, const char* name, const char* help, Ns& to) {
  return add_option(app, name, "TIME", help, [&to](const std::string& word) -> Result<void> {
    TRY_ASSIGN(to, parse_duration_ns(word));
    return {};
  });
}

}  // namespace

Action declare_metrics(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();
  auto* list = app.add_flag(
      "--list", o->list, "list every metric with its unit, source and meaning; collectors; options of sinks");
  auto* metric =
      add_option(
          app, "--metric", "PATTERN",
          "only metrics of such names, as in \"gpu_*\"; may be repeated. Default on a terminal: those that are looked at "
          "first",
          [o](const std::string& word) -> Result<void> {
            std::ranges::copy(split_commas(word), std::back_inserter(o->query.selection.metrics));
            return {};
          })
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* job =
      app.add_option("--job", o->query.selection.job, "only what belongs to this job")->type_name("ID");
  auto* since =
      add_time(app, "--since",
               "from so long ago, of the agent's history, as in 10m; counters as what they grow by a second",
               o->query.since);
  add_time(app, "--until", "with --since: until so long ago", o->query.until)->needs(since);
  add_time(app, "--step", "with --since: at most one sample in this time", o->query.step)->needs(since);
  auto* raw = app.add_flag("--raw", o->raw, "with --since: counters as they are")->needs(since);
  auto* watch = app.add_flag("--watch", o->watch, "show the last minute, anew each second, until Ctrl-C")
                    ->excludes(list)
                    ->excludes(raw);
  auto* catalogue = add_catalogue_option(app, o->catalogue)->excludes(list)->excludes(watch);
  for (auto* limit : {metric, job, since}) catalogue->excludes(limit);
  add_host_options(app, o->hosts);
  auto* once = app.add_flag("--once", o->once, "sample this machine once, without an agent")
                   ->excludes(list)
                   ->excludes(watch)
                   ->excludes(catalogue)
                   ->excludes(metric);
  for (auto* limit : {job, since}) {
    list->excludes(limit);
    once->excludes(limit);
  }
  for (const char* hosts : {"--host", "--hostfile", "--slurm-job"}) {
    list->excludes(app.get_option(hosts));
    once->excludes(app.get_option(hosts));
  }
  app.add_option("--root", o->of_once.root,
                 "with --once: the root below which /proc and /sys are; default: /")
      ->type_name("DIR")
      ->needs(once);
  add_option(app, "--table", "NAME", "with --once: only this table; may be repeated",
             [o](const std::string& word) -> Result<void> {
               if (!collect::find_table(word))
                 return fail(Code::invalid,
                             "there is no table \"{}\"; `spotter metrics --list` lists the metrics", word);
               o->of_once.tables.push_back(word);
               return {};
             })
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->needs(once);
  app.add_flag("--per-core", o->of_once.per_core, "with --once: rows for each core, too")->needs(once);
  add_format_option(app, o->format)->excludes(watch);
  return [options]() -> Result<int> {
    if (!options->catalogue.empty())
      return show_catalogue(options->hosts, options->catalogue, *options->format);
    if (!options->once && !options->list) return show(*options);
    const render::TextStyle style = style_of(STDOUT_FILENO);
    if (options->list) {
      const Table lists[] = {report::metric_list(options->query.selection), report::collector_list(),
                             report::sink_option_list()};
      TRY(write_output("", render::render(*options->format, lists, {}, style)));
      tell(unknown_metrics(options->query.selection, {}));
      if (lists[0].rows() == 0) return kNothing;
    } else {
      const OneSample sample = sample_once(options->of_once);
      TRY(write_output("", render::render(*options->format, sample.tables, sample.notes, style)));
    }
    return 0;
  };
}

}  // namespace spotter::app

// metrics: what is measured on machines: which metrics there are, what agents have measured and measure now,
// and one sample without an agent.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>

#include "api/client.h"
#include "api/metrics_query.h"
#include "api/read_tables.h"
#include "app/commands.h"
#include "app/format_option.h"
#include "app/hosts.h"
#include "app/metrics_view.h"
#include "app/output.h"
#include "app/terminal.h"
#include "base/quantity.h"
#include "base/stable_sort.h"
#include "base/utf8.h"
#include "collect/identities.h"
#include "collect/list.h"
#include "table/ops.h"

namespace spotter {
namespace {

constexpr Ns kPatience = 10'000'000'000;
constexpr Ns kViewed = 60'000'000'000;
constexpr size_t kCurve = 30;
constexpr int kAll = 0, kSome = 3;  // exit statuses: how many of the agents have answered

struct Options {
  bool list = false, once = false, per_core = false, watch = false, raw = false;
  std::string root;
  std::vector<std::string> tables;  // of --once
  api::MetricsQuery query;
  HostOptions hosts;
  const Format* format = &all_formats()[0];
};

constexpr Field kListColumns[] = {
    {"metric", Type::text, Unit::none, Role::key, "Name."},
    {"unit", Type::text, Unit::none, Role::value, "Unit."},
    {"kind", Type::text, Unit::none, Role::value, "gauge, counter or text."},
    {"collector", Type::text, Unit::none, Role::value, "Who measures it."},
    {"source", Type::text, Unit::none, Role::value, "Where it comes from."},
    {"help", Type::text, Unit::none, Role::value, "What it means."},
};

Table metric_list() {
  Table table("metrics", kListColumns);
  for (const collect::CollectorKind* collector : collect::all_collectors()) {
    for (const collect::TableKind& kind : collector->tables) {
      for (const Field& field : kind.columns) {
        if (field.role != Role::value && field.role != Role::counter) continue;
        const char* what = field.type == Type::text      ? "text"
                           : field.role == Role::counter ? "counter"
                                                         : "gauge";
        table.append({std::string_view(collect::metric_name(kind, field)),
                      std::string_view(unit_name(field.unit)), std::string_view(what),
                      std::string_view(collector->name), std::string_view(kind.source),
                      std::string_view(field.help)});
      }
    }
  }
  return table;
}

bool is_wanted(const Options& options, std::string_view table) {
  return options.tables.empty() || std::ranges::find(options.tables, table) != options.tables.end();
}

// One sample of each collector, here and now.
Result<int> sample_once(const Options& options) {
  const Host host = Host::at(options.root);
  const collect::Surroundings surroundings{host, std::make_shared<collect::Identities>(host),
                                           options.per_core};
  std::vector<Table> tables;
  Notes notes;
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    if (std::ranges::none_of(kind->tables, [&](const auto& table) { return is_wanted(options, table.name); }))
      continue;
    const auto lost = [&](const Error& error) {
      notes.add("no_sample", Severity::info, fmt::format("{}: {}", kind->name, error.message));
    };
    auto collector = kind->open(surroundings);
    if (!collector) {
      lost(collector.error());
      continue;
    }
    auto sampled = (*collector)->sample();
    if (!sampled) {
      lost(sampled.error());
      continue;
    }
    for (Table& table : *sampled) {
      if (is_wanted(options, table.name())) tables.push_back(std::move(table));
    }
  }
  TRY(write_output("", render(*options.format, tables, notes, style_of(STDOUT_FILENO))));
  return 0;
}

struct Samples {
  std::vector<Table> tables;
  Notes notes;
  bool is_whole = true;  // every agent has answered
};

// The table with a first column that says whose rows they are.
Table with_host(const Table& table, const std::string& host) {
  std::vector<Field> fields{{"host", Type::text, Unit::none, Role::key, "Host of the agent."}};
  fields.insert(fields.end(), table.schema().begin(), table.schema().end());
  Table out(table.name(), fields);
  std::vector<Value> row(fields.size());
  row[0] = std::string_view(host);
  for (size_t r = 0; r < table.rows(); ++r) {
    for (size_t c = 0; c < table.columns(); ++c) row[c + 1] = table.at(r, c);
    out.append(row);
  }
  return out;
}

// Rows of another agent below those that are there, if both tables have the same columns.
bool append_to(std::vector<Table>& tables, const Table& more) {
  const auto is_same = [](const Field& a, const Field& b) {
    return std::string_view(a.name) == b.name && a.type == b.type;
  };
  for (Table& table : tables) {
    if (table.name() != more.name() || !std::ranges::equal(table.schema(), more.schema(), is_same)) continue;
    append(table, more);
    return true;
  }
  return false;
}

Result<Samples> ask(const Hosts& hosts, api::MetricsQuery query) {
  if (query.job.empty()) query.job = hosts.job;
  const std::vector<net::HttpQuestion> questions(hosts.addresses.size(),
                                                 {"GET", api::target_of(query), {}, {}});
  Samples samples;
  std::optional<Error> error;
  size_t answered = 0, number = 0;
  for (auto& http : api::ask_each(hosts.addresses, hosts.credentials, questions, kPatience)) {
    const net::HttpAddress& address = hosts.addresses[number++];
    const auto answer = [&]() -> Result<api::TablesAnswer> {
      if (!http) return tl::unexpected(http.error());
      TRY_ASSIGN(const std::string body, api::body_of(std::move(*http)));
      return api::read_tables(body);
    }();
    if (!answer) {
      error = address.socket.empty() ? within(answer.error(), address.shown()).value() : answer.error();
      if (hosts.addresses.size() > 1)
        std::fprintf(stderr, "spotter: %s\n", to_printable(error->message).c_str());
      continue;
    }
    ++answered;
    samples.notes.merge(answer->notes, hosts.addresses.size() > 1 ? address.host : std::string());
    for (const Table& table : answer->tables) {
      const Table more = hosts.addresses.size() > 1 ? with_host(table, address.host) : table;
      if (!append_to(samples.tables, more)) samples.tables.push_back(more);
    }
  }
  if (answered == 0 && hosts.addresses.size() > 1) return fail(error->code, "no agent has answered");
  if (answered == 0) return tl::unexpected(*error);
  samples.is_whole = !error;
  // In the order in which their metrics are looked at; the others behind them.
  const std::vector<std::string> first = first_metrics();
  const auto place = [&](const Table& table) {
    return std::ranges::find_if(
               first, [&](const std::string& name) { return name.starts_with(table.name() + "_"); }) -
           first.begin();
  };
  stable_sort(samples.tables, [&](const Table& a, const Table& b) { return place(a) < place(b); });
  return samples;
}

// Unix time as a clock shows it here; the day, too, where it may be another one.
std::string clock_text(Ns unix_ns, bool with_day) {
  const auto seconds = static_cast<time_t>(unix_ns / 1'000'000'000);
  tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), with_day ? "%m-%d %H:%M:%S" : "%H:%M:%S", &local);
  return text.data();
}

// For people: the samples with their time as a clock shows it.
std::vector<Table> with_clock(std::span<const Table> tables, bool with_day) {
  std::vector<Table> out;
  for (const Table& table : tables) {
    std::vector<Field> fields(table.schema().begin(), table.schema().end());
    const auto time = std::ranges::find(fields, Role::time, &Field::role);
    const auto at = static_cast<size_t>(time - fields.begin());
    if (time != fields.end()) *time = {"time", Type::text, Unit::none, Role::time, time->help};
    Table& shown = out.emplace_back(table.name(), fields);
    shown.notes = table.notes;
    std::vector<Value> row(fields.size());
    for (size_t r = 0; r < table.rows(); ++r) {
      for (size_t c = 0; c < fields.size(); ++c) row[c] = table.at(r, c);
      std::string text;
      if (at < fields.size() && !is_null(row[at])) {
        text = clock_text(table.integer(r, at), with_day);
        row[at] = std::string_view(text);
      }
      shown.append(row);
    }
  }
  return out;
}

std::string viewed(const Samples& samples, const TextStyle& style, size_t most_lines) {
  const Table view = metrics_view(samples.tables, kCurve);
  if (view.rows() == 0) return "Nothing has been measured in the last minute that is looked at.\n";
  std::string text = render_text_table(head(view, most_lines), style);
  if (view.rows() > most_lines)
    text += fmt::format("and {} more; --metric PATTERN chooses\n", view.rows() - most_lines);
  return text + render_text_notes(samples.notes, style);
}

api::MetricsQuery viewed_query(const Options& options) {
  api::MetricsQuery query = options.query;
  if (query.metrics.empty()) query.metrics = first_metrics();
  if (query.since == 0) query.since = kViewed;
  query.rates = true;
  return query;
}

[[noreturn]] void watch(const Hosts& hosts, const Options& options) {
  constexpr auto kEvery = std::chrono::seconds(1);
  constexpr size_t kOtherLines = 4;
  for (auto next = std::chrono::steady_clock::now();; std::this_thread::sleep_until(next += kEvery)) {
    const Result<Samples> samples = ask(hosts, viewed_query(options));
    const size_t lines = std::max<size_t>(terminal_height(STDOUT_FILENO), kOtherLines + 1) - kOtherLines;
    const std::string text = samples ? viewed(*samples, style_of(STDOUT_FILENO), lines)
                                     : fmt::format("{}\n", to_printable(samples.error().message));
    std::printf("\033[H\033[J%s", text.c_str());
    std::fflush(stdout);
  }
}

Result<int> show(const Options& options) {
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  if (options.watch) watch(hosts, options);
  const bool is_view = options.query.since == 0 && options.format == &all_formats()[0];
  api::MetricsQuery query = options.query;
  query.rates = query.since != 0 && !options.raw;
  TRY_ASSIGN(Samples samples, ask(hosts, is_view ? viewed_query(options) : query));
  const TextStyle style = style_of(STDOUT_FILENO);
  constexpr Ns kDay = 86'400'000'000'000;
  if (!is_view && options.format == &all_formats()[0])
    samples.tables = with_clock(samples.tables, query.since > kDay / 2);
  TRY(write_output("", is_view ? viewed(samples, style, SIZE_MAX)
                               : render(*options.format, samples.tables, samples.notes, style)));
  return samples.is_whole ? kAll : kSome;
}

void add_time(CLI::App& app, const char* name, const char* help, Ns& to) {
  add_option(app, name, "TIME", help, [&to](const std::string& word) -> Result<void> {
    TRY_ASSIGN(to, parse_duration_ns(word));
    return {};
  });
}

}  // namespace

Action declare_metrics(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();
  auto* list = app.add_flag("--list", o->list, "list every metric with its unit, source and meaning");
  add_option(
      app, "--metric", "PATTERN",
      "only metrics of such names, as in \"gpu_*\"; may be repeated. Default on a terminal: those that are looked at "
      "first",
      [o](const std::string& word) -> Result<void> {
        o->query.metrics.push_back(word);
        return {};
      })
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--job", o->query.job, "only what belongs to this job")->type_name("ID");
  add_time(app, "--since",
           "from so long ago, of the agent's history, as in 10m; counters as what they grow by a second",
           o->query.since);
  add_time(app, "--until", "with --since: until so long ago", o->query.until);
  add_time(app, "--step", "with --since: at most one sample in this time", o->query.step);
  app.add_flag("--raw", o->raw, "with --since: counters as they are");
  auto* watch = app.add_flag("--watch", o->watch, "show the last minute, anew each second, until Ctrl-C");
  add_host_options(app, o->hosts);
  auto* once = app.add_flag("--once", o->once, "sample this machine once, without an agent")
                   ->excludes(list)
                   ->excludes(watch);
  app.add_option("--root", o->root, "with --once: the root below which /proc and /sys are; default: /")
      ->type_name("DIR")
      ->needs(once);
  add_option(app, "--table", "NAME", "with --once: only this table; may be repeated",
             [o](const std::string& word) -> Result<void> {
               if (!collect::find_table(word))
                 return fail(Code::invalid,
                             "there is no table \"{}\"; `spotter metrics --list` lists the metrics", word);
               o->tables.push_back(word);
               return {};
             })
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->needs(once);
  app.add_flag("--per-core", o->per_core, "with --once: rows for each core, too")->needs(once);
  add_format_option(app, o->format);
  return [options]() -> Result<int> {
    if (options->once) return sample_once(*options);
    if (!options->list) return show(*options);
    const Table all = metric_list();
    TRY(write_output("", render(*options->format, std::span(&all, 1), {}, style_of(STDOUT_FILENO))));
    return 0;
  };
}

}  // namespace spotter

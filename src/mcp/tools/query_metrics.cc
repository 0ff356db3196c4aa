// query_metrics: what agents measure, as few series of few points.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/stable_sort.h"
#include "base/text/glob.h"
#include "base/text/quantity.h"
#include "base/time.h"
#include "mcp/ask.h"
#include "mcp/cells.h"
#include "mcp/list.h"
#include "render/render.h"
#include "table/metric.h"
#include "table/ops.h"
#include "table/rates.h"
#include "wire/metrics_query.h"

namespace spotter::mcp {
namespace {

constexpr size_t kMostSeries = 20, kMostPoints = 60;
constexpr i64 kMostPatterns = 5, kMostRank = 10'000'000;
constexpr Ns kLongest = 7 * kDay;
constexpr Ns kMostSamples = 2'000;  // of a series that an agent is asked for
constexpr const char* kAggregates[] = {"last", "mean", "min", "max", "p95"};

constexpr ToolParam kParams[] = {
    {.name = "metric",
     .help = "names or patterns: gpu_*, step_ns",
     .type = ToolParam::Type::texts,
     .required = true,
     .most = kMostPatterns},
    {"since", "of so long ago, to 7d; without it the newest samples"},
    {"step", "a row for each such time, as 1m; without it one row a series"},
    {"job", "of this job alone"},
    {"host", "of hosts of this name or pattern"},
    {.name = "rank", .help = "of this rank alone", .type = ToolParam::Type::integer, .most = kMostRank},
    {.name = "agg", .help = "what becomes of several samples (default last)", .words = kAggregates},
};

constexpr Field kColumns[] = {
    {"metric", Type::text, Unit::none, Role::key, "Name of the metric."},
    {"unit", Type::text, Unit::none, Role::key, "Unit of its values."},
    {"host", Type::text, Unit::none, Role::key, "Host that it is of."},
    {"job", Type::text, Unit::none, Role::key, "Job that it is of."},
    {"rank", Type::integer, Unit::none, Role::key, "Rank that it is of."},
    {"of", Type::text, Unit::none, Role::key, "What else the series is of: a device, a process."},
    {"time", Type::integer, Unit::ns, Role::time,
     "The time of the row; the last sample's where there is one row a series."},
    {"value", Type::real, Unit::none, Role::value, "The aggregate, in the metric's unit."},
    {"samples", Type::integer, Unit::count, Role::value, "Samples that it is made from."},
};

struct Key {
  std::string metric, unit, host, job, of;
  std::optional<i64> rank;
  auto operator<=>(const Key&) const = default;
};
using Samples = std::vector<std::pair<Ns, double>>;

struct Wish {
  wire::MetricsQuery query;
  std::string host, aggregate;
  std::optional<i64> rank;
  Ns step = 0;
};

// What is told of samples beside their values.
struct Told {
  std::set<std::string> counters;  // "cpu_user_ns as user_cores"
  bool has_means = false;          // a sample is the mean of a span of time
};

std::optional<double> number_of(const Value& value) {
  if (const i64* whole = std::get_if<i64>(&value)) return static_cast<double>(*whole);
  if (const double* real = std::get_if<double>(&value)) return *real;
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::nullopt;
}

std::string word_of(const Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  if (const i64* whole = std::get_if<i64>(&value)) return std::to_string(*whole);
  return {};
}

// A metric of a table: its column, and the one that has its samples as they are wanted.
struct MetricColumn {
  size_t column, from;
};

// Where a sample is the mean of a span, NAME_min and NAME_max stand beside NAME (store/history_query.h).
std::vector<MetricColumn> metric_columns(const Table& table, const Wish& wish, Told& told) {
  const auto place_of = [&](std::string_view name) {
    const auto it = std::ranges::find(table.schema(), name,
                                      [](const Field& field) { return std::string_view(field.name); });
    return static_cast<size_t>(it - table.schema().begin());
  };
  const auto is_beside = [&](std::string_view name) {
    return (name.ends_with("_min") || name.ends_with("_max")) &&
           place_of(name.substr(0, name.size() - 4)) < table.columns();
  };
  std::vector<MetricColumn> metrics;
  for (size_t c = 0; c < table.columns(); ++c) {
    const Field& field = table.schema()[c];
    if (!table::is_numeric_metric(field) || is_beside(field.name) ||
        !wish.query.selection.wants_metric(table.name(), field.name))
      continue;
    const bool is_end = wish.aggregate == "min" || wish.aggregate == "max";
    const size_t end = place_of(fmt::format("{}_{}", field.name, is_end ? wish.aggregate : "max"));
    told.has_means = told.has_means || end < table.columns();
    metrics.push_back({c, is_end && end < table.columns() ? end : c});
  }
  return metrics;
}

// The samples of a host's table, by series.
void add_samples(const Table& sampled, const std::string& host, const Wish& wish,
                 std::map<Key, Samples>& series, Told& told) {
  if (sampled.is_events) return;
  const std::vector<MetricColumn> metrics = metric_columns(sampled, wish, told);
  if (metrics.empty()) return;
  const bool wants_rates = wish.query.since != 0;
  const Table table = wants_rates ? table::rates(sampled) : sampled;
  for (const MetricColumn& metric : metrics)
    if (wants_rates && sampled.schema()[metric.column].role == Role::counter)
      told.counters.insert(
          fmt::format("{} as {}", table::metric_name(sampled.name(), sampled.schema()[metric.column].name),
                      table.schema()[metric.column].name));
  for (size_t row = 0; row < table.rows(); ++row) {
    Key key{.metric = {}, .unit = {}, .host = host, .job = {}, .of = {}, .rank = {}};
    Ns time = 0;
    for (size_t c = 0; c < table.columns(); ++c) {
      const Field& field = table.schema()[c];
      const std::string_view name = field.name;
      const Value cell = table.at(row, c);
      if (is_null(cell)) continue;
      if (const i64* at = std::get_if<i64>(&cell); at && field.role == Role::time && time == 0) time = *at;
      if (field.role != Role::key) continue;
      if (name == "job")
        key.job = word_of(cell);
      else if (name == "rank" && field.type == Type::integer)
        key.rank = std::get<i64>(cell);
      else
        key.of += fmt::format("{}{}={}", key.of.empty() ? "" : " ", name, word_of(cell));
    }
    if (wish.rank && key.rank != wish.rank) continue;
    for (const MetricColumn& metric : metrics)
      if (const auto value = number_of(table.at(row, metric.from))) {
        key.metric = table::metric_name(sampled.name(), sampled.schema()[metric.column].name);
        key.unit = unit_name(table.schema()[metric.column].unit);
        series[key].emplace_back(time, *value);
      }
  }
}

double aggregate(const Samples& samples, const std::string& how) {
  const auto by_value = [](const auto& one, const auto& other) { return one.second < other.second; };
  if (how == "min") return std::ranges::min_element(samples, by_value)->second;
  if (how == "max") return std::ranges::max_element(samples, by_value)->second;
  if (how == "mean") {
    double sum = 0;
    for (const auto& sample : samples) sum += sample.second;
    return sum / static_cast<double>(samples.size());
  }
  if (how == "p95") {  // numpy's default: linear between neighbours
    std::vector<double> values;
    for (const auto& sample : samples) values.push_back(sample.second);
    std::ranges::sort(values);
    const double place = 0.95 * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const double above = values[std::min(below + 1, values.size() - 1)];
    return values[below] + (place - static_cast<double>(below)) * (above - values[below]);
  }
  return std::ranges::max_element(samples, {}, &std::pair<Ns, double>::first)->second;
}

// The series with the largest and the smallest values of each metric: what stands out is among them.
std::vector<Key> extremes(const std::map<Key, Samples>& series, const std::string& how) {
  std::map<std::string, std::vector<std::pair<double, const Key*>>> of_metric;
  for (const auto& [key, samples] : series) of_metric[key.metric].emplace_back(aggregate(samples, how), &key);
  const auto by_first = [](const auto& one, const auto& other) { return one.first < other.first; };
  std::vector<std::pair<size_t, const Key*>> ranked;  // how far from an end of its metric
  for (auto& [metric, all] : of_metric) {
    stable_sort(all, by_first);
    for (size_t i = 0; i < all.size(); ++i)
      ranked.emplace_back(std::min(2 * i + 1, 2 * (all.size() - 1 - i)), all[i].second);
  }
  stable_sort(ranked, by_first);
  std::vector<Key> kept;
  for (size_t i = 0; i < std::min(kMostSeries, ranked.size()); ++i) kept.push_back(*ranked[i].second);
  std::ranges::sort(kept);
  return kept;
}

// Its samples by spans of `step`.
std::map<Ns, Samples> by_time(const Samples& samples, Ns step) {
  std::map<Ns, Samples> parts;
  for (const auto& sample : samples) parts[step == 0 ? 0 : sample.first / step * step].push_back(sample);
  return parts;
}

Result<Ns> length_of(const Arguments& arguments, const char* name) {
  const std::string text = arguments.text(name);
  if (text.empty()) return 0;
  const auto length = parse_duration_ns(text);
  if (!length) return within(length.error(), name);
  if (*length <= 0 || *length > kLongest)
    return fail(Code::invalid, "{} is \"{}\", and may be to 7d", name, clean(text, 20));
  return *length;
}

Result<Wish> wish_of(const Arguments& arguments) {
  Wish wish{.query = {},
            .host = arguments.text("host"),
            .aggregate = arguments.text("agg"),
            .rank = arguments.integer("rank")};
  wish.query.selection = {.metrics = arguments.texts("metric"), .job = arguments.text("job")};
  if (wish.query.selection.metrics.empty())
    return fail(Code::invalid, "metric: which? gpu_*, step_ns, cpu_*; describe defines one");
  if (wish.aggregate.empty()) wish.aggregate = "last";
  TRY_ASSIGN(wish.query.since, length_of(arguments, "since"));
  TRY_ASSIGN(wish.step, length_of(arguments, "step"));
  if (wish.step != 0 && wish.query.since == 0)
    return fail(Code::invalid, "step goes with since: how far back?");
  wish.query.step = wish.query.since / kMostSamples;
  return wish;
}

// A multiple of `step` of which `since` has no more than an answer has room for.
Ns step_with_room(Ns since, Ns step) {
  constexpr Ns kSpans = kMostPoints - 1;  // the first and the last one are parts of one
  return step * std::max<Ns>(1, (since + step * kSpans - 1) / (step * kSpans));
}

// What is told of samples.
void add_told(const Told& told, const Wish& wish, std::vector<std::string>& notes) {
  constexpr size_t kMostNamed = 3;
  if (!told.counters.empty()) {
    std::vector<std::string> named(told.counters.begin(), told.counters.end());
    named.resize(std::min(named.size(), kMostNamed));
    notes.push_back(fmt::format("counters are given as what they grow by a second: {}{}",
                                fmt::join(named, ", "),
                                told.counters.size() > kMostNamed ? " and so on" : ""));
  }
  if (told.has_means)
    notes.push_back(
        fmt::format("so far back a sample is the mean of a span of time{}; ask for less time to have each",
                    wish.aggregate == "min" || wish.aggregate == "max"
                        ? ", of which the least and the greatest value are known"
                        : ""));
}

// The samples as they are, all of them.
std::string samples_command(const World& world, const Wish& wish, const Arguments& arguments) {
  std::string command = "metrics";
  for (const std::string& pattern : wish.query.selection.metrics)
    command += " --metric " + command_word(pattern);
  if (!wish.query.selection.job.empty()) command += " --job " + command_word(wish.query.selection.job);
  if (wish.query.since != 0) command += " --since " + command_word(arguments.text("since"));
  return agents_command(world, command);
}

Result<Answer> query_metrics(const Call& call) {
  TRY_ASSIGN(Wish wish, wish_of(call.arguments));
  TRY_ASSIGN(const FromAgents answers, ask_agents(call.world, wire::target_of(wish.query), call.patience));
  Answer answer{.table = Table("query_metrics", kColumns), .limit = kMostPoints, .notes = answers.notes};
  if (wish.step != 0)
    if (const Ns step = step_with_room(wish.query.since, wish.step); step != std::exchange(wish.step, step))
      answer.notes.push_back(
          fmt::format("of so many spans there is no room: they are {} long here", render::human_ns(step)));
  std::map<Key, Samples> series;
  Told told;
  for (const FromAgents::Host& host : answers.hosts) {
    if (!wish.host.empty() && !matches_glob(wish.host, host.name)) continue;
    for (const Table& table : host.tables) {
      add_samples(table, host.name, wish, series, told);
      add_notes(table.notes, answer.notes);
    }
  }
  const std::vector<Key> kept = extremes(series, wish.aggregate);
  for (const Key& key : kept)
    for (const auto& [time, samples] : by_time(series.at(key), wish.step))
      answer.table.append(
          {key.metric, key.unit, or_null(key.host), or_null(key.job), or_null(key.rank), or_null(key.of),
           time != 0 ? time : std::ranges::max(samples, {}, &std::pair<Ns, double>::first).first,
           aggregate(samples, wish.aggregate), static_cast<i64>(samples.size())});
  answer.sentence = series.empty() ? "There are no samples of such metrics [s1]."
                                   : fmt::format("{} of {}, each the {} of its samples{} [s1].", kept.size(),
                                                 count_of(series.size(), "series"), wish.aggregate,
                                                 wish.step == 0 ? "" : " in each span of time");
  if (kept.size() < series.size())
    answer.notes.push_back(fmt::format("{} series are left out: those in between, by their values",
                                       series.size() - kept.size()));
  add_told(told, wish, answer.notes);
  answer.version = fmt::format("{}", answer.table.rows());
  answer.sources.push_back({"these rows", "query_metrics", call_command(call, "query_metrics")});
  answer.sources.push_back(
      {"the samples that they are made of", "metrics", samples_command(call.world, wish, call.arguments)});
  if (series.empty())
    answer.next.push_back({"describe", {{"name", "*"}}});
  else
    answer.next.push_back({"describe", {{"name", kept[0].metric}}});
  return answer;
}

}  // namespace

constexpr Tool kQueryMetrics = {
    .name = "query_metrics",
    .title = "Metrics over time",
    .description =
        "Samples of hosts, GPUs, processes and steps, now or in the last 7 days, as at most 20 series of 60 points; of more "
        "series the extremes. It does not say what is wrong; list_incidents does. describe defines a metric.",
    .params = kParams,
    .call = query_metrics,
};

}  // namespace spotter::mcp

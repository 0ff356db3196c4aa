#include "api/metrics_query.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/glob.h"
#include "base/quantity.h"
#include "table/metric.h"
#include "table/ops.h"

namespace spotter::api {
namespace {

constexpr Ns kMs = 1'000'000;
constexpr i64 kMostMs = i64{366} * 24 * 3600 * 1000;
constexpr size_t kMostPatterns = 64, kMostPattern = 256;

constexpr Field kTime = {"time_ns", Type::integer, Unit::ns, Role::time, "When it was sampled: Unix time."};

bool is_metric(const Field& field) { return field.role == Role::value || field.role == Role::counter; }

bool is_wanted(const MetricsQuery& query, const std::string& table, const Field& field) {
  if (!is_metric(field) || query.metrics.empty()) return true;
  const std::string name = metric_name(table, field.name);
  return std::ranges::any_of(query.metrics,
                             [&](const std::string& pattern) { return matches_glob(pattern, name); });
}

}  // namespace

Result<MetricsQuery> read_metrics_query(const Target& target) {
  MetricsQuery query;
  query.metrics = split_commas(target.text("metric"));
  if (query.metrics.size() > kMostPatterns)
    return fail(Code::invalid, "metric: more than {} patterns", kMostPatterns);
  for (const std::string& pattern : query.metrics) {
    if (pattern.size() > kMostPattern)
      return fail(Code::invalid, "metric: a pattern is longer than {}", kMostPattern);
  }
  const std::pair<const char*, Ns*> times[] = {
      {"since_ms", &query.since}, {"until_ms", &query.until}, {"step_ms", &query.step}};
  for (const auto& [name, to] : times) {
    const i64 ms = target.number(name, target.text(name).empty() ? 0 : -1);
    if (ms < 0 || ms > kMostMs) return fail(Code::invalid, "{}: it must be 0 to {}", name, kMostMs);
    *to = ms * kMs;
  }
  if (query.since != 0 && query.until >= query.since)
    return fail(Code::invalid, "until_ms has to be less than since_ms");
  query.job = target.text("job");
  query.rates = target.number("rates", 0) != 0;
  if (query.rates && query.since == 0) return fail(Code::invalid, "rates need since_ms: one sample has none");
  return query;
}

std::string target_of(const MetricsQuery& query) {
  std::string target = "/v1/metrics?";
  const auto add = [&](const char* name, const std::string& value) {
    target += fmt::format("{}{}={}", target.back() == '?' ? "" : "&", name, escaped_parameter(value));
  };
  if (!query.metrics.empty()) add("metric", fmt::format("{}", fmt::join(query.metrics, ",")));
  if (query.since) add("since_ms", std::to_string(query.since / kMs));
  if (query.until) add("until_ms", std::to_string(query.until / kMs));
  if (query.step) add("step_ms", std::to_string(query.step / kMs));
  if (!query.job.empty()) add("job", query.job);
  if (query.rates) add("rates", "1");
  return target;
}

std::vector<Table> newest_tables(std::span<const SharedBatch> latest, Ns unix_now,
                                 const MetricsQuery& query) {
  std::vector<Table> tables;
  for (const SharedBatch& batch : latest) {
    if (is_stale(*batch, unix_now)) continue;
    for (const Table& table : batch->tables) {
      if (std::ranges::find(tables, table.name(), &Table::name) != tables.end()) continue;
      const bool has_times =
          std::ranges::find(table.schema(), Role::time, &Field::role) != table.schema().end();
      std::vector<Field> fields(has_times ? 0 : 1, kTime);
      std::vector<size_t> from;
      size_t metrics = 0, job = table.columns();
      for (size_t c = 0; c < table.columns(); ++c) {
        const Field& field = table.schema()[c];
        if (std::string_view(field.name) == "job") job = c;
        if (!is_wanted(query, table.name(), field)) continue;
        metrics += is_metric(field);
        fields.push_back(field);
        from.push_back(c);
      }
      if (metrics == 0 || (!query.job.empty() && job == table.columns())) continue;
      Table& out = tables.emplace_back(table.name(), fields);
      out.notes = table.notes;
      std::vector<Value> row;
      for (size_t r = 0; r < table.rows(); ++r) {
        if (!query.job.empty() && text_or_empty(table, r, "job") != query.job) continue;
        row.clear();
        if (!has_times) row.emplace_back(batch->unix_ns);
        for (const size_t c : from) row.push_back(table.at(r, c));
        out.append(row);
      }
    }
  }
  std::erase_if(tables, [](const Table& table) { return table.rows() == 0; });
  return tables;
}

}  // namespace spotter::api

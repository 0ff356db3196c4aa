#include "wire/metrics_query.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/quantity.h"
#include "base/time.h"

namespace spotter::wire {
namespace {

constexpr i64 kMostMs = i64{366} * 24 * 3600 * 1000;
constexpr size_t kMostPatterns = 64, kMostPattern = 256;

constexpr std::string_view kParameters[] = {"metric", "since_ms", "until_ms", "step_ms", "job", "rates"};

constexpr Field kTime = {"time_ns", Type::integer, Unit::ns, Role::time, "When it was sampled: Unix time."};

}  // namespace

Result<MetricsQuery> read_metrics_query(const Target& target) {
  MetricsQuery query;
  TRY(target.has_only(kParameters));
  query.selection.metrics = split_commas(target.text("metric"));
  if (query.selection.metrics.size() > kMostPatterns)
    return fail(Code::invalid, "metric: more than {} patterns", kMostPatterns);
  for (const std::string& pattern : query.selection.metrics) {
    if (pattern.size() > kMostPattern)
      return fail(Code::invalid, "metric: a pattern is longer than {}", kMostPattern);
  }
  const std::pair<const char*, Ns*> times[] = {
      {"since_ms", &query.since}, {"until_ms", &query.until}, {"step_ms", &query.step}};
  for (const auto& [name, to] : times) {
    const i64 ms = target.number(name, target.text(name).empty() ? 0 : -1);
    if (ms < 0 || ms > kMostMs) return fail(Code::invalid, "{}: it must be 0 to {}", name, kMostMs);
    *to = ms * kMillisecond;
  }
  if (query.since == 0 && (query.until != 0 || query.step != 0))
    return fail(Code::invalid, "until_ms and step_ms need since_ms");
  if (query.since != 0 && query.until >= query.since)
    return fail(Code::invalid, "until_ms has to be less than since_ms");
  query.selection.job = target.text("job");
  const i64 rates = target.number("rates", target.text("rates").empty() ? 0 : -1);
  if (rates != 0 && rates != 1) return fail(Code::invalid, "rates: it must be 0 or 1");
  query.rates = rates == 1;
  if (query.rates && query.since == 0) return fail(Code::invalid, "rates need since_ms: one sample has none");
  return query;
}

std::string target_of(const MetricsQuery& query) {
  std::string target = "/v1/metrics?";
  const auto add = [&](const char* name, const std::string& value) {
    target += fmt::format("{}{}={}", target.back() == '?' ? "" : "&", name, escaped_parameter(value));
  };
  if (!query.selection.metrics.empty())
    add("metric", fmt::format("{}", fmt::join(query.selection.metrics, ",")));
  if (query.since) add("since_ms", std::to_string(query.since / kMillisecond));
  if (query.until) add("until_ms", std::to_string(query.until / kMillisecond));
  if (query.step) add("step_ms", std::to_string(query.step / kMillisecond));
  if (!query.selection.job.empty()) add("job", query.selection.job);
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
      const std::span<const Field> columns = table.schema();
      if (!query.selection.wants_table(table.name(), columns, table.is_events)) continue;
      std::vector<Field> fields(table.is_events ? 0 : 1, kTime);
      std::vector<size_t> from;
      for (size_t c = 0; c < columns.size(); ++c) {
        if (!query.selection.wants_column(table.name(), columns[c], table.is_events)) continue;
        fields.push_back(columns[c]);
        from.push_back(c);
      }
      Table& out = tables.emplace_back(table.name(), fields);
      out.notes = table.notes;
      out.is_events = table.is_events;
      const size_t job = table::Selection::job_column(columns);
      std::vector<Value> row;
      for (size_t r = 0; r < table.rows(); ++r) {
        if (job < columns.size() && !query.selection.wants_row(table.at(r, job))) continue;
        row.clear();
        if (!table.is_events) row.emplace_back(batch->unix_ns);
        for (const size_t c : from) row.push_back(table.at(r, c));
        out.append(row);
      }
    }
  }
  std::erase_if(tables, [](const Table& table) { return table.rows() == 0; });
  return tables;
}

}  // namespace spotter::wire

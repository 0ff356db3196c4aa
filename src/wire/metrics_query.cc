#include "wire/metrics_query.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/quantity.h"
#include "base/time.h"

namespace spotter::wire {
namespace {

constexpr i64 kMostMs = i64{366} * 24 * 3600 * 1000;
constexpr size_t kMostPatterns = 64, kMostPattern = 256;

constexpr std::string_view kParameters[] = {"metric", "since_ms", "until_ms", "step_ms", "job", "rates"};

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

}  // namespace spotter::wire

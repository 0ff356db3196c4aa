#include "api/metrics_page.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "agent/table_kinds.h"
#include "api/accepted.h"
#include "api/cross_site.h"
#include "base/gzip_writer.h"
#include "render/prometheus.h"
#include "table/metric.h"

namespace spotter::api {
namespace {

constexpr const char* kText = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr size_t kLeastToCompress = 1024;

constexpr Field kSampleColumns[] = {
    {"table", Type::text, Unit::none, Role::key, "The table."},
    {"timestamp_ns", Type::integer, Unit::ns, Role::value,
     "When the numbers of a table were looked at, in Unix time."},
};

bool prefers_open_metrics(std::string_view accept) {
  double open_metrics = 0, any = 0;
  std::optional<double> text;
  for (const Accepted& a : read_accepted(accept)) {
    const auto is_version = [&](std::string_view ours) { return a.version.empty() || a.version == ours; };
    if (a.name == "application/openmetrics-text" && is_version("1.0.0"))
      open_metrics = std::max(open_metrics, a.quality);
    else if (a.name == "text/plain" && is_version("0.0.4"))
      text = std::max(text.value_or(0), a.quality);
    else if (a.name == "*/*" || a.name == "text/*")
      any = std::max(any, a.quality);
  }
  return open_metrics > 0 && open_metrics >= text.value_or(any);
}

bool takes_gzip(std::string_view accept_encoding) {
  std::optional<double> gzip;
  double any = 0;
  for (const Accepted& a : read_accepted(accept_encoding)) {
    if (a.name == "gzip" || a.name == "x-gzip") gzip = std::max(gzip.value_or(0), a.quality);
    if (a.name == "*") any = a.quality;
  }
  return gzip.value_or(any) > 0;
}

bool is_shown(const Table& table) {
  const table::TableKind* kind = agent::find_table_kind(table.name());
  return !(kind && kind->is_unbounded) && !table.is_events;
}

std::string render_latest(std::span<const SharedBatch> latest, Ns unix_now, bool open_metrics) {
  Table samples("sample", kSampleColumns);
  std::vector<const Table*> tables;
  std::unordered_set<std::string_view> names;
  for (const SharedBatch& batch : latest) {
    const bool is_old = is_stale(*batch, unix_now);
    for (const Table& table : batch->tables) {
      if (!is_shown(table) || !names.insert(table.name()).second) continue;
      samples.append({std::string_view(table.name()), batch->unix_ns});
      if (!is_old) tables.push_back(&table);
    }
  }
  tables.push_back(&samples);
  render::PrometheusStyle style;
  style.open_metrics = open_metrics;
  return render::render_prometheus(tables, style);
}

net::HttpAnswer refusal(int status, std::string text) {
  return {status, std::move(text), "text/plain; charset=utf-8"};
}

}  // namespace

net::HttpAnswer metrics_page(std::span<const SharedBatch> latest, Ns unix_now, std::string_view accept,
                             std::string_view accept_encoding) {
  const bool open_metrics = prefers_open_metrics(accept);
  net::HttpAnswer answer{200, render_latest(latest, unix_now, open_metrics),
                         open_metrics ? kOpenMetrics : kText};
  if (answer.body.size() <= kLeastToCompress || !takes_gzip(accept_encoding)) return answer;
  if (Result<std::string> bytes = gzipped(answer.body)) {
    answer.body = std::move(*bytes);
    answer.content_encoding = "gzip";
  }
  return answer;
}

net::HttpAnswer answer_metrics_door(std::span<const SharedBatch> latest, Ns unix_now,
                                    const net::HttpRequest& request,
                                    const std::optional<std::string>& own_name) {
  if (own_name) {
    if (const auto is = check_host(request, *own_name); !is) return refusal(403, is.error().message + "\n");
  }
  if (std::string_view(request.target).substr(0, request.target.find('?')) != "/metrics")
    return refusal(404, "there is only /metrics here\n");
  if (request.method != "GET") {
    net::HttpAnswer answer = refusal(405, "/metrics can be read, by GET, and that is all\n");
    answer.headers = {{"Allow", "GET"}};
    return answer;
  }
  return metrics_page(latest, unix_now, request.accept, request.accept_encoding);
}

}  // namespace spotter::api

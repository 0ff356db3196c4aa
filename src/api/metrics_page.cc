#include "api/metrics_page.h"

#include <algorithm>
#include <optional>

#include "api/accepted.h"
#include "base/gzip_writer.h"
#include "collect/list.h"
#include "render/prometheus.h"

namespace spotter::api {
namespace {

constexpr const char* kText = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr size_t kLeastToCompress = 1024;
using Tables = std::span<const std::shared_ptr<const Table>>;

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

Result<std::string> gzipped(std::string_view text) {
  std::string bytes;
  GzipWriter writer([&](std::span<const char> piece) -> Result<void> {
    bytes.append(piece.data(), piece.size());
    return {};
  });
  TRY(writer.write(text));
  TRY(writer.finish());
  return bytes;
}

bool is_shown(const Table& table) {
  const collect::TableKind* kind = collect::find_table(table.name());
  return !(kind && kind->is_unbounded) &&
         std::ranges::none_of(table.schema(), [](const Field& field) { return field.role == Role::time; });
}

std::string render_latest(Tables latest, bool open_metrics) {
  std::vector<const Table*> tables;
  for (const auto& table : latest) {
    if (is_shown(*table)) tables.push_back(table.get());
  }
  PrometheusStyle style;
  style.open_metrics = open_metrics;
  return render_prometheus(tables, style);
}

net::HttpAnswer refusal(int status, std::string text) {
  return {status, std::move(text), "text/plain; charset=utf-8"};
}

}  // namespace

net::HttpAnswer metrics_page(Tables latest, std::string_view accept, std::string_view accept_encoding) {
  const bool open_metrics = prefers_open_metrics(accept);
  net::HttpAnswer answer{200, render_latest(latest, open_metrics), open_metrics ? kOpenMetrics : kText};
  if (answer.body.size() <= kLeastToCompress || !takes_gzip(accept_encoding)) return answer;
  if (Result<std::string> bytes = gzipped(answer.body)) {
    answer.body = std::move(*bytes);
    answer.content_encoding = "gzip";
  }
  return answer;
}

net::HttpAnswer answer_metrics_door(Tables latest, const net::HttpRequest& request) {
  if (std::string_view(request.target).substr(0, request.target.find('?')) != "/metrics")
    return refusal(404, "there is only /metrics here\n");
  if (request.method != "GET") return refusal(405, "/metrics can be read, by GET, and that is all\n");
  return metrics_page(latest, request.accept, request.accept_encoding);
}

}  // namespace spotter::api

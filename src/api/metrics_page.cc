#include "api/metrics_page.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "agent/telemetry/table_kinds.h"
#include "base/gzip_writer.h"
#include "base/text/utf8.h"
#include "base/version.h"
#include "collect/list.h"
#include "net/http/accepted.h"
#include "net/http/cross_site.h"
#include "render/prometheus.h"
#include "table/metric.h"
#include "wire/target.h"

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

constexpr Field kBuildColumns[] = {
    {"version", Type::text, Unit::none, Role::detail, "Of the agent."},
    {"compiler", Type::text, Unit::none, Role::detail, "That made it."},
};
constexpr const char* kCompiler = __VERSION__;

bool prefers_open_metrics(std::string_view accept) {
  double open_metrics = 0, any = 0;
  std::optional<double> text;
  for (const net::Accepted& a : net::read_accepted(accept)) {
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

bool is_shown(const Table& table) {
  const table::TableKind* kind = agent::find_table_kind(table.name());
  return !(kind && kind->is_unbounded) && !table.is_events;
}

// Which collectors somebody wants to see, as their tables.
struct Wanted {
  std::vector<std::string_view> only, never;
  bool operator()(std::string_view table) const {
    if (!only.empty()) return std::ranges::find(only, table) != only.end();
    return std::ranges::find(never, table) == never.end();
  }
};

Result<Wanted> read_wanted(const wire::Target& target) {
  Wanted wanted;
  for (const auto& [key, value] : target.parameters) {
    if (key != "collect[]" && key != "exclude[]") continue;
    const collect::CollectorKind* const collector = collect::find_collector(value);
    if (!collector) return fail(Code::invalid, "{}: there is no collector \"{}\"", key, to_printable(value));
    for (const table::TableKind& table : collector->tables)
      (key == "collect[]" ? wanted.only : wanted.never).emplace_back(table.name);
  }
  if (!wanted.only.empty() && !wanted.never.empty())
    return fail(Code::invalid, "collect[] and exclude[] exclude each other");
  return wanted;
}

Table build() {
  Table build("build", kBuildColumns);
  build.append({std::string_view(kVersion), std::string_view(kCompiler)});
  return build;
}

std::string render_latest(std::span<const SharedBatch> latest, Ns unix_now, bool open_metrics,
                          const Wanted& wanted) {
  Table samples("sample", kSampleColumns);
  std::vector<const Table*> tables;
  std::unordered_set<std::string_view> names;
  for (const SharedBatch& batch : latest) {
    const bool is_old = is_stale(*batch, unix_now);
    for (const Table& table : batch->tables) {
      if (!is_shown(table) || !wanted(table.name()) || !names.insert(table.name()).second) continue;
      samples.append({std::string_view(table.name()), batch->unix_ns});
      if (!is_old) tables.push_back(&table);
    }
  }
  tables.push_back(&samples);
  const Table of_build = build();
  tables.push_back(&of_build);
  render::PrometheusStyle style;
  style.open_metrics = open_metrics;
  return render::render_prometheus(tables, style);
}

net::HttpAnswer plain(int status, std::string text) {
  return {status, std::move(text), "text/plain; charset=utf-8"};
}

}  // namespace

Result<net::HttpAnswer> metrics_page(std::span<const SharedBatch> latest, Ns unix_now,
                                     const net::HttpRequest& request) {
  TRY_ASSIGN(const Wanted wanted, read_wanted(wire::Target(request.target)));
  const bool open_metrics = prefers_open_metrics(request.accept);
  net::HttpAnswer answer{200, render_latest(latest, unix_now, open_metrics, wanted),
                         open_metrics ? kOpenMetrics : kText};
  if (answer.body.size() <= kLeastToCompress || !net::takes_gzip(request.accept_encoding)) return answer;
  if (Result<std::string> bytes = gzipped(answer.body)) {
    answer.body = std::move(*bytes);
    answer.content_encoding = "gzip";
  }
  return answer;
}

net::HttpAnswer answer_metrics_door(const MetricsDoorView& view, const net::HttpRequest& request) {
  if (view.own_name) {
    if (const auto is = net::check_host(request, *view.own_name); !is)
      return plain(403, is.error().message + "\n");
  }
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  const bool is_probe = path == "/-/healthy" || path == "/-/ready";
  if (path != "/metrics" && !is_probe)
    return plain(404, "there are only /metrics, /-/healthy and /-/ready here\n");
  if (request.method != "GET") {
    net::HttpAnswer answer = plain(405, fmt::format("{} can be read, by GET, and that is all\n", path));
    answer.headers = {{"Allow", "GET"}};
    return answer;
  }
  if (path == "/-/healthy") return plain(200, "the agent is healthy\n");
  if (path == "/-/ready")
    return view.is_ready ? plain(200, "the agent is ready\n")
                         : plain(503, "the agent does not measure yet\n");
  Result<net::HttpAnswer> page = metrics_page(view.latest, view.unix_now, request);
  return page ? std::move(*page) : plain(400, page.error().message + "\n");
}

}  // namespace spotter::api

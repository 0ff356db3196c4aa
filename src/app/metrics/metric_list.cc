#include "app/metrics/metric_list.h"

#include <fmt/format.h>

#include "collect/list.h"
#include "render/prometheus.h"
#include "sink/list.h"
#include "table/metric.h"
#include "table/named_samples.h"

namespace spotter::app {
namespace {

constexpr Field kListColumns[] = {
    {"metric", Type::text, Unit::none, Role::key, "Name."},
    {"unit", Type::text, Unit::none, Role::value, "Unit."},
    {"kind", Type::text, Unit::none, Role::value, "gauge, counter or text."},
    {"keys", Type::text, Unit::none, Role::value, "Columns that tell the rows of its table apart."},
    {"prometheus", Type::text, Unit::none, Role::value,
     "What Prometheus has it as: a metric, or a label of one; null where it does not have it."},
    {"collector", Type::text, Unit::none, Role::value, "Who measures it."},
    {"source", Type::text, Unit::none, Role::value, "Where it comes from."},
    whole({"help", Type::text, Unit::none, Role::value, "What it means."}),
};
constexpr Field kCollectorColumns[] = {
    {"collector", Type::text, Unit::none, Role::key, "Name."},
    {"period_ns", Type::integer, Unit::ns, Role::value, "Time from one sample to the next, by default."},
    {"is_on", Type::flag, Unit::none, Role::value, "Whether it samples by default."},
    whole({"help", Type::text, Unit::none, Role::value, "What it measures."}),
};
constexpr Field kSinkColumns[] = {
    {"sink", Type::text, Unit::none, Role::key, "Kind of sink."},
    whole({"help", Type::text, Unit::none, Role::value, "Where samples go."}),
};
constexpr Field kSinkOptionColumns[] = {
    {"sink", Type::text, Unit::none, Role::key, "Kind of sink, or all."},
    {"option", Type::text, Unit::none, Role::key, "Its name in the configuration."},
    {"default", Type::text, Unit::none, Role::value,
     "What it is where nothing is said, if that is one word."},
    whole({"help", Type::text, Unit::none, Role::value, "What it means."}),
};

void append_options(Table& table, std::string_view sink, std::span<const Setting> options) {
  for (const Setting& option : options) {
    const std::string_view fallback = option.fallback ? option.fallback : "";
    table.append({sink, std::string_view(option.key), fallback.empty() ? Value() : Value(fallback),
                  std::string_view(option.help)});
  }
}

std::string keys_of(const collect::TableKind& kind) {
  std::string keys;
  for (const Field& field : kind.columns)
    if (field.role == Role::key) keys += (keys.empty() ? "" : ", ") + std::string(field.name);
  return keys;
}

// Empty: it does not have it (api/metrics_page.h).
std::string prometheus_of(const collect::TableKind& kind, const Field& field) {
  if (kind.is_unbounded || kind.is_events || field.type == Type::text) return {};
  if (kind.columns.data() == table::kNamedSampleColumns) return {};  // each has a name of its own
  return render::prometheus_name(kind.name, field);
}

}  // namespace

Table metric_list(const table::Selection& selection) {
  Table table("metrics", kListColumns);
  for (const collect::CollectorKind* collector : collect::all_collectors()) {
    for (const collect::TableKind& kind : collector->tables) {
      for (const Field& field : kind.columns) {
        if (!table::is_metric(field) || !selection.wants_metric(kind.name, field.name)) continue;
        const std::string name = collect::metric_name(kind, field), keys = keys_of(kind),
                          prometheus = prometheus_of(kind, field);
        const char* what = field.type == Type::text      ? "text"
                           : field.role == Role::counter ? "counter"
                                                         : "gauge";
        table.append({std::string_view(name), std::string_view(unit_name(field.unit)), std::string_view(what),
                      keys.empty() ? Value() : Value(std::string_view(keys)),
                      prometheus.empty() ? Value() : Value(std::string_view(prometheus)),
                      std::string_view(collector->name), std::string_view(kind.source),
                      std::string_view(field.help)});
      }
    }
  }
  return table;
}

Table collector_list() {
  Table table("collectors", kCollectorColumns);
  for (const collect::CollectorKind* kind : collect::all_collectors())
    table.append({std::string_view(kind->name), kind->period, kind->is_on, std::string_view(kind->help)});
  return table;
}

Table sink_list() {
  Table table("sinks", kSinkColumns);
  for (const sink::SinkKind* kind : sink::all_sinks())
    table.append({std::string_view(kind->name), std::string_view(kind->help)});
  return table;
}

Table sink_option_list() {
  Table table("sink_options", kSinkOptionColumns);
  append_options(table, "all", sink::options_of_all_sinks());
  for (const sink::SinkKind* kind : sink::all_sinks()) append_options(table, kind->name, kind->options);
  return table;
}

}  // namespace spotter::app

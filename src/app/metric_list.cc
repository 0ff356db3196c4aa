#include "app/metric_list.h"

#include "collect/list.h"
#include "table/metric.h"

namespace spotter {
namespace {

constexpr Field kListColumns[] = {
    {"metric", Type::text, Unit::none, Role::key, "Name."},
    {"unit", Type::text, Unit::none, Role::value, "Unit."},
    {"kind", Type::text, Unit::none, Role::value, "gauge, counter or text."},
    {"collector", Type::text, Unit::none, Role::value, "Who measures it."},
    {"source", Type::text, Unit::none, Role::value, "Where it comes from."},
    {"help", Type::text, Unit::none, Role::value, "What it means."},
};
constexpr Field kCollectorColumns[] = {
    {"collector", Type::text, Unit::none, Role::key, "Name."},
    {"period_ns", Type::integer, Unit::ns, Role::value, "Time from one sample to the next, by default."},
    {"is_on", Type::flag, Unit::none, Role::value, "Whether it samples by default."},
    {"help", Type::text, Unit::none, Role::value, "What it measures."},
};

}  // namespace

Table metric_list(const Selection& selection) {
  Table table("metrics", kListColumns);
  for (const collect::CollectorKind* collector : collect::all_collectors()) {
    for (const collect::TableKind& kind : collector->tables) {
      for (const Field& field : kind.columns) {
        if (!is_metric(field) || !selection.wants_metric(kind.name, field.name)) continue;
        const std::string name = collect::metric_name(kind, field);
        const char* what = field.type == Type::text      ? "text"
                           : field.role == Role::counter ? "counter"
                                                         : "gauge";
        table.append({std::string_view(name), std::string_view(unit_name(field.unit)), std::string_view(what),
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

}  // namespace spotter

#include "app/metrics/metrics_missed.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/telemetry/table_kinds.h"
#include "app/metrics/metric_words.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"
#include "collect/list.h"
#include "table/rates.h"

namespace spotter::app {
namespace {

bool is_of_a_collector(const table::Selection& selection) {
  return std::ranges::any_of(collect::all_collectors(), [&](const collect::CollectorKind* collector) {
    return std::ranges::any_of(collector->tables, [&](const table::TableKind& kind) {
      return selection.wants_table(kind.name, kind.columns, kind.is_events);
    });
  });
}

// Has a column that no collector here has, as it is sampled, folded, or as a rate.
bool is_of_another_release(const Table& table) {
  const table::TableKind* kind = agent::find_table_kind(table.name());
  if (!kind) return true;
  const auto is_known = [&](const Field& column) {
    return column.role == Role::time || std::string_view(column.name) == "host" ||
           std::ranges::any_of(kind->columns, [&](const Field& field) {
             const std::string_view name = column.name;
             return name == field.name || name == table::rate_field(field).name ||
                    name == fmt::format("{}_min", field.name) || name == fmt::format("{}_max", field.name);
           });
  };
  return !std::ranges::all_of(table.schema(), is_known);
}

}  // namespace

std::vector<std::string> unknown_metrics(const table::Selection& selection, std::span<const Table> samples) {
  std::vector<std::string> sentences;
  // Of another release's agent: its names are not in the list, and counters are not called as they were asked
  // for.
  const bool has_others = std::ranges::any_of(samples, is_of_another_release);
  if (has_others) return sentences;
  for (const std::string& pattern : selection.metrics) {
    if (!is_of_a_collector({.metrics = {pattern}, .job = {}}))
      sentences.push_back(
          fmt::format("no metric matches \"{}\"{}", to_printable(pattern),
                      did_you_mean(pattern, metric_words(), "; `spotter metrics --list` has their names")));
  }
  return sentences;
}

std::vector<std::string> missed(const table::Selection& selection, std::span<const Table> samples) {
  std::vector<std::string> sentences = unknown_metrics(selection, samples);
  const bool is_empty = std::ranges::all_of(samples, [](const Table& table) { return table.rows() == 0; });
  if (!is_empty || sentences.size() > 0) return sentences;
  sentences.push_back(
      selection.job.empty()
          ? "nothing of what was asked for has been measured in this time"
          : fmt::format("nothing of what was asked for has been measured of a job \"{}\" in this time",
                        to_printable(selection.job)));
  return sentences;
}

}  // namespace spotter::app

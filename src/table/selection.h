// Selection: what somebody wants of tables, whether they are the newest samples or those of the history:
// metrics of some names, and rows of one job.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "base/text/glob.h"
#include "table/metric.h"

namespace spotter::table {

struct Selection {
  // Patterns (base/text/glob.h) of which a metric's name (table/metric.h) has to match one; none: all
  // metrics.
  std::vector<std::string> metrics = {};
  std::string job = {};  // not empty: rows whose column `job`, a text or a whole number, says so

  bool wants_metric(std::string_view table, std::string_view column) const {
    if (metrics.empty()) return true;
    const std::string name = metric_name(table, column);
    return std::ranges::any_of(metrics,
                               [&](const std::string& pattern) { return matches_glob(pattern, name); });
  }
  // `columns`: Fields, or what has a name, a role and a metric_column() like them. A table of events is
  // wanted whole, by the name of any of its columns.
  template <class Columns>
  bool wants_table(std::string_view table, const Columns& columns, bool is_events) const {
    if (!job.empty() && job_column(columns) == columns.size()) return false;
    if (metrics.empty()) return true;
    return std::ranges::any_of(columns, [&](const auto& column) {
      return (is_events || is_metric(column)) && wants_metric(table, metric_column(column));
    });
  }
  // Of a table that is wanted. What is no metric stays.
  template <class Column>
  bool wants_column(std::string_view table, const Column& column, bool is_events) const {
    return !is_metric(column) || is_events || wants_metric(table, metric_column(column));
  }
  template <class Columns>
  static size_t job_column(const Columns& columns) {  // columns.size() if there is none
    const auto it = std::ranges::find_if(
        columns, [](const auto& column) { return std::string_view(column.name) == "job"; });
    return static_cast<size_t>(it - columns.begin());
  }
  bool wants_row(const Value& of_job) const {  // by its cell of the column `job`
    if (job.empty()) return true;
    if (const i64* number = std::get_if<i64>(&of_job)) return std::to_string(*number) == job;
    const auto* text = std::get_if<std::string_view>(&of_job);
    return text && *text == job;
  }
};

}  // namespace spotter::table

// Wanted: which tables, columns and rows a query asks for.
#pragma once
#include <algorithm>

#include "base/glob.h"
#include "store/history_query.h"
#include "table/metric.h"

namespace spotter::store {

// `query` outlives it.
class Wanted {
 public:
  explicit Wanted(const HistoryQuery& query) : query_(query) {}

  bool column(const Schema& schema, size_t i) const {
    const StoredField& field = schema.fields[i];
    return !is_metric(field) || schema.has_times() || matches(schema.table, metric_column(field));
  }
  bool table(const Schema& schema) const {
    if (!query_.job.empty() && schema.find(kJob) == schema.fields.size()) return false;
    if (query_.metrics.empty()) return true;
    return std::ranges::any_of(schema.fields, [&](const StoredField& field) {
      return (is_metric(field) || schema.has_times()) && matches(schema.table, metric_column(field));
    });
  }
  std::vector<bool> columns(const Schema& schema) const {
    std::vector<bool> all;
    for (size_t i = 0; i < schema.fields.size(); ++i) all.push_back(column(schema, i));
    return all;
  }
  bool row(const Block& block, size_t row) const {
    const Ns time = block.times[row];
    if (time < query_.from_unix_ns || time >= query_.to_unix_ns) return false;
    if (query_.job.empty()) return true;
    const Value job = block.at(row, block.schema->find(kJob));
    if (const i64* number = std::get_if<i64>(&job)) return std::to_string(*number) == query_.job;
    const auto* text = std::get_if<std::string_view>(&job);
    return text && *text == query_.job;
  }

 private:
  static constexpr const char* kJob = "job";

  static bool is_metric(const StoredField& field) {
    return field.role == Role::value || field.role == Role::counter;
  }
  bool matches(std::string_view table, std::string_view column) const {
    const std::string name = metric_name(table, column);
    const auto one = [&](const std::string& pattern) { return matches_glob(pattern, name); };
    return query_.metrics.empty() || std::ranges::any_of(query_.metrics, one);
  }

  const HistoryQuery& query_;
};

}  // namespace spotter::store

#include "diagnose/model/evidence.h"

#include <algorithm>
#include <optional>

#include "analyze/list.h"
#include "diagnose/answers.h"
#include "table/ops.h"

namespace spotter::diagnose {
namespace {

double real(const Table& t, size_t row, std::string_view column) {
  const Value value = t.at(row, t.column(column));
  return is_null(value) ? 0 : std::get<double>(value);
}

std::map<i64, double> memory_held(const Table& devices, const Table& timeline) {
  std::map<std::pair<i64, i64>, i64> sizes;  // by rank and device
  for (size_t row = 0; row < devices.rows(); ++row)
    if (const auto rank = table::optional_integer(devices, row, "rank"))
      sizes[{*rank, integer(devices, row, "device")}] = integer(devices, row, "memory_bytes");
  std::map<i64, double> held;
  for (size_t row = 0; row < timeline.rows(); ++row) {
    const auto rank = table::optional_integer(timeline, row, "rank");
    if (!rank || timeline.text(row, timeline.column("device_type")) == "CPU") continue;
    const auto size = sizes.find({*rank, integer(timeline, row, "device_id")});
    if (size == sizes.end() || size->second <= 0) continue;
    double& most = held[*rank];
    most = std::max(most, static_cast<double>(integer(timeline, row, "peak_reserved_bytes")) /
                              static_cast<double>(size->second));
  }
  return held;
}

std::vector<OperatorRate> operators(const Table& t) {
  std::vector<OperatorRate> all;
  for (size_t row = 0; row < t.rows(); ++row) {
    const auto rank = table::optional_integer(t, row, "rank");
    // Which of the two peaks an operator meets first is known only where both are.
    if (!rank || is_null(t.at(row, t.column("bound")))) continue;
    all.push_back(
        {*rank, std::string(t.text(row, t.column("operator"))),
         std::string(table::text_or_empty(t, row, "shapes")),
         std::string(table::text_or_empty(t, row, "dtype")),
         std::string(table::text_or_empty(t, row, "bound")), integer(t, row, "calls"),
         integer(t, row, "device_ns"),
         std::max(real(t, row, "flops_utilization_ratio"), real(t, row, "bandwidth_utilization_ratio"))});
  }
  return all;
}

std::set<i64> damaged(const Table& summary) {
  std::set<i64> ranks;
  for (size_t row = 0; row < summary.rows(); ++row)
    if (const auto rank = table::optional_integer(summary, row, "rank"))
      if (integer(summary, row, "losses") > 0) ranks.insert(*rank);
  return ranks;
}

}  // namespace

Evidence gather_evidence(std::span<const Table> answers, const analyze::FlightRecords* records) {
  return {.records = records,
          .memory_held = memory_held(answer_of(analyze::kDeviceSummary, answers),
                                     answer_of(analyze::kMemoryTimeline, answers)),
          .operators = operators(answer_of(analyze::kOperatorEfficiency, answers)),
          .has_device_work = answer_of(analyze::kTemporalBreakdown, answers).rows() > 0,
          .damaged = damaged(answer_of(analyze::kSummary, answers))};
}

}  // namespace spotter::diagnose

#include "respond/measured/measured.h"

#include <fmt/format.h>

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "respond/measured/own_work.h"
#include "respond/rules/columns.h"
#include "respond/statistics/median.h"
#include "table/metric.h"

namespace spotter::respond {
namespace {

constexpr Field kFields[] = {
    {"host", Type::text, Unit::none, Role::key, "Host; empty: the only one that was asked."},
    {"rank", Type::integer, Unit::none, Role::key, "Rank that it is of; null: of the host."},
    {"device", Type::text, Unit::none, Role::key, "What of the host, where there are several."},
    {"metric", Type::text, Unit::none, Role::key, "Metric, as `spotter metrics --list` has it."},
    {"samples", Type::integer, Unit::count, Role::value, "Samples that have it."},
    {"value", Type::real, Unit::none, Role::value, "Their median, in the metric's unit."},
};

enum : size_t { kHost, kJob, kRank, kGpu, kUtilization, kDevice, kValue };

struct Member {
  std::string host = {};
  std::optional<i64> rank = {};
  std::string device = {};
  auto operator<=>(const Member&) const = default;
};

void take(const Table& table, const OwnWork& metric, const std::string& job,
          std::map<Member, std::vector<double>>& values) {
  const char* const names[] = {"host", "job", "rank", "gpu", kGpuBusy, metric.device, metric.column};
  Columns columns(names);
  columns.find(table);
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto value = columns.real(row, kValue);
    if (!value) continue;
    const bool is_of_host = metric.of == RowOf::host;
    if (!is_of_host && columns.text(row, kJob) != job) continue;
    if (metric.of == RowOf::gpu && columns.real(row, kUtilization).value_or(0) < kBusy) continue;
    Member member{.host = std::string(columns.text(row, kHost))};
    if (is_of_host) {
      member.device = columns.text(row, kDevice);
    } else {
      member.rank = columns.integer(row, kRank);
      if (metric.of == RowOf::rank && !member.rank) continue;
      if (metric.of == RowOf::gpu)
        member.device = fmt::format("gpu {}", columns.integer(row, kGpu).value_or(-1));
    }
    values[std::move(member)].push_back(*value);
  }
}

}  // namespace

Table measured(std::span<const Table> samples, const std::string& job) {
  Table out("measured", kFields);
  for (const OwnWork& metric : own_work()) {
    std::map<Member, std::vector<double>> values;
    for (const Table& table : samples) {
      if (std::string_view(table.name()) == metric.table) take(table, metric, job, values);
    }
    const std::string name = table::metric_name(metric.table, metric.sampled);
    for (auto& [member, seen] : values) {
      const i64 count = std::ssize(seen);
      out.append({std::string_view(member.host), member.rank ? Value(*member.rank) : Value(),
                  std::string_view(member.device), std::string_view(name), count, median(seen)});
    }
  }
  return out;
}

}  // namespace spotter::respond

#include "respond/measured/measured.h"

#include <fmt/format.h>

#include <algorithm>
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
    {"samples", Type::integer, Unit::count, Role::value, "Samples that have it, since the job is slow."},
    {"value", Type::real, Unit::none, Role::value, "Their median, in the metric's unit."},
    {"before", Type::real, Unit::none, Role::value,
     "The same of the minute before; null: fewer than three samples."},
};

enum : size_t { kHost, kJob, kRank, kGpu, kUtilization, kDevice, kValue };

struct Member {
  std::string host = {};
  std::optional<i64> rank = {};
  std::string device = {};
  auto operator<=>(const Member&) const = default;
};

using Values = std::map<Member, std::vector<double>>;
constexpr size_t kMostMembers = 4096;  // of a metric
constexpr size_t kMostDevice = 64;     // bytes of a name

void take(const Table& table, const OwnWork& metric, const std::string& job, Values& values) {
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
      member.device = columns.text(row, kDevice).substr(0, kMostDevice);
    } else {
      member.rank = columns.integer(row, kRank);
      if (metric.of == RowOf::rank && !member.rank) continue;
      if (metric.of == RowOf::gpu)
        member.device = fmt::format("gpu {}", columns.integer(row, kGpu).value_or(-1));
    }
    if (values.size() < kMostMembers || values.contains(member)) values[std::move(member)].push_back(*value);
  }
}

Values values_of(std::span<const Table> samples, const OwnWork& metric, const std::string& job) {
  Values values;
  for (const Table& table : samples) {
    if (std::string_view(table.name()) == metric.table) take(table, metric, job, values);
  }
  return values;
}

}  // namespace

Stretch slow_stretch(Ns slow_for) {
  constexpr Ns kLeast = 5 * kSecond, kMost = 5 * kMinute;
  constexpr i64 kSamples = 30;
  const Ns since = slow_for <= 0 ? kMinute : std::clamp(slow_for, kLeast, kMost);
  return {.since = since, .step = std::max(kSecond, since / kSamples)};
}

// When it began is known to the block of steps in which it did.
Stretch stretch_before(Ns slow_for) {
  constexpr Ns kBetween = 3 * kSecond;
  if (slow_for <= 0) return {};
  return {.since = slow_for + kBetween + kMinute, .until = slow_for + kBetween, .step = kSecond};
}

Table measured(std::span<const Table> now, std::span<const Table> before, const std::string& job) {
  Table out("measured", kFields);
  for (const OwnWork& metric : own_work()) {
    Values values = values_of(now, metric, job), earlier = values_of(before, metric, job);
    const std::string name = table::metric_name(metric.table, metric.sampled);
    for (auto& [member, seen] : values) {
      const i64 count = std::ssize(seen);
      const auto known = earlier.find(member);
      const bool is_known = known != earlier.end() && std::ssize(known->second) >= kLeastMeasured;
      out.append({std::string_view(member.host), member.rank ? Value(*member.rank) : Value(),
                  std::string_view(member.device), std::string_view(name), count, median(seen),
                  is_known ? Value(median(known->second)) : Value()});
    }
  }
  return out;
}

}  // namespace spotter::respond

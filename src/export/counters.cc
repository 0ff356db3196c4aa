#include "export/counters.h"

#include "analyze/list.h"
#include "export/times.h"
#include "read/strict_json.h"

namespace spotter::export_ {
namespace {

constexpr CounterTrack kTracks[] = {
    {&analyze::kDeviceBusySeries, "busy_ratio", "device busy", "%"},
    {&analyze::kSmEfficiencySeries, "sm_efficiency_ratio", "SM efficiency (estimated)", "%"},
    {&analyze::kQueueLengthSeries, "queue_length", "queue length", "launches"},
    {&analyze::kMemoryBandwidthSeries, "bytes_per_s", "memory bandwidth", "bytes/s"},
};

// "stream 7", "Memcpy HtoD": what tells apart the tracks of one device.
std::string which(const Table& table, size_t row) {
  std::string words;
  for (size_t c = 0; c < table.columns(); ++c) {
    const Field& field = table.schema()[c];
    const std::string_view name = field.name;
    if (field.role != Role::key || name == "rank" || name == "device") continue;
    words += ", ";
    words += field.type == Type::text ? std::string(table.text(row, c))
                                      : fmt::format("{} {}", name, table.integer(row, c));
  }
  return words;
}

std::string value_of(const Table& table, size_t row, size_t column) {
  const Value value = table.at(row, column);
  if (const i64* whole = std::get_if<i64>(&value)) return fmt::format("{}", *whole);
  const bool is_ratio = table.schema()[column].unit == Unit::ratio;
  return fmt::format("{}", std::get<double>(value) * (is_ratio ? 100 : 1));
}

size_t time_column(const Table& table) {
  for (size_t c = 0; c < table.columns(); ++c)
    if (table.schema()[c].role == Role::time) return c;
  CHECK(false);
}

}  // namespace

std::span<const CounterTrack> counter_tracks() { return kTracks; }

Result<void> write_counters(const CounterTrack& track, const Table& table, Ns zero,
                            const std::function<std::string(i64 device)>& process,
                            const std::function<Result<void>(std::string_view event)>& write) {
  const size_t time = time_column(table), device = table.column("device"), value = table.column(track.column);
  for (size_t row = 0; row < table.rows(); ++row) {
    if (is_null(table.at(row, value))) continue;
    TRY(write(fmt::format(R"({{"ph": "C", "name": {}, "pid": {}, "tid": 0, "ts": {}, "args": {{{}: {}}}}})",
                          read::json::quoted(track.name + which(table, row)),
                          process(table.integer(row, device)), microseconds(table.integer(row, time) - zero),
                          read::json::quoted(track.unit), value_of(table, row, value))));
  }
  return {};
}

}  // namespace spotter::export_

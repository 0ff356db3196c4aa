#include "table/rates.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/saturated.h"

namespace spotter::table {
namespace {

// What a program used, and what a machine's processors did.
constexpr std::string_view kProcessorTime[] = {
    "cpu_ns",    "cpu_user_ns", "cpu_system_ns", "user_ns",  "nice_ns",  "idle_ns",      "system_ns",
    "iowait_ns", "irq_ns",      "softirq_ns",    "steal_ns", "guest_ns", "guest_nice_ns"};

double number_of(const Value& value) {
  const i64* whole = std::get_if<i64>(&value);
  return whole ? static_cast<double>(*whole) : std::get<double>(value);
}

// How much more: of integers exactly, so that large counters lose nothing.
std::optional<double> growth(const Value& before, const Value& now) {
  if (is_null(before) || is_null(now)) return std::nullopt;
  const i64* a = std::get_if<i64>(&before);
  const i64* b = std::get_if<i64>(&now);
  if (a && b) return *b < *a ? std::nullopt : std::optional(static_cast<double>(static_cast<i128>(*b) - *a));
  const double grown = number_of(now) - number_of(before);
  return grown < 0 ? std::nullopt : std::optional(grown);
}

}  // namespace

Field rate_field(const Field& counter) {
  Field rate = counter;
  rate.type = Type::real;
  rate.role = Role::value;
  std::string name = counter.name;
  const auto replace_end = [&](std::string_view end, std::string_view with) {
    if (name.ends_with(end)) name.resize(name.size() - end.size());
    name += with;
  };
  switch (counter.unit) {
    case Unit::ns: {
      const bool is_cores = std::ranges::find(kProcessorTime, name) != std::end(kProcessorTime);
      replace_end("_ns", is_cores ? "_cores" : "_ratio");
      rate.unit = is_cores ? Unit::count : Unit::ratio;
      break;
    }
    case Unit::bytes:
      replace_end("", "_per_s");
      rate.unit = Unit::bytes_per_s;
      break;
    case Unit::joules:
      replace_end("_joules", "_watts");
      rate.unit = Unit::watts;
      break;
    default:
      replace_end("", "_per_s");
      rate.unit = Unit::per_s;
  }
  rate.name = lasting_text(name);
  return rate;
}

namespace {

// The usual distance between rows of one key from `begin` to `end`: the median; 0 where there is none.
i64 usual_distance(const Table& samples, size_t time, size_t begin, size_t end) {
  std::vector<i64> distances;
  for (size_t r = begin + 1; r < end; ++r) {
    if (is_null(samples.at(r, time)) || is_null(samples.at(r - 1, time))) continue;
    const i64 distance = subtract_saturated(samples.integer(r, time), samples.integer(r - 1, time));
    if (distance > 0) distances.push_back(distance);
  }
  if (distances.empty()) return 0;
  std::ranges::nth_element(distances, distances.begin() + std::ssize(distances) / 2);
  return distances[distances.size() / 2];
}

}  // namespace

Table rates(const Table& samples) {
  if (samples.is_events) return samples;
  constexpr i64 kMostDistances =
      5;  // farther apart there was nobody who looked, or another process of the same id
  const std::span<const Field> schema = samples.schema();
  std::vector<Field> fields(schema.begin(), schema.end());
  std::vector<size_t> keys;
  size_t time = schema.size();
  for (size_t c = 0; c < schema.size(); ++c) {
    if (schema[c].role == Role::counter) fields[c] = rate_field(schema[c]);
    if (schema[c].role == Role::key) keys.push_back(c);
    if (schema[c].role == Role::time && time == schema.size()) time = c;
  }
  Table out(samples.name(), fields);
  out.notes = samples.notes;
  std::vector<Value> row(schema.size());
  i64 usual = 0;
  for (size_t r = 0, end = 0; r < samples.rows(); ++r) {
    const auto is_same_key = [&](size_t a, size_t b) {
      return std::ranges::all_of(keys, [&](size_t c) { return samples.at(a, c) == samples.at(b, c); });
    };
    if (r == end && time < schema.size()) {
      while (end < samples.rows() && is_same_key(r, end)) ++end;
      usual = usual_distance(samples, time, r, end);
    }
    const bool has_before = r > 0 && time < schema.size() && !is_null(samples.at(r, time)) &&
                            !is_null(samples.at(r - 1, time)) && is_same_key(r, r - 1);
    const i64 distance =
        has_before ? subtract_saturated(samples.integer(r, time), samples.integer(r - 1, time)) : 0;
    // None where the clock went back, either.
    const bool is_near = distance > 0 && (distance - 1) / kMostDistances < usual;
    const double seconds = is_near ? static_cast<double>(distance) / 1e9 : 0;
    for (size_t c = 0; c < schema.size(); ++c) {
      row[c] = samples.at(r, c);
      if (schema[c].role != Role::counter) continue;
      const auto grown = seconds > 0 ? growth(samples.at(r - 1, c), row[c]) : std::nullopt;
      const double per = schema[c].unit == Unit::ns ? 1e9 : 1;
      row[c] = grown ? Value(*grown / seconds / per) : Value();
    }
    out.append(row);
  }
  return out;
}

}  // namespace spotter::table

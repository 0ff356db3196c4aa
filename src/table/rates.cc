#include "table/rates.h"

#include <algorithm>
#include <optional>
#include <string>

namespace spotter {
namespace {

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
    case Unit::ns:
      replace_end("_ns", "_ratio");
      rate.unit = Unit::ratio;
      break;
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

Table rates(const Table& samples) {
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
  for (size_t r = 0; r < samples.rows(); ++r) {
    const bool has_before =
        r > 0 && time < schema.size() && !is_null(samples.at(r, time)) && !is_null(samples.at(r - 1, time)) &&
        std::ranges::all_of(keys, [&](size_t c) { return samples.at(r, c) == samples.at(r - 1, c); });
    const double seconds =
        has_before ? static_cast<double>(samples.integer(r, time) - samples.integer(r - 1, time)) / 1e9 : 0;
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

}  // namespace spotter

#include "respond/rules/columns.h"

#include <algorithm>
#include <cmath>

namespace spotter::respond {

void Columns::find(const Table& table) {
  table_ = &table;
  if (schema_ && table.lasting_schema() == schema_) return;
  schema_ = table.lasting_schema();
  places_.clear();
  const auto schema = table.schema();
  for (const std::string_view name : names_) {
    const auto it = std::ranges::find_if(schema, [&](const Field& field) { return name == field.name; });
    places_.push_back(it == schema.end() ? std::nullopt : std::optional<size_t>(it - schema.begin()));
  }
}

Value Columns::at(size_t row, size_t name) const {
  return places_[name] ? table_->at(row, *places_[name]) : Value();
}

std::optional<i64> Columns::integer(size_t row, size_t name) const {
  const Value value = at(row, name);
  if (const auto* integer = std::get_if<i64>(&value)) return *integer;
  constexpr double kMost = 9e18;
  const auto* real = std::get_if<double>(&value);
  if (real && std::abs(*real) < kMost) return std::llround(*real);
  return {};
}

std::optional<double> Columns::real(size_t row, size_t name) const {
  const Value value = at(row, name);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<i64>(&value)) return static_cast<double>(*integer);
  return {};
}

std::optional<bool> Columns::flag(size_t row, size_t name) const {
  const Value value = at(row, name);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  return {};
}

std::string_view Columns::text(size_t row, size_t name) const {
  const Value value = at(row, name);
  if (const auto* text = std::get_if<std::string_view>(&value)) return *text;
  return {};
}

}  // namespace spotter::respond

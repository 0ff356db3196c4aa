#include "analyze/analysis.h"

#include <algorithm>

namespace spotter {

const Field kRankField = {"rank", Type::integer, Unit::none, Role::key,
                          "Rank of the process; null for a file that has no rank."};

ParamValue fallback_of(const Param& param) {
  if (param.is_text()) return std::string(std::get<const char*>(param.fallback));
  return std::get<i64>(param.fallback);
}

const ParamValue& ParamValues::value(std::string_view name) const {
  const auto named =
      std::find_if(values_.begin(), values_.end(), [&](const auto& v) { return v.first == name; });
  CHECK(named != values_.end());
  return named->second;
}

void ParamValues::set(std::string_view name, ParamValue value) {
  for (auto& [known, old] : values_) {
    if (known != name) continue;
    old = std::move(value);
    return;
  }
  values_.emplace_back(name, std::move(value));
}

std::span<const Field> map_columns(const Analysis& analysis) {
  return analysis.reduce ? analysis.part_columns : analysis.columns.subspan(1);
}

bool may_be_null(const Analysis& analysis, const Field& field) {
  return !analysis.reduce && field.role != Role::key;
}

bool has_columns(const Table& table, std::span<const Field> columns) {
  return std::equal(table.schema().begin(), table.schema().end(), columns.begin(), columns.end(),
                    [](const Field& a, const Field& b) {
                      return std::string_view(a.name) == b.name && a.type == b.type && a.unit == b.unit;
                    });
}

Table stack(std::string_view name, std::span<const Field> columns, std::span<const RankTable> tables) {
  Table answer(std::string(name), columns);
  std::vector<Value> row(columns.size());
  for (const RankTable& part : tables) {
    CHECK(part.table.columns() + 1 == columns.size());
    row[0] = part.rank ? Value(*part.rank) : Value();
    for (size_t r = 0; r < part.table.rows(); ++r) {
      for (size_t c = 0; c < part.table.columns(); ++c) row[c + 1] = part.table.at(r, c);
      answer.append(row);
    }
  }
  return answer;
}

}  // namespace spotter

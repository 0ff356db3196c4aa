// Samples that others named: what programs expose under names and labels of their own. Each is a row; systems
// that have such names get it under its own one, not under that of a table and a column.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/table.h"

namespace spotter::table {

enum NamedSampleColumn : u8 { kMetric, kLabels, kFamily, kType, kHelp, kFile, kValue, kTotal };

inline constexpr Field kNamedSampleColumns[] = {
    {"metric", Type::text, Unit::none, Role::key, "Name."},
    {"labels", Type::text, Unit::none, Role::key,
     "By their names, as Prometheus writes them (device=\"sda\",unit=\"1\"); null where it has none."},
    {"family", Type::text, Unit::none, Role::detail,
     "Metric that it is a part of: of the bucket of a histogram, the histogram."},
    {"type", Type::text, Unit::none, Role::detail, "counter, gauge, histogram, summary or untyped."},
    {"help", Type::text, Unit::none, Role::detail, "What it means, as its writer says."},
    {"file", Type::text, Unit::none, Role::detail, "File that it is in."},
    {"value", Type::real, Unit::none, Role::value, "What it is, of what is no counter."},
    {"total", Type::real, Unit::none, Role::counter, "What it has come to, of a counter."},
};

// Rows of one family stand together, and no two have the same metric and labels.
inline bool has_named_samples(const Table& table) { return table.lasting_schema() == kNamedSampleColumns; }

// A text of such a row; empty where it is null.
inline std::string_view named_text(const Table& table, size_t row, NamedSampleColumn column) {
  const Value value = table.at(row, column);
  return is_null(value) ? std::string_view() : std::get<std::string_view>(value);
}

// The text of labels: each is appended, escaped; and all of them back.
void append_label(std::string& labels, std::string_view name, std::string_view value);
std::vector<std::pair<std::string_view, std::string>> parse_labels(std::string_view labels);

}  // namespace spotter::table

// The operators of all ranks that take the most time, on the device where they start any work there.
#include <algorithm>

#include "report/list.h"

namespace spotter::report {
namespace {

constexpr Field kOperatorColumns[] = {
    {"operator", Type::text, Unit::none, Role::key, ""},
    {"calls", Type::integer, Unit::count, Role::value, ""},
    {"host self", Type::integer, Unit::ns, Role::value, ""},
    {"device self", Type::integer, Unit::ns, Role::value, ""},
};

Table operator_table(const Table& operators, bool device, size_t most) {
  Table t("operators", std::span(kOperatorColumns).first(device ? 4 : 3));
  for (size_t row = 0; row < std::min(operators.rows(), most); row++) {
    const Value cells[] = {operators.at(row, operators.column("name")),
                           operators.at(row, operators.column("calls")),
                           operators.at(row, operators.column("host_self_ns")),
                           operators.at(row, operators.column("device_self_ns"))};
    t.append(std::span(cells).first(t.columns()));
  }
  return t;
}

std::string title(const Subject& subject) {
  return subject.facts.operators_by_device ? "Operators that start the most device time"
                                           : "Operators that take the most host time";
}

}  // namespace

const Section kTopOperators = {
    .name = "operators",
    .is_shown = [](const Subject& s) { return s.facts.operators.rows() > 0; },
    .title = title,
    .parts = [](const Subject& s) -> std::vector<Part> {
      return {operator_table(s.facts.operators, s.facts.operators_by_device, s.names)};
    },
};

}  // namespace spotter::report

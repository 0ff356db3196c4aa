// The findings, as sentences.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/diagnose.h"
#include "render/render.h"
#include "report/list.h"
#include "report/report.h"
#include "table/ops.h"

namespace spotter::report {
namespace {

constexpr size_t kMost = 5;  // in the report: the most telling ones

std::string told(const Table& findings, size_t row) {
  const std::string_view remedy = table::text_or_empty(findings, row, "remedy");
  return fmt::format("{}{}{}", findings.text(row, findings.column("finding")), remedy.empty() ? "" : " ",
                     remedy);
}

// Its rule, its numbers and where to see more.
std::string about(const Table& findings, size_t row) {
  std::string text = fmt::format("{}, {}", findings.text(row, findings.column("rule")),
                                 findings.text(row, findings.column("kind")));
  for (const std::string_view name : {"rank", "time_ns", "share"}) {
    const Value value = findings.at(row, findings.column(name));
    if (is_null(value)) continue;
    const Field& field = findings.schema()[findings.column(name)];
    text +=
        fmt::format(", {}{}", name == "rank" ? "rank " : "", render::human(value, field.unit, field.role));
  }
  return text + fmt::format("; more in {}", findings.text(row, findings.column("evidence")));
}

std::vector<Part> parts(const Subject& subject) {
  Points points;
  for (size_t row = 0; row < std::min(subject.findings.rows(), kMost); row++)
    points.push_back({told(subject.findings, row)});
  if (points.empty())
    points.push_back({"Nothing: the device is busy, communication is hidden, the ranks are in step."});
  return {points};
}

}  // namespace

ShownSection findings_section(const Table& findings) {
  ShownSection section{.name = diagnose::kFindings, .title = findings.name(), .parts = {}};
  Points points;
  for (size_t row = 0; row < findings.rows(); row++)
    points.push_back({told(findings, row), about(findings, row)});
  section.parts = {points};
  if (points.empty()) section.sentence = "No rule finds anything.";
  return section;
}

const Section kStandsOut = {
    .name = "stands_out",
    .is_shown = [](const Subject&) { return true; },
    .title = [](const Subject&) { return std::string("What stands out"); },
    .parts = parts,
};

}  // namespace spotter::report

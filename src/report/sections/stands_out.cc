// The findings, as sentences.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/diagnose.h"
#include "diagnose/rules/rule.h"
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
  std::string text = fmt::format("{}, {}", findings.text(row, findings.column("mechanism")),
                                 findings.text(row, findings.column("kind")));
  for (const std::string_view name : {"ranks", "time_ns", "share"}) {
    const Value value = findings.at(row, findings.column(name));
    if (is_null(value)) continue;
    const Field& field = findings.schema()[findings.column(name)];
    text +=
        fmt::format(", {}{}", name == "ranks" ? "ranks " : "", render::human(value, field.unit, field.role));
  }
  return text + fmt::format("; see {}", findings.text(row, findings.column("evidence")));
}

constexpr double kSmall = 0.02;  // faults that cost less are told below the sentence that there is none

bool is_fault(const Table& findings, size_t row) {
  const Value share = findings.at(row, findings.column("share"));
  return findings.text(row, findings.column("kind")) == "fault" &&
         (is_null(share) || std::get<double>(share) >= kSmall);
}

// What a step would gain most by, in words, and its share; empty: nothing that was found has a time.
std::pair<std::string, double> largest(const Table& findings) {
  std::pair<std::string, double> most;
  for (size_t row = 0; row < findings.rows(); ++row) {
    const Value share = findings.at(row, findings.column("share"));
    if (is_null(share) || std::get<double>(share) <= most.second) continue;
    most = {std::string(findings.text(row, findings.column("mechanism"))), std::get<double>(share)};
  }
  std::ranges::replace(most.first, '_', ' ');
  return most;
}

// What a job without a fault is told.
std::string healthy(const Subject& subject, bool has_small) {
  const diagnose::StepFacts& steps = subject.facts.steps;
  std::string text = fmt::format("No fault found{}: steps take {}",
                                 has_small ? " that costs 2 % or more" : "", render::human_ns(steps.mean));
  if (steps.count > 1) text += fmt::format(" ± {:.0f} %", 100 * steps.deviation);
  const i64 device = sum_over(subject.facts, &diagnose::RankFacts::device_time);
  if (device > 0)
    text += fmt::format(
        ", {} of the device time is compute",
        diagnose::percent(diagnose::ratio(sum_over(subject.facts, &diagnose::RankFacts::compute), device)));
  if (subject.facts.mfu) text += ", MFU is " + diagnose::percent(*subject.facts.mfu);
  if (const auto [mechanism, share] = largest(subject.findings); !mechanism.empty())
    text += fmt::format("; the largest thing to win is {} ({:.1f} %)", mechanism, 100 * share);
  return text + ".";
}

std::vector<Part> parts(const Subject& subject) {
  Points points;
  bool has_fault = false, has_small = false;
  for (size_t row = 0; row < subject.findings.rows(); row++) {
    has_fault |= is_fault(subject.findings, row);
    has_small |= subject.findings.text(row, subject.findings.column("kind")) == "fault";
  }
  if (!has_fault && subject.facts.steps.mean > 0 && !subject.facts.are_apart)
    points.push_back({healthy(subject, has_small)});
  if (!has_fault && subject.facts.dumps > 0 && subject.facts.ranks.empty())
    points.push_back({"No hang found: by these dumps nobody waits for a rank that does not come."});
  for (size_t row = 0; row < std::min(subject.findings.rows(), kMost); row++)
    points.push_back({told(subject.findings, row)});
  return {points};
}

}  // namespace

ShownSection findings_section(const Table& findings) {
  ShownSection section{.name = diagnose::kFindings, .title = findings.name(), .parts = {}};
  Points points;
  for (size_t row = 0; row < findings.rows(); row++)
    points.push_back({told(findings, row), about(findings, row)});
  section.parts = {points};
  if (points.empty()) section.sentence = "Nothing was found.";
  return section;
}

const Section kStandsOut = {
    .name = "stands_out",
    .is_shown = [](const Subject&) { return true; },
    .title = [](const Subject&) { return std::string("What stands out"); },
    .parts = parts,
};

}  // namespace spotter::report

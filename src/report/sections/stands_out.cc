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
  std::string text(findings.text(row, findings.column("finding")));
  if (const std::string_view against = table::text_or_empty(findings, row, "against"); !against.empty())
    text += fmt::format(" Against it: {}.", against);
  if (const std::string_view remedy = table::text_or_empty(findings, row, "remedy"); !remedy.empty())
    text += fmt::format(" {}", remedy);
  return text;
}

// "rank 3", "ranks 3-5".
std::string named(std::string_view name, std::string_view numbers) {
  const bool is_one = name.ends_with('s') && numbers.find_first_not_of("0123456789") == numbers.npos;
  return fmt::format("{} {}", is_one ? name.substr(0, name.size() - 1) : name, numbers);
}

// Its mechanism, its numbers, how sure it is and where to see more.
std::string about(const Table& findings, size_t row) {
  std::string text = fmt::format("{}, {}", findings.text(row, findings.column("mechanism")),
                                 findings.text(row, findings.column("kind")));
  for (const std::string_view name : {"ranks", "time_ns", "share"}) {
    const Value value = findings.at(row, findings.column(name));
    if (is_null(value)) continue;
    const Field& field = findings.schema()[findings.column(name)];
    const std::string shown = render::human(value, field.unit, field.role);
    text += ", " + (name == "ranks" ? named(name, shown) : shown);
  }
  if (const std::string_view confidence = table::text_or_empty(findings, row, "confidence");
      !confidence.empty())
    text += fmt::format(", {} confidence", confidence);
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
    if (findings.text(row, findings.column("kind")) == "caveat") continue;  // what is not seen is not won
    if (is_null(share) || std::get<double>(share) <= most.second) continue;
    most = {std::string(findings.text(row, findings.column("mechanism"))), std::get<double>(share)};
  }
  std::ranges::replace(most.first, '_', ' ');
  return most;
}

// Of work whose operations are not counted nobody knows how many there are.
std::string mfu_text(double mfu, std::optional<double> covered) {
  constexpr double kEnough = 0.5;  // of the device time
  if (covered.value_or(1) >= kEnough) return "MFU is " + diagnose::percent(mfu);
  return fmt::format("MFU is {} (counted in {} of it)", diagnose::percent(mfu), diagnose::percent(*covered));
}

// What a job without a fault is told.
std::string healthy(const Subject& subject, bool has_small) {
  const diagnose::StepFacts& steps = subject.facts.steps;
  const bool has_steps = sum_over(subject.facts, &diagnose::RankFacts::steps) > 0;
  std::string text =
      fmt::format("No fault found{}: {} {}", has_small ? " that costs 2 % or more" : "",
                  has_steps ? "steps take" : "the recording takes", render::human_ns(steps.mean));
  if (steps.count > 1) text += fmt::format(" ± {:.0f} %", 100 * steps.deviation);
  if (steps.without_first) text += " without the first, which waited";
  const i64 device = sum_over(subject.facts, &diagnose::RankFacts::device_time);
  if (device > 0)
    text += fmt::format(
        ", {} of the device time is compute",
        diagnose::percent(diagnose::ratio(sum_over(subject.facts, &diagnose::RankFacts::compute), device)));
  if (const auto& mfu = subject.facts.mfu) text += ", " + mfu_text(*mfu, subject.facts.mfu_covered);
  if (const auto [mechanism, share] = largest(subject.findings); !mechanism.empty())
    text += fmt::format("; the largest possible gain is {} ({:.1f} %)", mechanism, 100 * share);
  return text + ".";
}

// The view of the page that shows what a table says; each other table has a place among all tables.
struct ViewOfTables {
  std::string_view start, view;  // of the tables' names
};
constexpr ViewOfTables kViews[] = {
    {"steps", "steps"},
    {"step_", "steps"},
    {"operator", "operators"},
    {"kernel", "kernels"},
    {"modules", "modules"},
    {"memory_", "memory"},
    {"stragglers", "distributed"},
    {"collectives", "distributed"},
    {"comm_", "distributed"},
    {"critical_path", "critical-path"},
    {"idle_", "idle"},
    {"device_idle_breakdown", "idle"},
    {"queue_", "idle"},
    {"call_tree", "call-tree"},
};

// The word behind `flag` of a command; empty: it has none.
std::string_view word_behind(std::string_view command, std::string_view flag) {
  const size_t at = command.rfind(flag);
  if (at == command.npos) return {};
  const std::string_view rest = command.substr(at + flag.size());
  return rest.substr(0, rest.find(' '));
}

// Where the page shows what the command does.
std::string place_of(std::string_view evidence) {
  const std::string_view table = word_behind(evidence, " --table ");
  if (table.empty()) return {};
  const auto view = std::ranges::find_if(kViews, [&](const auto& v) { return table.starts_with(v.start); });
  std::string place = view != std::end(kViews) ? fmt::format("#/{}?v=1", view->view)
                                               : fmt::format("#/tables?v=1&table={}", table);
  for (const std::string_view key : {"ranks", "steps"})
    if (const std::string_view word = word_behind(evidence, fmt::format(" --{} ", key)); !word.empty())
      place += fmt::format("&{}={}", key, word);
  return place;
}

// With what a page has room for.
Point detailed(const Table& findings, size_t row) {
  const std::string_view evidence = table::text_or_empty(findings, row, "evidence");
  Point point{.text = told(findings, row),
              .about = std::string(findings.text(row, findings.column("mechanism"))),
              .kind = std::string(findings.text(row, findings.column("kind"))),
              .time = table::optional_integer(findings, row, "time_ns"),
              .command = std::string(evidence),
              .place = place_of(evidence)};
  const Value share = findings.at(row, findings.column("share"));
  if (!is_null(share)) point.share = std::get<double>(share);
  std::ranges::replace(point.about, '_', ' ');
  for (const std::string_view name : {"ranks", "group", "steps"})
    if (const std::string_view whose = table::text_or_empty(findings, row, name); !whose.empty())
      point.about += ", " + named(name, whose);
  return point;
}

std::vector<Part> parts(const Subject& subject) {
  Points points;
  bool has_fault = false, has_small = false;
  for (size_t row = 0; row < subject.findings.rows(); row++) {
    has_fault |= is_fault(subject.findings, row);
    has_small |= subject.findings.text(row, subject.findings.column("kind")) == "fault";
  }
  if (!subject.facts.is_searched)
    points.push_back({"Causes are not looked for with --compat, which leaves out what they are seen by."});
  else if (!has_fault && subject.facts.steps.mean > 0 && !subject.facts.are_apart)
    points.push_back({healthy(subject, has_small)});
  if (!has_fault && subject.facts.dumps > 0 && subject.facts.ranks.empty())
    points.push_back(
        {subject.facts.are_dumps_quiet
             ? "No hang found: by these dumps nobody waits for a rank that does not come."
             : "These dumps name no rank. They do not say that all calls have ended (of backends on the "
               "host, such as gloo, they never do), or not all of them could be read: a rank that left none "
               "may be the one."});
  const size_t most = std::min(subject.findings.rows(), subject.page ? subject.page->findings : kMost);
  for (size_t row = 0; row < most; row++)
    points.push_back(subject.page ? detailed(subject.findings, row) : Point{told(subject.findings, row)});
  // A page has the whole table.
  if (const size_t more = subject.findings.rows() - most; more > 0 && !subject.page)
    points.push_back({fmt::format("{} more {} in the table findings (--table findings).", more,
                                  more == 1 ? "is" : "are")});
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

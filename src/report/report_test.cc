#include "report/report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyze/list.h"
#include "diagnose/diagnose.h"
#include "report/html/notebook_html.h"
#include "report/list.h"
#include "report/text.h"

namespace spotter::report {
namespace {

const Field kKernels[] = {
    {"kind", Type::text, Unit::none, Role::key, ""},
    {"name", Type::text, Unit::none, Role::key, ""},
    {"count", Type::integer, Unit::count, Role::value, ""},
    {"sum_ns", Type::integer, Unit::ns, Role::value, ""},
};
const Field kOperators[] = {
    {"name", Type::text, Unit::none, Role::key, ""},
    {"calls", Type::integer, Unit::count, Role::value, ""},
    {"host_self_ns", Type::integer, Unit::ns, Role::value, ""},
    {"device_self_ns", Type::integer, Unit::ns, Role::value, ""},
};
constexpr Ns kMs = 1'000'000;

// One rank that has some of everything.
diagnose::Diagnosis diagnosis() {
  diagnose::Diagnosis d;
  d.findings = Table(diagnose::kFindings, diagnose::finding_columns());
  diagnose::RankFacts rank;
  rank.rank = 0;
  rank.file = "rank0.json";
  rank.events = rank.spans = 10;
  rank.span = rank.device_time = 10 * kMs;
  rank.compute = 9 * kMs;
  rank.idle = kMs;
  d.facts.ranks = {rank};
  d.facts.kernels = Table("kernels", kKernels);
  d.facts.operators = Table("operators", kOperators);
  for (const std::string_view name : {"a", "b", "c"}) {
    d.facts.kernels.append({"compute", name, 2, 3 * kMs});
    d.facts.operators.append({name, 1, kMs, 3 * kMs});
  }
  d.facts.has_device_work = d.facts.operators_by_device = true;
  d.facts.notes.add("mended", Severity::repair, "a value was mended");
  return d;
}

void add_finding(Table& findings, std::string_view what, const Value& against = {}) {
  findings.append({"mechanism", "fault", "3", Value(), Value(), 5 * kMs, 0.5, "high", what, "Do it.",
                   "spotter analyze x", against, Value()});
}

std::vector<std::string> names_of(const diagnose::Diagnosis& d) {
  std::vector<std::string> names;
  for (const ShownSection& section : make_report(d, 6).sections) names.push_back(section.name);
  return names;
}

const ShownSection& section_of(const Report& report, std::string_view name) {
  const auto it = std::ranges::find(report.sections, name, &ShownSection::name);
  EXPECT_NE(it, report.sections.end()) << name;
  return *it;
}

using Names = std::vector<std::string>;

TEST(Report, SectionsAreLeftOutWhereTheyHaveNothingToShow) {
  const diagnose::Diagnosis all = diagnosis();
  EXPECT_EQ(names_of(all), (Names{"stands_out", "device_ranks", "kernels", "operators", "notes"}));

  diagnose::Diagnosis d = all;
  d.facts.has_device_work = false;
  EXPECT_EQ(names_of(d), (Names{"stands_out", "host_ranks", "operators", "notes"}));
  d.facts.ranks[0].spans = 0;
  EXPECT_EQ(names_of(d), (Names{"stands_out", "operators", "notes"}));
  d.facts.operators = Table("operators", kOperators);
  EXPECT_EQ(names_of(d), (Names{"stands_out", "notes"}));
  d.facts.notes = {};
  d.facts.notes.add("no_steps", Severity::info, "which a finding tells");
  EXPECT_EQ(names_of(d), (Names{"stands_out"}));
}

TEST(Report, IterationsAreShownOfTheFirstRanks) {
  diagnose::Diagnosis d = diagnosis();
  d.facts.iterations = Table("iteration_summary", analyze::kIterationSummary.columns);
  const auto add = [&](i64 rank, std::string_view phase) {
    d.facts.iterations.append(
        {rank, phase, "engine annotations", "vLLM", 2, 2 * kMs, 1e6, 1e6, 1e6, kMs, 7, 5, 6e3});
  };
  for (const std::string_view phase : {"prefill", "decode"}) add(0, phase);
  EXPECT_EQ(names_of(d),
            (Names{"stands_out", "iterations", "device_ranks", "kernels", "operators", "notes"}));
  const Report one = make_report(d, 6);
  const Table& table = std::get<Table>(section_of(one, "iterations").parts.at(0));
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.text(1, table.column("phase")), "decode");
  EXPECT_EQ(table.real(1, table.column("tokens")), 6e3);
  for (i64 rank = 1; rank < 20; ++rank) add(rank, "decode");
  const Report many = make_report(d, 6);
  EXPECT_EQ(std::get<Table>(section_of(many, "iterations").parts.at(0)).rows(), 16u);
  EXPECT_TRUE(section_of(many, "iterations").title.ends_with("iteration_summary has all)"));
}

TEST(Report, AnAnswerComesFirst) {
  diagnose::Diagnosis d = diagnosis();
  d.what_if = Table(diagnose::kWhatIfTable, diagnose::what_if_columns());
  d.what_if->notes.add("what_if", Severity::info, "If it were so, a step would take 1 ms");
  d.what_if->notes.add("forced_calls", Severity::loss, "which Notes tell");
  EXPECT_EQ(names_of(d)[0], "answer");
  const Report empty = make_report(d, 6);
  ASSERT_EQ(section_of(empty, "answer").parts.size(), 1u) << "without rows no table";
  d.what_if->append({"mean", Value(), kMs, kMs, kMs, 0, 0.0});
  const Report report = make_report(d, 6);
  const std::vector<Part>& parts = section_of(report, "answer").parts;
  const Points& points = std::get<Points>(parts.at(0));
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].text, "If it were so, a step would take 1 ms.");
  EXPECT_EQ(std::get<Table>(parts.at(1)).rows(), 1u);
}

TEST(Report, InANotebookSaysWhatItLeavesOut) {
  diagnose::Diagnosis d = diagnosis();
  for (int i = 0; i < 22; ++i) add_finding(*d.findings, fmt::format("Finding <{}>.", i));
  const std::string html = notebook_html(d, 6);
  EXPECT_NE(html.find("Finding &lt;19&gt;."), std::string::npos);
  EXPECT_EQ(html.find("Finding &lt;20&gt;."), std::string::npos);
  EXPECT_NE(html.find(">2 more findings, a timeline"), std::string::npos);
  EXPECT_EQ(html.find("href"), std::string::npos) << "what links lead to is not there";
}

TEST(Report, EachSectionHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const Section* section : all_sections()) names.insert(section->name);
  EXPECT_EQ(names.size(), all_sections().size());
}

TEST(Report, FiveFindingsStandOutAndNoneIsSaid) {
  diagnose::Diagnosis d = diagnosis();
  const auto points_of = [](const diagnose::Diagnosis& of) {
    return std::get<Points>(section_of(make_report(of, 6), "stands_out").parts.at(0));
  };
  EXPECT_TRUE(points_of(d).empty());  // nothing ran
  d.facts.steps = {.count = 4, .mean = 10 * kMs, .deviation = 0.021};
  EXPECT_TRUE(points_of(d)[0].text.starts_with("No fault found: the recording takes 10.0 ms"))
      << "of which nothing marks steps";
  d.facts.ranks[0].steps = 4;
  EXPECT_EQ(points_of(d)[0].text,
            "No fault found: steps take 10.0 ms ± 2 %, 90 % of the device time is compute.");
  ASSERT_EQ(points_of(d).size(), 1u);
  diagnose::Diagnosis healthy = d;
  healthy.facts.mfu = 0.384;
  healthy.facts.mfu_covered = 0.19;
  EXPECT_NE(points_of(healthy)[0].text.find("MFU is 38 % (counted in 19 % of it)"), std::string::npos)
      << points_of(healthy)[0].text;
  healthy.facts.mfu_covered = 0.84;
  healthy.findings->append({"exposed_communication", "opportunity", Value(), Value(), Value(), kMs / 4, 0.025,
                            "medium", "It waits.", Value(), "spotter analyze x", Value(), Value()});
  healthy.findings->append({"slow_device", "fault", "3", Value(), Value(), kMs / 10, 0.01, "low",
                            "It is slow.", Value(), "spotter analyze x", Value(), Value()});
  EXPECT_EQ(
      points_of(healthy)[0].text,
      "No fault found that costs 2 % or more: steps take 10.0 ms ± 2 %, 90 % of the device time is compute, MFU is "
      "38 %; the largest possible gain is exposed communication (2.5 %).");
  EXPECT_EQ(points_of(healthy)[2].text, "It is slow.") << "small faults are told below";
  for (const std::string_view what : {"A.", "B.", "C.", "D.", "E.", "F."}) add_finding(*d.findings, what);
  const Points points = points_of(d);
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points[5].text, "1 more is in the table findings (--table findings).");
  EXPECT_EQ(points[0].text, "A. Do it.");
  EXPECT_EQ(points[0].about, "");
  EXPECT_EQ(points[4].text, "E. Do it.");
}

TEST(Report, AsManyNamesAsTheUserWants) {
  const auto kernels = [](size_t names) {
    return std::get<Table>(section_of(make_report(diagnosis(), names), "kernels").parts.at(0)).rows();
  };
  EXPECT_EQ(kernels(names_listed({})), 3u);
  EXPECT_EQ(kernels(names_listed({{"top", i64{1}}, {"top", i64{2}}})), 2u);
  EXPECT_EQ(kernels(names_listed({{"top", i64{0}}})), 3u);
}

TEST(Report, ManyRanksAreThoseThatAreMostAndLeastIdle) {
  diagnose::Diagnosis d = diagnosis();
  const diagnose::RankFacts rank = d.facts.ranks[0];
  for (i64 i = 1; i < 20; ++i) {
    d.facts.ranks.push_back(rank);
    d.facts.ranks.back().rank = i;
    d.facts.ranks.back().idle = i * kMs / 10;
  }
  const Report report = make_report(d, 6);
  const ShownSection& ranks = section_of(report, "device_ranks");
  EXPECT_EQ(ranks.title, "Ranks (of 20: the most and the least idle)");
  const Table& table = std::get<Table>(ranks.parts.at(0));
  ASSERT_EQ(table.rows(), 8u);
  EXPECT_EQ(table.text(0, 0), "19");
  EXPECT_EQ(table.text(7, 0), "1");
}

TEST(Report, AnyLossIsInTheHeadlineButAFileThatIsNoTrace) {
  diagnose::Diagnosis d = diagnosis();
  d.facts.notes.add("no_trace", Severity::loss, "a file is no trace");
  EXPECT_NE(make_report(d, 6).headline.back(), "damaged, see Notes");
  d.facts.notes.add("damaged_event", Severity::loss, "an event was damaged");
  EXPECT_EQ(make_report(d, 6).headline.back(), "damaged, see Notes");
}

TEST(ReportText, PartsAndTheSentenceBelowThem) {
  Table table("t", std::span(kOperators).first(2));
  table.append({"x", 7});
  Notes notes;
  notes.add("k", Severity::info, "worth knowing");
  const ShownSection section = {"s", "Title", {Points{{"first"}, {"second", "more"}}, table, notes}, "Why."};
  const std::string text = section_text(section, {.width = 80, .color = false});
  EXPECT_TRUE(text.starts_with("Title\n- first\n- second\n  more\n")) << text;
  EXPECT_NE(text.find("x"), std::string::npos);
  EXPECT_NE(text.find("worth knowing"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\nWhy.\n")) << text;
}

TEST(ReportText, FindingsAsATableSayTheirRuleAndTheirNumbers) {
  Table findings(diagnose::kFindings, diagnose::finding_columns());
  EXPECT_EQ(section_text(findings_section(findings), {.width = 80}), "findings\nNothing was found.\n");
  add_finding(findings, "A.");
  add_finding(findings, "B.", "it may not be");
  EXPECT_EQ(section_text(findings_section(findings), {.width = 80}),
            "findings\n"
            "- A. Do it.\n"
            "  mechanism, fault, rank 3, 5.00 ms, 50.0 %, high confidence; see spotter\n"
            "  analyze x\n"
            "- B. Against it: it may not be. Do it.\n"
            "  mechanism, fault, rank 3, 5.00 ms, 50.0 %, high confidence; see spotter\n"
            "  analyze x\n");
}

}  // namespace
}  // namespace spotter::report

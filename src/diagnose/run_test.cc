#include "diagnose/run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/list.h"
#include "analyze/test_trace.h"
#include "diagnose/diagnose.h"
#include "render/list.h"

namespace spotter::diagnose {
namespace {

// Ranks by their files' names, whose traces differ.
const std::vector<std::string> kFiles = {"rank0.json", "rank1.json", "rank2.json"};

Job job_of(const std::vector<std::string>& files) {
  Job job;
  for (const std::string& path : files) {
    TraceFile file;
    file.path = path;
    file.bytes = file.json_bytes = 1000;
    job.files.push_back(file);
  }
  return job;
}

Result<TracePtr> load(const TraceFile& file, const LoadRequest&) {
  return analyze::random_trace(static_cast<unsigned>(file.path[4])).trace;
}

Diagnosis diagnosis_of(Request request, const std::vector<std::string>& files = kFiles) {
  Result<Diagnosis> diagnosis = run(job_of(files), std::move(request), load);
  EXPECT_TRUE(diagnosis) << diagnosis.error().message;
  return std::move(diagnosis).value_or(Diagnosis());
}

std::string json_of(std::span<const Table> tables, const Notes& notes = {}) {
  return render::render(render::kJson, {tables, notes});
}

std::string json_of(const Table& table) { return json_of(std::span(&table, 1)); }

analyze::RunRequest cut_request() {
  analyze::RunRequest request;
  request.analyses = {&analyze::kOperators, &analyze::kSteps, &analyze::kKernelBreakdown};
  request.params = {{"top", i64{1}}};
  return request;
}

i64 count_of(const Diagnosis& diagnosis, std::string_view phase) {
  return std::ranges::count(diagnosis.timing, phase, &analyze::PhaseTime::phase);
}

TEST(DiagnoseRun, WithoutFindingsItIsARunOfAnalyses) {
  const Diagnosis diagnosis = diagnosis_of({.run = cut_request()});
  const Result<analyze::RunResult> plain = analyze::run(job_of(kFiles), cut_request(), load);
  ASSERT_TRUE(plain);
  EXPECT_FALSE(diagnosis.findings);
  EXPECT_EQ(json_of(diagnosis.tables, diagnosis.notes), json_of(plain->tables, plain->notes));
}

TEST(DiagnoseRun, FindingsAreMadeFromAllRowsAndTheUsersTablesStayAsCut) {
  const Diagnosis cut = diagnosis_of({.run = cut_request()}), whole = diagnosis_of({.findings = true}),
                  both = diagnosis_of({.run = cut_request(), .findings = true});
  ASSERT_TRUE(whole.findings && both.findings);
  EXPECT_TRUE(whole.tables.empty());
  EXPECT_GT(whole.findings->rows(), 0u);
  EXPECT_EQ(json_of(*both.findings), json_of(*whole.findings));
  EXPECT_EQ(json_of(both.facts.operators), json_of(whole.facts.operators));
  EXPECT_EQ(json_of(both.facts.kernels), json_of(whole.facts.kernels));
  EXPECT_EQ(json_of(both.tables, both.notes), json_of(cut.tables, cut.notes));
  const auto rows_named = [](const Table& table, std::string_view name) {
    size_t rows = 0;
    for (size_t row = 0; row < table.rows(); row++) rows += table.text(row, table.column("name")) == name;
    return rows;
  };
  EXPECT_GT(rows_named(cut.tables[0], "others"), 0u);  // there was something to cut
  EXPECT_EQ(rows_named(both.facts.operators, "others"), 0u);
}

TEST(DiagnoseRun, OnlyWhatMayBeCutRunsTwice) {
  const Diagnosis both = diagnosis_of({.run = cut_request(), .findings = true});
  EXPECT_EQ(count_of(both, "map operators"), 2);
  EXPECT_EQ(count_of(both, "map kernel_breakdown"), 2);
  EXPECT_EQ(count_of(both, "map steps"), 1);
  EXPECT_EQ(count_of(both, "map summary"), 1);
}

TEST(DiagnoseRun, FilesThatWereMappedElsewhereCountAsThoseHere) {
  Result<analyze::MappedJob> mapped =
      analyze::map_files(job_of({"rank1.json", "rank2.json"}), fact_request(), load);
  ASSERT_TRUE(mapped);
  const Diagnosis here = diagnosis_of({.findings = true}),
                  apart =
                      diagnosis_of({.findings = true, .elsewhere = std::move(mapped->files)}, {"rank0.json"});
  ASSERT_EQ(apart.facts.ranks.size(), 3u);
  EXPECT_EQ(json_of(*apart.findings), json_of(*here.findings));
  EXPECT_EQ(json_of({}, apart.facts.notes), json_of({}, here.facts.notes));
}

TEST(DiagnoseRun, TheErrorsAreThoseOfTheRun) {
  Request request{.run = cut_request(), .findings = true};
  request.run.params = {{"top", std::string("x")}};
  const Result<Diagnosis> diagnosis = run(job_of(kFiles), request, load);
  ASSERT_FALSE(diagnosis);
  EXPECT_EQ(diagnosis.error().code, Code::invalid);
}

TEST(DiagnoseRun, NotesThatFindingsTellAreLeftOutUnlessSomethingWasLost) {
  Notes notes;
  notes.add("no_steps", Severity::info, "there are no steps");
  notes.add("no_operators", Severity::loss, "operators were lost");
  notes.add("other", Severity::info, "something else");
  const Notes left = notes_beside_findings(notes);
  EXPECT_EQ(left.count("no_steps"), 0);
  EXPECT_EQ(left.count("no_operators"), 1);
  EXPECT_EQ(left.count("other"), 1);
}

}  // namespace
}  // namespace spotter::diagnose

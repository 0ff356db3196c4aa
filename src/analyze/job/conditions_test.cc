#include "analyze/job/conditions.h"

#include <gtest/gtest.h>

#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

Facts facts_of(const Table& table) {
  Facts facts;
  for (size_t row = 0; row < table.rows(); ++row)
    facts.emplace_back(text(table, row, "fact"), text(table, row, "value"));
  return facts;
}

TEST(Conditions, OfATraceThatTellsAll) {
  trace::TraceBuilder b;
  b.info().world_size = 8;
  b.info().backend = "nccl";
  b.info().nccl_version = "2.21.5";
  b.info().devices = {{0, "Accelerator", i64{80} << 30, 132}, {1, "Other", i64{40} << 30, 0}};
  b.info().metadata = {{"schemaVersion", "1"},       {"cuda_driver_version", "13000"},
                       {"roctracer_version", "4.1"}, {"PT_PROFILER_JOB_VERSION", "\"7b\""},
                       {"with_stack", "1"},          {"distributedInfo", "{\"rank\": 0}"},
                       {"other_version", "{}"},      {"host_name", "\"node\""}};
  b.span("user_annotation", "ProfilerStep#1", 1, 1, 100, 50);
  b.span("user_annotation", "ProfilerStep#2", 1, 1, 200, 50);
  b.span("kernel", "gemm", 0, 7, 120, 5, {{Arg::device, i64{0}}, {Arg::stream, i64{7}}});
  EXPECT_EQ(facts_of(run_map("conditions", *b.build())),
            (Facts{{"PT_PROFILER_JOB_VERSION", "7b"},
                   {"backend", "nccl"},
                   {"cuda_driver_version", "13000"},
                   {"device", "Accelerator (80.0 GiB, 132 multiprocessors)"},
                   {"nccl_version", "2.21.5"},
                   {"roctracer_version", "4.1"},
                   {"schemaVersion", "1"},
                   {"step_mark", "ProfilerStep"},
                   {"steps", "2 (1-2)"},
                   {"with_stack", "1"},
                   {"world_size", "8"}}));
}

TEST(Conditions, OfATraceThatTellsNothing) {
  trace::TraceBuilder b;
  EXPECT_EQ(facts_of(run_map("conditions", *b.build())), (Facts{{"steps", "0"}}));
}

struct Row {
  Value rank;
  const char *fact, *value;
};

Table table_of(std::initializer_list<Row> rows) {
  Table table("conditions", kConditions.columns);
  for (const Row& row : rows) table.append({row.rank, row.fact, row.value});
  return table;
}

std::vector<std::string> sentences(const Notes& notes) {
  std::vector<std::string> all;
  for (const Note& note : notes.all()) all.push_back(note.sentence);
  return all;
}

using Sentences = std::vector<std::string>;

TEST(Conditions, WhatDiffersIsSaidOnce) {
  const Table before = table_of({{0, "device", "A"},
                                 {0, "steps", "2 (1-2)"},
                                 {0, "with_stack", "1"},
                                 {1, "device", "A"},
                                 {1, "steps", "2 (1-2)"},
                                 {1, "world_size", "2"}});
  EXPECT_EQ(sentences(differing_conditions(before, before)), Sentences{});
  const Table after = table_of({{0, "device", "A"},
                                {0, "steps", "3 (1-3)"},
                                {0, "world_size", "4"},
                                {1, "device", "B"},
                                {1, "steps", "2 (1-2)"},
                                {2, "device", "A"},
                                {2, "cuda_driver_version", "13000"}});
  EXPECT_EQ(
      sentences(differing_conditions(before, after)),
      (Sentences{
          "the jobs differ in rank: 0-1 and 0-2; --ranks chooses the same of both",
          "the jobs differ in device: A and A / B",
          "the jobs differ in steps: 2 (1-2) and 2 (1-2) / 3 (1-3); --steps chooses the same of both",
          "the jobs differ in world_size: 2 and 4",
          "only one of the jobs tells, and so they were not compared in: cuda_driver_version, with_stack"}));
}

TEST(Conditions, ManyValuesAreAFew) {
  const Table before = table_of({{0, "steps", "1"}}), after = table_of({{0, "steps", "1"},
                                                                        {0, "steps", "2"},
                                                                        {0, "steps", "3"},
                                                                        {0, "steps", "4"},
                                                                        {0, "steps", "5"}});
  EXPECT_EQ(
      sentences(differing_conditions(before, after)),
      (Sentences{"the jobs differ in steps: 1 and 1 / 2 / 3 / 2 others; --steps chooses the same of both"}));
}

TEST(Conditions, RanksThatNobodyKnowsAreNotCompared) {
  const Table before = table_of({{Value(), "steps", "1"}}), after = table_of({{0, "steps", "1"}});
  EXPECT_EQ(sentences(differing_conditions(before, after)), Sentences{});
}

}  // namespace
}  // namespace spotter::analyze

#include "analyze/analysis.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "analyze/compat.h"
#include "analyze/list.h"
#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {kRankField, {"x", Type::integer, Unit::none, Role::value, "X."}};

RankTable part(std::optional<i64> rank, std::initializer_list<i64> values) {
  Table table("t", std::span(kColumns).subspan(1));
  for (i64 v : values) table.append({v});
  return {rank, "path", std::move(table)};
}

TEST(Analysis, StackPutsTheRankBeforeEachRow) {
  std::vector<RankTable> parts;
  parts.push_back(part(3, {1, 2}));
  parts.push_back(part(5, {}));
  parts.push_back(part({}, {7}));
  const Table table = stack("t", kColumns, parts);
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(integer(table, 0, "rank"), 3);
  EXPECT_EQ(integer(table, 1, "rank"), 3);
  EXPECT_TRUE(is_null(cell(table, 2, "rank")));
  EXPECT_EQ(integer(table, 0, "x"), 1);
  EXPECT_EQ(integer(table, 2, "x"), 7);
}

TEST(Analysis, ParamsKeepTheLastValue) {
  ParamValues params;
  params.set("top", 3);
  params.set("other", 4);
  params.set("top", 5);
  EXPECT_EQ(params["top"], 5);
  EXPECT_EQ(params["other"], 4);
}

// With those that stand in for other tools' sake.
std::vector<const Analysis*> every_analysis() {
  std::vector<const Analysis*> every(all_analyses().begin(), all_analyses().end());
  for (const Compat* compat : all_compats())
    every.insert(every.end(), compat->instead.begin(), compat->instead.end());
  return every;
}

TEST(List, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const Analysis* a : all_analyses()) {
    EXPECT_TRUE(names.insert(a->name).second) << a->name;
    EXPECT_EQ(find_analysis(a->name), a);
  }
  EXPECT_EQ(find_analysis("nothing"), nullptr);
}

// They become flags of one command, beside its own.
TEST(List, ParametersOfOneNameAreOneParameter) {
  std::map<std::string_view, const Param*> known;
  for (const Analysis* a : every_analysis()) {
    for (const Param& p : a->params) {
      const Param* same = known.try_emplace(p.name, &p).first->second;
      EXPECT_EQ(fallback_of(*same), fallback_of(p)) << p.name;
      EXPECT_STREQ(same->help, p.help) << p.name;
      for (const char* taken :
           {"table", "format", "output", "ranks", "steps", "threads", "memory", "timing", "help"})
        EXPECT_STRNE(p.name, taken);
    }
  }
}

TEST(List, EveryAnalysisExplainsItselfAndItsColumns) {
  for (const Analysis* a : every_analysis()) {
    EXPECT_TRUE(std::string_view(a->summary).ends_with('.')) << a->name;
    EXPECT_TRUE(std::string_view(a->doc).ends_with('.')) << a->name;
    ASSERT_FALSE(a->columns.empty()) << a->name;
    std::set<std::string_view> names;
    for (const Field& f : a->columns) {
      EXPECT_TRUE(names.insert(f.name).second) << a->name << " " << f.name;
      EXPECT_TRUE(std::string_view(f.help).ends_with('.')) << a->name << " " << f.name;
      EXPECT_EQ(f.unit == Unit::ns, std::string_view(f.name).ends_with("_ns")) << a->name << " " << f.name;
    }
    if (!a->reduce) {
      EXPECT_STREQ(a->columns[0].name, kRankField.name) << a->name;
    }
  }
}

Table answer_of(const Analysis& a, const Trace& trace) {
  Result<Table> mapped = a.map(trace, args_for(a));
  CHECK(mapped.has_value());
  for (size_t row = 0; row < mapped->rows(); ++row)
    for (size_t c = 0; c < mapped->columns(); ++c)
      EXPECT_TRUE(may_be_null(a, mapped->schema()[c]) || !is_null(mapped->at(row, c)))
          << a.name << " " << mapped->schema()[c].name;
  std::vector<RankTable> parts;
  parts.push_back({0, "path", std::move(*mapped)});
  if (!a.reduce) return stack(a.name, a.columns, parts);
  Result<Table> reduced = a.reduce(parts, args_for(a));
  CHECK(reduced.has_value());
  return std::move(*reduced);
}

TEST(List, EveryAnalysisTakesAnyTraceAndKeepsItsPromise) {
  std::vector<TracePtr> traces;
  trace::TraceBuilder empty, launcher, host_only;
  traces.push_back(empty.build());
  launcher.mark('M', "", "process_name", 1, 1, 0, {{Arg::name, std::string("torchrun")}});
  launcher.span("Trace", "PyTorch Profiler (0)", 1, 1, 0, 100);
  traces.push_back(launcher.build());
  host_only.span("cpu_op", "aten::add", 1, 1, 0, 10);
  traces.push_back(host_only.build());
  traces.push_back(random_trace(1).trace);
  // As far apart as times and sizes may be, more than once: no sum may overflow.
  trace::TraceBuilder extreme;
  for (i64 i = 1; i <= 3; ++i) {
    const i64 most = std::numeric_limits<i64>::max();
    extreme.span("cpu_op", "aten::add", 1, 1, -kMaxTime, 10);
    extreme.span("cuda_runtime", "cudaLaunchKernel", 1, 1, -kMaxTime, 1, {{Arg::correlation, i}});
    for (const i64 stream : {7, 8}) {
      extreme.span("kernel", "k", 0, stream, kMaxTime - i, 1, {{Arg::stream, stream}, {Arg::correlation, i}});
      extreme.span(
          "gpu_memcpy", "Memcpy DtoD", 0, stream, kMaxTime - i, 1,
          {{Arg::stream, stream}, {Arg::correlation, i}, {Arg::bytes, most}, {Arg::memory_bandwidth, 1e5}});
    }
    extreme.span("kernel", "k", 0, 7, -kMaxTime + i, 1, {{Arg::stream, i64{7}}, {Arg::correlation, i}});
    extreme.mark(
        'i', "cpu_instant_event", "[memory]", 1, 1, i,
        {{Arg::mem_bytes, most}, {Arg::addr, i}, {Arg::device_type, i64{1}}, {Arg::device_id, i64{0}}});
  }
  traces.push_back(extreme.build());
  for (const Analysis* a : every_analysis()) {
    for (const TracePtr& trace : traces) {
      const Table table = answer_of(*a, *trace);
      ASSERT_EQ(table.columns(), a->columns.size()) << a->name;
      for (size_t c = 0; c < table.columns(); ++c) {
        EXPECT_STREQ(table.schema()[c].name, a->columns[c].name);
        EXPECT_EQ(table.schema()[c].type, a->columns[c].type);
      }
    }
  }
}

// A trace has the arguments that an analysis reads and no others: asking for another one would end the
// program.
TEST(List, EveryAnalysisSaysWhatItReads) {
  for (const Analysis* a : every_analysis()) {
    TraceData data;
    data.loaded = a->reads;
    for (u8 c = 0; c <= static_cast<u8>(Category::other); ++c)
      for (const char phase : {'X', 'i', 'M', 'C', 's'})
        data.kinds.push_back({phase, static_cast<Category>(c), 0, phase == 'X'});
    data.tracks = {{1, 1, 0, 0}};
    data.shapes = {Shape{}};
    for (u8 kind = 0; kind < data.kinds.size(); ++kind) {
      data.ts.push_back(kind);
      data.dur.push_back(10);
      data.name.push_back(data.strings.intern("name"));
      data.track.push_back(0);
      data.kind.push_back(kind);
      data.first_cell.push_back(0);
      data.shape.push_back(0);
    }
    const Trace trace(std::move(data));
    EXPECT_TRUE(a->map(trace, args_for(*a)).has_value()) << a->name;
  }
}

}  // namespace
}  // namespace spotter::analyze

#include "analyze/critical_path/path_users.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

std::string text_of(const Value& value) {
  if (is_null(value)) return "null";
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const double* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return fmt::format("{}", std::get<i64>(value));
}

std::string text_of(const Table& table) {
  std::string all;
  for (size_t row = 0; row < table.rows(); ++row)
    for (size_t column = 0; column < table.columns(); ++column) all += text_of(table.at(row, column)) + ',';
  for (const Note& note : table.notes.all()) all += fmt::format("{} {};", note.kind, note.count);
  return all;
}

// Steps in which several streams run, one after the other, overlapping, empty, and of launches that a mark
// holds only in part.
TracePtr random_steps(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](i64 n) { return static_cast<i64>(random() % static_cast<u64>(n)); };
  trace::TraceBuilder builder;
  i64 correlation = 0;
  Ns at = 0;
  for (int step = 0; step < 5; ++step) {
    const Ns begin = at, end = begin + below(4) * 50;
    builder.span("user_annotation", fmt::format("ProfilerStep#{}", step), 1, 1, begin, end - begin);
    for (i64 n = below(6); n > 0; --n) {
      const Ns call = begin + below(200), dur = below(30);
      builder.span("cuda_runtime", "cudaLaunchKernel", 1, 1 + below(2), call, dur,
                   {{Arg::correlation, ++correlation}});
      builder.span("kernel", "gemm", 0, 7, call + below(100), below(60),
                   {{Arg::correlation, correlation}, {Arg::device, i64{0}}, {Arg::stream, 7 + below(2)}});
    }
    at = end - std::min(end, below(2) * 20);
  }
  return builder.build();
}

size_t count_of_equals(const Trace& trace, const std::vector<const char*>& names, ParamSettings params) {
  std::vector<ParamValues> values;
  for (const char* name : names) values.push_back(args_for(*find_analysis(name), params));
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < names.size(); ++i) wanted.push_back({find_analysis(names[i]), &values[i]});
  const Result<std::vector<Table>> together = wanted[0].analysis->map_together(trace, wanted);
  size_t equals = 0;
  for (size_t i = 0; i < names.size(); ++i)
    equals += text_of((*together)[i]) == text_of(run_map(names[i], trace, params));
  return equals;
}

TEST(PathUsers, TogetherTheyMakeWhatEachMakesAlone) {
  const std::vector<const char*> names = {"critical_path_names", "step_budget", "critical_path"};
  size_t rows = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    const TracePtr steps = random_steps(seed);
    rows += run_map("step_budget", *steps).rows();
    ASSERT_EQ(count_of_equals(*steps, names, {}), 3u) << seed;
    const TestTrace other = random_trace(seed);
    ASSERT_EQ(count_of_equals(*other.trace, names, {}), 3u) << seed;
  }
  EXPECT_GT(rows, 250u);
}

TEST(PathUsers, ThoseWithAWhatIfHaveTheirOwnPaths) {
  const std::vector<const char*> names = {"critical_path", "critical_path_names", "step_budget"};
  for (unsigned seed = 0; seed < 100; ++seed) {
    const TracePtr steps = random_steps(seed);
    const Analysis& path = *find_analysis("critical_path");
    const ParamValues halved = args_for(path, {{kWhatIf.name, std::string("gemm=0.5")}});
    const Analysis& budget = *find_analysis("step_budget");
    const ParamValues none = args_for(budget);
    const Wanted wanted[] = {{&path, &halved}, {&budget, &none}};
    const Result<std::vector<Table>> together = map_path_users(*steps, wanted);
    ASSERT_EQ(text_of((*together)[0]), text_of(*path.map(*steps, halved))) << seed;
    ASSERT_EQ(text_of((*together)[1]), text_of(*budget.map(*steps, none))) << seed;
  }
}

}  // namespace
}  // namespace spotter::analyze

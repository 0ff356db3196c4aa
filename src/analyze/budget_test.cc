#include "analyze/budget.h"

#include <gtest/gtest.h>

#include <vector>

namespace spotter::analyze {
namespace {

TraceFile file(const char* path, i64 json_bytes) {
  TraceFile file;
  file.path = path;
  file.json_bytes = json_bytes;
  return file;
}

TEST(Budget, MemoryFollowsTheText) { EXPECT_EQ(estimated_memory(file("a.json", 250'000)), 100'000); }

TEST(Budget, AnySoManyFilesFit) {
  const std::vector<TraceFile> files = {file("a", 250), file("b", 2500), file("c", 250), file("d", 1250)};
  EXPECT_EQ(loads_at_once(files, 8, 100'000), 4u);
  EXPECT_EQ(loads_at_once(files, 3, 100'000), 3u);
  EXPECT_EQ(loads_at_once(files, 8, 1699), 3u);  // 1000 + 500 + 100
  EXPECT_EQ(loads_at_once(files, 8, 1500), 2u);
  EXPECT_EQ(loads_at_once(files, 8, 1499), 1u);
}

TEST(Budget, OneFileIsAlwaysRead) {
  const std::vector<TraceFile> files = {file("a", 1'000'000)};
  EXPECT_EQ(loads_at_once(files, 8, 1), 1u);
  EXPECT_EQ(loads_at_once(files, 0, 1), 1u);
  EXPECT_EQ(loads_at_once({}, 8, 0), 1u);
}

TEST(Budget, TextsTakeHalfOfItInAllFilesTogether) {
  EXPECT_EQ(most_texts(1, i64{1} << 30), most_texts(4, i64{4} << 30));
  EXPECT_GT(most_texts(1, i64{1} << 30), 300'000u);
  EXPECT_EQ(most_texts(1, 1), most_texts(1000, i64{1} << 30)) << "as many as ordinary traces have";
}

TEST(Budget, TheMachineHasMemory) { EXPECT_GT(default_memory_budget(), 1 << 20); }

}  // namespace
}  // namespace spotter::analyze

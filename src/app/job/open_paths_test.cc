#include "app/job/open_paths.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace spotter::app {
namespace {

namespace fs = std::filesystem;

class OpenPaths : public testing::Test {
 protected:
  OpenPaths() : folder_(fs::temp_directory_path() / fmt::format("open_paths_{}", getpid())) {
    fs::create_directory(folder_);
  }
  ~OpenPaths() override { fs::remove_all(folder_); }

  // As tensorboard_trace_handler calls them.
  void record(i64 second, i64 rank) const {
    std::ofstream(folder_ / fmt::format("host_{}.{}000000000.pt.trace.json", rank, second)) << fmt::format(
        R"({{"distributedInfo": {{"rank": {}}}, "traceEvents": [)"
        R"({{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": {}000000, "dur": 30}}]}})",
        rank, second);
  }
  Result<Job> open(const std::string& which = "") const {
    const std::string path = folder_.string() + which;
    return open_paths(std::span(&path, 1));
  }

  fs::path folder_;
};

TEST_F(OpenPaths, OfSeveralRecordingsOneIsNamed) {
  for (const i64 rank : {0, 1}) record(1'700'000'000, rank);
  ASSERT_TRUE(open()) << "of one nothing needs to be said";
  for (const i64 rank : {0, 1}) record(1'700'000'900, rank);
  const auto all = open();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().message,
            fmt::format("{0}: the folder has 2 recordings: #1 to #2; name one of them, as in '{0}#1'",
                        folder_.string()));
  const auto second = open("#2");
  ASSERT_TRUE(second) << second.error().message;
  ASSERT_EQ(second->files.size(), 2U);
  EXPECT_NE(second->files[0].path.find("1700000900"), std::string::npos);
}

}  // namespace
}  // namespace spotter::app

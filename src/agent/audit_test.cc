#include "agent/audit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/system/file.h"

namespace spotter::agent {
namespace {

TEST(Audit, AFileOfItsOwnHasALineForEachRequest) {
  const std::string path = testing::TempDir() + fmt::format("spotter_audit_{}.jsonl", getpid());
  std::filesystem::remove(path);
  net::Loop loop;
  const Host host;
  {
    Audit audit(loop, host);
    ASSERT_TRUE(audit.open(path, "node1"));
    Peer alice;
    alice.name = "user alice";
    alice.from = "unix, process 12";
    testing::internal::CaptureStderr();
    audit.done(alice, "ends capture 7");
    for (int i = 0; i < 100; ++i)
      audit.refused(alice, "asks for 1 \"process\"", {Code::denied, "it is bob's"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the log has none of it";
    ASSERT_TRUE(audit.state());
    EXPECT_EQ(audit.state()->last_error, "");
  }
  const std::string text = read_small_file(path, 1 << 20).value_or("");
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << "of many refusals of one peer, the first: " << text;
  EXPECT_NE(
      text.find(R"("user":"user alice","from":"unix, process 12","asked":"ends capture 7","result":"done"})"),
      text.npos)
      << text;
  EXPECT_NE(text.find(R"("asked":"asks for 1 \"process\"","result":"refused","reason":"it is bob's"})"),
            text.npos)
      << text;
  struct stat file{};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07, 0U) << "others may not read it";
  std::filesystem::remove(path);
}

// The file is renamed when it is full, and the oldest is removed.
TEST(Audit, NobodyDrivesOutTheLinesOfOthers) {
  const std::string path = testing::TempDir() + fmt::format("spotter_audit_share_{}.jsonl", getpid());
  std::filesystem::remove(path);
  net::Loop loop;
  const Host host;
  {
    Audit audit(loop, host);
    ASSERT_TRUE(audit.open(path, "node1"));
    Peer alice, eve;
    alice.name = "user alice";
    eve.name = "user eve";
    audit.done(alice, "ends capture 7");
    const std::string what(10'000, 'x');
    for (int i = 0; i < 3000; ++i) {
      audit.done(eve, what);
      // The queue to the file's thread is bounded, too.
      while (audit.state()->queued > 100) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    audit.done(alice, "ends capture 8");
  }
  const std::string text = read_small_file(path, size_t{64} << 20).value_or("");
  EXPECT_LT(static_cast<i64>(text.size()), Audit::kMostOfOne + (i64{1} << 20));
  EXPECT_NE(text.find("ends capture 7"), text.npos);
  EXPECT_NE(text.find("ends capture 8"), text.npos);
  EXPECT_NE(text.find("has filled his share of this log"), text.npos);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace spotter::agent

#include "agent/audit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

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

}  // namespace
}  // namespace spotter::agent

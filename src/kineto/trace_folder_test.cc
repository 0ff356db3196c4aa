#include "kineto/trace_folder.h"

#include <gtest/gtest.h>

namespace spotter::kineto {
namespace {

constexpr i32 kBefore = 3, kNow = 2;  // what an idle client polls with

std::string why(i32 type, const char* version, const char* folder, const std::string& path) {
  Process process;
  process.poll.type = type;
  process.facts.inner_pid = 7;
  process.facts.torch_version = version;
  if (folder) process.facts.environment["KINETO_ONDEMAND_TRACE_DIR"] = folder;
  return why_written_elsewhere(process, path);
}

TEST(TraceFolder, OlderOnesWriteAnywhere) {
  for (const char* version : {"", "2.13.0+cpu", "1.13.1", "2.9.1", "new"})
    EXPECT_EQ(why(kBefore, version, nullptr, "/scratch/a.json"), "") << version;
}

TEST(TraceFolder, NewerOnesBelowOneFolder) {
  for (const char* version : {"2.14.0a0+git1", "2.20.1", "3.0"})
    EXPECT_NE(why(kBefore, version, nullptr, "/scratch/a.json"), "") << version;
  EXPECT_EQ(why(kNow, "", nullptr, "/tmp/x/a.json"), "");
  EXPECT_NE(why(kNow, "", nullptr, "/tmpx/a.json"), "");
  EXPECT_EQ(why(kNow, "", "", "/tmp/a.json"), "");
  EXPECT_EQ(why(kNow, "", "/scratch", "/scratch/a.json"), "");
  EXPECT_EQ(why(kNow, "", "/scratch/", "/scratch/a.json"), "");
  EXPECT_NE(why(kNow, "", "/scratch", "/scratch2/a.json"), "");
  EXPECT_NE(why(kNow, "", "/scratch", "/tmp/a.json"), "");
  EXPECT_EQ(why(kNow, "", "/scratch", "/tmp/libkineto_activities_7.json"), "") << "it is asked for no other";
}

TEST(TraceFolder, SaysWhatToDo) {
  EXPECT_EQ(
      why(kNow, "", nullptr, "/scratch/a.json"),
      "PyTorch after 2.13 lets traces be written below /tmp/ only (its environment has no "
      "KINETO_ONDEMAND_TRACE_DIR), and writes to /tmp/libkineto_activities_7.json instead: name a directory "
      "there, or set KINETO_ONDEMAND_TRACE_DIR where the job starts");
}

}  // namespace
}  // namespace spotter::kineto

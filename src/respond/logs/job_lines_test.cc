#include "respond/logs/job_lines.h"

#include <gtest/gtest.h>

#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

using namespace test;

constexpr Ns kStart = 1'795'000'000 * kSecond;

void see(JobLines& lines, Ns at, const char* kind, std::string_view text, const char* job = "7") {
  const Table table = table_of("log_event", {{{"job", job},
                                              {"kind", kind},
                                              {"rank", i64{3}},
                                              {"text", text},
                                              {"file", "/log"},
                                              {"offset", i64{40}}}});
  lines.see({.table = table, .at = at});
}

TEST(JobLines, ThoseOfTheJobSinceThen) {
  JobLines lines;
  see(lines, kStart, "cuda_error", "CUDA error: an old one");
  see(lines, kStart + kMinute, "traceback", "Traceback \x1b[31m(most recent call last):");
  see(lines, kStart + kMinute, "traceback", "again");
  see(lines, kStart + kMinute, "crash", "");
  see(lines, kStart + kMinute, "crash", "of another job", "8");
  const auto shown = lines.since("7", kStart + kSecond);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0].text.find('\x1b'), std::string::npos);
  EXPECT_EQ(shown[0].file, "/log");
  EXPECT_EQ(shown[0].offset, 40);
  EXPECT_EQ(shown[0].rank, 3);
  EXPECT_EQ(shown[1].text, "crash: not everybody may read it");
  EXPECT_TRUE(lines.since("9", 0).empty());
}

TEST(JobLines, FatalOnesComeFirst) {
  JobLines lines;
  for (const char* text : {"a", "b", "c", "d", "e"}) see(lines, kStart, "new_line", text);
  see(lines, kStart + kSecond, "crash", "Segmentation fault");
  const auto shown = lines.since("7", 0);
  ASSERT_EQ(shown.size(), JobLines::kShown);
  EXPECT_EQ(shown[0].text, "Segmentation fault");
  EXPECT_EQ(shown[1].text, "a");
}

TEST(JobLines, OfVeryManyTheNewest) {
  JobLines lines;
  for (int i = 0; i < 1000; ++i) see(lines, kStart + i, "crash", std::to_string(i));
  EXPECT_EQ(lines.since("7", 0)[0].text, "968");
}

}  // namespace
}  // namespace spotter::respond

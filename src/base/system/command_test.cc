#include "base/system/command.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

TEST(CommandTest, GivesWhatItPrints) {
  EXPECT_EQ(run_command({"printf", "%s|", "a b", "$HOME;"}).value(), "a b|$HOME;|");
  EXPECT_EQ(run_command({"sh", "-c", "head -c 300000 /dev/zero; echo >&2 no"}).value().size(), 300000u);
  EXPECT_EQ(run_command({"cat"}).value(), "");  // there is no standard input
}

TEST(CommandTest, SaysWhyItFailed) {
  const auto failed = run_command({"sh", "-c", "echo part; echo why >&2; exit 3"});
  EXPECT_EQ(failed.error().message, "sh -c echo part; echo why >&2; exit 3 failed: why");
  EXPECT_EQ(failed.error().code, Code::io);
  EXPECT_NE(run_command({"sh", "-c", "kill -9 $$"}).error().message.find("status 9"), std::string::npos);
  EXPECT_EQ(run_command({"there-is-no-such-program"}).error().code, Code::not_found);
}

}  // namespace
}  // namespace spotter

#include "base/text/shell_word.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

TEST(ShellWord, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_word("runs/rank0.json.gz"), "runs/rank0.json.gz");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my runs"), "'my runs'");
  EXPECT_EQ(shell_word("a'b;c"), "'a'\\''b;c'");
  EXPECT_EQ(shell_word("$(x)"), "'$(x)'");
  EXPECT_EQ(shell_word("a\nb"), "'a\nb'");
}

}  // namespace
}  // namespace spotter

#include "app/cli/terminal.h"

#include <gtest/gtest.h>

namespace spotter::app {
namespace {

TEST(Terminal, LinesAreCut) {
  EXPECT_EQ(cut_lines("abcdef\nab\n\n", 3), "abc\nab\n\n");
  EXPECT_EQ(cut_lines("\033[1mabc\033[0mdef\n", 4), "\033[1mabc\033[0md\n");
  EXPECT_EQ(cut_lines("\033[1mabcdef\033[0m\nxyz", 2), "\033[1mab\033[0m\nxy");
  EXPECT_EQ(cut_lines("漢字漢字", 5), "漢字") << "two columns each";
  EXPECT_EQ(cut_lines("▁▃█", 2), "▁▃");
}

}  // namespace
}  // namespace spotter::app

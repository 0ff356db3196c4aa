#include "app/cli/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/system/descriptor.h"

namespace spotter::app {
namespace {

TEST(Terminal, LinesAreCut) {
  EXPECT_EQ(cut_lines("abcdef\nab\n\n", 3), "abc\nab\n\n");
  EXPECT_EQ(cut_lines("\033[1mabc\033[0mdef\n", 4), "\033[1mabc\033[0md\n");
  EXPECT_EQ(cut_lines("\033[1mabcdef\033[0m\nxyz", 2), "\033[1mab\033[0m\nxy");
  EXPECT_EQ(cut_lines("漢字漢字", 5), "漢字") << "two columns each";
  EXPECT_EQ(cut_lines("▁▃█", 2), "▁▃");
  EXPECT_EQ(cut_lines("\033]8;;https://h/\033\\abc\033]8;;\033\\d", 2),
            "\033]8;;https://h/\033\\ab\033]8;;\033\\");
  EXPECT_EQ(cut_lines("\033]8;;h", 2), "\033]8;;h");
}

std::string link_on(int fd, std::string_view source_url = {}) {
  return style_of(fd, source_url).source_links.address("/w/train.py(7): step");
}

TEST(Terminal, LinesOfSourceCodeAreLinksOnATerminalOnly) {
  const Descriptor terminal{posix_openpt(O_RDWR | O_NOCTTY)};
  const Descriptor file{open("/dev/null", O_WRONLY)};
  ASSERT_GE(terminal.fd, 0);
  setenv("TERM", "xterm-256color", 1);
  setenv("SPOTTER_SOURCE_URL", "/w=https://h/{relative}#L{line}", 1);
  EXPECT_EQ(link_on(terminal.fd), "https://h/train.py#L7");
  EXPECT_EQ(link_on(terminal.fd, "zed://file{path}:{line}"), "zed://file/w/train.py:7");
  EXPECT_EQ(link_on(file.fd), "");
  setenv("TERM", "linux", 1);
  EXPECT_EQ(link_on(terminal.fd), "");
  setenv("TERM", "xterm-256color", 1);
  setenv("SPOTTER_SOURCE_URL", "javascript:{path}", 1);
  EXPECT_EQ(link_on(terminal.fd), "");
  unsetenv("SPOTTER_SOURCE_URL");
  EXPECT_EQ(link_on(terminal.fd), "");
}

}  // namespace
}  // namespace spotter::app

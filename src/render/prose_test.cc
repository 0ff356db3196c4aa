#include <gtest/gtest.h>

#include "render/render.h"

namespace spotter::render {
namespace {

TEST(Prose, IsBrokenAtBlanks) {
  EXPECT_EQ(wrapped("aaa bbb ccc", 7), "aaa bbb\nccc");
  EXPECT_EQ(wrapped("aaa bbb ccc", 7, "  "), "aaa bbb\n  ccc");
  EXPECT_EQ(wrapped("a longerword b", 4), "a\nlongerword\nb");
  EXPECT_EQ(wrapped("äää ööö", 7), "äää ööö");
  EXPECT_EQ(wrapped("no limit at all", 0), "no limit at all");
  EXPECT_EQ(wrapped("takes 43.9 ms (33 %) less", 15), "takes 43.9 ms\n(33 %) less");
  EXPECT_EQ(wrapped("takes 43.9 ms (33 %) less", 11), "takes\n43.9 ms\n(33 %) less");
  EXPECT_EQ(wrapped("of 3 steps", 4), "of 3\nsteps");
}

TEST(Prose, MeaningsStandBesideTheirWords) {
  const std::pair<std::string, std::string> meanings[] = {{"a", "one two three"}, {"bcd", "four"}};
  EXPECT_EQ(render_meanings(meanings, 14), "  a    one two\n       three\n  bcd  four\n");
  const std::pair<std::string, std::string> longer[] = {{std::string(29, 'x'), "below"}};
  EXPECT_EQ(render_meanings(longer, 0),
            "  " + std::string(29, 'x') + "\n" + std::string(32, ' ') + "below\n");
}

}  // namespace
}  // namespace spotter::render

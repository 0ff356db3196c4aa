#include "analyze/operators/path_text.h"

#include <gtest/gtest.h>

namespace spotter::analyze {
namespace {

TEST(PathText, NoTwoPathsHaveOneText) {
  EXPECT_EQ(path_text("", "a"), "a");
  EXPECT_EQ(path_text(path_text("", "a"), "b"), "a/b");
  EXPECT_EQ(path_text("", "a/b"), R"(a\/b)");
  EXPECT_EQ(path_text(path_text("", R"(a\)"), "b"), R"(a\\/b)");
}

}  // namespace
}  // namespace spotter::analyze

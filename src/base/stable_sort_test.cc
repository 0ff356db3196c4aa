#include "base/stable_sort.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace spotter {
namespace {

TEST(StableSort, KeepsEqualOnesInTheirOrder) {
  std::vector<std::pair<int, std::string>> all = {{2, "a"}, {1, "b"}, {2, "c"}, {1, "d"}, {0, "e"}};
  stable_sort(all, [](const auto& a, const auto& b) { return a.first < b.first; });
  EXPECT_EQ(all,
            (std::vector<std::pair<int, std::string>>{{0, "e"}, {1, "b"}, {1, "d"}, {2, "a"}, {2, "c"}}));
  std::vector<int> none;
  stable_sort(none, std::less<>());
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace spotter

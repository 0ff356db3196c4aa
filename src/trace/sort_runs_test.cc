#include "trace/sort_runs.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

namespace spotter::trace {
namespace {

struct Item {
  int key, place;
  bool operator==(const Item&) const = default;
};

TEST(SortRuns, IsAStableSort) {
  std::mt19937 random(1);
  const auto by_key = [](const Item& a, const Item& b) { return a.key < b.key; };
  std::vector<Item> spare;
  for (int round = 0; round < 500; ++round) {
    std::vector<Item> items(random() % 40);
    const int keys = 1 + static_cast<int>(random() % 30);
    const bool nearly_sorted = round % 2 == 0;
    for (int i = 0; i < static_cast<int>(items.size()); ++i) {
      auto& item = items[static_cast<size_t>(i)];
      item = {static_cast<int>(random()) % keys, i};
      if (nearly_sorted && random() % 5 != 0) item.key = i;
    }
    std::vector<Item> expected = items;
    std::sort(expected.begin(), expected.end(), [](const Item& a, const Item& b) {
      return std::tie(a.key, a.place) < std::tie(b.key, b.place);
    });
    sort_runs(std::span(items), spare, by_key);
    EXPECT_EQ(items, expected);
  }
}

TEST(SortRuns, ComparesSortedInputOncePerElement) {
  std::vector<int> items(1000), spare;
  for (int i = 0; i < 1000; ++i) items[static_cast<size_t>(i)] = i / 3;
  int compared = 0;
  sort_runs(std::span(items), spare, [&](int a, int b) { return ++compared, a < b; });
  EXPECT_EQ(compared, 999);
  EXPECT_TRUE(spare.empty());
}

}  // namespace
}  // namespace spotter::trace

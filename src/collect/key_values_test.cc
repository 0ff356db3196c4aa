#include "collect/key_values.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace spotter::collect {
namespace {

constexpr KeyField kFields[] = {
    {"a", 1, {"a", Type::integer, Unit::count, Role::value, "A."}},
    {"b1 b2", 10, {"b", Type::integer, Unit::count, Role::value, "Both."}},
    {"c", 1, {"c", Type::integer, Unit::count, Role::value, "C."}},
};

std::vector<Value> values_of(KeyValues& values, std::string_view text) {
  values.clear();
  values.add_lines(text);
  std::vector<Value> row;
  values.append_to(row);
  return row;
}
using Row = std::vector<Value>;

TEST(KeyValues, AddsUpTheKeysOfAColumn) {
  KeyValues values(kFields);
  EXPECT_EQ(values_of(values, "a 1\nb1 2\nnobody 9\nb2 3\nc 4\n"), (Row{1, 50, 4}));
  EXPECT_EQ(values_of(values, "b2 3\n"), (Row{{}, 30, {}}));
  EXPECT_EQ(values_of(values, "a x\nc 4"), (Row{{}, {}, {}}));  // no number, and a line that is cut off
}

// Where a key was the last time is only where it is looked for first.
TEST(KeyValues, KeysInAnotherOrderThanTheLastTime) {
  KeyValues values(kFields);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(values_of(values, "a 1\nb1 2\nx 9\nb2 3\nc 4\n"), (Row{1, 50, 4}));
    EXPECT_EQ(values_of(values, "a 1\nb1 2\nx 9\nb2 3\nc 4\n"), (Row{1, 50, 4}));
    EXPECT_EQ(values_of(values, "c 4\nb2 3\nx 9\nb1 2\na 1\n"), (Row{1, 50, 4}));
    EXPECT_EQ(values_of(values, "a 1\nc 4\n"), (Row{1, {}, 4}));                    // some have gone
    EXPECT_EQ(values_of(values, "a 1\ny 8\nb1 2\nz 7\nc 4\n"), (Row{1, 20, 4}));    // others have come
    EXPECT_EQ(values_of(values, "ab 1\nb 2\nb12 2\n\ncc 4\n"), (Row{{}, {}, {}}));  // and are not the same
    EXPECT_TRUE(values.empty());
  }
}

TEST(KeyValues, MoreKeysThanAreRemembered) {
  KeyValues values(kFields);
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += fmt::format("key{} {}\n", i, i);
  text += "a 1\nb1 2\nb2 3\nc 4\n";
  for (int round = 0; round < 2; ++round) EXPECT_EQ(values_of(values, text), (Row{1, 50, 4}));
}

}  // namespace
}  // namespace spotter::collect

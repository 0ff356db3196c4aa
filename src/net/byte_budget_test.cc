#include "net/byte_budget.h"

#include <gtest/gtest.h>

#include <vector>

namespace spotter::net {
namespace {

constexpr size_t kPart = ByteBudget::kMost / 8;

class ByteBudgetTest : public testing::Test {
 protected:
  u64 add(const char* peer) {
    const auto number = std::make_shared<u64>(0);
    *number = budget_.add(peer, [this, number] { closed_.push_back(*number); });
    return *number;
  }
  ByteBudget budget_;
  std::vector<u64> closed_;
};

TEST_F(ByteBudgetTest, OfTooManyThoseOfWhoHoldsMostGoTheOldestFirst) {
  const u64 ann = add("ann");
  budget_.holds(ann, kPart);
  std::vector<u64> eves;
  for (int i = 0; i < 7; ++i) budget_.holds(eves.emplace_back(add("eve")), kPart);
  EXPECT_TRUE(closed_.empty());
  budget_.holds(ann, 2 * kPart);
  EXPECT_EQ(closed_, (std::vector<u64>{eves[0]}));
  budget_.holds(add("bob"), 1);
  EXPECT_EQ(closed_, (std::vector<u64>{eves[0], eves[1]}));
  EXPECT_EQ(budget_.held(), 7 * kPart + 1);
  for (const u64 eve : eves) budget_.remove(eve);
  EXPECT_EQ(budget_.held(), 2 * kPart + 1);
}

TEST_F(ByteBudgetTest, OneAloneIsNotClosed) {
  const u64 ann = add("ann");
  add("bob");  // holds nothing
  budget_.holds(ann, 2 * ByteBudget::kMost);
  EXPECT_TRUE(closed_.empty());
  budget_.holds(ann, 0);
  EXPECT_EQ(budget_.held(), 0U);
}

}  // namespace
}  // namespace spotter::net

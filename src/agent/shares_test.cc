#include "agent/shares.h"

#include <gtest/gtest.h>

namespace spotter::agent {
namespace {

TEST(Shares, NobodyTakesAll) {
  Shares shares(3, "analyses");
  EXPECT_TRUE(shares.take("ann"));
  EXPECT_TRUE(shares.take("ann"));
  const auto third = shares.take("ann");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Code::busy);
  EXPECT_EQ(
      third.error().message,
      "2 of the 3 analyses that may run on this host at one time are of ann, and the last is for somebody else; ask "
      "again later");
  EXPECT_TRUE(shares.take("bob"));
  EXPECT_FALSE(shares.take("eve"));
  shares.give_back("ann");
  EXPECT_FALSE(shares.take("ann")) << "the last one left is for who has none";
  EXPECT_TRUE(shares.take("eve"));
  EXPECT_EQ(shares.taken(), 3U);
  for (const char* who : {"ann", "bob", "eve"}) shares.give_back(who);
  EXPECT_EQ(shares.taken(), 0U);
  EXPECT_TRUE(shares.take("ann"));
}

}  // namespace
}  // namespace spotter::agent

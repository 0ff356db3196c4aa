#include "net/http/accepted.h"

#include <gtest/gtest.h>

namespace spotter::net {
namespace {

TEST(Accepted, NamesVersionsQualities) {
  const auto all = read_accepted(" a/b ; version=2 ;q=0.25,\tC;Q=1.0 , ,;q=1, d;q=2, e;q=-1, f;q, g;x=\"y\"");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].name, "a/b");
  EXPECT_EQ(all[0].version, "2");
  EXPECT_EQ(all[0].quality, 0.25);
  EXPECT_EQ(all[1].name, "c");
  EXPECT_EQ(all[1].quality, 1);
  for (const size_t wrong : {2, 3, 4}) EXPECT_EQ(all[wrong].quality, 0) << all[wrong].name;
  EXPECT_EQ(all[5].quality, 1);
}

}  // namespace
}  // namespace spotter::net

#include "base/system/user_ids.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

TEST(UserIds, WhereEverybodyIsMappedNobodyIsUnmapped) {
  EXPECT_EQ(unmapped_uid("         0          0 4294967295\n", "65534\n"), std::nullopt);
}

TEST(UserIds, WhereSomeAreMappedTheOthersLookLikeOne) {
  for (const char* map : {"", "0 1000 1\n", "         0     100000      65536\n", "0 0 4294967294\n",
                          "1 1 4294967295\n", "0 1000 1\n1 100000 65536\n"}) {
    EXPECT_EQ(unmapped_uid(map, "65534\n"), 65534) << map;
    EXPECT_EQ(unmapped_uid(map, "99\n"), 99) << map;
    EXPECT_EQ(unmapped_uid(map, ""), 65534) << map;
  }
}

}  // namespace
}  // namespace spotter

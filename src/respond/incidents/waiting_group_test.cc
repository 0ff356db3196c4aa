#include "respond/incidents/waiting_group.h"

#include <gtest/gtest.h>

#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

TEST(WaitingGroup, IsInTheFindings) {
  using test::Cells;
  const Cells fault = {{"mechanism", "slow_device"}, {"group", "1 [0, 1]"}},
              absent = {{"mechanism", "absent_ranks"}, {"group", "2 [2, 3]"}};
  EXPECT_FALSE(waiting_group(test::table_of("findings", {fault})));
  const auto found = waiting_group(test::table_of("findings", {fault, absent}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks, (std::vector<i64>{2, 3}));
}

}  // namespace
}  // namespace spotter::respond

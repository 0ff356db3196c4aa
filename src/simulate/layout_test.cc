#include "simulate/layout.h"

#include <gtest/gtest.h>

namespace spotter::simulate {
namespace {

using Members = std::vector<i64>;

TEST(Layout, RanksAreNumberedAsMegatronDoes) {
  Spec spec;
  spec.ranks = 16;
  spec.tensor = spec.pipeline = 2;  // and 4 data-parallel
  const Layout layout(spec);
  EXPECT_EQ(layout.members(GroupKind::tensor, layout.group(GroupKind::tensor, 5)), (Members{4, 5}));
  EXPECT_EQ(layout.members(GroupKind::data, layout.group(GroupKind::data, 5)), (Members{1, 3, 5, 7}));
  EXPECT_EQ(layout.members(GroupKind::pipeline, layout.group(GroupKind::pipeline, 5)), (Members{5, 13}));
}

TEST(Layout, ExpertGroupsShareOutDataGroups) {
  Spec spec;
  spec.ranks = 16;
  spec.tensor = spec.pipeline = spec.expert = 2;
  const Layout layout(spec);
  EXPECT_EQ(layout.members(GroupKind::expert, layout.group(GroupKind::expert, 5)), (Members{5, 7}));
  EXPECT_EQ(layout.members(GroupKind::expert_data, layout.group(GroupKind::expert_data, 5)), (Members{1, 5}));
  for (const GroupKind kind : {GroupKind::expert, GroupKind::expert_data}) {
    EXPECT_EQ(layout.groups(kind), 8);
    for (i64 group = 0; group < layout.groups(kind); ++group)
      for (const i64 rank : layout.members(kind, group)) EXPECT_EQ(layout.group(kind, rank), group);
  }
}

TEST(Layout, OneGroupAloneIsTheWholeJobs) {
  Spec spec;
  spec.ranks = spec.expert = 4;
  const Layout layout(spec);
  EXPECT_EQ(layout.group_name(GroupKind::data, 0), "0");
  EXPECT_NE(layout.group_name(GroupKind::expert, 0), "0");
  EXPECT_EQ(layout.group_description(GroupKind::expert), "mesh_ep");
}

}  // namespace
}  // namespace spotter::simulate

#include "collect/gpu/owner.h"

#include <gtest/gtest.h>

#include "collect/gpu/gpu_tables.h"

namespace spotter::collect {
namespace {

Who who(const char* job, std::optional<i64> rank = {}, const char* user = "ann") {
  Who who;
  who.job = job;
  who.rank = rank;
  who.user = user;
  return who;
}

TEST(Owner, IsWhatAllHaveInCommon) {
  const Who two[] = {who("7", 3), who("7", 4)};
  EXPECT_EQ(owner_of(two).job, "7");
  EXPECT_EQ(owner_of(two).user, "ann");
  EXPECT_FALSE(owner_of(two).rank) << "two ranks share the GPU";
  const Who with_unknown[] = {who("7", 0), Who(), who("7", 0)};
  EXPECT_EQ(owner_of(with_unknown).job, "7");
  EXPECT_EQ(owner_of(with_unknown).rank, 0);
  const Who three[] = {who("7"), who("8"), who("8")};
  EXPECT_EQ(owner_of(three).job, "");
  EXPECT_EQ(owner_of({}).job, "");
}

TEST(Owner, FillsItsColumns) {
  Row row(gpu::kColumnCount);
  Who owner = who("7", 3);
  owner.container = "c0ffee";
  owner.pod = "p";
  owner.pod_namespace = "n";
  set_owner(row, gpu::job, owner);
  EXPECT_EQ(std::get<std::string_view>(row[gpu::job]), "7");
  EXPECT_EQ(std::get<i64>(row[gpu::rank]), 3);
  EXPECT_EQ(std::get<std::string_view>(row[gpu::user]), "ann");
  EXPECT_EQ(std::get<std::string_view>(row[gpu::container]), "c0ffee");
  EXPECT_EQ(std::get<std::string_view>(row[gpu::pod]), "p");
  EXPECT_EQ(std::get<std::string_view>(row[gpu::pod_namespace]), "n");
}

}  // namespace
}  // namespace spotter::collect

#include "agent/hangs/ras_table.h"

#include <gtest/gtest.h>

#include "respond/rules/ras_rows.h"

namespace spotter::agent {
namespace {

wire::RasCommunicator communicator(u64 hash, i64 size) {
  wire::RasCommunicator made;
  made.hash = hash;
  made.size = size;
  return made;
}

std::vector<respond::RasRow> rows_of(const wire::RasAnswer& answer, const RasJob& job) {
  const Table table = ras_table(answer, job);
  std::vector<respond::RasRow> rows;
  respond::RasRows().each({.table = table, .at = 1},
                          [&](const respond::RasRow& row) { rows.push_back(row); });
  return rows;
}
wire::RasRank rank(i64 number, const char* host, i64 pid) { return {number, host, pid, 0}; }

TEST(RasTable, RanksOfSmallerCommunicatorsAreFoundByTheOneThatHasAll) {
  wire::RasAnswer answer;
  wire::RasCommunicator world = communicator(0x27a0, 4);
  for (i64 r = 0; r < 4; ++r)
    world.ranks.push_back({rank(r, r < 2 ? "10.0.0.1" : "10.0.0.2", 7 + r % 2), {}});
  wire::RasCommunicator half = communicator(1, 2);
  half.mismatches.push_back(
      {"AllReduce", {{4, 1, {rank(1, "10.0.0.2", 8)}}, {5, 1, {rank(0, "10.0.0.1", 7)}}}});
  half.missing.push_back(rank(0, "10.0.0.1", 7));
  answer.communicators = {world, half};
  const std::vector<JobRank> here = {{0, 7}, {1, 8}};
  const auto rows =
      rows_of(answer, {.name = "j", .user = "alice", .world_size = 4, .host = "n1", .here = here});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].communicator, "") << "it has answered";
  EXPECT_EQ(rows[1].rank, 3);
  EXPECT_EQ(rows[1].host, "10.0.0.2");
  EXPECT_EQ(rows[1].operation, "AllReduce");
  EXPECT_EQ(rows[1].counts, "4:1 5:1");
  EXPECT_EQ(rows[2].rank, 0);
  EXPECT_EQ(rows[2].host, "n1");
  EXPECT_EQ(rows[2].operation, "");
}

TEST(RasTable, TextNamesPidsWhichCountWhereTheWholeJobIsHere) {
  wire::RasAnswer answer;
  answer.communicators.push_back(communicator(1, 0));
  answer.communicators[0].mismatches.push_back({"AllReduce", {{4, 1, {rank(1, "10.0.0.1", 8)}}, {5, 3, {}}}});
  const std::vector<JobRank> here = {{0, 7}, {1, 8}};
  EXPECT_EQ(rows_of(answer, {.name = "j", .world_size = 2, .host = "n1", .here = here})[1].rank, 1);
  EXPECT_FALSE(rows_of(answer, {.name = "j", .world_size = 4, .host = "n1", .here = here})[1].rank);
}

TEST(RasTable, WhereNobodyIsNamedTheDifferenceIsTold) {
  wire::RasAnswer answer;
  answer.communicators.push_back(communicator(1, 64));
  answer.communicators[0].mismatches.push_back({"AllGather", {{4, 30, {}}, {5, 34, {}}}});
  const auto rows = rows_of(answer, {.name = "j", .world_size = 64, .host = "n1"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_FALSE(rows[1].rank);
  EXPECT_EQ(rows[1].ranks, 30);
}

TEST(RasTable, OfVeryManyDifferencesTheFirst) {
  wire::RasAnswer answer;
  for (u64 i = 0; i < 500; ++i) {
    answer.communicators.push_back(communicator(i, 8));
    answer.communicators.back().mismatches.push_back(
        {"AllReduce", {{4, 1, {rank(1, "10.0.0.1", 8)}}, {5, 7, {}}}});
  }
  EXPECT_EQ(ras_table(answer, {.name = "j", .world_size = 8}).rows(), 64u);
}

}  // namespace
}  // namespace spotter::agent

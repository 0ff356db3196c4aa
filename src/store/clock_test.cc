// Clocks that jump, and batches that come late.
#include <gtest/gtest.h>

#include "store/test_history.h"

namespace spotter::store {
namespace {

TEST(Clock, BackwardsLosesNothing) {
  const TestFolder folder;
  auto history = open_history({folder.file()});
  append_seconds(*history, 0, 100);
  append_seconds(*history, 0, 100, kStart - 30 * kSecond);  // by 130 s, into the same minutes
  append_seconds(*history, 0, 100, kStart - 999 * kHour);   // by weeks
  append_seconds(*history, 100, 2000, kStart - 999 * kHour);
  for (int round = 0; round < 2; ++round) {
    const Table disk = std::move(ask(*history, everything())[0]);
    ASSERT_EQ(disk.rows(), 2u * (200 + 2000));
    for (size_t row = 1; row < disk.rows(); ++row) {
      const int order = disk.text(row - 1, 1).compare(disk.text(row, 1));
      EXPECT_TRUE(order < 0 || (order == 0 && disk.integer(row - 1, 0) <= disk.integer(row, 0)));
    }
    history = nullptr, history = open_history({folder.file()});
  }
  EXPECT_EQ(history->state().lost_rows, 0);
}

TEST(Clock, AYearForwardMakesNothingOld) {
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  append_seconds(*history, 0, 1200);
  const Ns year = 365 * 24 * kHour;
  append_seconds(*history, 0, 600, kStart + year);  // wrong for ten minutes
  append_seconds(*history, 1200, 2400);             // and right again
  const HistoryQuery now{.from_unix_ns = kStart, .to_unix_ns = kStart + kHour};
  EXPECT_EQ(ask(*history, now)[0].rows(), 4800u);
  EXPECT_EQ(ask(*history, {.from_unix_ns = kStart + year, .to_unix_ns = kStart + 2 * year})[0].rows(), 1200u);
  // It grows old with what is recorded.
  append_seconds(*history, 2400, 2400 + 3900);
  EXPECT_GT(ask(*history, {.from_unix_ns = kStart + year, .to_unix_ns = kStart + 2 * year})[0].rows(), 0u);
  Result<Database> file = open_history_to_read(folder.file());
  ASSERT_TRUE(file);
  EXPECT_EQ(*file->integer(fmt::format(
                "SELECT count(*) FROM blocks WHERE step_ns = 1000000000 AND begin_ns >= {}", kStart + year)),
            0);
}

TEST(Clock, SlowCollectorsMayComeLate) {
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  for (i64 i = 0; i < 1300; ++i) {
    ASSERT_TRUE(history->append(disk_batch(i, kStart + i * kSecond)));
    Batch late = disk_batch(i, kStart + i * kSecond - 900'000'000);
    late.tables[0] = Table("slow", kDisk);
    late.tables[0].append({"sda", i, 1, 0.5, "none"});
    ASSERT_TRUE(history->append(late));
  }
  EXPECT_LE(history->state().blocks, 2 * 1300 / 60 + 2);  // no block is ended by the other's time
  HistoryQuery query = everything();
  query.step = 10 * kSecond;
  const std::vector<Table> tables = ask(*history, query);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].rows(), 260u);
  EXPECT_EQ(tables[1].rows(), 131u);  // it begins in the step before
}

}  // namespace
}  // namespace spotter::store

#include "store/history.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store/test_history.h"

namespace spotter::store {
namespace {

TEST(History, GivesBackWhatWasAppended) {
  const TestFolder folder;
  auto history = open_history({folder.file()});
  append_seconds(*history, 0, 150);  // two blocks and a half

  const auto check = [](const std::vector<Table>& tables) {
    ASSERT_EQ(tables.size(), 1u);
    const Table& disk = tables[0];
    EXPECT_EQ(disk.name(), "disk");
    ASSERT_EQ(disk.columns(), 6u);
    EXPECT_STREQ(disk.schema()[0].name, "time_ns");
    EXPECT_EQ(disk.schema()[0].role, Role::time);
    EXPECT_STREQ(disk.schema()[2].name, "scheduler");  // details before metrics
    EXPECT_EQ(disk.schema()[3].unit, Unit::bytes);
    EXPECT_STREQ(disk.schema()[3].help, "Read.");
    ASSERT_EQ(disk.rows(), 300u);
    for (i64 i = 0; i < 150; ++i) {  // nvme0n1 comes first
      const auto row = static_cast<size_t>(i);
      EXPECT_EQ(disk.integer(row, 0), kStart + i * kSecond);
      EXPECT_EQ(disk.text(row, 1), "nvme0n1");
      EXPECT_EQ(disk.text(row, 2), i % 100 < 50 ? "none" : "mq-deadline");
      EXPECT_EQ(disk.integer(row, 3), 512 * i);
      EXPECT_TRUE(is_null(disk.at(row, 4)));
      EXPECT_EQ(disk.real(row, 5), 0.5);
      EXPECT_EQ(disk.integer(row + 150, 0), kStart + i * kSecond);
      EXPECT_EQ(disk.text(row + 150, 1), "sda");
      EXPECT_EQ(disk.integer(row + 150, 3), 4096 * i * i);
      EXPECT_EQ(disk.integer(row + 150, 4), i % 7);
      EXPECT_EQ(disk.real(row + 150, 5), 0.25 * static_cast<double>(i % 5));
    }
  };
  check(ask(*history, everything()));
  EXPECT_EQ(
      ask(*history, {.from_unix_ns = kStart + 100 * kSecond, .to_unix_ns = kStart + 140 * kSecond})[0].rows(),
      80u);
  EXPECT_EQ(history->state().rows, 300);
  EXPECT_EQ(history->state().blocks, 2);
  const Result<std::vector<Table>> stored = query(folder.file(), everything());  // without what is in memory
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->at(0).rows(), 240u);

  history.reset();
  const Result<std::vector<Table>> closed = query(folder.file(), everything());
  ASSERT_TRUE(closed);
  check(*closed);
  history = open_history({folder.file()});
  check(ask(*history, everything()));
}

// Whichever moment it begins at, also one between the rows of two blocks.
TEST(History, ARangeOfWhichAllIsThereIsNotMadeCoarser) {
  const TestFolder folder;
  auto history = open_history({folder.file()});
  append_seconds(*history, 0, 1500);
  for (i64 second = 700; second < 830; ++second) {
    const auto tables = ask(*history, {.from_unix_ns = kStart + second * kSecond + kSecond / 2,
                                       .to_unix_ns = kStart + 900 * kSecond});
    ASSERT_EQ(tables.size(), 1u);
    ASSERT_EQ(tables[0].rows(), 2 * static_cast<size_t>(899 - second)) << second;
  }
}

TEST(History, GivesWantedMetricsOnly) {
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  append_seconds(*history, 0, 70);
  HistoryQuery query = everything();
  query.selection.metrics = {"disk_q*"};
  const std::vector<Table> tables = ask(*history, query);
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].columns(), 4u);
  EXPECT_STREQ(tables[0].schema()[3].name, "queue");
  EXPECT_EQ(tables[0].integer(139, 3), 69 % 7);
  query.selection.metrics = {"cpu_*"};
  EXPECT_TRUE(ask(*history, query).empty());
  query.selection.metrics = {};
  query.most_cells = 100;
  const Result<std::vector<Table>> too_many = store::query(*history, query);
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().code, Code::invalid);
  query.to_unix_ns = query.from_unix_ns;
  EXPECT_FALSE(store::query(*history, query));
}

TEST(History, ColumnsMayChange) {
  const Field older[] = {
      {"device", Type::text, Unit::none, Role::key, "The device."},
      {"queue", Type::integer, Unit::count, Role::value, "Requests that wait."},
      {"retries", Type::integer, Unit::count, Role::counter, "Of a version before."},
      {"scheduler", Type::integer, Unit::none, Role::detail, "A number then."},
      {"busy_ratio", Type::integer, Unit::ratio, Role::value, "Whole then."},
  };
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  Batch batch{kStart, kSecond, {}};
  Table& table = batch.tables.emplace_back("disk", older);
  table.append({"sda", 3, 17, 5, 1});
  ASSERT_TRUE(history->append(batch));
  append_seconds(*history, 1, 100);
  const std::vector<Table> tables = ask(*history, everything());
  ASSERT_EQ(tables.size(), 1u);
  const Table& disk = tables[0];
  ASSERT_EQ(disk.rows(), 199u);
  const size_t row = 99;  // the first of sda
  EXPECT_EQ(disk.text(row, disk.column("device")), "sda");
  EXPECT_EQ(disk.integer(row, disk.column("queue")), 3);
  EXPECT_EQ(disk.integer(row, disk.column("retries")), 17);
  EXPECT_EQ(disk.real(row, disk.column("busy_ratio")), 1.0);
  EXPECT_TRUE(is_null(disk.at(row, disk.column("scheduler"))));
  EXPECT_EQ(disk.notes.count("changed_column"), 1);
  EXPECT_TRUE(is_null(disk.at(row, disk.column("read_bytes"))));
  EXPECT_TRUE(is_null(disk.at(row + 1, disk.column("retries"))));
}

TEST(History, RowsComeAndGo) {
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  for (i64 i = 0; i < 130; ++i) {
    Batch batch{kStart + i * kSecond, kSecond, {}};
    Table& table = batch.tables.emplace_back("disk", kDisk);
    for (i64 disk = 0; disk < 5; ++disk) {
      const std::string name = fmt::format("d{}", disk);
      if ((i / 10) % 5 != disk) table.append({std::string_view(name), i * disk, 1, Value{}, Value{}});
    }
    ASSERT_TRUE(history->append(batch));
  }
  const std::vector<Table> tables = ask(*history, everything());
  ASSERT_EQ(tables[0].rows(), 130u * 4);
  for (size_t row = 0; row < tables[0].rows(); ++row) {
    const i64 second = (tables[0].integer(row, 0) - kStart) / kSecond;
    const i64 disk = tables[0].text(row, 1)[1] - '0';
    EXPECT_NE(second / 10 % 5, disk);
    EXPECT_EQ(tables[0].integer(row, 3), second * disk);
  }
}

// Blocks go from memory into the file while they are asked for.
TEST(History, QueriesSeeEachRowOnceWhileItIsWritten) {
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    append_seconds(*history, 0, 3000);
    is_over = true;
  });
  size_t last = 0;
  i64 queries = 0;
  while (!is_over) {
    const std::vector<Table> tables = ask(*history, everything());
    if (tables.empty()) continue;
    const size_t rows = tables[0].rows();
    ASSERT_EQ(rows % 2, 0u);
    ASSERT_GE(rows, last);
    ASSERT_EQ(tables[0].integer(rows - 1, 0), kStart + (static_cast<i64>(rows) / 2 - 1) * kSecond);
    last = rows;
    ++queries;
  }
  writer.join();
  EXPECT_GT(queries, 0);
  EXPECT_EQ(ask(*history, everything())[0].rows(), 6000u);
}

TEST(History, OptionsAreChecked) {
  const TestFolder folder;
  EXPECT_FALSE(History::open({.path = folder.file(), .tiers = {}}));
  EXPECT_FALSE(History::open(
      {.path = folder.file(), .tiers = {{kSecond, kHour, kMinute}, {kSecond, kHour, kMinute}}}));
  EXPECT_FALSE(History::open({.path = folder.file(), .tiers = {{kSecond, kHour, kSecond * 3 / 2}}}));
  EXPECT_FALSE(History::open({.path = folder.file(), .most_bytes = 1000}));
  const auto nowhere = History::open({.path = folder.file("none/history.db")});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Code::not_found);
  const auto none = query(folder.file(), everything());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::not_found);
}

// Tables of constants are known by where these lie, so that they need not be compared.
TEST(History, AnotherLengthOfTheSameColumnsIsAnotherSchema) {
  const TestFolder folder;
  auto history = open_history({folder.file()});
  for (i64 i = 0; i < 4; ++i) {
    Batch batch{kStart + i * kSecond, kSecond, {}};
    if (i % 2 == 0) {
      batch.tables.emplace_back("disk", std::span(kDisk).first(2)).append({"sda", i});
    } else {
      batch.tables.emplace_back("disk", kDisk).append({"sda", i, 7, 0.5, "none"});
    }
    ASSERT_TRUE(history->append(batch));
  }
  const std::vector<Table> tables = ask(*history, everything());
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].rows(), 4u);
  const size_t bytes = tables[0].column("read_bytes"), queue = tables[0].column("queue");
  for (i64 i = 0; i < 4; ++i) {
    EXPECT_EQ(tables[0].integer(static_cast<size_t>(i), bytes), i);
    EXPECT_EQ(tables[0].at(static_cast<size_t>(i), queue), i % 2 == 0 ? Value() : Value(i64{7}));
  }
}

}  // namespace
}  // namespace spotter::store

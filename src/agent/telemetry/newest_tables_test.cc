#include "agent/telemetry/newest_tables.h"

#include <gtest/gtest.h>

#include <set>

#include "render/list.h"
#include "store/test_history.h"
#include "table/ops.h"

namespace spotter::agent {
namespace {

constexpr Field kColumns[] = {
    {"device", Type::text, Unit::none, Role::key, "Disk."},
    {"job", Type::text, Unit::none, Role::detail, "Job."},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter, "Read."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value, "Busy."},
    {"up", Type::flag, Unit::none, Role::value, "Up."},
};

Table disks() {
  Table table("disk", kColumns);
  table.append({std::string_view("sda"), std::string_view("7"), i64{1} << 60, 0.5, true});
  table.append({std::string_view("sdb"), {}, {}, {}, {}});
  return table;
}

constexpr Ns kNow = 30;

SharedBatch batch(Ns unix_ns, std::vector<Table> tables) {
  Batch made;
  made.unix_ns = unix_ns;
  made.tables = std::move(tables);
  return std::make_shared<const Batch>(std::move(made));
}

TEST(NewestTables, HaveTheirTimeAndWhatIsWanted) {
  const SharedBatch latest[] = {batch(20, {disks()}), batch(10, {disks()})};
  const auto all = newest_tables(latest, kNow, {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].rows(), 2U);
  EXPECT_EQ(all[0].integer(0, 0), 20);
  EXPECT_STREQ(all[0].schema()[0].name, "time_ns");

  wire::MetricsQuery query;
  query.selection.metrics = {"disk_busy_*"};
  const auto some = newest_tables(latest, kNow, query);
  ASSERT_EQ(some.size(), 1U);
  ASSERT_EQ(some[0].columns(), 4U);  // time, keys and details stay
  EXPECT_STREQ(some[0].schema()[3].name, "busy_ratio");

  query.selection.metrics = {"cpu_*"};
  EXPECT_TRUE(newest_tables(latest, kNow, query).empty());
  query.selection.metrics = {};
  query.selection.job = "7";
  const auto of_job = newest_tables(latest, kNow, query);
  ASSERT_EQ(of_job.size(), 1U);
  EXPECT_EQ(of_job[0].rows(), 1U);
  query.selection.job = "8";
  EXPECT_TRUE(newest_tables(latest, kNow, query).empty());
}

TEST(NewestTables, WhatIsStaleIsNoNewestSample) {
  Batch made{.unix_ns = 100, .period_ns = 10, .tables = {disks()}};
  const SharedBatch latest[] = {std::make_shared<const Batch>(made)};
  EXPECT_EQ(newest_tables(latest, 150, {}).size(), 1U);
  EXPECT_TRUE(newest_tables(latest, 160, {}).empty());
  EXPECT_EQ(newest_tables(latest, 50, {}).size(), 1U);  // the clock was set back since
}

TEST(NewestTables, EventsHaveTheirOwnTimes) {
  constexpr Field kEvents[] = {
      {"time_ns", Type::integer, Unit::ns, Role::time, "When."},
      {"gpu", Type::integer, Unit::none, Role::key, "GPU."},
      {"count", Type::integer, Unit::count, Role::value, "How many."},
  };
  Table events("gpu_event", kEvents);
  events.is_events = true;
  events.append({7, 0, 3});
  const SharedBatch latest[] = {batch(20, {events})};
  const auto tables = newest_tables(latest, kNow, {});
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables[0].columns(), 3U);
  EXPECT_TRUE(tables[0].is_events);
  EXPECT_EQ(tables[0].integer(0, 0), 7);
}

// A line for each row: its table, its cells by column.
std::multiset<std::string> rows_of(std::span<const Table> tables) {
  std::multiset<std::string> all;
  for (const Table& table : tables) {
    for (size_t r = 0; r < table.rows(); ++r) {
      const Table row = table::pick(table, {r});
      all.insert(table.name() + ": " + render::render(render::kCsv, {std::span(&row, 1), {}}));
    }
  }
  return all;
}

TEST(Selection, IsTheSameOfTheNewestSamplesAndOfTheHistory) {
  constexpr Field kProcess[] = {
      {"pid", Type::integer, Unit::none, Role::key, "Process."},
      {"job", Type::integer, Unit::none, Role::detail, "A number here."},
      {"threads", Type::integer, Unit::count, Role::value, "Threads."},
      {"cpu_ns", Type::integer, Unit::ns, Role::counter, "Used."},
  };
  constexpr Field kEvents[] = {
      {"time_ns", Type::integer, Unit::ns, Role::time, "When."},
      {"gpu", Type::integer, Unit::none, Role::key, "GPU."},
      {"job", Type::text, Unit::none, Role::detail, "Job."},
      {"xid", Type::integer, Unit::none, Role::value, "Error."},
      {"count", Type::integer, Unit::count, Role::value, "How many."},
  };
  const Ns now = store::kStart;
  Table processes("process", kProcess), events("gpu_event", kEvents);
  events.is_events = true;
  processes.append({100, 7, 3, 5});
  processes.append({101, Value(), 4, 6});
  events.append({now - 5, 0, "7", 79, 1});
  events.append({now - 4, 1, "9", 48, 2});
  const Batch made{now, kSecond, {disks(), processes, events}};
  const SharedBatch latest[] = {std::make_shared<const Batch>(made)};
  const store::TestFolder folder;
  const auto history = store::open_history({folder.file()});
  ASSERT_TRUE(history->append(made));

  const table::Selection all[] = {
      {},        {{"process_th*", "disk_busy_ratio"}}, {{"gpu_event_xid"}}, {{"gpu_event_gpu"}}, {{}, "7"},
      {{}, "8"}, {{"process_*", "disk_up"}, "7"},
  };
  const size_t rows[] = {6, 4, 2, 2, 3, 0, 2};
  for (size_t i = 0; i < std::size(all); ++i) {
    const auto newest = rows_of(newest_tables(latest, now, {.selection = all[i]}));
    store::HistoryQuery query = store::everything();
    query.selection = all[i];
    EXPECT_EQ(newest, rows_of(store::ask(*history, query))) << i;
    EXPECT_EQ(newest.size(), rows[i]) << i;
  }
}

}  // namespace
}  // namespace spotter::agent

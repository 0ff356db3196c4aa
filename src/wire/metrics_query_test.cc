#include "wire/metrics_query.h"

#include <gtest/gtest.h>

#include <set>

#include "render/render.h"
#include "store/test_history.h"
#include "table/ops.h"
#include "wire/read_tables.h"

namespace spotter::wire {
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

TEST(MetricsQuery, IsReadAsItIsWritten) {
  MetricsQuery query;
  query.selection.metrics = {"gpu_*", "cpu_user_ns"};
  query.since = 600'000'000'000;
  query.until = 5'000'000;
  query.step = 10'000'000'000;
  query.selection.job = "a b&c=d";
  query.rates = true;
  const std::string target = target_of(query);
  const auto read = read_metrics_query(Target(target));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->selection.metrics, query.selection.metrics);
  EXPECT_EQ(read->since, query.since);
  EXPECT_EQ(read->until, query.until);
  EXPECT_EQ(read->step, query.step);
  EXPECT_EQ(read->selection.job, query.selection.job);
  EXPECT_TRUE(read->rates);
  EXPECT_TRUE(read_metrics_query(Target("/v1/metrics")));
}

TEST(MetricsQuery, WhatCannotBe) {
  const std::string many = "/v1/metrics?metric=" + std::string(200, ',') + "a,a",
                    long_one = "/x?metric=" + std::string(300, 'a');
  for (const std::string target :
       {"/x?since_ms=-1", "/x?since_ms=1e3", "/x?until_ms=99999999999999", "/x?rates=1",
        "/x?since_ms=5&until_ms=5", "/x?until_ms=5", "/x?step_ms=5", "/x?since_ms=5&rates=yes",
        "/x?since_ms=5&rates=2", "/x?format=csv", "/x?job=1&job=2", "/x?since=5", long_one.c_str()})
    EXPECT_EQ(read_metrics_query(Target(target)).error().code, Code::invalid) << target;
  EXPECT_EQ(read_metrics_query(Target(many))->selection.metrics.size(), 2U);  // empty ones are none
}

TEST(NewestTables, HaveTheirTimeAndWhatIsWanted) {
  const SharedBatch latest[] = {batch(20, {disks()}), batch(10, {disks()})};
  const auto all = newest_tables(latest, kNow, {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].rows(), 2U);
  EXPECT_EQ(all[0].integer(0, 0), 20);
  EXPECT_STREQ(all[0].schema()[0].name, "time_ns");

  MetricsQuery query;
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
      all.insert(table.name() + ": " + render::render(*render::find_format("csv"), std::span(&row, 1), {}));
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
  const Batch made{now, store::kSecond, {disks(), processes, events}};
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

TEST(ReadTables, WhatJsonSays) {
  Notes notes;
  notes.add("odd", Severity::loss, "something is lost", -1, 3);
  const std::string text = render::render(*render::find_format("json"), std::vector{disks()}, notes);
  const auto answer = read_tables(text);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->tables.size(), 1U);
  const Table& table = answer->tables[0];
  ASSERT_EQ(table.columns(), std::size(kColumns));
  for (size_t c = 0; c < table.columns(); ++c) {
    EXPECT_STREQ(table.schema()[c].name, kColumns[c].name);
    EXPECT_EQ(table.schema()[c].type, kColumns[c].type);
    EXPECT_EQ(table.schema()[c].unit, kColumns[c].unit);
    EXPECT_EQ(table.schema()[c].role, kColumns[c].role);
    for (size_t r = 0; r < table.rows(); ++r) EXPECT_EQ(table.at(r, c), disks().at(r, c));
  }
  EXPECT_EQ(answer->notes.count("odd"), 3);
}

TEST(ReadTables, WhatIsNoAnswer) {
  const std::string good = render::render(*render::find_format("json"), std::vector{disks()}, {});
  const auto changed = [&](const char* from, const char* to) {
    std::string text = good;
    text.replace(text.find(from), std::string_view(from).size(), to);
    return text;
  };
  // Of a later release.
  EXPECT_TRUE(read_tables(changed(R"("unit":"ratio")", R"("unit":"parsec")")));
  EXPECT_TRUE(read_tables(changed(R"("role":"key")", R"("role":"king")")));
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), good.substr(0, good.size() / 2),
        changed(R"("type":"text")", R"("type":"tune")"), changed(R"("sda")", "7"),
        changed("[\"sdb\",null", "[\"sdb\""), changed("0.5", "\"x\"")})
    EXPECT_EQ(read_tables(text).error().code, Code::corrupt) << text;
}

}  // namespace
}  // namespace spotter::wire

#include "store/catalogue.h"

#include <gtest/gtest.h>

#include "store/test_history.h"

namespace spotter::store {
namespace {

const Field kProcess[] = {
    {"pid", Type::integer, Unit::none, Role::key, "Process."},
    {"job", Type::text, Unit::none, Role::detail, "Its job."},
    {"user", Type::text, Unit::none, Role::detail, "Whose."},
    {"rank", Type::integer, Unit::none, Role::detail, "Its rank."},
    {"cpu_ns", Type::integer, Unit::ns, Role::counter, "Used."},
};
const Field kXid[] = {
    {"time_ns", Type::integer, Unit::ns, Role::time, "When."},
    {"gpu", Type::integer, Unit::none, Role::key, "Which."},
    {"xid", Type::integer, Unit::none, Role::value, "The error."},
    {"job", Type::text, Unit::none, Role::detail, "Whose."},
    {"text", Type::text, Unit::none, Role::detail, "What it says."},
};

Table read(const std::string& path, CatalogueTable which) {
  Result<Table> table = read_catalogue(path, which);
  EXPECT_TRUE(table) << (table ? "" : table.error().message);
  return table ? std::move(*table) : Table();
}

Batch processes(i64 second, const std::string& job) {
  Batch batch{kStart + second * kSecond, kSecond, {}};
  Table& table = batch.tables.emplace_back("process", kProcess);
  for (i64 rank = 0; rank < 3; ++rank)
    table.append({100 + rank, std::string_view(job), "alice", rank, second});
  table.append({7, Value{}, "root", Value{}, second});
  return batch;
}

TEST(Catalogue, SeriesAndJobs) {
  const TestFolder folder;
  auto history = open_history({folder.file()});
  for (i64 i = 0; i < 200; ++i) ASSERT_TRUE(history->append(processes(i, i < 100 ? "41" : "42")));
  ASSERT_TRUE(history->flush());

  const Table jobs = read(folder.file(), CatalogueTable::jobs);
  ASSERT_EQ(jobs.rows(), 2u);
  EXPECT_EQ(jobs.text(0, jobs.column("job")), "41");
  EXPECT_EQ(jobs.text(0, jobs.column("user")), "alice");
  EXPECT_EQ(jobs.integer(0, jobs.column("first_seen_ns")), kStart);
  EXPECT_EQ(jobs.integer(0, jobs.column("last_seen_ns")), kStart + 99 * kSecond);
  EXPECT_EQ(jobs.text(0, jobs.column("ranks")), "0,1,2");
  EXPECT_EQ(jobs.integer(1, jobs.column("first_seen_ns")), kStart + 100 * kSecond);

  const Table series = read(folder.file(), CatalogueTable::series);
  ASSERT_EQ(series.rows(), 4u);
  EXPECT_EQ(series.text(0, series.column("keys")), R"({"pid":100})");
  EXPECT_EQ(series.text(3, series.column("keys")), R"({"pid":7})");
  EXPECT_EQ(series.integer(0, series.column("first_seen_ns")), kStart);
  EXPECT_EQ(series.integer(0, series.column("last_seen_ns")), kStart + 199 * kSecond);

  HistoryQuery query = everything();
  query.selection.job = "41";
  const auto tables = store::query(*history, query);
  ASSERT_TRUE(tables);
  ASSERT_EQ(tables->size(), 1u);
  EXPECT_EQ(tables->at(0).rows(), 300u);
  query.selection.job = "43";
  EXPECT_TRUE(store::query(*history, query)->empty());
}

TEST(Catalogue, SeriesAreBounded) {
  const TestFolder folder;
  const auto history = open_history({.path = folder.file(), .most_bytes = kLeastFileBytes});
  for (i64 i = 0; i < 3 * 3600; ++i) {
    Batch batch{kStart + i * kSecond, kSecond, {}};
    batch.tables.emplace_back("process", kProcess).append({i, Value{}, Value{}, Value{}, i});
    ASSERT_TRUE(history->append(batch));
  }
  const Table series = read(folder.file(), CatalogueTable::series);
  EXPECT_LE(series.rows(), 512u + 3600u);  // trimmed once an hour
  EXPECT_GE(series.rows(), 512u);
}

Batch xids(i64 second, std::initializer_list<i64> errors) {
  Batch batch{kStart + second * kSecond, kSecond, {}};
  Table& table = batch.tables.emplace_back("xid", kXid);
  table.is_events = true;
  for (const i64 error : errors)
    table.append({kStart + second * kSecond - 5, 0, error, "41", "fell off the \"bus\"\n"});
  return batch;
}

TEST(Catalogue, EventsAreThereAtOnce) {
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  ASSERT_TRUE(history->append(xids(1, {79})));
  ASSERT_TRUE(history->append(xids(500, {48, 63})));
  const auto tables = query(folder.file(), everything());  // another process sees them
  ASSERT_TRUE(tables);
  ASSERT_EQ(tables->size(), 1u);
  const Table& xid = tables->at(0);
  EXPECT_EQ(xid.name(), "xid");
  ASSERT_EQ(xid.columns(), std::size(kXid));
  EXPECT_TRUE(xid.is_events);
  EXPECT_EQ(xid.schema()[0].role, Role::time);
  ASSERT_EQ(xid.rows(), 3u);
  EXPECT_EQ(xid.integer(0, 0), kStart + kSecond - 5);
  EXPECT_EQ(xid.integer(0, 2), 79);
  EXPECT_EQ(xid.integer(2, 2), 63);
  EXPECT_EQ(xid.text(0, 4), "fell off the \"bus\"\n");
  EXPECT_EQ(
      query(folder.file(), {.from_unix_ns = kStart + kMinute, .to_unix_ns = kStart + kHour})->at(0).rows(),
      2u);
  HistoryQuery other = everything();
  other.selection.metrics = {"xid"};
  EXPECT_EQ(query(folder.file(), other)->size(), 1u);
  other.selection.metrics = {"cpu_*"};
  EXPECT_TRUE(query(folder.file(), other)->empty());
  other.selection.metrics = {};
  other.selection.job = "42";
  EXPECT_TRUE(query(folder.file(), other)->empty());
  EXPECT_EQ(read(folder.file(), CatalogueTable::jobs).rows(), 1u);
  const Table events = read(folder.file(), CatalogueTable::events);
  ASSERT_EQ(events.rows(), 3u);
  EXPECT_EQ(events.integer(0, events.column("time_ns")), kStart + kSecond - 5);
  EXPECT_EQ(events.text(0, events.column("table")), "xid");
  EXPECT_NE(events.text(0, events.column("row")).find("\"xid\":79"), std::string_view::npos);

  Result<Database> file = open_history_to_read(folder.file());
  ASSERT_TRUE(file);
  EXPECT_EQ(*file->integer("SELECT count(*) FROM events WHERE json_extract(row, '$.xid') > 60"), 2);
  EXPECT_EQ(*file->integer("SELECT count(*) FROM blocks"), 0);
}

TEST(Catalogue, TablesByName) {
  EXPECT_EQ(parse_catalogue_table("jobs").value(), CatalogueTable::jobs);
  EXPECT_EQ(parse_catalogue_table("events").value(), CatalogueTable::events);
  EXPECT_EQ(parse_catalogue_table("").error().message, "\"\" is none of series, jobs, captures, events");
}

TEST(Catalogue, CapturesAreNotedAgain) {
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  CaptureNote note{"c1", kStart, "alice", "41", 8, "/data/c1", "recording"};
  ASSERT_TRUE(history->note_capture(note));
  note.state = "complete";
  ASSERT_TRUE(history->note_capture(note));
  ASSERT_TRUE(history->note_capture({"c2", kStart + 1, "bob", "", 1, "/data/c2", "failed"}));
  const Table captures = read(folder.file(), CatalogueTable::captures);
  ASSERT_EQ(captures.rows(), 2u);
  EXPECT_EQ(captures.text(0, captures.column("state")), "complete");
  EXPECT_EQ(captures.integer(0, captures.column("processes")), 8);
  EXPECT_EQ(captures.text(1, captures.column("asked_by")), "bob");
}

TEST(Catalogue, CapturesThatRanWhenTheAgentEndedAreLost) {
  const TestFolder folder;
  {
    const auto history = open_history({folder.file()});
    ASSERT_TRUE(history->note_capture({"c1", kStart, "alice", "41", 8, "/data/c1", kCaptureRuns}));
    ASSERT_TRUE(history->note_capture({"c2", kStart + 1, "bob", "", 1, "/data/c2", "written"}));
  }
  const Table before = read(folder.file(), CatalogueTable::captures);  // who reads changes nothing
  EXPECT_EQ(before.text(0, before.column("state")), kCaptureRuns);
  const auto history = open_history({folder.file()});
  const Table captures = read(folder.file(), CatalogueTable::captures);
  ASSERT_EQ(captures.rows(), 2u);
  EXPECT_EQ(captures.text(0, captures.column("state")), kCaptureIsLost);
  EXPECT_EQ(captures.text(1, captures.column("state")), "written");
  ASSERT_TRUE(history->note_capture({"c3", kStart + 2, "bob", "", 1, "/data/c3", kCaptureRuns}));
  // A file that was away for a while is opened again by the same agent.
  const std::string away = folder.file() + ".away";
  ASSERT_EQ(std::rename(folder.file().c_str(), away.c_str()), 0);
  ASSERT_TRUE(history->note_capture({"c4", kStart + 3, "bob", "", 1, "/data/c4", "written"}));
  ASSERT_EQ(std::rename(away.c_str(), folder.file().c_str()), 0);
  ASSERT_TRUE(history->note_capture({"c5", kStart + 4, "bob", "", 1, "/data/c5", "written"}));
  EXPECT_EQ(read(folder.file(), CatalogueTable::captures).text(2, captures.column("state")), kCaptureRuns);
}

}  // namespace
}  // namespace spotter::store

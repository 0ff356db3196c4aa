// Coarser tiers: what their rows say, and that a query sees each sample once, folded already or not.
#include <gtest/gtest.h>

#include <algorithm>

#include "store/series/fold.h"
#include "store/test_history.h"

namespace spotter::store {
namespace {

const Field kGpu[] = {
    {"gpu", Type::integer, Unit::none, Role::key, "The GPU."},
    {"energy_joules", Type::real, Unit::joules, Role::counter, "Used."},
    {"memory_bytes", Type::integer, Unit::bytes, Role::value, "In use."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value, "Busy."},
    {"is_throttled", Type::flag, Unit::none, Role::value, "Whether."},
    {"job", Type::text, Unit::none, Role::detail, "Whose."},
};

Block gpu_block() {
  const Table empty("gpu", kGpu);
  return Block(std::make_shared<const Schema>(schema_of(empty)));
}

TEST(Fold, KeepsLastMeanLeastAndMost) {
  Block block = gpu_block();
  const auto add = [&](Ns second, std::initializer_list<Value> row) {
    block.append(kStart + second * kSecond, std::vector<Value>(row));
  };
  add(0, {0, 10.0, 100, 0.2, false, "a"});
  add(3, {0, 12.5, 300, 0.4, true, "b"});
  add(9, {0, Value{}, 201, Value{}, Value{}, Value{}});
  add(9, {1, 1.0, 7, 0.1, false, Value{}});
  add(10, {0, 3.0, 123'456'789'012, Value{}, false, "c"});  // it began anew
  const Block out = folded({&block, 1}, 10 * kSecond);
  const Schema& schema = *out.schema;
  ASSERT_EQ(schema.fields.size(), 10u);
  EXPECT_TRUE(schema.is_folded);
  EXPECT_EQ(schema.fields[schema.find("memory_bytes")].type, Type::real);
  EXPECT_EQ(schema.fields[schema.find("memory_bytes_min")].type, Type::integer);
  const Grouping grouping = group(out);
  ASSERT_EQ(grouping.entities(), 2u);
  const auto gpu0 = std::get<i64>(out.at(grouping.of(0)[0], 0)) == 0 ? grouping.of(0) : grouping.of(1);
  ASSERT_EQ(gpu0.size(), 2u);
  const auto cell = [&](size_t row, const char* name) { return out.at(gpu0[row], schema.find(name)); };
  EXPECT_EQ(out.times[gpu0[0]], kStart + 9 * kSecond);
  EXPECT_EQ(cell(0, "energy_joules"), Value{12.5});
  EXPECT_EQ(cell(0, "memory_bytes"), Value{200.3333});  // seven digits of 200.333...
  EXPECT_EQ(cell(0, "memory_bytes_min"), Value{i64{100}});
  EXPECT_EQ(cell(0, "memory_bytes_max"), Value{i64{300}});
  EXPECT_EQ(cell(0, "busy_ratio"), Value{0.3});
  EXPECT_EQ(cell(0, "busy_ratio_max"), Value{0.4});
  EXPECT_EQ(cell(0, "is_throttled"), Value{true});
  EXPECT_EQ(cell(0, "job"), Value{std::string_view("b")});
  EXPECT_EQ(cell(1, "energy_joules"), Value{3.0});
  EXPECT_EQ(cell(1, "memory_bytes"), Value{123'456'789'012.0});  // all the same: exact
  EXPECT_TRUE(is_null(cell(1, "busy_ratio")));
  EXPECT_TRUE(is_null(cell(1, "busy_ratio_min")));

  // Once more: means of means, least of least.
  const Block coarser = folded({&out, 1}, kMinute);
  EXPECT_EQ(*coarser.schema, schema);
  EXPECT_EQ(coarser.rows(), 2u);
}

TEST(Fold, KeepsColumnsThatHaveTheNameAlready) {
  const Field columns[] = {{"x", Type::integer, Unit::none, Role::value, ""},
                           {"x_min", Type::integer, Unit::none, Role::value, ""}};
  const Folding folding = folding_of(schema_of(Table("t", columns)));
  std::vector<std::string> names;
  for (const StoredField& field : folding.target->fields) names.push_back(field.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "x_max", "x_min", "x_min_min", "x_min_max"}));
}

TEST(Fold, WindowsOfTimesBefore1970) {
  EXPECT_EQ(window_of(-1, 10), -1);
  EXPECT_EQ(window_of(-10, 10), -1);
  EXPECT_EQ(window_of(-11, 10), -2);
  EXPECT_EQ(window_of(9, 10), 0);
}

// All rows of `seconds` seconds at a step, each once.
void expect_complete(const std::vector<Table>& tables, i64 seconds, i64 step) {
  ASSERT_EQ(tables.size(), 1u);
  const Table& disk = tables[0];
  const i64 rows = (seconds + step - 1) / step;
  ASSERT_EQ(static_cast<i64>(disk.rows()), 2 * rows);
  for (i64 i = 0; i < rows; ++i) {
    const i64 last = std::min((i + 1) * step, seconds) - 1;  // the sample that gives the step its time
    const auto row = static_cast<size_t>(rows + i);          // of sda
    ASSERT_EQ(disk.integer(row, 0), kStart + last * kSecond);
    ASSERT_EQ(disk.integer(row, disk.column("read_bytes")), 4096 * last * last);
    if (step < 7) continue;
    i64 most = 0;
    for (i64 second = i * step; second <= last; ++second) most = std::max(most, second % 7);
    ASSERT_EQ(disk.integer(row, disk.column("queue_max")), most);
  }
}

TEST(Tiers, EachHasEverySampleOnceAtAnyTime) {
  const TestFolder folder;
  auto history = open_history({folder.file()});
  i64 seconds = 0;
  for (const i64 more : {5, 30, 50, 700, 1, 3000, 3600}) {
    append_seconds(*history, seconds, seconds + more);
    seconds += more;
    if (more == 700) history = nullptr, history = open_history({folder.file()});
    for (const i64 step : {1, 10, 30, 60, 300}) {
      HistoryQuery query = everything();
      query.step = step * kSecond;
      if (step == 1) query.from_unix_ns = kStart + std::max<i64>(0, seconds - 3600) * kSecond;
      const std::vector<Table> tables = ask(*history, query);
      if (step == 1 && seconds > 3600) {
        ASSERT_EQ(tables.at(0).rows(), 7200u) << seconds;
      } else {
        expect_complete(tables, seconds, step);
      }
    }
  }
  EXPECT_EQ(history->state().damaged_blocks, 0);
}

TEST(Tiers, TheFinestThatGoesBackFarEnoughAnswers) {
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  append_seconds(*history, 0, 3 * 3600);
  const Ns now = kStart + 3 * kHour;
  const auto rows_since = [&](Ns since) {
    return ask(*history, {.from_unix_ns = now - since, .to_unix_ns = now})[0].rows();
  };
  EXPECT_EQ(rows_since(kMinute), 120u);
  EXPECT_EQ(rows_since(kHour), 7200u);
  EXPECT_EQ(rows_since(2 * kHour), 1440u);
  EXPECT_EQ(rows_since(30 * kHour), 2160u);  // no tier goes back that far; 10 s as far as 60 s
  const HistoryQuery fast{.from_unix_ns = now - kMinute, .to_unix_ns = now, .step = 30 * kSecond};
  EXPECT_EQ(ask(*history, fast)[0].rows(), 4u);
}

TEST(Tiers, AFinestStepThatIsLongerThanThePeriodFolds) {
  const TestFolder folder;
  const auto history = open_history({.path = folder.file(), .tiers = {{10 * kSecond, kHour, kMinute}}});
  append_seconds(*history, 0, 95);
  expect_complete(ask(*history, everything()), 95, 10);
}

TEST(Tiers, OtherTiersThanBefore) {
  const TestFolder folder;
  {
    const auto history = open_history({folder.file()});
    append_seconds(*history, 0, 1800);
  }
  const auto history =
      open_history({.path = folder.file(),
                    .tiers = {{kSecond, kHour, kMinute}, {30 * kSecond, 24 * kHour, 10 * kMinute}}});
  append_seconds(*history, 1800, 5000);
  const std::vector<Table> hour =
      ask(*history, {.from_unix_ns = kStart + 4000 * kSecond, .to_unix_ns = 2 * kStart});
  EXPECT_EQ(hour[0].rows(), 2000u);
  HistoryQuery query = everything();
  query.step = 10 * kSecond;
  // Ten-second blocks of before go back further than seconds; they have no rows of what came later.
  const std::vector<Table> tables = ask(*history, query);
  const Table& disk = tables.at(0);
  EXPECT_EQ(disk.integer(0, 0), kStart + 9 * kSecond);
  EXPECT_EQ(disk.integer(disk.rows() - 1, 0), kStart + 4999 * kSecond);
}

TEST(Tiers, RetentionKeepsWhatTheyPromise) {
  const TestFolder folder;
  const auto history =
      open_history({.path = folder.file(),
                    .tiers = {{kSecond, 20 * kMinute, kMinute}, {10 * kSecond, 30 * kMinute, 10 * kMinute}}});
  append_seconds(*history, 0, 7200);
  Result<Database> file = open_history_to_read(folder.file());
  ASSERT_TRUE(file);
  EXPECT_EQ(*file->integer("SELECT count(*) FROM blocks WHERE step_ns = 1000000000"), 20 + 1);
  const i64 coarse = *file->integer("SELECT count(*) FROM blocks WHERE step_ns = 10000000000");
  EXPECT_GE(coarse, 3);
  EXPECT_LE(coarse, 4);
}

}  // namespace
}  // namespace spotter::store

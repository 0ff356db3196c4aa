#include "store/layout.h"

#include <gtest/gtest.h>

#include "store/test_history.h"

namespace spotter::store {
namespace {

const char* const kMadeUp =
    "CREATE TABLE made_up(x INTEGER); INSERT INTO made_up SELECT count(*) FROM series";

// The steps there are, and these.
std::vector<const char*> steps_and(std::initializer_list<const char*> more) {
  std::vector<const char*> steps(layout_steps().begin(), layout_steps().end());
  steps.insert(steps.end(), more);
  return steps;
}

Database opened(const TestFolder& folder) {
  Result<Database> database = Database::open(folder.file(), Database::Access::write);
  CHECK(database.has_value());
  return std::move(*database);
}

i64 version_of(Database& database) { return database.integer("PRAGMA user_version").value(); }

// A history as agents of today leave it.
void lay_out(const TestFolder& folder) { append_seconds(*open_history({folder.file()}), 0, 100); }

TEST(Layout, EachStepThatIsLeftIsTaken) {
  const TestFolder folder;
  lay_out(folder);
  Database database = opened(folder);
  const auto steps = steps_and({kMadeUp, "UPDATE made_up SET x = x + 40"});
  ASSERT_TRUE(bring_up_to_date(database, steps));
  EXPECT_EQ(version_of(database), std::ssize(steps));
  EXPECT_EQ(*database.integer("SELECT x FROM made_up"), 42) << "two disks were there";
  EXPECT_EQ(*database.integer("SELECT sum(rows) FROM blocks WHERE step_ns = 1000000000"), 200);
  ASSERT_TRUE(bring_up_to_date(database, steps));  // each of them once
  EXPECT_EQ(*database.integer("SELECT x FROM made_up"), 42);
  EXPECT_TRUE(check_layout(database, steps));
}

TEST(Layout, OfAnOlderFileIsThatOfANewOne) {
  const TestFolder older, newer;
  lay_out(older);
  const auto steps = steps_and({kMadeUp});
  std::vector<i64> tables;
  for (const TestFolder* folder : {&older, &newer}) {
    Database database = opened(*folder);
    ASSERT_TRUE(bring_up_to_date(database, steps));
    tables.push_back(*database.integer("SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"));
  }
  EXPECT_EQ(tables[0], tables[1]);
}

TEST(Layout, AStepThatFailsLeavesTheFileAsItWas) {
  const TestFolder folder;
  lay_out(folder);
  {
    Database database = opened(folder);
    const i64 version = version_of(database);
    const auto failed = bring_up_to_date(
        database,
        steps_and({kMadeUp, "DELETE FROM blocks; INSERT INTO nowhere VALUES(1)", "DROP TABLE series"}));
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find(fmt::format("from version {} to {}", version + 1, version + 2)),
              std::string::npos)
        << failed.error().message;
    EXPECT_NE(failed.error().message.find("nowhere"), std::string::npos) << failed.error().message;
    EXPECT_EQ(version_of(database), version);
    EXPECT_EQ(*database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'made_up'"), 0);
  }
  EXPECT_EQ(ask(*open_history({folder.file()}), everything())[0].rows(), 200U);
}

TEST(Layout, WhoOnlyReadsIsToldWhatToDo) {
  const TestFolder folder;
  lay_out(folder);
  Database database = opened(folder);
  EXPECT_TRUE(check_layout(database));
  const auto older = check_layout(database, steps_and({kMadeUp}));
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, Code::unsupported);
  EXPECT_NE(older.error().message.find("brings it up to date"), std::string::npos);
  ASSERT_TRUE(bring_up_to_date(database, steps_and({kMadeUp})));
  EXPECT_EQ(check_layout(database).error().code, Code::unsupported);
  EXPECT_EQ(bring_up_to_date(database).error().code, Code::unsupported);
  ASSERT_TRUE(database.run("PRAGMA user_version = 0"));
  EXPECT_EQ(check_layout(database).error().code, Code::not_found);
  ASSERT_TRUE(database.run("PRAGMA user_version = -1"));
  EXPECT_EQ(check_layout(database).error().code, Code::corrupt);
  EXPECT_EQ(bring_up_to_date(database).error().code, Code::corrupt);
}

}  // namespace
}  // namespace spotter::store

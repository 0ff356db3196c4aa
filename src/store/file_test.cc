// Files that are damaged, another's, or another agent's.
#include "base/system/file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/test_history.h"

namespace spotter::store {
namespace {

namespace fs = std::filesystem;

void overwrite(const std::string& path, i64 from, i64 count, u64 seed) {
  std::mt19937_64 random(seed);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(from);
  for (i64 i = 0; i < count; ++i) file.put(static_cast<char>(random()));
}

TEST(Files, ASecondWriterIsRefused) {
  const TestFolder folder;
  auto history = open_history({folder.file()});
  const auto second = History::open({folder.file()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::busy);
  EXPECT_NE(second.error().message.find(std::to_string(getpid())), std::string::npos);
  history.reset();
  EXPECT_TRUE(History::open({folder.file()}));
}

TEST(Files, WhatIsNoHistoryStaysAsItIs) {
  const TestFolder folder;
  const std::string text = folder.file("notes.txt"), other = folder.file("other.db");
  ASSERT_TRUE(write_file_atomically(text, std::string(5000, 'x')));
  {
    Result<Database> database = Database::open(other, Database::Access::write);
    ASSERT_TRUE(database->run("CREATE TABLE mine(x); INSERT INTO mine VALUES(1)"));
  }
  const std::string before = *read_small_file(other, 1 << 20);
  for (const std::string& path : {text, other, folder.file("")}) {
    const auto history = History::open({path});
    ASSERT_FALSE(history) << path;
    EXPECT_EQ(history.error().code, Code::invalid);
    EXPECT_NE(history.error().message.find(path), std::string::npos);
    EXPECT_FALSE(query(path, everything()));
  }
  EXPECT_EQ(*read_small_file(other, 1 << 20), before);
  EXPECT_FALSE(fs::exists(other + ".corrupt"));
}

TEST(Files, ALaterVersionIsRefused) {
  const TestFolder folder;
  open_history({folder.file()}).reset();
  {
    Result<Database> database = Database::open(folder.file(), Database::Access::write);
    ASSERT_TRUE(database->run("PRAGMA user_version = 9"));
  }
  const auto history = History::open({folder.file()});
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, Code::unsupported);
  EXPECT_EQ(query(folder.file(), everything()).error().code, Code::unsupported);
}

TEST(Files, ADamagedHistoryIsMovedAside) {
  const TestFolder folder;
  {
    const auto history = open_history({folder.file()});
    append_seconds(*history, 0, 600);
  }
  overwrite(folder.file(), 100, 3996, 1);  // the first page, but for its header
  const auto history = open_history({folder.file()});
  EXPECT_EQ(history->state().moved_to, folder.file("history.db.corrupt"));
  EXPECT_TRUE(fs::exists(folder.file("history.db.corrupt")));
  append_seconds(*history, 600, 700);
  EXPECT_EQ(ask(*history, everything())[0].rows(), 200u);
}

// Wherever it is damaged, also while it is open: no crash, and it records again.
TEST(Files, DamageAnywhereEndsNothing) {
  const TestFolder folder;
  {
    const auto history = open_history({folder.file()});
    append_seconds(*history, 0, 1500);
  }
  const std::string good = *read_small_file(folder.file(), 64 << 20);
  std::mt19937_64 random(4);
  int recorded = 0;  // rounds after which all is there that came after the damage
  for (u64 round = 0; round < 36; ++round) {
    for (const auto& entry : fs::directory_iterator(folder.file(""))) fs::remove(entry);
    ASSERT_TRUE(write_file_atomically(folder.file(), good));
    const auto at = static_cast<i64>(random() % (good.size() - 4196));
    const i64 count = round % 2 ? 4 : 4096;
    if (round % 3 == 0) {
      if (round % 4 == 0) fs::resize_file(folder.file(), static_cast<u64>(at) + 4096);
      overwrite(folder.file(), at + 100, count, round);
    }
    auto history = History::open({folder.file()});
    if (!history) {
      EXPECT_NE(history.error().message.find(folder.file()), std::string::npos);
      continue;
    }
    if (round % 3 != 0) overwrite(folder.file(), at + 100, count, round);
    (void)query(**history, everything());
    i64 failures = 0;
    for (i64 i = 0; i < 1500; ++i)
      failures += !(*history)->append(disk_batch(i, kStart + kHour + i * kSecond)).has_value();
    EXPECT_LE(failures, 30);
    (void)read_catalogue(folder.file(), CatalogueTable::series);
    const auto tables =
        query(**history, {.from_unix_ns = kStart + kHour + 1400 * kSecond, .to_unix_ns = kStart + 2 * kHour});
    if (tables) {
      EXPECT_TRUE(tables->at(0).rows() == 200 || !tables->at(0).notes.empty()) << round;
      recorded += tables->at(0).rows() == 200;
    }
  }
  EXPECT_GT(recorded, 18);
}

// While it is open. Nothing is lost but what was in the file, and a log that is left belongs to nobody else.
TEST(Files, OneThatIsRemovedIsBegunAnew) {
  for (const bool has_log : {false, true}) {
    const TestFolder folder;
    const auto history = open_history({folder.file()});
    append_seconds(*history, 0, 150);
    fs::remove(folder.file());
    if (!has_log) fs::remove(folder.file("history.db-wal"));
    append_seconds(*history, 150, 300);
    EXPECT_EQ(history->state().lost_files, 1);
    EXPECT_EQ(history->state().last_error, "");
    const std::vector<Table> tables = ask(*history, everything());
    ASSERT_EQ(tables.size(), 1U);
    EXPECT_EQ(tables[0].rows(), 2U * (300 - 120));  // the minute that was filling is still there
    EXPECT_FALSE(History::open({folder.file()})) << "another one may write";
  }
}

TEST(Files, OneThatIsPutInItsPlaceGoesOn) {
  const TestFolder folder, other;
  {
    const auto history = open_history({other.file()});
    append_seconds(*history, 0, 60);
  }
  const auto history = open_history({folder.file()});
  append_seconds(*history, 600, 750);
  fs::rename(folder.file(), folder.file("moved.db"));
  fs::copy_file(other.file(), folder.file());
  append_seconds(*history, 750, 900);
  EXPECT_EQ(history->state().lost_files, 1);
  EXPECT_EQ(history->state().moved_to, "");
  EXPECT_EQ(ask(*history, everything())[0].rows(), 2U * (60 + 900 - 720));
  EXPECT_EQ(query(folder.file("moved.db"), everything())->at(0).rows(), 2U * 120)
      << "with what was in its log";
}

TEST(Files, OneWhoseFolderIsRemovedSaysSoUntilItIsThereAgain) {
  const TestFolder folder;
  fs::create_directory(folder.file("inner"));
  const auto history = open_history({folder.file("inner/history.db")});
  append_seconds(*history, 0, 70);
  fs::remove_all(folder.file("inner"));
  i64 failures = 0;
  for (i64 i = 70; i < 200; ++i) failures += !history->append(disk_batch(i, kStart + i * kSecond));
  EXPECT_GT(failures, 0);
  EXPECT_EQ(history->state().lost_files, 1);
  EXPECT_NE(history->state().last_error, "");
  fs::create_directory(folder.file("inner"));
  append_seconds(*history, 200, 220);
  EXPECT_EQ(history->state().last_error, "");
  EXPECT_EQ(ask(*history, everything())[0].rows(), 2U * (220 - 60));
}

TEST(Files, ReadableWhereTheFolderMayNotBeWritten) {
  const TestFolder folder;
  {
    const auto history = open_history({folder.file()});
    append_seconds(*history, 0, 100);
  }
  fs::permissions(folder.file(""), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
    const auto tables = query(folder.file(), everything());
    ::_exit(tables && tables->at(0).rows() == 200 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace spotter::store

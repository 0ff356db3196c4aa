// The journal where its process ends at any place: batches are whole, and no step loses what is there.
#include "store/journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/system/file.h"
#include "store/test_history.h"

namespace spotter::store {
namespace {

constexpr i64 kMostJournalBytes = 1 << 20;

SharedSchema schema_of_table(const std::string& name) {
  return std::make_shared<const Schema>(
      Schema{name, false, {{"number", Type::integer, Unit::count, Role::value, Fold::mean, ""}}});
}

// As many rows of each table as batches were appended.
struct Tables {
  std::vector<Block> blocks;

  Tables() {
    for (const char* name : {"disk", "memory", "net"}) blocks.emplace_back(schema_of_table(name));
  }
  // A batch of one row of each.
  std::vector<JournalPart> next() {
    std::vector<JournalPart> parts;
    for (Block& block : blocks) {
      const i64 number = std::ssize(block.times);
      const Value row[] = {number};
      block.append(kStart + number * kSecond, row);
      parts.push_back({&block, block.rows() - 1, kSecond});
    }
    return parts;
  }
};

// How many rows of each table the journal of this number has, which are numbered from 0.
std::vector<i64> rows_in(const std::string& path, i64 number) {
  std::map<std::string, i64> rows;
  for (const JournaledRows& part : Journal(path, kMostJournalBytes).read(number)) {
    i64& own = rows[part.block.schema->table];
    for (size_t row = 0; row < part.block.rows(); ++row)
      EXPECT_EQ(std::get<i64>(part.block.at(row, 0)), own++) << part.block.schema->table;
  }
  std::vector<i64> counts;
  for (const auto& [table, count] : rows) counts.push_back(count);
  return counts;
}

TEST(Journal, EveryCutLeavesWholeBatches) {
  const TestFolder folder;
  const std::string path = folder.file("whole"), cut_path = folder.file("cut");
  constexpr i64 kBatches = 20;
  Tables tables;
  std::vector<size_t> ends;
  {
    Journal journal(path, kMostJournalBytes);
    ASSERT_TRUE(journal.prepare(7, {}));
    ASSERT_TRUE(journal.take_place());
    for (i64 batch = 0; batch < kBatches; ++batch) {
      ASSERT_TRUE(journal.append(tables.next()));
      ends.push_back(std::filesystem::file_size(path));
    }
  }
  const std::string all = read_small_file(path, kMostJournalBytes).value_or("");
  ASSERT_EQ(all.size(), ends.back());
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    std::ofstream(cut_path, std::ios::binary | std::ios::trunc) << all.substr(0, cut);
    const i64 whole = std::ranges::upper_bound(ends, cut) - ends.begin();
    EXPECT_EQ(rows_in(cut_path, 7), whole == 0 ? std::vector<i64>() : std::vector<i64>(3, whole)) << cut;
  }
}

// Killed after the transaction and before it took its place; then, when the next one has been begun.
TEST(Journal, OneThatDidNotTakeItsPlaceIsNotOverwritten) {
  const TestFolder folder;
  const std::string path = folder.file("journal");
  Tables tables;
  ASSERT_TRUE(Journal(path, kMostJournalBytes).prepare(1, tables.next()));
  Journal next(path, kMostJournalBytes);
  EXPECT_EQ(next.read(1).size(), 3U);
  ASSERT_TRUE(next.prepare(2, {}));
  EXPECT_EQ(rows_in(path, 1), (std::vector<i64>{1, 1, 1}));
}

}  // namespace
}  // namespace spotter::store

#include "capture/captures.h"
#include "capture/test_captures.h"

namespace spotter::capture {
namespace {

TEST_F(CapturesTest, ReceiptsAsATable) {
  add(43);
  poll(43);
  const std::string id = begin(request({42, 43}));
  captures_.gone(43, kStart);
  captures_.tick(at(kSecond));
  const Table table = captures_.receipts(*captures_.find(id));
  ASSERT_EQ(table.rows(), 2u);
  const auto cell = [&](size_t row, const char* name) { return table.at(row, table.column(name)); };
  EXPECT_EQ(cell(0, "host"), Value("node1"));
  EXPECT_EQ(cell(0, "pid"), Value(i64{42}));
  EXPECT_EQ(cell(0, "rank"), Value(i64{3}));
  EXPECT_EQ(cell(0, "state"), Value("accepted"));
  EXPECT_EQ(cell(0, "file"), Value(std::string_view(receipt(id).file)));
  EXPECT_TRUE(is_null(cell(0, "size_bytes")));
  EXPECT_TRUE(is_null(cell(0, "took_ns")));
  EXPECT_TRUE(is_null(cell(0, "reason")));
  EXPECT_TRUE(is_null(cell(1, "rank")));
  EXPECT_EQ(cell(1, "state"), Value("failed"));
  EXPECT_EQ(cell(1, "took_ns"), Value(kSecond));
  EXPECT_FALSE(is_null(cell(1, "reason")));
}

TEST_F(CapturesTest, ReceiptsTellTheRepository) {
  const std::string commit(40, 'a');
  fs::create_directories(root_ / "fs/project/.git");
  std::ofstream(root_ / "fs/project/.git/HEAD") << commit;
  std::ofstream(root_ / "fs/project/.git/config") << "[remote \"origin\"]\n\turl = git@github.com:o/r.git\n";
  fs::create_directory_symlink(root_ / "fs/project", root_ / "proc/42/cwd");
  add(43);
  poll(43);
  const Table table = captures_.receipts(*captures_.find(begin(request({42, 43}))));
  const auto cell = [&](size_t row, const char* name) { return table.at(row, table.column(name)); };
  EXPECT_EQ(cell(0, "source"), Value(std::string_view("https://github.com/o/r@" + commit)));
  EXPECT_EQ(cell(0, "source_root"), Value("/project"));
  EXPECT_TRUE(is_null(cell(1, "source")) && is_null(cell(1, "source_root")));
}

TEST_F(CapturesTest, AsAWhole) {
  add(43);
  poll(43);
  const std::string first = begin_delivered(request({42, 43}));
  EXPECT_STREQ(captures_.find(first)->state(), "running");
  EXPECT_EQ(captures_.find(first)->output(), "/out");
  write(first, kTrace);
  captures_.tick(at(kSecond));
  EXPECT_STREQ(captures_.find(first)->state(), "running");
  EXPECT_EQ(captures_.find(first)->written(), 1u);
  captures_.end(first, "alice", at(kSecond));
  EXPECT_STREQ(captures_.find(first)->state(), "partly written");

  const std::string second = begin(request(), at(2 * kSecond));
  captures_.end(second, "alice", at(3 * kSecond));
  EXPECT_STREQ(captures_.find(second)->state(), "failed");

  const auto all = captures_.all();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]->id, second);
  EXPECT_EQ(all[1]->id, first);
}

TEST(Capture, WhereFilesGo) {
  EXPECT_EQ(directory_of("/a/b.json"), "/a");
  EXPECT_EQ(directory_of("/b.json"), "/");
  EXPECT_EQ(directory_of("b.json"), ".");
  EXPECT_EQ(Capture{}.output(), "");
}

}  // namespace
}  // namespace spotter::capture

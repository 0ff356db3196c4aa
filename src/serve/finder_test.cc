#include "serve/finder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/system/host.h"
#include "base/time.h"
#include "read/open.h"

namespace spotter::serve {
namespace {

namespace fs = std::filesystem;

constexpr Ns kLater = 3600 * kSecond;  // when nothing is fresh any more

std::string trace_text(i64 rank, double begin_us = 1000) {
  return fmt::format(
      R"({{"distributedInfo": {{"rank": {}}}, "traceEvents": [{{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": {}, "dur": 10}}]}})",
      rank, begin_us);
}

class FinderTest : public testing::Test {
 protected:
  FinderTest() { fs::create_directories(root_); }
  ~FinderTest() override { fs::remove_all(root_.parent_path()); }
  void write(const std::string& place, const std::string& text) const {
    fs::create_directories((root_ / place).parent_path());
    std::ofstream(root_ / place, std::ios::binary) << text;
  }
  std::vector<JobPtr> look(Ns later = kLater) { return finder_.look(unix_clock_now() + later); }
  std::vector<std::string> folders(Ns later = kLater) {
    std::vector<std::string> all;
    for (const JobPtr& job : look(later)) all.push_back(job->folder);
    return all;
  }

  const fs::path root_ = fs::path("/tmp") / ("spotter_finder_" + std::to_string(::getpid())) / "root";
  Finder finder_{{root_.string()}};
};
using Names = std::vector<std::string>;

TEST_F(FinderTest, EachFolderWithTracesIsAJob) {
  EXPECT_EQ(folders(), Names());
  write("b/deep/rank0.json", trace_text(0));
  write("a/rank0.json", trace_text(0));
  write("a/rank1.json", trace_text(1));
  write("trace.json", trace_text(5));
  write("c/notes.json", R"({"some": "other JSON"})");
  write("c/readme.txt", trace_text(0));
  write("d/empty.json", "");
  write(".hidden/rank0.json", trace_text(0));
  EXPECT_EQ(folders(), (Names{".", "a", "b/deep"}));
  const JobPtr a = look()[1];
  EXPECT_EQ(a->paths, Names{(root_ / "a").string()});
  ASSERT_EQ(a->files.size(), 2u);
  EXPECT_EQ(a->files[1].rank, 1);
  EXPECT_EQ(a->id.size(), 16u);
  EXPECT_EQ(Finder({root_.string()}).look(unix_clock_now())[1]->id, a->id);  // after a restart
}

TEST_F(FinderTest, FollowsTheFolder) {
  write("a/rank0.json", trace_text(0));
  const std::string before = look()[0]->version;
  EXPECT_EQ(look()[0]->version, before);
  write("a/rank0.json", trace_text(7));
  fs::last_write_time(root_ / "a/rank0.json", fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_NE(look()[0]->version, before);
  EXPECT_EQ(look()[0]->files[0].rank, 7);
  write("b/rank0.json", trace_text(0));
  EXPECT_EQ(folders(), (Names{"a", "b"}));
  fs::remove_all(root_ / "a");
  EXPECT_EQ(folders(), Names{"b"});
  fs::remove_all(root_);
  EXPECT_EQ(folders(), Names());
}

TEST_F(FinderTest, NoLinkIsFollowed) {
  const fs::path outside = root_.parent_path() / "outside";
  fs::create_directories(outside);
  std::ofstream(outside / "rank0.json") << trace_text(0);
  write("a/rank0.json", trace_text(0));
  fs::create_directory_symlink(outside, root_ / "linked");
  fs::create_directory_symlink(root_ / "a", root_ / "inner");
  fs::create_symlink(outside / "rank0.json", root_ / "a" / "rank1.json");
  fs::create_directories(root_ / "only");
  fs::create_symlink(outside / "rank0.json", root_ / "only" / "rank0.json");
  EXPECT_EQ(folders(), Names{"a"});
  const JobPtr job = look()[0];
  EXPECT_EQ(job->files.size(), 1u);
  const Result<Job> opened = open(*job);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->files.size(), 1u);
  // The user may name one himself.
  const fs::path root_by_link = root_.parent_path() / "by_link";
  fs::create_directory_symlink(root_, root_by_link);
  EXPECT_EQ(Finder({root_by_link.string()}).look(unix_clock_now()).size(), 1u);
}

TEST_F(FinderTest, WhatComesInThePlaceOfAFileIsNotRead) {
  const fs::path outside = root_.parent_path() / "secret.json";
  std::ofstream(outside) << trace_text(0);
  write("a/rank0.json", trace_text(0));
  const JobPtr job = look()[0];
  Result<Job> opened = open(*job);
  ASSERT_TRUE(opened);
  ASSERT_TRUE(loader_of(job)(opened->files[0], {}));
  fs::remove(root_ / "a/rank0.json");
  fs::create_symlink(outside, root_ / "a/rank0.json");
  EXPECT_FALSE(loader_of(job)(opened->files[0], {}));
}

TEST_F(FinderTest, ARootMayBeAFile) {
  write("x.json", trace_text(0));
  const auto jobs = Finder({(root_ / "x.json").string()}).look(unix_clock_now());
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0]->folder, "x.json");
  EXPECT_EQ(jobs[0]->paths, Names{(root_ / "x.json").string()});
}

TEST_F(FinderTest, OfSeveralRootsThePlaceHasTheRoot) {
  write("a/rank0.json", trace_text(0));
  write("b/rank0.json", trace_text(0));
  const auto jobs = Finder({(root_ / "a").string(), (root_ / "b").string()}).look(unix_clock_now());
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0]->folder, (root_ / "a").string());
  EXPECT_NE(jobs[0]->id, jobs[1]->id);
}

TEST_F(FinderTest, WhatIsStillWrittenIsNew) {
  write("a/rank0.json", trace_text(0));
  write("b/rank0.json", trace_text(0).substr(0, trace_text(0).size() - 4));  // cut off
  const auto is_written = [&](Ns later) {
    std::vector<bool> all;
    for (const JobPtr& job : look(later)) all.push_back(job->is_written);
    return all;
  };
  EXPECT_EQ(is_written(0), (std::vector<bool>{true, true}));
  EXPECT_EQ(is_written(10 * kSecond), (std::vector<bool>{false, true}));
  EXPECT_EQ(is_written(kLater), (std::vector<bool>{false, false}));
}

TEST_F(FinderTest, RecordingsOfOneWorkerAreSpans) {
  const auto text = [](double begin) {
    std::string t = trace_text(0, begin);
    return t.replace(t.find("rank"), 4, "r000");  // it does not say its rank
  };
  write("run/w_1.100.pt.trace.json", text(1000));
  write("run/w_1.200.pt.trace.json", text(5000));
  EXPECT_EQ(folders(), (Names{"run#1", "run#2"}));
  const std::atomic<bool> goes_on = false;
  EXPECT_TRUE(finder_.learn_times(goes_on));
  EXPECT_TRUE(finder_.learn_times(goes_on));
  EXPECT_FALSE(finder_.learn_times(goes_on));
  EXPECT_EQ(folders(), (Names{"run#1", "run#2"}));
  EXPECT_FALSE(finder_.learn_times(goes_on));  // they are known
  EXPECT_EQ(look()[1]->paths, Names{(root_ / "run/w_1.200.pt.trace.json").string()});
  write("run/w_1.200.pt.trace.json", text(1005) + " ");  // at the same time
  folders();
  EXPECT_TRUE(finder_.learn_times(goes_on));
  EXPECT_EQ(folders(), Names{"run"});
}

}  // namespace
}  // namespace spotter::serve

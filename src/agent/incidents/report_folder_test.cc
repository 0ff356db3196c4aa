#include "agent/incidents/report_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/log.h"
#include "base/system/file.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;

class ReportFolderTest : public testing::Test {
 protected:
  ReportFolderTest() {
    set_log_level(Level::error);
    std::string pattern = fs::temp_directory_path() / "spotter_reports_XXXXXX";
    CHECK(::mkdtemp(pattern.data()));
    root_ = pattern;
  }
  ~ReportFolderTest() override {
    set_log_level(Level::info);
    fs::remove_all(root_);
  }
  std::set<std::string> names() const {
    const auto all = names_in(folder_path());
    return {all.begin(), all.end()};
  }
  std::string folder_path() const { return root_ / "reports"; }
  static mode_t mode_of(const std::string& path) {
    struct stat facts{};
    EXPECT_EQ(::lstat(path.c_str(), &facts), 0) << path;
    return facts.st_mode & 07777;
  }
  // Its file looks so many seconds old.
  void age(const std::string& id, int seconds) const {
    fs::last_write_time(folder_path() + "/" + id + ".html",
                        fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }

  fs::path root_;
};

TEST_F(ReportFolderTest, ItIsBesideTheIncidents) {
  EXPECT_EQ(ReportFolder::beside("/var/lib/spotter/incidents.db"), "/var/lib/spotter/incidents-reports");
  EXPECT_EQ(ReportFolder::beside("/x/a-incidents.db"), "/x/a-incidents-reports");
  EXPECT_EQ(ReportFolder::beside("/x/incidents"), "/x/incidents-reports");
}

TEST_F(ReportFolderTest, TheNewestOfAnIncidentIsKeptForNobodyElse) {
  ReportFolder folder(folder_path());
  EXPECT_EQ(folder.read("4711-speed-2").error().code, Code::not_found);
  ASSERT_TRUE(folder.keep("4711-speed-2", "first"));
  ASSERT_TRUE(folder.keep("4711-speed-2", "second"));
  EXPECT_EQ(folder.read("4711-speed-2").value(), "second");
  EXPECT_EQ(names(), (std::set<std::string>{"4711-speed-2.html"}));
  EXPECT_EQ(mode_of(folder_path()), 0700u);
  EXPECT_EQ(mode_of(folder_path() + "/4711-speed-2.html"), 0600u);
  EXPECT_EQ(ReportFolder(folder_path()).read("4711-speed-2").value(), "second");  // after a restart
}

TEST_F(ReportFolderTest, NoIdNamesAFileElsewhereOrThatOfAnotherOne) {
  std::ofstream(root_ / "outside.html") << "outside";
  ReportFolder folder(folder_path());
  const std::string ids[] = {"../outside",
                             "/tmp/outside-speed-1",
                             "..",
                             ".",
                             "",
                             "a/../../outside",
                             "a b-speed-1",
                             "a%20b-speed-1",
                             "a\nb-speed-1",
                             "a\xff-speed-1",
                             ".spotter-1-0.tmp-speed-1",
                             std::string("a\0b-speed-1", 11),
                             "-rf-speed-1",
                             "ä-speed-1",
                             "A-speed-1",
                             "a-speed-1"};
  for (const std::string& id : ids) ASSERT_TRUE(folder.keep(id, "page of " + id)) << id;
  for (const std::string& id : ids) EXPECT_EQ(folder.read(id).value(), "page of " + id) << id;
  EXPECT_EQ(names().size(), std::size(ids));
  EXPECT_EQ(read_small_file(root_ / "outside.html", 100).value(), "outside");
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 2);
  for (const std::string& name : names()) EXPECT_TRUE(name.ends_with(".html")) << name;

  const auto refused = folder.keep(std::string(300, 'x') + "-speed-1", "page");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(folder.state().lost, 1);
}

TEST_F(ReportFolderTest, ALinkInThePlaceOfAReportIsNotFollowed) {
  std::ofstream(root_ / "outside") << "outside";
  ReportFolder folder(folder_path());
  ASSERT_TRUE(folder.keep("1-speed-1", "page"));
  fs::create_symlink(root_ / "outside", folder_path() + "/2-speed-1.html");
  ASSERT_TRUE(folder.keep("2-speed-1", "page"));
  EXPECT_EQ(read_small_file(root_ / "outside", 100).value(), "outside");
  EXPECT_EQ(folder.read("2-speed-1").value(), "page");
}

TEST_F(ReportFolderTest, TheOldestGoWhereThereAreTooMany) {
  ReportFolder folder(folder_path(), {.files = 3, .bytes = 1000});
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(folder.keep(fmt::format("{}-speed-1", i), "page"));
    age(fmt::format("{}-speed-1", i), 100 - i);
  }
  EXPECT_EQ(folder.state().removed, 0);
  std::ofstream(folder_path() + "/somebody's notes.txt") << std::string(5000, 'x');
  ASSERT_TRUE(folder.keep("4-speed-1", "page"));
  EXPECT_EQ(names(), (std::set<std::string>{"2-speed-1.html", "3-speed-1.html", "4-speed-1.html",
                                            "somebody's notes.txt"}));
  EXPECT_EQ(folder.state().removed, 1);
  const auto gone = folder.read("1-speed-1");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message,
            "its report was removed: the agent keeps the newest 3 of them, of 0 MB in all");
}

TEST_F(ReportFolderTest, TheOldestGoWhereTheyAreTooLarge) {
  ReportFolder folder(folder_path(), {.files = 10, .bytes = 1000});
  for (int i = 1; i <= 4; ++i) {
    ASSERT_TRUE(folder.keep(fmt::format("{}-speed-1", i), std::string(250, 'x')));
    age(fmt::format("{}-speed-1", i), 100 - i);
  }
  EXPECT_EQ(folder.state().removed, 0);
  ASSERT_TRUE(folder.keep("5-speed-1", std::string(500, 'x')));
  EXPECT_EQ(names(), (std::set<std::string>{"3-speed-1.html", "4-speed-1.html", "5-speed-1.html"}));
  // The newest stays, whatever its size and whatever the clock said of the others.
  age("3-speed-1", -1000);
  ASSERT_TRUE(folder.keep("6-speed-1", std::string(2000, 'x')));
  EXPECT_EQ(names(), (std::set<std::string>{"6-speed-1.html"}));
  EXPECT_EQ(folder.state().removed, 5);
}

TEST_F(ReportFolderTest, WhatCannotBeWrittenIsCounted) {
  std::ofstream(root_ / "reports") << "a file";
  ReportFolder folder(folder_path());
  EXPECT_FALSE(folder.keep("1-speed-1", "page"));
  EXPECT_EQ(folder.state().lost, 1);
}

}  // namespace
}  // namespace spotter::agent

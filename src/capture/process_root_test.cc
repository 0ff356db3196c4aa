#include "capture/process_root.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace spotter::capture {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrace = R"({"traceEvents": [{"ph": "X"}]})";

class ProcessRootTest : public testing::Test {
 protected:
  ProcessRootTest() : root_(fs::path("/tmp") / fmt::format("sp_root_{}", getpid())) {
    fs::create_directories(root_ / "proc/42");
    fs::create_directories(root_ / "fs/out");
    fs::create_directory_symlink(root_ / "fs", root_ / "proc/42/root");
    process_ = ProcessRoot::open(Host{(root_ / "proc").string()}, 42);
  }
  ~ProcessRootTest() override { fs::remove_all(root_); }

  // `path`: as the process calls it.
  void write(const std::string& path, const std::string& contents) const {
    std::ofstream(root_ / "fs" / path.substr(1)) << contents;
  }
  FileLook look(const std::string& path, i64 uid = geteuid()) const { return process_.look(path, uid); }
  Code check(const std::string& directory, i64 uid = geteuid()) const {
    const Result<void> r = process_.check_directory(directory, uid);
    return r ? Code::internal : r.error().code;  // internal: it is right
  }

  fs::path root_;
  ProcessRoot process_;
};

TEST_F(ProcessRootTest, AFileAppears) {
  EXPECT_FALSE(look("/out/t.json").begun || look("/out/t.json").written);
  write("/out/t.json.tmp", "{");
  EXPECT_TRUE(look("/out/t.json").begun);
  EXPECT_FALSE(look("/out/t.json").written);
  write("/out/t.json", kTrace);
  const FileLook found = look("/out/t.json");
  EXPECT_TRUE(found.written && found.has_events);
  EXPECT_FALSE(found.foreign);
  EXPECT_EQ(found.size_bytes, static_cast<i64>(std::string(kTrace).size()));
}

TEST_F(ProcessRootTest, TheDiskOfADirectory) {
  const auto disk = process_.disk("/out");
  ASSERT_TRUE(disk);
  EXPECT_GT(disk->size_bytes, 0);
  EXPECT_LE(disk->free_bytes, disk->size_bytes);
  EXPECT_EQ(disk->size_bytes, static_cast<i64>(fs::space(root_).capacity));
  EXPECT_FALSE(process_.disk("/nowhere"));
}

// The file may be anybody's whom this namespace does not map.
TEST_F(ProcessRootTest, WhoIsNotMappedOwnsNothing) {
  write("/out/t.json", kTrace);
  const i64 uid = geteuid();
  const ProcessRoot ours = ProcessRoot::open(Host{(root_ / "proc").string()}, 42, uid);
  EXPECT_TRUE(ours.look("/out/t.json", uid).foreign);
  const auto file = ours.open_file("/out/t.json", uid, std::ssize(std::string_view(kTrace)));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::denied);
  EXPECT_NE(file.error().message.find("does not map"), std::string::npos) << file.error().message;
}

TEST_F(ProcessRootTest, WhetherItHasEvents) {
  write("/out/t.json", R"({"traceEvents": [{"ph":"X"}]})");
  EXPECT_TRUE(look("/out/t.json").has_events);
  write("/out/t.json", R"({"traceEvents": [{"ph": "M"}]})");
  EXPECT_FALSE(look("/out/t.json").has_events);
  write("/out/t.json", "");
  EXPECT_FALSE(look("/out/t.json").has_events);
  write("/out/t.json", std::string(300'000, ' '));
  EXPECT_TRUE(look("/out/t.json").has_events);
}

TEST_F(ProcessRootTest, AnotherFileHasChanged) {
  write("/out/t.json", kTrace);
  const FileLook before = look("/out/t.json");
  EXPECT_EQ(look("/out/t.json").changed, before.changed);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // the file system's clock is coarse
  write("/out/t.json.tmp", kTrace);
  fs::rename(root_ / "fs/out/t.json.tmp", root_ / "fs/out/t.json");
  EXPECT_NE(look("/out/t.json").changed, before.changed);
}

TEST_F(ProcessRootTest, LinksAreNotFollowed) {
  write("/out/real.json", kTrace);
  fs::create_symlink("real.json", root_ / "fs/out/t.json");
  fs::create_symlink("/etc/passwd", root_ / "fs/out/outside.json");
  fs::create_symlink("nothing", root_ / "fs/out/dangling.json");
  fs::create_directory_symlink("out", root_ / "fs/way");
  for (const char* path : {"/out/t.json", "/out/outside.json", "/out/dangling.json", "/way/real.json"}) {
    EXPECT_TRUE(look(path).foreign) << path;
    EXPECT_EQ(look(path).size_bytes, 0) << path;
  }
}

TEST_F(ProcessRootTest, WhatIsNoPlainFile) {
  fs::create_directory(root_ / "fs/out/folder");
  ASSERT_EQ(mkfifo((root_ / "fs/out/fifo").c_str(), 0666), 0);
  EXPECT_TRUE(look("/out/folder").foreign);
  EXPECT_TRUE(look("/out/fifo").foreign);  // and nothing waits for somebody to write to it
  EXPECT_FALSE(look("/out/folder/below").written);
}

TEST_F(ProcessRootTest, AnotherUsersFile) {
  write("/out/t.json", kTrace);
  EXPECT_TRUE(look("/out/t.json", geteuid() + 1).foreign);
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(chown((root_ / "fs/out/t.json").c_str(), 12345, 12345), 0);
  EXPECT_TRUE(look("/out/t.json").foreign);
  EXPECT_FALSE(look("/out/t.json", 12345).foreign);
}

TEST_F(ProcessRootTest, TheWayUpEndsAtTheRoot) {
  fs::create_directories(root_ / "fs/etc");
  write("/etc/passwd", kTrace);
  EXPECT_EQ(look("/../../../etc/passwd").size_bytes, static_cast<i64>(std::string(kTrace).size()));
  EXPECT_FALSE(look("/../proc/42").written);
}

TEST_F(ProcessRootTest, OddPaths) {
  for (const std::string name : {"a b", "\xc3\xa4", "new\nline", "-", "'\"", "%s{}"}) {
    write("/out/" + name, kTrace);
    EXPECT_TRUE(look("/out/" + name).has_events) << name;
  }
  for (const std::string& path : {std::string(), std::string("/"), "/" + std::string(300, 'x'),
                                  "/" + std::string(100'000, 'x'), std::string("/out/t.json/")})
    EXPECT_EQ(look(path).size_bytes, 0);
}

TEST_F(ProcessRootTest, OpensAFile) {
  write("/out/t.json", kTrace);
  const i64 size = static_cast<i64>(std::string(kTrace).size());
  const auto code = [&](const std::string& path, i64 uid, i64 bytes) {
    const auto opened = process_.open_file(path, uid, bytes);
    return opened ? Code::internal : opened.error().code;  // internal: it is open
  };
  const i64 own = geteuid();
  const auto opened = process_.open_file("/out/t.json", own, size);
  ASSERT_TRUE(opened);
  std::string text(static_cast<size_t>(size), '\0');
  EXPECT_EQ(read(opened->fd, text.data(), text.size()), size);
  EXPECT_EQ(text, kTrace);
  EXPECT_EQ(code("/out/t.json", own, size + 1), Code::not_found);
  EXPECT_EQ(code("/out/none.json", own, size), Code::not_found);
  EXPECT_EQ(code("/out/t.json", own + 1, size), Code::denied);
  EXPECT_EQ(code("/out", own, size), Code::denied);
  fs::create_symlink("t.json", root_ / "fs/out/link.json");
  EXPECT_EQ(code("/out/link.json", own, size), Code::denied);
  ASSERT_EQ(mkfifo((root_ / "fs/out/fifo").c_str(), 0666), 0);
  EXPECT_EQ(code("/out/fifo", own, 0), Code::denied);
}

TEST_F(ProcessRootTest, Directories) {
  EXPECT_EQ(check("/out"), Code::internal);
  EXPECT_EQ(check("/out/"), Code::internal);
  EXPECT_EQ(check("/"), Code::internal);
  EXPECT_EQ(check("/nowhere"), Code::invalid);
  EXPECT_EQ(check("/" + std::string(100'000, 'x')), Code::invalid);
  write("/out/file", "");
  EXPECT_EQ(check("/out/file"), Code::invalid);
  fs::create_directory_symlink("out", root_ / "fs/way");
  fs::create_directory(root_ / "fs/out/below");
  EXPECT_EQ(check("/way"), Code::invalid);
  EXPECT_EQ(check("/way/below"), Code::invalid);
}

TEST_F(ProcessRootTest, WhoMayWriteThere) {
  const std::string folder = (root_ / "fs/out").string();
  const i64 other = geteuid() + 1;
  chmod(folder.c_str(), 0755);
  EXPECT_EQ(check("/out"), Code::internal);
  EXPECT_EQ(check("/out", 0), Code::internal);
  EXPECT_EQ(check("/out", other), Code::denied);
  chmod(folder.c_str(), 0775);  // he may be of the group
  EXPECT_EQ(check("/out", other), Code::internal);
  chmod(folder.c_str(), 01777);
  EXPECT_EQ(check("/out", other), Code::internal);
}

TEST_F(ProcessRootTest, ARootThatMayNotBeOpened) {
  const ProcessRoot own = ProcessRoot::open(Host{(root_ / "proc").string()}, 43);
  write("/out/t.json", kTrace);
  EXPECT_TRUE(own.look((root_ / "fs/out/t.json").string(), geteuid()).has_events);
}

}  // namespace
}  // namespace spotter::capture

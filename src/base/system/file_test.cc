#include "base/system/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace spotter {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() : dir_(fs::path(testing::TempDir()) / ("spotter_file_test_" + std::to_string(getpid()))) {
    fs::create_directories(dir_);
  }
  ~FileTest() override {
    fs::permissions(dir_, fs::perms::owner_all);
    fs::remove_all(dir_);
  }
  std::string path(const char* name) const { return (dir_ / name).string(); }
  int files() const {
    return static_cast<int>(std::distance(fs::directory_iterator(dir_), fs::directory_iterator{}));
  }

  fs::path dir_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  std::string bytes(100'000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(write_file_atomically(path("a"), bytes));
  EXPECT_EQ(read_small_file(path("a"), bytes.size()).value(), bytes);
  EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, PiecesAreThereOnlyOnceTheyAreCommitted) {
  ASSERT_TRUE(write_file_atomically(path("a"), "old"));
  {
    Result<AtomicFile> file = AtomicFile::create(path("a"));
    ASSERT_TRUE(file && file->write("new ") && file->write("text"));
    EXPECT_EQ(read_small_file(path("a"), 100).value(), "old");
    ASSERT_TRUE(file->commit());
    EXPECT_EQ(read_small_file(path("a"), 100).value(), "new text");
  }
  {
    Result<AtomicFile> file = AtomicFile::create(path("a"));
    ASSERT_TRUE(file && file->write("never"));
    AtomicFile moved = std::move(*file);
    ASSERT_TRUE(moved.write(" finished"));
    EXPECT_EQ(read_small_file(path("a"), 100).value(), "new text");
  }
  EXPECT_EQ(read_small_file(path("a"), 100).value(), "new text");
  EXPECT_EQ(files(), 1);
  EXPECT_FALSE(AtomicFile::create(path("nowhere/b")).has_value());
}

TEST_F(FileTest, ReplacesTheOldContents) {
  ASSERT_TRUE(write_file_atomically(path("a"), "a long first version"));
  ASSERT_TRUE(write_file_atomically(path("a"), "second"));
  EXPECT_EQ(read_small_file(path("a"), 100).value(), "second");
  ASSERT_TRUE(write_file_atomically(path("a"), ""));
  EXPECT_EQ(read_small_file(path("a"), 100).value(), "");
}

TEST_F(FileTest, ANewFileHasTheUsualPermissions) {
  const mode_t mask = umask(027);
  ASSERT_TRUE(write_file_atomically(path("a"), "x"));
  umask(mask);
  struct stat status;
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(FileTest, AFileThatWasThereKeepsItsMode) {
  ASSERT_TRUE(write_file_atomically(path("a"), "x"));
  ASSERT_EQ(chmod(path("a").c_str(), 0600), 0);
  ASSERT_TRUE(write_file_atomically(path("a"), "y"));
  struct stat status;
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(FileTest, ALinkStaysALink) {
  ASSERT_TRUE(write_file_atomically(path("a"), "x"));
  fs::create_symlink("a", path("link"));
  ASSERT_TRUE(write_file_atomically(path("link"), "y"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_small_file(path("a"), 10).value(), "y");
  EXPECT_EQ(files(), 2);
}

// Whoever is killed before it is whole leaves nothing, where the file system has files without a name.
TEST_F(FileTest, AKilledWriterLeavesNothing) {
  const int unnamed = open(dir_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (unnamed < 0) GTEST_SKIP() << "this file system has no files without a name";
  close(unnamed);
  const pid_t child = fork();
  if (child == 0) {
    Result<AtomicFile> file = AtomicFile::create(path("a"));
    _exit(file && file->write("text") ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 0);
}

TEST_F(FileTest, ALinkThatSomebodyPlantedIsNotFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives links away";
  ASSERT_TRUE(write_file_atomically(path("a"), "x"));
  fs::create_directory(path("shared"));
  ASSERT_EQ(chmod(path("shared").c_str(), 01777), 0);
  fs::create_symlink("../a", path("shared/link"));
  ASSERT_EQ(lchown(path("shared/link").c_str(), 12345, 12345), 0);
  EXPECT_EQ(write_file_atomically(path("shared/link"), "y").error().code, Code::denied);
  EXPECT_EQ(read_small_file(path("a"), 10).value(), "x");
}

TEST_F(FileTest, APipeIsWrittenTo) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(write_file_atomically(path("pipe"), "some text"));
  char text[20] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 9);
  EXPECT_STREQ(text, "some text");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  ASSERT_TRUE(write_file_atomically("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, ANameMayBeAsLongAsTheSystemAllows) {
  const std::string name(255, 'n');
  EXPECT_TRUE(write_file_atomically(path(name.c_str()), "x"));
  EXPECT_FALSE(write_file_atomically(path((name + "n").c_str()), "x"));
  EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, ReadRefusesALongerFile) {
  ASSERT_TRUE(write_file_atomically(path("a"), "12345"));
  EXPECT_TRUE(read_small_file(path("a"), 5));
  EXPECT_EQ(read_small_file(path("a"), 4).error().code, Code::invalid);
}

TEST_F(FileTest, ReadsFilesOfUnknownSize) {
  EXPECT_NE(read_small_file("/proc/self/status", 1 << 20).value().find("Name:"), std::string::npos);
}

TEST_F(FileTest, Errors) {
  const auto missing = read_small_file(path("none"), 10);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_NE(missing.error().message.find(path("none")), std::string::npos);
  EXPECT_EQ(read_small_file(dir_.string(), 10).error().code, Code::io);
  EXPECT_EQ(write_file_atomically(path("none/a"), "x").error().code, Code::not_found);
}

TEST_F(FileTest, AFailedWriteLeavesNothing) {
  fs::create_directories(path("a/full"));  // a directory that is not empty cannot be replaced by a file
  const auto result = write_file_atomically(path("a"), "x");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::io);
  EXPECT_EQ(files(), 1);
  EXPECT_TRUE(fs::is_directory(path("a/full")));
}

TEST_F(FileTest, DeniedIsItsOwnCode) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::permissions(dir_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(write_file_atomically(path("a"), "x").error().code, Code::denied);
}

}  // namespace
}  // namespace spotter

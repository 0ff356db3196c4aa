#include "sink/line_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/time.h"
#include "sink/test_batches.h"

namespace spotter::sink {
namespace {

// Files of this process may not be longer, as on a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(LineFileTest, AppendsToWhatIsThere) {
  const Folder folder;
  std::ofstream(folder.path("a")) << "old\n";
  LineFile file({.path = folder.path("a")});
  ASSERT_TRUE(file.write("1\n2\n"));
  ASSERT_TRUE(file.write("3\n"));
  EXPECT_EQ(folder.text("a"), "old\n1\n2\n3\n");
}

TEST(LineFileTest, Rotates) {
  const Folder folder;
  LineFile file({.path = folder.path("a"), .most_bytes = 8, .old_files = 2});
  for (const char* lines : {"1111\n", "22\n", "3\n", "444444444444\n", "5\n", "6666666\n"})
    ASSERT_TRUE(file.write(lines));
  EXPECT_EQ(folder.text("a"), "6666666\n");
  EXPECT_EQ(folder.text("a.1"), "5\n");
  EXPECT_EQ(folder.text("a.2"), "444444444444\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path("a.3")));
}

TEST(LineFileTest, RotatesWithoutOldFiles) {
  const Folder folder;
  LineFile file({.path = folder.path("a"), .most_bytes = 4, .old_files = 0});
  for (const char* lines : {"111\n", "222\n"}) ASSERT_TRUE(file.write(lines));
  EXPECT_EQ(folder.text("a"), "222\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path("a.1")));
}

TEST(LineFileTest, ARotationThatFailsLosesNothingThatIsThere) {
  const Folder folder;
  LineFile file({.path = folder.path("a"), .most_bytes = 4, .old_files = 1});
  ASSERT_TRUE(file.write("111\n"));
  std::filesystem::create_directories(folder.path("a.1/b"));
  const auto written = file.write("222\n");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("cannot be renamed"), std::string::npos);
  EXPECT_EQ(folder.text("a"), "111\n");
  std::filesystem::remove_all(folder.path("a.1"));
  ASSERT_TRUE(file.write("222\n"));
  EXPECT_EQ(folder.text("a"), "222\n");
}

TEST(LineFileTest, AFileThatWasMovedOrRemovedIsMadeAnew) {
  const Folder folder;
  LineFile file({.path = folder.path("a")});
  ASSERT_TRUE(file.write("1\n"));
  std::filesystem::rename(folder.path("a"), folder.path("a-2026"));
  ASSERT_TRUE(file.write("2\n"));
  std::filesystem::remove(folder.path("a"));
  ASSERT_TRUE(file.write("3\n"));
  EXPECT_EQ(folder.text("a-2026"), "1\n");
  EXPECT_EQ(folder.text("a"), "3\n");
}

TEST(LineFileTest, AFullDiskLeavesNoHalfLine) {
  const Folder folder;
  LineFile file({.path = folder.path("a")});
  ASSERT_TRUE(file.write("1111\n"));
  {
    const FileSizeLimit limit(8);
    const auto written = file.write("2222\n");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::io);
    EXPECT_EQ(folder.text("a"), "1111\n");
  }
  ASSERT_TRUE(file.write("2222\n"));
  EXPECT_EQ(folder.text("a"), "1111\n2222\n");
}

TEST(LineFileTest, AHalfLineOfSomebodyElseIsEnded) {
  const Folder folder;
  std::ofstream(folder.path("a")) << "killed in the midd";
  LineFile file({.path = folder.path("a")});
  ASSERT_TRUE(file.write("1\n"));
  ASSERT_TRUE(file.write("2\n"));
  EXPECT_EQ(folder.text("a"), "killed in the midd\n1\n2\n");
}

TEST(LineFileTest, WhatCannotBeOpenedOrWritten) {
  const Folder folder;
  LineFile nowhere({.path = folder.path("no/a")});
  EXPECT_EQ(nowhere.write("1\n").error().code, Code::io);
  LineFile full({.path = "/dev/full"});
  const auto written = full.write("1\n");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("/dev/full: cannot be written: No space left"), std::string::npos)
      << written.error().message;
  LineFile directory({.path = folder.path("")});
  EXPECT_EQ(directory.write("1\n").error().code, Code::io);
}

TEST(LineFileTest, APipeThatIsFullGetsTheRestOfTheLineLater) {
  std::signal(SIGPIPE, SIG_IGN);
  const Folder folder;
  ASSERT_EQ(mkfifo(folder.path("p").c_str(), 0600), 0);
  LineFile file({.path = folder.path("p"), .patience = 20 * kMillisecond});
  EXPECT_EQ(file.write("nobody reads\n").error().code, Code::io);

  const Descriptor reader(open(folder.path("p").c_str(), O_RDONLY | O_NONBLOCK));
  const std::string line(fcntl(reader.fd, F_GETPIPE_SZ) + 10'000, 'x');
  const auto written = file.write("1\n" + line + "\n3\n");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("nobody reads it"), std::string::npos);
  std::string got;
  const auto read_all = [&] {
    char buffer[4096];
    for (ssize_t n; (n = read(reader.fd, buffer, sizeof buffer)) > 0;)
      got.append(buffer, static_cast<size_t>(n));
  };
  read_all();
  ASSERT_TRUE(file.write("4\n"));
  read_all();
  EXPECT_EQ(got, "1\n" + line + "\n4\n");
}

TEST(LineFileTest, AReaderThatHasLeft) {
  std::signal(SIGPIPE, SIG_IGN);
  const Folder folder;
  ASSERT_EQ(mkfifo(folder.path("p").c_str(), 0600), 0);
  LineFile file({.path = folder.path("p"), .patience = 20 * kMillisecond});
  Descriptor reader(open(folder.path("p").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(file.write("1\n"));
  reader = Descriptor();
  EXPECT_EQ(file.write("2\n").error().code, Code::io);
  const Descriptor next(open(folder.path("p").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(file.write("3\n"));
  char buffer[16];
  EXPECT_EQ(read(next.fd, buffer, sizeof buffer), 2);
}

TEST(LineFileTest, AnInterruptionEndsTheWaiting) {
  std::signal(SIGPIPE, SIG_IGN);
  const Folder folder;
  ASSERT_EQ(mkfifo(folder.path("p").c_str(), 0600), 0);
  LineFile file({.path = folder.path("p"), .patience = 60'000 * kMillisecond});
  const Descriptor reader(open(folder.path("p").c_str(), O_RDONLY | O_NONBLOCK));
  std::thread interrupter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    file.interrupt();
  });
  EXPECT_NE(file.write(std::string(1 << 20, 'x') + "\n").error().message.find("interrupted"),
            std::string::npos);
  interrupter.join();
}

}  // namespace
}  // namespace spotter::sink

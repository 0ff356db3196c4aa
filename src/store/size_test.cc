// Limits of size, and disks that are full.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/test_history.h"

namespace spotter::store {
namespace {

namespace fs = std::filesystem;

i64 bytes_of(const std::string& path) {
  i64 all = 0;
  for (const char* suffix : {"", "-wal", "-shm", "-unwritten", "-unwritten-next"}) {
    std::error_code missing;
    const auto size = fs::file_size(path + suffix, missing);
    if (!missing) all += static_cast<i64>(size);
  }
  return all;
}

TEST(Size, StaysUnderItsLimitAndEveryTierKeepsItsShare) {
  const TestFolder folder;
  const i64 most = 2 << 20;
  auto history = open_history({.path = folder.file(), .most_bytes = most});
  std::mt19937_64 random(5);
  i64 greatest = 0;
  for (i64 i = 0; i < 4 * 3600; ++i) {
    ASSERT_TRUE(history->append(noise_batch(i, random, 20)));
    if (i % 10 == 0) greatest = std::max(greatest, bytes_of(folder.file()));
  }
  EXPECT_LE(greatest, most);
  EXPECT_GE(greatest, most / 2);
  EXPECT_EQ(history->state().lost_rows, 0);
  Result<Database> file = open_history_to_read(folder.file());
  ASSERT_TRUE(file);
  for (const Ns step : {kSecond, 10 * kSecond})
    EXPECT_GE(*file->integer(fmt::format("SELECT count(*) FROM blocks WHERE step_ns = {}", step)), 3) << step;
  EXPECT_EQ(
      ask(*history, {.from_unix_ns = kStart + 4 * kHour - 2 * kMinute, .to_unix_ns = kStart + 4 * kHour})[0]
          .rows(),
      120u * 20);
  // A smaller limit shrinks the file.
  history = nullptr, history = open_history({.path = folder.file(), .most_bytes = most / 2});
  for (i64 i = 0; i < 1200; ++i) ASSERT_TRUE(history->append(noise_batch(4 * 3600 + i, random, 1)));
  history.reset();
  EXPECT_LE(bytes_of(folder.file()), most / 2);
}

// Runs in a process of its own: the limit of a file's size is one of the process.
int full_disk(const std::string& path) {
  ::signal(SIGXFSZ, SIG_IGN);
  const auto limit_to = [](rlim_t bytes) {
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  const auto history = open_history({path});
  std::mt19937_64 random(6);
  i64 second = 0, failures = 0;
  const auto append = [&](i64 count) {
    for (const i64 end = second + count; second < end; ++second)
      failures += !history->append(noise_batch(second, random, 20)).has_value();
  };
  append(300);
  if (failures != 0) return 1;
  limit_to(300 << 10);
  append(1800);  // 20 KB a minute
  if (failures == 0) return 2;
  HistoryState state = history->state();
  if (state.last_error.empty() || state.lost_rows != 0) return 3;
  if (query(*history, everything())->at(0).rows() != 2100u * 20) return 4;  // it is all in memory
  append(4800);
  state = history->state();
  if (state.waiting_bytes > (1 << 20) || state.lost_rows == 0) return 5;
  const i64 kept = state.rows - state.lost_rows;
  limit_to(RLIM_INFINITY);
  failures = 0;
  append(60);
  state = history->state();
  if (failures != 0 || state.waiting_bytes != 0 || !state.last_error.empty()) return 6;
  const auto tables = query(*history, {.from_unix_ns = kStart, .to_unix_ns = 2 * kStart, .step = 1});
  const auto rows = static_cast<i64>(tables->at(0).rows());
  // All but what has been lost, and counted, is there: seconds of the last hour, ten seconds before.
  return rows > kept / 20 && state.lost_rows > 0 ? 0 : 7;
}

TEST(Disk, FullIsAnErrorAndLaterItGoesOn) {
  const TestFolder folder;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(full_disk(folder.file()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// As the disk of a small file system: ENOSPC, which SQLite tells apart.
TEST(Disk, FileSystemFull) {
  const TestFolder folder;
  const std::string mount = folder.file("small");
  fs::create_directory(mount);
  if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=500k") != 0)
    GTEST_SKIP() << "needs to mount a file system";
  std::mt19937_64 random(7);
  i64 second = 0, failures = 0;
  {
    const auto history = open_history({mount + "/history.db"});
    for (; second < 3000; ++second) failures += !history->append(noise_batch(second, random, 20)).has_value();
    EXPECT_GT(failures, 0);
    EXPECT_GT(history->state().waiting_bytes, 0);
    EXPECT_EQ(ask(*history, everything())[0].rows(), 3000u * 20);
    ASSERT_EQ(::mount("tmpfs", mount.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
    for (failures = 0; second < 3060; ++second)
      failures += !history->append(noise_batch(second, random, 20)).has_value();
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(history->state().waiting_bytes, 0);
    EXPECT_EQ(history->state().lost_rows, 0);
    EXPECT_EQ(ask(*history, everything())[0].rows(), 3060u * 20);
  }
  ::umount(mount.c_str());
}

}  // namespace
}  // namespace spotter::store

// kill -9 in the middle of writing, again and again: what was taken is there but for the block that was
// filling.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "store/test_history.h"

namespace spotter::store {
namespace {

constexpr i64 kBlockRows = 60;

// Appends from `next` on, and says of each batch that it was taken.
[[noreturn]] void write_for_ever(const std::string& path, i64 next, int pipe) {
  const auto history = open_history(
      {.path = path, .tiers = {{kSecond, 900 * kHour, kMinute}, {10 * kSecond, 9000 * kHour, 10 * kMinute}}});
  for (;; ++next) {
    Batch batch = disk_batch(next, kStart + next * kSecond);
    for (const char* name : {"net", "memory"}) {
      Table& table = batch.tables.emplace_back(name, kDisk);
      table.append({"x", next, next, 0.5, "none"});
    }
    if (!history->append(batch)) ::_exit(1);
    if (::write(pipe, &next, sizeof next) != sizeof next) ::_exit(2);
  }
}

// What a process that was started at `next` had taken when it was killed: at some moment after it had taken
// `least` batches, since it does not wait for who reads the pipe.
i64 last_taken(const std::string& path, i64 next, i64 least) {
  int pipe[2];
  CHECK(::pipe(pipe) == 0);
  const pid_t child = ::fork();
  if (child == 0) write_for_ever(path, next, pipe[1]);
  ::close(pipe[1]);
  i64 taken = -1, number = 0;
  bool is_killed = false;
  while (::read(pipe[0], &number, sizeof number) == sizeof number) {
    taken = number;  // also what is in the pipe when it is dead
    if (is_killed || taken - next < least) continue;
    ::kill(child, SIGKILL);
    is_killed = true;
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
  return taken;
}

TEST(Kill, LosesAtMostTheBlockThatWasFilling) {
  const TestFolder folder;
  std::mt19937_64 random(8);
  i64 next = 0, lost = 0;
  for (int round = 0; round < 100; ++round) {
    const i64 taken = last_taken(folder.file(), next, static_cast<i64>(random() % 300));
    ASSERT_GE(taken, next);
    const Ns from = kStart + std::max<i64>(0, next - 2000) * kSecond;
    const auto tables = query(folder.file(), {.from_unix_ns = from, .to_unix_ns = 2 * kStart});
    ASSERT_TRUE(tables) << round << ": " << tables.error().message;
    i64 kept = next;
    for (const Table& table : *tables) {
      // Everything up to the last, without holes.
      const i64 keys = table.name() == "disk" ? 2 : 1;
      const i64 rows = static_cast<i64>(table.rows()) / keys;
      if (rows == 0) continue;
      const i64 end = (table.integer(table.rows() - 1, 0) - kStart) / kSecond + 1;
      ASSERT_EQ(end - rows, (from - kStart) / kSecond) << round;
      ASSERT_GE(end, taken + 1 - kBlockRows) << round << " " << table.name();
      kept = end;
    }
    ASSERT_GE(kept, taken + 1 - kBlockRows) << round;
    lost += taken + 1 - kept;
    next = kept;
  }
  EXPECT_GT(next, 5000);  // it has written blocks, and folded them
  EXPECT_GT(lost, 0);
  // The coarser tier has each step once, too.
  HistoryQuery coarse = everything();
  coarse.step = 10 * kSecond;
  const auto tables = query(folder.file(), coarse);
  ASSERT_TRUE(tables);
  EXPECT_EQ(static_cast<i64>(tables->at(1).rows()), (next + 9) / 10);
}

}  // namespace
}  // namespace spotter::store

// kill -9 in the middle of writing, again and again: what was taken is there, once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "store/test_history.h"

namespace spotter::store {
namespace {

HistoryOptions options_of(const TestFolder& folder) {
  return {.path = folder.file(),
          .tiers = {{kSecond, 900 * kHour, kMinute}, {10 * kSecond, 9000 * kHour, 10 * kMinute}}};
}

// How many batches are there; they are there without holes, each in all tables or in none. -1, and a failure
// of the test, where that is not so.
i64 batches_in(History& history) {
  i64 batches = -1;
  for (const Table& table : ask(history, everything())) {
    const i64 own = static_cast<i64>(table.rows()) / (table.name() == "disk" ? 2 : 1);
    if (batches == -1) batches = own;
    EXPECT_EQ(own, batches) << table.name();
    for (size_t row = 0; row < table.rows() && own == batches; ++row) {
      const i64 wanted = static_cast<i64>(row) % batches;
      if (table.integer(row, 0) == kStart + wanted * kSecond) continue;
      ADD_FAILURE() << table.name() << " has no batch " << wanted << ", or has it twice";
      break;
    }
  }
  return ::testing::Test::HasFailure() ? -1 : std::max<i64>(batches, 0);
}

// Goes on behind what is there, and says of each batch that it was taken. It ends by itself where something
// is wrong.
[[noreturn]] void write_for_ever(const TestFolder& folder, int pipe) {
  const auto history = open_history(options_of(folder));
  i64 next = batches_in(*history);
  if (next < 0) ::_exit(1);
  for (;; ++next) {
    Batch batch = disk_batch(next, kStart + next * kSecond);
    for (const char* name : {"net", "memory"}) {
      Table& table = batch.tables.emplace_back(name, kDisk);
      table.append({"x", next, next, 0.5, "none"});
    }
    if (const Result<void> appended = history->append(batch); !appended) {
      fmt::print(stderr, "batch {}: {}\n", next, appended.error().message);
      ::_exit(2);
    }
    if (::write(pipe, &next, sizeof next) != sizeof next) ::_exit(3);
  }
}

// The last batch that a process had taken when it was killed: at some moment after it had taken `least`,
// and `pause` later, so that it is at any place of what it does for a batch.
i64 last_taken(const TestFolder& folder, i64 least, std::chrono::microseconds pause) {
  int pipe[2];
  CHECK(::pipe(pipe) == 0);
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) write_for_ever(folder, pipe[1]);
  ::close(pipe[1]);
  i64 taken = -1, number = 0, count = 0;
  while (::read(pipe[0], &number, sizeof number) == sizeof number) {
    taken = number;  // also what is in the pipe when it is dead
    if (count++ != least) continue;
    std::this_thread::sleep_for(pause);
    ::kill(child, SIGKILL);
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
      << "the writer ended by itself, with status " << status;
  return taken;
}

TEST(Kill, LosesNothingThatWasTaken) {
  const TestFolder folder;
  std::mt19937_64 random(8);
  i64 batches = 0;
  for (int round = 0; round <= 60; ++round) {
    const auto least = static_cast<i64>(random() % 200);
    const i64 taken = last_taken(folder, least, std::chrono::microseconds(random() % 300));
    ASSERT_GE(taken, batches) << round;
    batches = taken + 1;
    if (round % 3 != 0) continue;  // the next writer finds what this one left; the last one is looked at
    const auto history = open_history(options_of(folder));
    const i64 found = batches_in(*history);
    ASSERT_GE(found, batches) << round;
    ASSERT_LE(found, batches + 1) << round;  // one was taken, and the writer killed before it could say so
    batches = found;
  }
  EXPECT_GT(batches, 5000);  // blocks were written, and folded
  // The coarser tier has each step once, too.
  HistoryQuery coarse = everything();
  coarse.step = 10 * kSecond;
  const auto tables = query(folder.file(), coarse);
  ASSERT_TRUE(tables);
  EXPECT_EQ(static_cast<i64>(tables->at(1).rows()), (batches + 9) / 10);
}

}  // namespace
}  // namespace spotter::store

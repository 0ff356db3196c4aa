#include "collect/host/file_system_usage.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "base/time.h"

namespace spotter::collect {
namespace {

using std::chrono::steady_clock;

Mount mount_at(const std::string& path, bool is_remote) {
  Mount mount;
  mount.mount_point = path;
  mount.type = is_remote ? "nfs4" : "ext4";
  mount.is_remote = is_remote;
  return mount;
}

UsageAnswer good(i64 size) { return {.is_reachable = true, .usage = Usage{size, 1, 1, {}, {}}}; }

TEST(FileSystemUsage, AsTheSystemTells) {
  struct stat state{};
  ASSERT_EQ(stat("/", &state), 0);
  struct statvfs expected{};
  ASSERT_EQ(statvfs("/", &expected), 0);
  Mount mount = mount_at("/", false);
  mount.major = major(state.st_dev);
  mount.minor = minor(state.st_dev);
  const UsageAnswer answer = ask_usage("/", mount);
  EXPECT_EQ(answer.is_reachable, true);
  ASSERT_TRUE(answer.usage);
  EXPECT_EQ(answer.usage->size_bytes, static_cast<i64>(expected.f_blocks * expected.f_frsize));
  EXPECT_LE(answer.usage->free_bytes, answer.usage->size_bytes);
  EXPECT_LE(answer.usage->available_bytes, answer.usage->free_bytes);
}

TEST(FileSystemUsage, AnotherOneInItsPlaceIsNotTold) {
  const Mount mount = mount_at("/", false);  // device 0:0, which nothing is
  const UsageAnswer other = ask_usage("/", mount), none = ask_usage("/no/such/path", mount);
  EXPECT_FALSE(other.is_reachable);
  EXPECT_FALSE(other.usage);
  EXPECT_FALSE(none.is_reachable);
  EXPECT_FALSE(none.usage);
}

TEST(FileSystemUsage, ADeadServerDelaysTheOthersByNothing) {
  std::promise<void> server;
  const std::shared_future<void> alive = server.get_future().share();
  const auto questions = std::make_shared<std::atomic<int>>(0);
  UsageAsker asker(250 * kMillisecond, [alive, questions](const std::string& path, const Mount&) {
    if (path.starts_with("/host/dead")) {
      ++*questions;
      alive.wait();
    }
    return good(path == "/host/b" ? 7 : 5);
  });
  const std::vector<Mount> mounts = {mount_at("/dead1", true), mount_at("/a", true), mount_at("/dead2", true),
                                     mount_at("/b", true), mount_at("/local", false)};
  for (int round = 0; round < 3; ++round) {
    const auto begin = steady_clock::now();
    const auto answers = asker.ask("/host", mounts);
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(5));
    ASSERT_EQ(answers.size(), 5U);
    EXPECT_EQ(answers[0].is_reachable, false);
    EXPECT_FALSE(answers[0].usage);
    EXPECT_EQ(answers[1].usage->size_bytes, 5);
    EXPECT_EQ(answers[2].is_reachable, false);
    EXPECT_EQ(answers[3].usage->size_bytes, 7);
    EXPECT_EQ(answers[4].usage->size_bytes, 5);
  }
  EXPECT_EQ(*questions, 2);  // each dead one was asked once, however often the sampler came by

  server.set_value();  // the server is back: first the old question returns, then a new one is asked
  std::vector<UsageAnswer> answers;
  for (int i = 0; i < 100; ++i) {
    answers = asker.ask("/host", mounts);
    if (answers[0].is_reachable == true && answers[2].is_reachable == true) break;
  }
  EXPECT_EQ(answers[0].is_reachable, true);
  EXPECT_EQ(answers[2].usage->size_bytes, 5);
}

TEST(FileSystemUsage, MayEndBeforeAQuestionReturns) {
  std::promise<void> server;
  const std::shared_future<void> alive = server.get_future().share();
  const auto is_done = std::make_shared<std::promise<void>>();
  {
    UsageAsker asker(kMillisecond, [alive, is_done](const std::string&, const Mount&) {
      alive.wait();
      is_done->set_value();
      return UsageAnswer{};
    });
    EXPECT_EQ(asker.ask("/", {mount_at("/dead", true)})[0].is_reachable, false);
  }
  server.set_value();
  is_done->get_future().wait();
}

}  // namespace
}  // namespace spotter::collect

#include "net/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/time.h"
#include "net/testing.h"

namespace spotter::net {
namespace {

namespace fs = std::filesystem;

class ChildTest : public testing::Test {
 protected:
  static ChildOrder order(std::vector<std::string> command, std::string input = {}) {
    ChildOrder order;
    order.command = std::move(command);
    order.input = std::move(input);
    order.time = 20 * kSecond;
    order.output_bytes = 1 << 20;
    return order;
  }
  static ChildOrder shell(const std::string& line, std::string input = {}) {
    return order({"/bin/sh", "-c", line}, std::move(input));
  }

  Result<std::string> run(const ChildOrder& wanted) {
    std::optional<Result<std::string>> outcome;
    auto child = Child::start(loop_, wanted, [&](Result<std::string> o) { outcome = std::move(o); });
    if (!child) return tl::unexpected(child.error());
    EXPECT_TRUE(run_until(loop_, [&] { return outcome.has_value(); }, std::chrono::seconds(30)));
    return outcome.value_or(fail(Code::internal, "no outcome"));
  }
  std::string output(const ChildOrder& wanted) {
    const auto outcome = run(wanted);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or("");
  }
  std::string error(const ChildOrder& wanted) {
    const auto outcome = run(wanted);
    EXPECT_FALSE(outcome);
    return outcome ? "" : outcome.error().message;
  }

  Loop loop_;
};

TEST_F(ChildTest, InputAndOutput) {
  const std::string much(300'000, 'x');
  EXPECT_EQ(output(order({"/bin/cat"}, much)), much);
  EXPECT_EQ(output(order({"/bin/cat"})), "");
  EXPECT_EQ(output(shell("echo \"$0\" \"$1\"; exit 0")), "/bin/sh \n");
}

TEST_F(ChildTest, Files) {
  const fs::path folder = fs::path("/tmp") / private_name("child");
  fs::create_directories(folder);
  std::ofstream(folder / "a") << "first";
  std::ofstream(folder / "b") << "second";
  ChildOrder wanted = shell("cat <&4; cat <&3");
  for (const char* name : {"a", "b"})
    wanted.files.emplace_back(open((folder / name).c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(output(wanted), "secondfirst");
  fs::remove_all(folder);
}

TEST_F(ChildTest, InheritsNothing) {
  setenv("SPOTTER_SECRET", "x", 1);
  const Descriptor kept(open("/dev/null", O_RDONLY));
  EXPECT_EQ(output(order({"/usr/bin/env"})), "");
  EXPECT_EQ(output(order({"/bin/ls", "/proc/self/fd"})), "0\n1\n2\n3\n");  // 3 is the folder itself
  EXPECT_EQ(output(order({"/bin/pwd"})), "/\n");
  unsetenv("SPOTTER_SECRET");
}

TEST_F(ChildTest, HasNoCapabilitiesAndIgnoresNoSignal) {
  const auto usual = std::signal(SIGUSR1, SIG_IGN);
  const std::string status = output(order({"/bin/cat", "/proc/self/status"}));
  std::signal(SIGUSR1, usual);
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
    EXPECT_NE(status.find(fmt::format("{}:\t0000000000000000\n", set)), status.npos) << status;
  // The C library has 32 and 33 for itself: it lets nobody set them, and what posix_spawn started (make does)
  // ignores them.
  constexpr u64 kOfTheLibrary = u64{1} << 31 | u64{1} << 32;
  const size_t ignored = status.find("SigIgn:\t");
  ASSERT_NE(ignored, status.npos) << status;
  EXPECT_EQ(std::stoull(status.substr(ignored + 8), nullptr, 16) & ~kOfTheLibrary, 0u) << status;
}

TEST_F(ChildTest, StaysOutOfTheWay) {
  EXPECT_EQ(output(order({"/usr/bin/nice"})), "19\n");
  EXPECT_EQ(output(order({"/bin/cat", "/proc/self/oom_score_adj"})), "1000\n");
  EXPECT_EQ(output(shell("ulimit -c")), "0\n");
  EXPECT_EQ(output(shell("ulimit -n")), "19\n");
  ChildOrder asks_many = shell("ulimit -n");
  asks_many.descriptors_more = 200;
  EXPECT_EQ(output(asks_many), "203\n");
}

TEST_F(ChildTest, AsAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root becomes others";
  ChildOrder wanted = order({"/usr/bin/id"});
  wanted.uid = 12345;
  EXPECT_EQ(output(wanted).find("uid=12345 gid=65534"), 0u);
  wanted.command = {"/bin/grep", "-E", "^(CapPrm|CapEff|NoNewPrivs)", "/proc/self/status"};
  EXPECT_EQ(output(wanted), "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n");
}

TEST_F(ChildTest, SaysWhyItFailed) {
  EXPECT_EQ(error(shell("echo one >&2; echo two >&2; exit 3")), "it ended with status 3: one\ntwo");
  EXPECT_EQ(error(shell("kill -TERM $$")), "it was ended by signal 15");
  EXPECT_LT(error(shell("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1")).size(), 500u);
  EXPECT_NE(error(order({"/nowhere/program"})).find("cannot run the program: No such file"),
            std::string::npos);
}

TEST_F(ChildTest, TakesTooLong) {
  ChildOrder wanted = order({"/bin/sleep", "100"});
  wanted.time = kSecond / 20;
  EXPECT_NE(error(wanted).find("took more than"), std::string::npos);
}

TEST_F(ChildTest, WritesTooMuch) {
  EXPECT_EQ(error(order({"/usr/bin/yes"})), "its output is larger than 1048576 bytes");
}

TEST_F(ChildTest, TakesTooMuchMemory) {
  ChildOrder wanted = order({"/usr/bin/tail", "/dev/zero"});
  wanted.memory_bytes = size_t{64} << 20;
  EXPECT_NE(error(wanted).find("it ended with status 1"), std::string::npos);
}

TEST_F(ChildTest, IsKilledWithItsOwner) {
  auto child = Child::start(loop_, order({"/bin/sleep", "100"}), [](Result<std::string>) { FAIL(); });
  ASSERT_TRUE(child);
  const auto pid = static_cast<pid_t>((*child)->pid());
  child->reset();
  EXPECT_TRUE(run_until(loop_, [&] { return kill(pid, 0) != 0; }));  // and it is no zombie
}

TEST_F(ChildTest, MayBeDestroyedWhenItEnds) {
  std::unique_ptr<Child> child;
  bool ended = false;
  auto started = Child::start(loop_, order({"/bin/true"}), [&](Result<std::string>) {
    child.reset();
    ended = true;
  });
  ASSERT_TRUE(started);
  child = std::move(*started);
  EXPECT_TRUE(run_until(loop_, [&] { return ended; }));
}

TEST(ChildLoopTest, TheLoopMayEndFirst) {
  auto loop = std::make_unique<Loop>();
  ChildOrder order;
  order.command = {"/bin/sleep", "1"};
  order.time = kSecond;
  auto child = Child::start(*loop, order, [](Result<std::string>) {});
  ASSERT_TRUE(child);
  child->reset();
  loop.reset();
}

// Who was started with less than an order allows still starts children, with that. In a process of its own,
// since not everybody gets a limit back.
TEST_F(ChildTest, LimitsThatItHasItself) {
  const auto child = [this] {
    const rlimit low{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &low) != 0) _exit(2);
    ChildOrder wanted = shell("ulimit -f");  // in blocks of 512 bytes
    wanted.output_bytes = 1 << 30;
    _exit(output(wanted) == "2048\n" ? 0 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace spotter::net

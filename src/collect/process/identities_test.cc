#include "collect/process/identities.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/time.h"
#include "collect/list.h"
#include "collect/test_machine.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

using namespace std::string_literals;

// A process that began at the boot and, at some time, executes another program.
class ExecTest : public testing::Test {
 protected:
  ExecTest() { machine_.pass(10 * kMinute); }

  void runs(const std::string& name, const std::string& environment, i64 stack) const {
    machine_.write("proc/42/stat",
                   fmt::format("42 ({}) S 1 42 42 0 -1 0 0 0 0 0 200 50 0 0 20 0 4 0 100 0 1000 0 1 1 {} 0",
                               name, stack));
    machine_.write("proc/42/cmdline", name + "\0train.py\0"s);
    machine_.write("proc/42/environ", environment);
  }
  std::string jobs(Collector& processes) const {
    const auto tables = processes.sample();
    if (!tables) return tables.error().message;
    std::string all;
    const Table& table = *std::ranges::find(*tables, "job", &Table::name);
    for (size_t row = 0; row < table.rows(); ++row)
      all += fmt::format("{} ", table.text(row, table.column("job")));
    return all;
  }

  TestMachine machine_{""};
};

const std::string kOfJob = "SLURM_JOB_ID=7\0RANK=0\0"s, kOfNone = "PATH=/bin\0"s;

TEST_F(ExecTest, ASettledProcessIsWhatItRunsNow) {
  Identities identities(machine_.host());
  runs("sh", kOfNone, 1000);
  EXPECT_EQ(identities.who(42).program, "sh");
  EXPECT_TRUE(identities.is_settled(42));
  runs("sh", kOfJob, 1000);  // no exec: what was read is kept
  EXPECT_EQ(identities.who(42).job, "");
  runs("python", kOfJob, 2000);
  EXPECT_EQ(identities.who(42).program, "python");
  EXPECT_EQ(identities.who(42).job, "7");
}

// Who reads of all processes all the time tells it to the others; when he has not for long, they look.
TEST_F(ExecTest, WhatWasToldOfAProcessIsReadAgainWhenItIsOld) {
  Identities identities(machine_.host());
  runs("sh", kOfNone, 1000);
  identities.notice(42);
  identities.set_lives({{42, {.start_ticks = 100, .program = 1000, .has_ended = false}}});
  runs("python", kOfJob, 2000);
  EXPECT_EQ(identities.life(42)->program, 1000);
  EXPECT_FALSE(identities.life(43));
  machine_.pass(2 * kSecond);
  EXPECT_EQ(identities.life(42)->program, 2000);
  EXPECT_EQ(identities.who(42).job, "7");
  identities.set_lives({{42, {.start_ticks = 101, .program = 2000, .has_ended = false}}});
  EXPECT_TRUE(identities.noticed().empty());  // another process has the number
}

// A launcher's id may be used again, elsewhere; and by anybody.
TEST_F(ExecTest, WhereAJobIsSaysItsOwnersLastProcess) {
  Identities identities(machine_.host());
  const auto leader = [&](i64 pid, i64 uid, const std::string& host) {
    const std::string folder = fmt::format("proc/{}/", pid);
    machine_.write(
        folder + "stat",
        fmt::format("{} (python) S 1 42 42 0 -1 0 0 0 0 0 200 50 0 0 20 0 4 0 100 0 1000 0 1 1 9 0", pid));
    machine_.write(folder + "status", fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}\n", uid));
    machine_.write(folder + "environ",
                   "TORCHELASTIC_RUN_ID=mine\0RANK=0\0WORLD_SIZE=2\0MASTER_ADDR="s + host + "\0"s);
    EXPECT_EQ(identities.who(pid).job, "mine");
    return identities.job_facts("mine").first_host;
  };
  EXPECT_EQ(leader(50, 1000, "gpu01"), "gpu01");
  EXPECT_EQ(leader(51, 1000, "gpu07"), "gpu07");
  EXPECT_EQ(leader(52, 1001, "evil"), "gpu07");
}

// It has no memory any more, so nothing says whose it is; a GPU may have it for long yet.
TEST_F(ExecTest, AProcessThatEndsIsStillOfItsJob) {
  Identities identities(machine_.host());
  runs("python", kOfJob, 1000);
  EXPECT_EQ(identities.who(42).job, "7");
  machine_.write("proc/42/stat",
                 "42 (python) Z 1 42 42 0 -1 0 0 0 0 0 200 50 0 0 20 0 1 0 100 0 0 0 0 0 0 0");
  machine_.write("proc/42/cmdline", "");
  machine_.write("proc/42/environ", "");
  EXPECT_EQ(identities.who(42).job, "7");
}

TEST_F(ExecTest, AProcessOfNoJobBecomesOne) {
  const auto identities = std::make_shared<Identities>(machine_.host());
  const auto processes = find_collector("process")->open({.host = machine_.host(), .identities = identities});
  ASSERT_TRUE(processes);
  runs("sh", kOfNone, 1000);
  for (int second = 0; second < 300; ++second) {
    EXPECT_EQ(jobs(**processes), "");
    machine_.pass(kSecond);
  }
  runs("python", kOfJob, 2000);
  int waited = 0;
  while (jobs(**processes).empty() && waited < 1000) {
    machine_.pass(kSecond);
    ++waited;
  }
  EXPECT_LE(waited, 325);  // no longer than it has been known
  EXPECT_EQ(jobs(**processes), "7 ");
}

TEST_F(ExecTest, AProcessOfAJobBecomesAnotherOrNone) {
  const auto identities = std::make_shared<Identities>(machine_.host());
  const auto processes = find_collector("process")->open({.host = machine_.host(), .identities = identities});
  ASSERT_TRUE(processes);
  runs("sh", kOfJob, 1000);
  const auto soon = [&](const std::string& before, const std::string& after) {
    for (int second = 0; second < 12; ++second) {
      machine_.pass(kSecond);
      const std::string now = jobs(**processes);
      if (now == after) return true;
      EXPECT_EQ(now, before);
    }
    return false;
  };
  EXPECT_EQ(jobs(**processes), "7 ");
  EXPECT_FALSE(soon("7 ", ""));
  runs("python", "SLURM_JOB_ID=8\0"s, 2000);
  EXPECT_TRUE(soon("7 ", "8 "));
  runs("sleep", kOfNone, 3000);
  EXPECT_TRUE(soon("8 ", ""));
}

TEST_F(ExecTest, UsersWhomThisMachineDoesNotKnow) {
  machine_.write("etc/passwd", "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n");
  i64 stack = 1000;
  const auto user_of = [&](int uid, const std::string& environment) {
    machine_.write("proc/42/status", fmt::format("Name:\tpython\nUid:\t{0}\t{0}\t{0}\t{0}\n", uid));
    runs("python", environment, ++stack);
    return Identities(machine_.host()).who(42).user;
  };
  EXPECT_EQ(user_of(1000, "USER=grace\0"s), "ada");
  EXPECT_EQ(user_of(70001, "USER=x\0SLURM_JOB_USER=grace\0"s), "grace");
  EXPECT_EQ(user_of(70001, "LOGNAME=grace\0"s), "grace");
  EXPECT_EQ(user_of(70001, "USER=ada\0LOGNAME=root\0"s), "70001");  // nobody passes for them
  EXPECT_EQ(user_of(70001, kOfNone), "70001");
  machine_.write("etc/passwd", "");  // then nobody is known from whom a name could be
  EXPECT_EQ(user_of(70001, "USER=grace\0"s), "70001");
}

TEST_F(ExecTest, AUserHasOneName) {
  machine_.write("etc/passwd", "root:x:0:0::/root:/bin/sh\n");
  machine_.write("proc/42/status", "Name:\tpython\nUid:\t70001\t70001\t70001\t70001\n");
  Identities identities(machine_.host());
  i64 stack = 5000;
  for (const std::string& environment : {"USER=grace\0"s, std::string(kOfNone), "USER=hopper\0"s}) {
    runs("python", environment, ++stack);
    EXPECT_EQ(identities.who(42).user, "grace");
  }
}

// Who is in no list of users says what it is called, but not what another is called.
TEST_F(ExecTest, NobodyPassesForAnotherUser) {
  machine_.write("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nbob:x:1000:1000::/home/bob:/bin/sh\n");
  Identities identities(machine_.host());
  i64 stack = 1000;
  const auto user = [&](i64 uid, const std::string& told) {
    machine_.write("proc/42/status", fmt::format("Name:\tpython\nUid:\t{0}\t{0}\t{0}\t{0}\n", uid));
    runs("python", "USER=" + told + '\0', stack += 1000);
    return identities.who(42).user;
  };
  EXPECT_EQ(user(1000, "root"), "bob");  // the machine knows better
  EXPECT_EQ(user(2000, "root"), "2000");
  EXPECT_EQ(user(2001, "alice"), "alice");
  EXPECT_EQ(user(2002, "alice"), "2002") << "that is 2001's name";
  EXPECT_EQ(user(2001, "carol"), "alice") << "as it said first";
}

}  // namespace
}  // namespace spotter::collect

#include "agent/captures/begin_capture.h"

#include <gtest/gtest.h>

#include "agent/jobs/job_owner.h"
#include "agent/test_agent.h"

namespace spotter::agent {
namespace {

class BeginCapture : public testing::Test, protected TestAgent {
 protected:
  BeginCapture() {
    beside([&] {
      poll();
      answer_to_registration();
    });
  }
  Result<BegunCapture> begin(const kineto::Target& target, const Peer& peer) {
    WantedCapture wanted;
    wanted.target = target;
    return begin_capture(*agent_, peer, wanted, "a test");
  }
  Result<BegunCapture> begin(const kineto::Target& target) { return begin(target, own()); }
};

TEST_F(BeginCapture, GoesToTheFirstDirectoryOfTheAgent) {
  const auto begun = begin({.job = "5"});
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_TRUE(begun->notes.empty());
  const capture::Capture* capture = agent_->captures.find(begun->id);
  ASSERT_TRUE(capture);
  ASSERT_EQ(capture->receipts.size(), 1u);
  EXPECT_EQ(capture->receipts[0].pid, getpid());
  EXPECT_TRUE(capture->receipts[0].file.starts_with(root_.string() + "/")) << capture->receipts[0].file;
  EXPECT_EQ(capture->asked_by, own().name);
}

TEST_F(BeginCapture, SaysWhatTheTraceWillLack) {
  WantedCapture wanted;
  wanted.request.config.memory = true;
  const auto begun = begin_capture(*agent_, own(), wanted, "a test");
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_EQ(begun->notes.count("memory_events"), 1);
}

TEST_F(BeginCapture, SaysWhereTheTraceWillNotBe) {
  WantedCapture wanted;
  wanted.request.output = "/var/tmp";
  const auto begun = begin_capture(*agent_, own(), wanted, "a test");
  ASSERT_FALSE(begun) << "the agent does not let traces be written there";
  options_.output_directories = {"/var/tmp"};
  restart();
  beside([&] {
    poll();
    answer_to_registration();
  });
  const auto allowed = begin_capture(*agent_, own(), wanted, "a test");
  ASSERT_TRUE(allowed) << allowed.error().message;
  ASSERT_EQ(allowed->notes.count("written_elsewhere"), 1);
  EXPECT_NE(allowed->notes.all()[0].sentence.find("below /tmp/ only"), std::string::npos);
}

TEST_F(BeginCapture, NobodyIsMeant) {
  const Error error = begin({.ranks = {7}}).error();
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_EQ(error.message, "1 processes are registered, but none matches; `spotter ps` lists them");
}

TEST_F(BeginCapture, OfOthersOnlyWhereTheyAreNamedAndThenItSaysWho) {
  const Peer stranger{AccessRole::trace, 12345, true, "user 12345", "test"};
  EXPECT_EQ(begin({}, stranger).error().message, "the 1 processes that match are other users'");
  const Error named = begin({.pids = {getpid()}}, stranger).error();
  EXPECT_EQ(named.code, Code::denied);
  EXPECT_NE(named.message.find("may not trace process"), std::string::npos) << named.message;
}

// Whoever claims the id neither is traced with it, nor keeps it from being traced; named himself, he is
// meant.
TEST_F(BeginCapture, OfAJobOnlyItsOwnersProcesses) {
  constexpr i64 kStranger = 12345, kPid = 4'000'001;
  add_process(kPid, kStranger, "SLURM_JOB_ID=5");
  for (const Peer& peer :
       {own(), Access::own("rule slow_step"), Peer{AccessRole::trace, geteuid(), true, "a", ""}}) {
    const auto begun = begin({.job = "5"}, peer);
    ASSERT_TRUE(begun) << begun.error().message;
    EXPECT_EQ(begun->notes.count("other_users"), 1);
    const capture::Capture* capture = agent_->captures.find(begun->id);
    ASSERT_EQ(capture->receipts.size(), 1u);
    EXPECT_EQ(capture->receipts[0].pid, getpid());
    agent_->captures.end(begun->id, "test", agent_->clock.now());
  }
  EXPECT_NE(begin({.pids = {kPid}, .job = "5"}).error().message.find("user 12345 may not write"),
            std::string::npos);
}

// The agent may look a process up long after it polled; who was met first is not who came first.
TEST_F(BeginCapture, AJobIsWhoseProcessPolledFirst) {
  constexpr i64 kStranger = 12345, kPid = 4'000'001;
  restart();
  poll();
  while (agent_->processes.counters().polls == 0) loop_.context().run_one();
  add_process(kPid, kStranger, "SLURM_JOB_ID=5");
  EXPECT_EQ(owner_of(*agent_->identities, agent_->processes.registry(), "5"), geteuid());
}

// An id is used again when the job that had it is over.
TEST_F(BeginCapture, AJobOfWhoIsThereAlone) {
  constexpr i64 kStranger = 12345, kPid = 4'000'001;
  agent_->registry.gone(getpid());
  add_process(kPid, kStranger, "SLURM_JOB_ID=5");
  EXPECT_EQ(owner_of(*agent_->identities, agent_->registry, "5"), kStranger);
  EXPECT_EQ(owner_of(*agent_->identities, agent_->registry, "6"), -1);
}

TEST_F(BeginCapture, AJobIsWhoseProcessSlurmHasPutIntoIt) {
  constexpr i64 kStranger = 12345, kPid = 4'000'001;
  add_process(kPid, kStranger, "SLURM_JOB_ID=5", "0::/system.slice/slurmstepd.scope/job_5/step_0\n");
  EXPECT_EQ(owner_of(*agent_->identities, agent_->registry, "5"), kStranger);
}

TEST_F(BeginCapture, APartOfTheAgentAsksByNoSocket) {
  const auto begun = begin({}, Access::own("rule slow_step"));
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_EQ(agent_->captures.find(begun->id)->asked_by, "the agent, rule slow_step");
  EXPECT_EQ(agent_->control.end(Access::own("rule other"), begun->id).error().code, Code::denied);
  EXPECT_TRUE(agent_->control.end(Access::own("rule slow_step"), begun->id));
}

TEST_F(BeginCapture, WhoMayOnlyLook) {
  const Peer viewer{AccessRole::view, {}, false, "client viewer", "test"};
  EXPECT_EQ(begin({}, viewer).error().message, "client viewer may not trace");
  EXPECT_EQ(agent_->captures.active(), 0u);
}

}  // namespace
}  // namespace spotter::agent

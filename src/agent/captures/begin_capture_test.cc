#include "agent/captures/begin_capture.h"

#include <gtest/gtest.h>

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

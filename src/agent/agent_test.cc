#include "agent/agent.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "agent/telemetry/tables.h"
#include "agent/test_agent.h"

namespace spotter::agent {
namespace {

class AgentTest : public testing::Test, protected TestAgent {};

TEST_F(AgentTest, WhoMayTraceMayPauseProfiling) {
  const collect::ProfilingPause& pause = *agent_->profiling_pause;
  const auto is_on = [&] { return pause.is_on(agent_->clock.now().steady); };
  const Peer nobody = agent_->access.local(-1, "test");
  EXPECT_EQ(agent_->control.pause_profiling(nobody, 60'000'000'000).error().code, Code::denied);
  EXPECT_FALSE(is_on());
  EXPECT_TRUE(agent_->control.pause_profiling(own(), 60'000'000'000));
  EXPECT_TRUE(is_on());
  EXPECT_FALSE(agent_->control.pause_profiling(nobody, 0));
  EXPECT_TRUE(is_on());
  EXPECT_TRUE(agent_->control.pause_profiling(own(), 0));
  EXPECT_FALSE(is_on());
}

TEST_F(AgentTest, WhoPollsIsInTheTables) {
  beside([&] {
    send("nonsense");
    poll();
    EXPECT_EQ(answer_to_registration(), kineto::encode_count(1));
  });
  const Table table = processes_table(*agent_);
  ASSERT_EQ(table.rows(), 1u);
  const auto cell = [&](const char* name) { return table.at(0, table.column(name)); };
  EXPECT_EQ(cell("pid"), Value(i64{getpid()}));
  EXPECT_EQ(cell("uid"), Value(i64{geteuid()}));
  EXPECT_EQ(cell("role"), Value("rank"));
  EXPECT_EQ(cell("rank"), Value(i64{1}));
  EXPECT_EQ(cell("world_size"), Value(i64{2}));
  EXPECT_EQ(cell("job"), Value("5"));
  EXPECT_EQ(cell("state"), Value("idle"));
  EXPECT_EQ(cell("polls"), Value(i64{1}));
  EXPECT_TRUE(is_null(cell("torch")));
  EXPECT_EQ(std::get<std::string_view>(cell("command")).find('\n'), std::string_view::npos);
}

TEST_F(AgentTest, ARequestGoesOutWithTheNextPoll) {
  beside([&] {
    poll();
    answer_to_registration();
  });
  const auto id = agent_->control.begin(own(), request(), "test");
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(processes_table(*agent_).text(0, processes_table(*agent_).column("state")), "requested");
  EXPECT_EQ(agent_->control.begin(own(), request(), "test").error().code, Code::busy);
  std::string got(4096, '\0');
  beside([&] {
    poll();
    recv(fd_, got.data(), got.size(), 0);
    poll();  // the second one gets nothing
    EXPECT_EQ(answer_to_registration(), kineto::encode_count(1));
  });
  EXPECT_NE(got.find("REQUEST_TRACE_ID=" + *id), std::string::npos);
  EXPECT_EQ(agent_->processes.counters().requests_sent, 1);
}

TEST_F(AgentTest, WhoMayNot) {
  beside([&] {
    poll();
    answer_to_registration();
  });
  EXPECT_EQ(agent_->control.begin(agent_->access.local(12345, "test"), request(), "test").error().code,
            Code::denied);
  capture::Request elsewhere = request();
  elsewhere.output = "/var";
  EXPECT_EQ(agent_->control.begin(own(), elsewhere, "test").error().code, Code::denied);
  elsewhere.output.clear();  // then it is written to /tmp
  EXPECT_EQ(agent_->control.begin(own(), elsewhere, "test").error().code, Code::denied);
}

TEST_F(AgentTest, WhoMayEndACapture) {
  beside([&] {
    poll();
    answer_to_registration();
  });
  const auto id = agent_->control.begin(own(), request(), "test");
  ASSERT_TRUE(id);
  const Peer other{AccessRole::trace, {}, false, "client other", "test"};
  EXPECT_EQ(agent_->control.end(other, *id).error().code, Code::denied);
  EXPECT_EQ(agent_->control.end(own(), "none").error().code, Code::not_found);
  EXPECT_FALSE(agent_->captures.find(*id)->over());
  EXPECT_TRUE(agent_->control.end(own(), *id));
  EXPECT_TRUE(agent_->captures.find(*id)->over());
  EXPECT_NE(agent_->captures.find(*id)->receipts[0].reason.find("before the process had asked"),
            std::string::npos);
  EXPECT_TRUE(agent_->control.begin(own(), request(), "test"));  // it is free again
}

TEST_F(AgentTest, AProcessThatHasPolledAndEnded) {
  const pid_t child = fork();
  if (child == 0) {
    poll();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  // /proc may still tell of it when its poll is read; the watch then finds that it is gone.
  fs::copy(root_ / "proc" / std::to_string(getpid()), root_ / "proc" / std::to_string(child));
  beside([&] { answer_to_registration(); });
  EXPECT_EQ(agent_->processes.counters().polls, 1);
  EXPECT_TRUE(agent_->processes.registry().all().empty());
}

TEST_F(AgentTest, TheHistoryKnowsACaptureFromItsBeginAndThatItsAgentEnded) {
  const std::string path = (root_ / "history.db").string();
  const auto state = [&] {
    const Result<Table> captures = store::read_catalogue(path, store::CatalogueTable::captures);
    if (!captures || captures->rows() != 1) return std::string();
    return std::string(captures->text(0, captures->column("state")));
  };
  options_.telemetry.collectors = {usual_collectors().front()};  // nothing measured, nothing kept
  options_.telemetry.history = store::HistoryOptions{path};
  restart();
  beside([&] {
    poll();
    answer_to_registration();
  });
  ASSERT_TRUE(agent_->control.begin(own(), request(), "test"));
  agent_.reset();
  EXPECT_EQ(state(), "running");
  restart();
  EXPECT_EQ(state(), "lost");
}

TEST_F(AgentTest, CapturesAreInTheirTable) {
  beside([&] {
    poll();
    answer_to_registration();
  });
  EXPECT_EQ(captures_table(*agent_).rows(), 0u);
  const auto id = agent_->control.begin(own(), request(), "test");
  ASSERT_TRUE(id);
  const Table table = captures_table(*agent_);
  ASSERT_EQ(table.rows(), 1u);
  const auto cell = [&](const char* name) { return table.at(0, table.column(name)); };
  EXPECT_EQ(cell("id"), Value(std::string_view(*id)));
  EXPECT_EQ(cell("state"), Value("running"));
  EXPECT_EQ(cell("processes"), Value(i64{1}));
  EXPECT_EQ(cell("written"), Value(i64{0}));
  EXPECT_EQ(cell("output"), Value(std::string_view(agent_->access.directories()[0])));
  EXPECT_EQ(cell("job"), Value("5"));
}

TEST_F(AgentTest, EachListenerIsToldOfEachChange) {
  std::vector<std::string> told;
  for (const char* who : {"first", "second"})
    agent_->captures.add_listener([&told, who](const capture::Capture& c) {
      told.push_back(fmt::format("{}: {}", who, capture::state_name(c.receipts[0].state)));
    });
  beside([&] {
    poll();
    answer_to_registration();
  });
  const auto id = agent_->control.begin(own(), request(), "test");
  ASSERT_TRUE(id);
  EXPECT_EQ(told, (std::vector<std::string>{"first: accepted", "second: accepted"}));
  EXPECT_TRUE(agent_->control.end(own(), *id));
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[3], "second: failed");
}

TEST_F(AgentTest, GoesWithRequestsWaiting) {
  beside([&] {
    poll();
    answer_to_registration();
  });
  const auto id = agent_->control.begin(own(), request(), "test");
  ASSERT_TRUE(id);
  bool told = false;
  agent_->waiters.when_changed(*id, 0, 60'000'000'000, [&] { told = true; });
  agent_->waiters.when_changed(*id, 0, 1'000'000, [this] { loop_.stop(); });
  run();
  agent_.reset();
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace spotter::agent

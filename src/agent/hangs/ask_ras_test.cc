#include "agent/hangs/ask_ras.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "base/time.h"
#include "net/test_line_server.h"
#include "net/testing.h"

namespace spotter::agent {
namespace {

using Said = net::LineServer::Said;

constexpr const char* kJson =
    R"({"nccl_version": "2.28.9", "communicators": [{"hash": "0x1", "size": 2, "ranks": [
      {"rank": 0, "host": "10.0.0.1", "pid": 1, "nvml_dev": 0, "collective_counts": {"AllReduce": 5}},
      {"rank": 1, "host": "10.0.0.2", "pid": 2, "nvml_dev": 0, "collective_counts": {"AllReduce": 4}}],
      "missing_ranks": []}], "ras": {"timeouts_count": 0}})";
constexpr const char* kText =
    "NCCL version 2.27.5 compiled with CUDA 12.9\n\nWarnings\n========\n\n#0-0 (01) MISMATCH\n"
    "  Communicator ranks have different AllReduce operation counts\n"
    "  Rank 0 has launched up to operation 5 -- GPU 0 managed by process 1 on node 10.0.0.1\n"
    "  Rank 1 has launched up to operation 4 -- GPU 0 managed by process 2 on node 10.0.0.2\n\n";

// What NCCL says to each line; to the last one `status`.
net::LineServer server_of(bool knows_json, const std::string& status) {
  return net::LineServer([=](const std::string& line) {
    if (line == "TIMEOUT 3") return Said{"OK\n"};
    if (line == "SET FORMAT json")
      return Said{knows_json ? "OK\n" : "ERROR: Unknown command SET FORMAT json\n"};
    return line == "STATUS" ? Said{status, true} : Said{"ERROR: Unknown command\n"};
  });
}

class AskRasTest : public testing::Test {
 protected:
  Result<wire::RasAnswer> ask(u16 port, i64 uid = geteuid()) {
    AskRas ras(loop_);
    std::optional<Result<wire::RasAnswer>> answer;
    const auto asked =
        ras.ask(fmt::format("localhost:{}", port), uid, [&](auto a) { answer = std::move(a); });
    EXPECT_TRUE(asked);
    EXPECT_FALSE(ras.may_ask(loop_.now() + kHour));  // it is awaited
    EXPECT_TRUE(net::run_until(loop_, [&] { return answer.has_value(); }));
    EXPECT_FALSE(ras.may_ask(loop_.now()));
    EXPECT_TRUE(ras.may_ask(loop_.now() + kMinute));
    return answer ? std::move(*answer) : fail(Code::internal, "no answer");
  }
  net::Loop loop_;
};

TEST_F(AskRasTest, AsJsonAndAsText) {
  for (const bool knows_json : {true, false}) {
    const auto server = server_of(knows_json, knows_json ? kJson : kText);
    const auto answer = ask(server.port());
    ASSERT_TRUE(answer) << answer.error().message;
    const auto stuck = wire::stuck_ranks(*answer, *answer);
    ASSERT_EQ(stuck.size(), 1u);
    EXPECT_EQ(stuck[0].ranks[0].rank, 1);
    EXPECT_EQ(stuck[0].ranks[0].pid, 2);
  }
}

TEST_F(AskRasTest, AnAnswerThatIsCutOffIsNone) {
  for (const bool knows_json : {true, false}) {
    const auto server = server_of(knows_json, std::string(knows_json ? kJson : kText).substr(0, 40));
    const auto answer = ask(server.port());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::invalid);
  }
}

TEST_F(AskRasTest, AnotherUserWhoListensThereIsNotAsked) {
  const auto server = server_of(true, kJson);
  const auto answer = ask(server.port(), geteuid() + 1);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::denied);
}

TEST_F(AskRasTest, NotTooOften) {
  const auto server = server_of(true, kJson);
  AskRas ras(loop_);
  bool has_answered = false;
  const std::string address = fmt::format("127.0.0.1:{}", server.port());
  ASSERT_TRUE(ras.ask(address, geteuid(), [&](const auto&) { has_answered = true; }));
  EXPECT_EQ(ras.ask(address, geteuid(), {}).error().code, Code::busy);
  ASSERT_TRUE(net::run_until(loop_, [&] { return has_answered; }));
  EXPECT_EQ(ras.ask(address, geteuid(), {}).error().code, Code::busy);
  EXPECT_EQ(AskRas(loop_).ask("no port:", geteuid(), {}).error().code, Code::invalid);
}

}  // namespace
}  // namespace spotter::agent

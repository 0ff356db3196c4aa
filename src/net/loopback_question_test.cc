#include "net/loopback_question.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "net/test_line_server.h"
#include "net/testing.h"

namespace spotter::net {
namespace {

using Said = LineServer::Said;

Result<std::string> ask(LoopbackText text) {
  Loop loop;
  LoopbackQuestion question(loop);
  std::optional<Result<std::string>> answer;
  question.ask(std::move(text), [&](Result<std::string> a) { answer = std::move(a); });
  EXPECT_FALSE(answer);
  EXPECT_TRUE(run_until(loop, [&] { return answer.has_value(); }));
  return answer ? std::move(*answer) : fail(Code::internal, "no answer");
}

TEST(LoopbackQuestion, IsAskedInTwoParts) {
  std::vector<std::string> lines;
  LineServer server([&](const std::string& line) {
    lines.push_back(line);
    return lines.size() == 1 ? Said{"hello\n"} : Said{line == "that" ? "answer\n" : "", line == "that"};
  });
  const auto answer =
      ask({.port = server.port(), .first = "who\n", .then = "what\nthat\n", .uid = geteuid()});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(*answer, "hello\nanswer\n");
  EXPECT_EQ(lines, (std::vector<std::string>{"who", "what", "that"}));
}

TEST(LoopbackQuestion, NotOfAnotherUsersProgram) {
  bool was_asked = false;
  LineServer server([&](const std::string& line) {
    was_asked = was_asked || line == "what";
    return Said{"hello\n"};
  });
  const auto answer = ask({.port = server.port(), .first = "who\n", .then = "what\n", .uid = geteuid() + 1});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::denied);
  EXPECT_FALSE(was_asked);
}

TEST(LoopbackQuestion, OnlyOfThisMachine) {
  const auto answer = ask({.host = "192.0.2.1", .port = 80, .first = "who\n", .then = "what\n"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::denied);
}

TEST(LoopbackQuestion, NobodyListens) {
  u16 port = 0;
  {
    port = LineServer([](const std::string&) { return Said{}; }).port();
  }
  const auto answer = ask({.port = port, .first = "who\n", .then = "what\n"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::not_found);
}

TEST(LoopbackQuestion, AnAnswerIsBounded) {
  LineServer server([&](const std::string&) { return Said{std::string(200'000, 'x')}; });
  const auto answer = ask({.port = server.port(), .first = "who\n", .then = "what\n", .most_bytes = 300'000});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::invalid);
}

TEST(LoopbackQuestion, ItsTimeIsBounded) {
  for (const char* first : {"", "hello\n"}) {  // silent, or one that never comes to an end
    LineServer server([&](const std::string& line) { return Said{line == "who" ? first : "more\n"}; });
    const auto answer =
        ask({.port = server.port(), .first = "who\n", .then = "what\n", .patience = 100 * kMillisecond});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::io);
  }
}

TEST(LoopbackQuestion, OneThatClosesBeforeItIsAskedHasNotAnswered) {
  LineServer server([&](const std::string&) { return Said{"", true}; });
  const auto answer = ask({.port = server.port(), .first = "who\n", .then = "what\n"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::io);
}

TEST(LoopbackQuestion, WhoGoesIsNotTold) {
  LineServer server([&](const std::string&) { return Said{"hello\n"}; });
  Loop loop;
  bool was_told = false;
  {
    LoopbackQuestion question(loop);
    question.ask({.port = server.port(), .first = "who\n", .then = "what\n", .patience = 50 * kMillisecond},
                 [&](const auto&) { was_told = true; });
    EXPECT_FALSE(run_until(loop, [&] { return was_told; }, std::chrono::milliseconds(20)));
  }
  EXPECT_FALSE(run_until(loop, [&] { return was_told; }, std::chrono::milliseconds(100)));
}

}  // namespace
}  // namespace spotter::net

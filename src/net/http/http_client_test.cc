#include "net/http/http_client.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/time.h"
#include "net/testing.h"

namespace spotter::net {
namespace {

constexpr Ns kPatience = 3 * kSecond;

// A server by plain TCP whose every byte the test says.
class PlainHttpTest : public testing::Test {
 protected:
  PlainHttpTest() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_.fd(), reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
    socklen_t length = sizeof a;
    getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&a), &length);
    port_ = ntohs(a.sin_port);
    EXPECT_EQ(listen(listener_.fd(), 8), 0);
    client_.emplace(loop_, HttpAddress{{}, "127.0.0.1", port_, {}, true}, nullptr);
  }

  void ask(HttpQuestion question, Ns patience = kPatience) {
    answer_.reset();
    client_->ask(std::move(question), patience, [this](Result<HttpAnswer> a) { answer_ = std::move(a); });
  }
  Client accept() {
    int fd = -1;
    EXPECT_TRUE(run_until(
        loop_, [&] { return (fd = accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0; }));
    return Client(fd);
  }
  // The whole question that ends with `body`.
  std::string question_at(Client& server, const std::string& body) {
    EXPECT_TRUE(run_until(loop_, [&] { return server.got().ends_with(body); })) << server.got();
    return server.got();
  }
  Result<HttpAnswer> answer() {
    EXPECT_TRUE(run_until(loop_, [&] { return answer_.has_value(); }, std::chrono::seconds(6)));
    return answer_.value_or(fail(Code::internal, "no answer"));
  }

  Loop loop_;
  Client listener_;
  u16 port_ = 0;
  std::optional<HttpClient> client_;
  std::optional<Result<HttpAnswer>> answer_;
};

TEST_F(PlainHttpTest, HeadersBothWays) {
  ask({"POST", "/v1", "body", "Bearer x", 100, {{"content-type", "text/a"}, {"x-more", "1"}}});
  Client server = accept();
  const std::string got = question_at(server, "body");
  EXPECT_TRUE(got.starts_with("POST /v1 HTTP/1.1\r\n")) << got;
  for (const std::string& line :
       {fmt::format("Host: 127.0.0.1:{}", port_), std::string("content-type: text/a"),
        std::string("x-more: 1"), std::string("Authorization: Bearer x"), std::string("Content-Length: 4")})
    EXPECT_NE(got.find(line + "\r\n"), std::string::npos) << line << " in " << got;
  server.send("HTTP/1.1 503 No\r\nRetry-After: 7\r\nContent-Type: text/b\r\nContent-Length: 2\r\n\r\nab");
  const auto reply = answer();
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(reply->body, "ab");
  EXPECT_EQ(reply->retry_after, "7");
  EXPECT_EQ(reply->content_type, "text/b");
}

TEST_F(PlainHttpTest, AConnectionThatWasKeptAndClosed) {
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  ask({"POST", "/", "1", {}});
  {
    Client server = accept();
    question_at(server, "1");
    server.send(ok);
    ASSERT_TRUE(answer());
  }
  // It may be heard before the connection breaks: only who says that this does no harm asks again, all others
  // have a new one.
  ask({"POST", "/", "2", {}});
  {
    Client server = accept();
    question_at(server, "2");
    server.send(ok);
    ASSERT_TRUE(answer());
  }
  HttpQuestion question{"POST", "/", "4", {}};
  question.may_repeat = true;
  ask(question);
  Client server = accept();
  question_at(server, "4");
  server.send(ok);
  EXPECT_TRUE(answer());
}

TEST_F(PlainHttpTest, WhatIsNoQuestion) {
  for (const char* method : {"TRACE", "BREW", ""}) {
    ask({method, "/", "x", {}});
    EXPECT_EQ(answer().error().code, Code::invalid) << method;
  }
}

TEST_F(PlainHttpTest, AnswersThatAreNone) {
  for (const char* text : {"hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
                           "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"}) {
    ask({"POST", "/", "x", {}, 100});
    Client server = accept();
    question_at(server, "x");
    server.send(text);
    server.end();
    EXPECT_EQ(answer().error().code, Code::io) << text;
  }
}

TEST_F(PlainHttpTest, NobodyThere) {
  listener_.end();
  ask({"GET", "/", {}, {}});
  EXPECT_EQ(answer().error().code, Code::not_found);
}

TEST_F(PlainHttpTest, ALoopThatRunsForEachQuestion) {
  for (const char* body : {"1", "2"}) {
    Timer stop(loop_);
    int acted = 0;
    stop.set(1'000'000, [&] {
      ++acted;
      loop_.stop();
    });
    loop_.run();
    EXPECT_EQ(acted, 1) << body;
  }
  loop_.stop();
  loop_.run();  // the stop came first
}

}  // namespace
}  // namespace spotter::net

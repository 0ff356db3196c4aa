#include "net/framed_server.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "net/testing.h"

namespace spotter::net {
namespace {

std::string framed(const std::string& text, std::optional<i32> length = {}) {
  const i32 n = length.value_or(static_cast<i32>(text.size()));
  std::string out(4, '\0');
  for (size_t i = 0; i < 4; i++) out[i] = static_cast<char>(n >> (8 * i));
  return out + text;
}

class FramedServerTest : public testing::Test {
 protected:
  FramedServerTest() {
    auto opened = open(0);
    EXPECT_TRUE(opened) << opened.error().message;
    if (opened) server_ = std::move(*opened);
  }
  Result<std::unique_ptr<FramedServer>> open(u16 port) {
    static const std::string addresses[] = {"127.0.0.1", "::1"};
    return FramedServer::open(*loop_, addresses, port,
                              [this](const Result<std::string>& request, const TcpEnds& ends) {
                                ++calls_;
                                ends_ = ends;
                                return request ? "got " + *request : "refused: " + request.error().message;
                              });
  }
  Client client() { return Client::tcp(server_->port()); }
  bool ends(Client& c) {
    return run_until(*loop_, [&] { return c.over(); });
  }
  bool holds(size_t connections) {
    return run_until(*loop_, [&] { return server_->connections() == connections; });
  }

  std::unique_ptr<Loop> loop_ = std::make_unique<Loop>();
  int calls_ = 0;
  TcpEnds ends_{};
  std::unique_ptr<FramedServer> server_;
};

TEST_F(FramedServerTest, RequestAndReply) {
  Client c = client();
  c.send(framed("hello"));
  ASSERT_TRUE(ends(c));
  EXPECT_EQ(c.got(), framed("got hello"));
  EXPECT_EQ(ends_.remote_port, server_->port());
  EXPECT_EQ(uid_of_connection(ends_), geteuid());
  EXPECT_TRUE(holds(0));
}

TEST_F(FramedServerTest, OverIPv6) {
  Client c = Client::tcp6(server_->port());
  if (!c.connected()) GTEST_SKIP() << "no IPv6 here";
  c.send(framed("hello"));
  ASSERT_TRUE(ends(c));
  EXPECT_EQ(c.got(), framed("got hello"));
  EXPECT_EQ(ends_.local[15], 1);
}

TEST_F(FramedServerTest, InPieces) {
  Client c = client();
  for (const char byte : framed("hello")) {
    c.send(std::string(1, byte));
    run_due(*loop_);
  }
  ASSERT_TRUE(ends(c));
  EXPECT_EQ(c.got(), framed("got hello"));
}

TEST_F(FramedServerTest, TheLongestRequest) {
  const std::string text(FramedServer::kMostBytes, 'x');
  Client c = client();
  std::string left = framed(text);
  ASSERT_TRUE(run_until(*loop_, [&] {
    const ssize_t n = send(c.fd(), left.data(), left.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) left.erase(0, static_cast<size_t>(n));
    return left.empty();
  }));
  ASSERT_TRUE(ends(c));
  EXPECT_TRUE(c.got() == framed("got " + text));
}

TEST_F(FramedServerTest, LengthsThatCannotBe) {
  for (const i32 length : {0, -1, INT32_MIN, INT32_MAX, static_cast<i32>(FramedServer::kMostBytes) + 1}) {
    Client c = client();
    c.send(framed("more than it reads", length));
    ASSERT_TRUE(run_until(*loop_, [&] { return c.got().size() > 4; }));
    EXPECT_EQ(c.got(), framed(fmt::format("refused: a request of {} bytes; 1 to {} are allowed", length,
                                          FramedServer::kMostBytes)));
  }
  EXPECT_EQ(calls_, 5);
}

TEST_F(FramedServerTest, WhoSpeaksHttpIsToldSo) {
  Client c = client();
  c.send("GET / HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(ends(c));
  EXPECT_TRUE(c.got().starts_with("HTTP/1.1 400 ")) << c.got();
  EXPECT_EQ(calls_, 0);
}

TEST_F(FramedServerTest, WhoLeavesEarlyLeavesNothing) {
  for (const std::string& sent :
       {std::string(), framed("hello").substr(0, 2), framed("hello").substr(0, 6)}) {
    Client c = client();
    c.send(sent);
    EXPECT_TRUE(holds(1));
    c.end();
    EXPECT_TRUE(holds(0));
  }
  EXPECT_EQ(calls_, 0);
}

TEST_F(FramedServerTest, OfTooManyTheOldestGoes) {
  const DescriptorLimit many(0);
  std::vector<Client> all;
  for (size_t i = 0; i < FramedServer::kMostConnections + 2; i++) {
    all.push_back(client());
    ASSERT_TRUE(all.back().connected());
    run_due(*loop_);
  }
  EXPECT_TRUE(run_until(*loop_, [&] { return all[1].over(); }));
  EXPECT_TRUE(all[0].over());
  EXPECT_FALSE(all[2].over());
  EXPECT_EQ(server_->connections(), FramedServer::kMostConnections);
  all.back().send(framed("last"));
  ASSERT_TRUE(ends(all.back()));
  EXPECT_EQ(all.back().got(), framed("got last"));
}

TEST_F(FramedServerTest, WithoutADescriptorTheOldestGoes) {
  Client oldest = client(), later = client();
  ASSERT_TRUE(holds(2));
  Client c(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const DescriptorLimit none(DescriptorLimit::next_descriptor());
  c.connect_tcp(server_->port());
  c.send(framed("hello"));
  ASSERT_TRUE(ends(c));
  EXPECT_EQ(c.got(), framed("got hello"));
  EXPECT_TRUE(oldest.over());
  EXPECT_FALSE(later.over());
}

TEST_F(FramedServerTest, APortThatIsTaken) {
  const auto second = open(server_->port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::io);
  EXPECT_NE(second.error().message.find(fmt::format("is taken by process {} (", getpid())), std::string::npos)
      << second.error().message;
  const u16 port = server_->port();
  server_.reset();
  run_due(*loop_);
  EXPECT_TRUE(open(port));
  static const std::string nonsense[] = {"localhost"};
  EXPECT_EQ(FramedServer::open(*loop_, nonsense, 0, {}).error().code, Code::invalid);
}

TEST_F(FramedServerTest, DestroyedWithConnectionsOpen) {
  Client idle = client(), half = client();
  half.send(framed("hello").substr(0, 6));
  ASSERT_TRUE(holds(2));
  server_.reset();
  EXPECT_TRUE(ends(idle));
  EXPECT_TRUE(ends(half));
  EXPECT_EQ(calls_, 0);
}

TEST_F(FramedServerTest, DestroyedTogetherWithTheLoop) {
  Client idle = client(), half = client();
  half.send(framed("hello").substr(0, 6));
  ASSERT_TRUE(holds(2));
  const Client waiting = client();  // nobody has accepted it
  server_.reset();
  loop_.reset();
  EXPECT_TRUE(idle.over());
}

// Wherever on its way a request is when the server goes: it may have been read, but not told.
TEST_F(FramedServerTest, NoRequestAfterTheEnd) {
  for (int steps = 0; calls_ == 0 && steps < 50; steps++) {
    auto opened = open(0);
    ASSERT_TRUE(opened);
    server_ = std::move(*opened);
    Client c = client();
    c.send(framed("", -1));
    loop_->context().restart();
    for (int i = 0; i < steps; i++) loop_->context().poll_one();
    const int before = calls_;
    server_.reset();
    run_due(*loop_);
    EXPECT_EQ(calls_, before) << steps;
  }
  EXPECT_EQ(calls_, 1);
}

TEST_F(FramedServerTest, TheHandlerMayDestroyTheServer) {
  std::unique_ptr<FramedServer> server;
  static const std::string addresses[] = {"127.0.0.1"};
  auto opened =
      FramedServer::open(*loop_, addresses, 0, [&](const Result<std::string>& request, const TcpEnds&) {
        server.reset();
        return *request;
      });
  ASSERT_TRUE(opened);
  server = std::move(*opened);
  Client c = Client::tcp(server->port());
  c.send(framed("hello"));
  EXPECT_TRUE(ends(c));
}

}  // namespace
}  // namespace spotter::net

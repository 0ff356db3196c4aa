#include <gtest/gtest.h>

#include <chrono>

#include "net/http/http.h"
#include "net/testing.h"

namespace spotter::net {
namespace {

// A server on a bare port; it answers with the headers that it has heard.
class HttpPlainTest : public testing::Test {
 protected:
  HttpPlainTest() { serve(); }
  void serve(size_t most = HttpServer::kMostConnections, const std::string& address = "127.0.0.1") {
    server_.reset();
    auto opened = HttpServer::open_plain(
        *loop_, address, 0,
        [this](const HttpRequest& request, const HttpServer::Respond& respond) {
          last_ = request;
          HttpAnswer answer{200, "[" + request.accept + "|" + request.accept_encoding + "]"};
          if (request.target == "/text") answer.content_type = "text/plain; charset=utf-8";
          if (request.target == "/text") answer.content_encoding = "gzip";
          if (request.target == "/text") answer.headers = {{"Allow", "GET, POST"}};
          respond(std::move(answer));
        },
        [](const Error& error) { return HttpAnswer{400, error.message}; }, most);
    ASSERT_TRUE(opened) << opened.error().message;
    server_ = std::move(*opened);
  }
  Client client() const { return Client::tcp(server_->port()); }
  bool ends(Client& c, int seconds = 3) {
    return run_until(*loop_, [&] { return c.over(); }, std::chrono::seconds(seconds));
  }
  bool holds(size_t connections) {
    return run_until(*loop_, [&] { return server_->connections() == connections; });
  }
  std::string answer_to(const std::string& request) {
    Client c = client();
    c.send(request);
    EXPECT_TRUE(ends(c)) << request.substr(0, 30);
    return c.got();
  }
  static std::string get(const std::string& target, const std::string& headers = {}) {
    return "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n";
  }

  std::unique_ptr<Loop> loop_ = std::make_unique<Loop>();
  HttpRequest last_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpPlainTest, HeadersOfBothSides) {
  const std::string got = answer_to(get("/text",
                                        "accept: text/plain;q=0.5\r\nACCEPT-Encoding: gzip\r\n"
                                        "origin: null\r\nContent-type: a/b; c=d\r\n"));
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200 ")) << got;
  EXPECT_NE(got.find("Content-Type: text/plain; charset=utf-8\r\n"), std::string::npos) << got;
  EXPECT_NE(got.find("Content-Encoding: gzip\r\n"), std::string::npos) << got;
  EXPECT_NE(got.find("Allow: GET, POST\r\n"), std::string::npos) << got;
  EXPECT_EQ(last_.host, "x");
  EXPECT_EQ(last_.origin, "null");
  EXPECT_EQ(last_.content_type, "a/b; c=d");
  EXPECT_TRUE(got.ends_with("\r\n\r\n[text/plain;q=0.5|gzip]")) << got;
  EXPECT_TRUE(last_.peer.address.starts_with("127.0.0.1:")) << last_.peer.address;
  EXPECT_EQ(last_.peer.uid, -1);  // nobody: the kernel tells nothing of who is at the other end of TCP
  EXPECT_EQ(last_.peer.certificate, "");

  const std::string other = answer_to(get("/"));
  EXPECT_NE(other.find("Content-Type: application/json\r\n"), std::string::npos) << other;
  EXPECT_EQ(other.find("Content-Encoding"), std::string::npos) << other;
  EXPECT_TRUE(other.ends_with("[|]")) << other;
}

TEST_F(HttpPlainTest, RequestsOneAfterTheOther) {
  Client c = client();
  for (const char* target : {"/1", "/2", "/3"}) {
    c.send(std::string("GET ") + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_TRUE(run_until(*loop_, [&] { return last_.target == target && c.got().ends_with("]"); }));
  }
  EXPECT_EQ(server_->connections(), 1u);
  EXPECT_FALSE(c.over());
}

TEST_F(HttpPlainTest, AnAnswerToHeadHasNoBody) {
  const std::string got = answer_to("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200 ") && got.ends_with("\r\n\r\n")) << got;
  EXPECT_EQ(last_.method, "HEAD");
}

TEST_F(HttpPlainTest, WhatIsNoRequest) {
  const std::string long_head = "GET / HTTP/1.1\r\nA: " + std::string(HttpServer::kMostHead, 'x');
  const std::string long_body =
      fmt::format("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", HttpServer::kMostRemoteBody + 1);
  for (const std::string& sent :
       {std::string("hello\r\n\r\n"), std::string("\x16\x03\x01\x02\x00\x01\r\n\r\n", 10), long_head}) {
    EXPECT_TRUE(answer_to(sent).starts_with("HTTP/1.1 400 ")) << sent.substr(0, 30);
  }
  EXPECT_TRUE(answer_to(long_body).starts_with("HTTP/1.1 413 "));
  EXPECT_EQ(last_.method, "");
  EXPECT_TRUE(holds(0));
}

TEST_F(HttpPlainTest, SilentOnesMakeRoom) {
  serve(4);
  std::vector<Client> silent;
  for (int i = 0; i < 20; i++) {
    silent.push_back(client());
    run_due(*loop_);
  }
  EXPECT_TRUE(answer_to(get("/")).starts_with("HTTP/1.1 200 "));
  EXPECT_LE(server_->connections(), 4u);
  EXPECT_GE(server_->closed_for_room(), 16);
}

TEST_F(HttpPlainTest, ASlowOneIsGivenUp) {
  Client half = client();
  half.send("GET / HTTP/1.1\r\nA: ");
  EXPECT_TRUE(holds(1));
  EXPECT_TRUE(ends(half, 7));  // kRequestTime
  EXPECT_TRUE(holds(0));
}

TEST_F(HttpPlainTest, DestroyedWithConnectionsOpen) {
  Client idle = client(), half = client();
  half.send("GET /");
  EXPECT_TRUE(holds(2));
  server_.reset();
  EXPECT_TRUE(ends(idle));
  EXPECT_TRUE(ends(half));
}

TEST_F(HttpPlainTest, Addresses) {
  const auto on = [&](const std::string& address, u16 port) {
    return HttpServer::open_plain(*loop_, address, port, {}, {}).error();
  };
  EXPECT_EQ(on("localhost", 0).code, Code::invalid);
  const Error taken = on("127.0.0.1", server_->port());
  EXPECT_EQ(taken.code, Code::io);
  EXPECT_NE(taken.message.find("is taken"), std::string::npos) << taken.message;
}

}  // namespace
}  // namespace spotter::net

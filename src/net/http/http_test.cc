#include "net/http/http.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/time.h"
#include "net/http/http_client.h"
#include "net/testing.h"

namespace spotter::net {
namespace {

namespace fs = std::filesystem;

constexpr Ns kPatience = 3 * kSecond;

class HttpTest : public testing::Test {
 protected:
  HttpTest() : path_("/tmp/" + private_name("http")) {
    auto opened = open();
    EXPECT_TRUE(opened) << opened.error().message;
    if (opened) server_ = std::move(*opened);
  }
  ~HttpTest() override {
    server_.reset();
    fs::remove(path_);
  }
  Result<std::unique_ptr<HttpServer>> open() {
    return HttpServer::open(
        *loop_, path_,
        [this](HttpRequest request, HttpServer::Respond respond) {
          requests_.push_back(std::move(request));
          if (is_slow_)
            later_.push_back(std::move(respond));
          else
            respond({200, "[" + requests_.back().body + "]"});
        },
        [](const Error& error) { return HttpAnswer{400, error.message}; });
  }
  Client client() const { return Client::unix(path_); }
  bool ends(Client& c) {
    return run_until(*loop_, [&] { return c.over(); });
  }
  bool holds(size_t connections) {
    return run_until(*loop_, [&] { return server_->connections() == connections; });
  }
  static std::string post(const std::string& body) {
    return fmt::format("POST /a?b=c HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                       body.size(), body);
  }
  // A question and its answer while the loop runs.
  Result<HttpAnswer> ask(HttpClient& from, const std::string& text, Ns patience = kPatience,
                         const std::string& method = "POST") {
    std::optional<Result<HttpAnswer>> answer;
    from.ask({method, "/a?b=c", text, {}}, patience, [&](Result<HttpAnswer> a) { answer = std::move(a); });
    EXPECT_TRUE(run_until(*loop_, [&] { return answer.has_value(); }, std::chrono::seconds(6)));
    return answer.value_or(fail(Code::internal, "no answer"));
  }
  HttpClient asker(const std::string& path) { return {*loop_, {path, {}, 0, {}}, nullptr}; }
  Result<HttpAnswer> ask(const std::string& text, Ns patience = kPatience) {
    HttpClient c = asker(path_);
    return ask(c, text, patience);
  }

  std::string path_;
  std::unique_ptr<Loop> loop_ = std::make_unique<Loop>();
  std::vector<HttpRequest> requests_;
  bool is_slow_ = false;
  std::vector<HttpServer::Respond> later_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpTest, RequestAndAnswer) {
  const auto answer = ask("body");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "[body]");
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].method, "POST");
  EXPECT_EQ(requests_[0].target, "/a?b=c");
  EXPECT_EQ(requests_[0].peer.uid, geteuid());
  EXPECT_EQ(requests_[0].peer.pid, getpid());
  EXPECT_TRUE(holds(0));
}

TEST_F(HttpTest, RequestsOneAfterTheOther) {
  HttpClient c = asker(path_);
  for (const char* body : {"1", "2", "3"})
    EXPECT_EQ(ask(c, body, kPatience, "PUT").value().body, fmt::format("[{}]", body));
  EXPECT_EQ(server_->connections(), 1u);
  const auto come_again = [&] {
    server_.reset();
    auto opened = open();
    ASSERT_TRUE(opened);
    server_ = std::move(*opened);
  };
  // The connection that was kept is of no use then. A question may be asked again, a request may be heard and
  // has a connection of its own.
  come_again();
  EXPECT_EQ(ask(c, "", kPatience, "GET").value().body, "[]");
  EXPECT_EQ(requests_.size(), 4u);
  come_again();
  EXPECT_EQ(ask(c, "5").value().body, "[5]");
  EXPECT_EQ(requests_.size(), 5u);
}

// RFC 9110, 10.1.1: curl waits a second for it, others for ever.
TEST_F(HttpTest, WhoWaitsForAWordBeforeTheBodyGetsOne) {
  const std::string head =
      "POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n"
      "Expect: 100-continue\r\n\r\n";
  Client patient = client(), hasty = client();
  patient.send(head);
  const auto has_word = [&] { return patient.got() == "HTTP/1.1 100 Continue\r\n\r\n"; };
  EXPECT_TRUE(run_until(*loop_, has_word)) << patient.got();
  EXPECT_EQ(requests_.size(), 0U);
  patient.send("body");
  EXPECT_TRUE(ends(patient));
  EXPECT_NE(patient.got().find("[body]"), std::string::npos) << patient.got();
  hasty.send(head + "body");
  EXPECT_TRUE(ends(hasty));
  EXPECT_NE(hasty.got().find("[body]"), std::string::npos) << hasty.got();
  EXPECT_TRUE(hasty.got().starts_with("HTTP/1.1 200")) << hasty.got();
  Client old = client();
  old.send("POST /a HTTP/1.0\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(holds(1));
  EXPECT_EQ(old.got(), "");
  old.send("late");
  EXPECT_TRUE(ends(old));
  EXPECT_NE(old.got().find(" 200 OK"), std::string::npos) << old.got();
}

TEST_F(HttpTest, AsManyRequestsAsTheClientLikes) {
  Client c = client();
  c.send(post("1") + post("2"));
  ASSERT_TRUE(ends(c));
  EXPECT_EQ(requests_.size(), 1u);
  EXPECT_NE(c.got().find("Connection: close"), std::string::npos);
  EXPECT_NE(c.got().find("Content-Type: application/json"), std::string::npos);
}

TEST_F(HttpTest, WhatIsNoRequest) {
  const std::string long_head = "GET / HTTP/1.1\r\nA: " + std::string(HttpServer::kMostHead, 'x');
  const std::string long_body =
      fmt::format("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", HttpServer::kMostBody + 1);
  for (const std::string& sent : {std::string("hello\r\n\r\n"), std::string("GET / HTTP/9\r\n\r\n"),
                                  std::string("GET  HTTP/1.1\r\n\r\n"), long_head, long_body}) {
    const bool is_long = sent == long_body;
    Client c = client();
    c.send(sent);
    ASSERT_TRUE(ends(c)) << sent.substr(0, 30);
    EXPECT_TRUE(c.got().starts_with(is_long ? "HTTP/1.1 413 " : "HTTP/1.1 400 ")) << c.got();
    EXPECT_NE(c.got().find("this is no HTTP request"), std::string::npos);
  }
  EXPECT_TRUE(requests_.empty());
}

TEST_F(HttpTest, TheLongestBody) {
  const auto answer = ask(std::string(HttpServer::kMostBody, 'x'));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body.size(), HttpServer::kMostBody + 2);
}

TEST_F(HttpTest, WhoLeavesEarlyLeavesNothing) {
  for (const std::string& sent : {std::string(), std::string("GET /"), post("body").substr(0, 50)}) {
    Client c = client();
    c.send(sent);
    EXPECT_TRUE(holds(1));
    c.end();
    EXPECT_TRUE(holds(0));
  }
  EXPECT_TRUE(requests_.empty());
}

TEST_F(HttpTest, AnAnswerThatComesLater) {
  is_slow_ = true;
  Client c = client();
  c.send(post("x"));
  ASSERT_TRUE(run_until(*loop_, [&] { return !later_.empty(); }));
  run_due(*loop_);
  EXPECT_EQ(c.got(), "");
  later_[0]({404, "late"});
  later_.clear();
  ASSERT_TRUE(ends(c));
  EXPECT_TRUE(c.got().starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(holds(0));
}

TEST_F(HttpTest, AnAnswerForOneWhoIsGone) {
  is_slow_ = true;
  Client c = client();
  c.send(post("x"));
  ASSERT_TRUE(run_until(*loop_, [&] { return !later_.empty(); }));
  c.end();
  later_[0]({200, std::string(1 << 20, 'x')});
  later_.clear();
  EXPECT_TRUE(holds(0));
}

TEST_F(HttpTest, OfTooManyTheOldestGoes) {
  const DescriptorLimit many(0);
  is_slow_ = true;
  std::vector<Client> all;
  for (size_t i = 0; i <= HttpServer::kMostConnections; i++) {
    all.push_back(client());
    all[i].send(post("x"));
    ASSERT_TRUE(run_until(*loop_, [&] { return later_.size() == i + 1; }));
  }
  EXPECT_TRUE(ends(all[0]));
  EXPECT_FALSE(all[1].over());
  EXPECT_EQ(server_->connections(), HttpServer::kMostConnections);
  later_[0]({200, "nobody hears it"});
  later_[0] = nullptr;
  run_due(*loop_);
  EXPECT_EQ(server_->connections(), HttpServer::kMostConnections);
}

TEST_F(HttpTest, WhoWaitsForAnAnswerStaysBesideACrowd) {
  const DescriptorLimit many(0);
  is_slow_ = true;
  Client waiting = client();
  waiting.send(post("x"));
  ASSERT_TRUE(run_until(*loop_, [&] { return !later_.empty(); }));
  std::vector<Client> crowd;
  for (size_t i = 0; i < HttpServer::kMostConnections; i++) {
    crowd.push_back(client());
    ASSERT_TRUE(crowd.back().connected());
    run_due(*loop_);
  }
  EXPECT_TRUE(ends(crowd[0]));
  EXPECT_FALSE(crowd[1].over());
  EXPECT_FALSE(waiting.over());
  later_.clear();
}

TEST_F(HttpTest, Doors) {
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(fmt::format("is taken by process {} (", getpid())), std::string::npos)
      << second.error().message;
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms(0666));
  server_.reset();
  EXPECT_FALSE(fs::exists(path_));

  const Client killed(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));  // leaves its file
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::strcpy(a.sun_path, path_.c_str());
  ASSERT_EQ(bind(killed.fd(), reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
  EXPECT_TRUE(open());

  std::ofstream(path_) << "mine";
  EXPECT_NE(open().error().message.find("is no socket"), std::string::npos);
  EXPECT_EQ(fs::file_size(path_), 4u);
  for (const std::string& path : {std::string(), "/tmp/" + std::string(108, 'x')})
    EXPECT_EQ(HttpServer::open(*loop_, path, {}, {}).error().code, Code::invalid);
  EXPECT_EQ(HttpServer::open(*loop_, "/tmp/nowhere/at/all", {}, {}).error().code, Code::not_found);
}

TEST_F(HttpTest, AskingNobody) {
  const auto code = [&](const std::string& path) {
    HttpClient c = asker(path);
    return ask(c, "x").error().code;
  };
  server_.reset();
  EXPECT_EQ(code(path_), Code::not_found);
  std::ofstream(path_) << "no socket";
  EXPECT_EQ(code(path_), Code::not_found);
  EXPECT_EQ(code(std::string(108, 'x')), Code::invalid);
}

// Its queue is full; nobody waits for ever.
TEST_F(HttpTest, AskingOneWhoIsStopped) {
  server_.reset();
  const Client stopped(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::strcpy(a.sun_path, path_.c_str());
  ASSERT_EQ(bind(stopped.fd(), reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
  ASSERT_EQ(listen(stopped.fd(), 0), 0);
  const Client first = client();
  const auto answer = ask("x", 100'000'000);
  EXPECT_EQ(answer.error().code, Code::io);
  EXPECT_NE(answer.error().message.find("no answer in 0.1 s"), std::string::npos) << answer.error().message;
}

TEST_F(HttpTest, AskingOneWhoDoesNotAnswer) {
  is_slow_ = true;
  const Ns begin = loop_->now();
  const auto answer = ask("x", 20'000'000);
  EXPECT_EQ(answer.error().code, Code::io);
  EXPECT_GE(loop_->now() - begin, 20'000'000);
}

TEST_F(HttpTest, DestroyedWithConnectionsOpen) {
  is_slow_ = true;
  Client idle = client(), half = client(), waiting = client();
  half.send("GET /");
  waiting.send(post("x"));
  ASSERT_TRUE(run_until(*loop_, [&] { return !later_.empty() && server_->connections() == 3; }));
  server_.reset();
  for (Client* c : {&idle, &half, &waiting}) EXPECT_TRUE(ends(*c));
  later_[0]({200, "nobody hears it"});
  later_.clear();
  run_due(*loop_);
  EXPECT_EQ(waiting.got(), "");
}

TEST_F(HttpTest, DestroyedTogetherWithTheLoop) {
  is_slow_ = true;
  Client idle = client(), answered = client();
  answered.send(post("x"));
  ASSERT_TRUE(run_until(*loop_, [&] { return !later_.empty() && server_->connections() == 2; }));
  later_[0]({200, "x"});  // not yet on its way
  later_.clear();
  server_.reset();
  loop_.reset();
  EXPECT_TRUE(idle.over());
}

// Wherever on its way a request is when the server goes: it may have been read, but not told.
TEST_F(HttpTest, NoRequestAfterTheEnd) {
  for (int steps = 0; requests_.empty() && steps < 50; steps++) {
    server_.reset();
    auto opened = open();
    ASSERT_TRUE(opened);
    server_ = std::move(*opened);
    Client c = client();
    c.send(post("x"));
    loop_->context().restart();
    for (int i = 0; i < steps; i++) loop_->context().poll_one();
    const size_t before = requests_.size();
    server_.reset();
    run_due(*loop_);
    EXPECT_EQ(requests_.size(), before) << steps;
  }
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(HttpTest, WhoGoesIsMissed) {
  is_slow_ = true;
  std::vector<bool> gone(2);
  Client goes = client(), stays = client();
  for (Client* c : {&goes, &stays}) {
    const size_t before = requests_.size();
    c->send(post("x"));
    ASSERT_TRUE(run_until(*loop_, [&] { return requests_.size() == before + 1; }));
    requests_.back().when_gone([&gone, before] { gone[before] = true; });
  }
  goes.end();
  EXPECT_TRUE(run_until(*loop_, [&] { return gone[0]; }));
  EXPECT_FALSE(gone[1]);
  for (auto& respond : later_) respond({200, "late"});
  EXPECT_TRUE(ends(stays));
  EXPECT_NE(stays.got().find("late"), std::string::npos);
  EXPECT_FALSE(gone[1]);  // it went with its answer
}

TEST_F(HttpTest, NextRequestMayComeBeforeTheAnswer) {
  is_slow_ = true;
  Client c = client();
  const std::string first = "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n";
  c.send(first);
  ASSERT_TRUE(run_until(*loop_, [&] { return requests_.size() == 1; }));
  bool gone = false;
  requests_[0].when_gone([&] { gone = true; });
  c.send("GET /2 HTTP/1.1\r\nHo");
  run_until(*loop_, [&] { return gone; }, std::chrono::milliseconds(50));
  later_[0]({200, "one"});
  ASSERT_TRUE(run_until(*loop_, [&] { return c.got().find("one") != std::string::npos; }));
  c.send("st: x\r\n\r\n");
  ASSERT_TRUE(run_until(*loop_, [&] { return requests_.size() == 2; }));
  EXPECT_EQ(requests_[1].target, "/2");
  requests_[1].when_gone([&] { gone = true; });
  later_[1]({200, "two"});
  c.send("GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(run_until(*loop_, [&] { return requests_.size() == 3; }));
  EXPECT_FALSE(gone);
  later_[2]({200, "three"});
}

}  // namespace
}  // namespace spotter::net

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/stat.h>

#include <atomic>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "base/system/descriptor.h"
#include "base/time.h"
#include "net/certificates.h"
#include "net/http/http.h"
#include "net/http/http_client.h"
#include "net/resolve.h"
#include "net/testing.h"

namespace spotter::net {
namespace {

namespace fs = std::filesystem;

constexpr Ns kPatience = 4 * kSecond;

// A server by TLS on a port of its own, an authority, and what it has made.
class HttpTlsTest : public testing::Test {
 protected:
  HttpTlsTest() : directory_("/tmp/" + private_name("tls")) {
    fs::create_directory(directory_);
    authority_ = make_authority("test").value();
    put("ca", authority_);
    put("agent", issue(authority_, {"agent", {"localhost", "127.0.0.1"}, true}).value());
    put("ann", issue(authority_, {"ann", {}, false}).value());
    const Certificate foreign = make_authority("foreign").value();
    put("foreign", foreign);
    put("stranger", issue(foreign, {"ann", {}, false}).value());
    serve();
  }
  ~HttpTlsTest() override {
    server_.reset();
    fs::remove_all(directory_);
  }
  void put(const std::string& name, const Certificate& c) const {
    std::ofstream(path(name)) << c.certificate;
    std::ofstream(path(name + "-key")) << c.key;
  }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  TlsFiles files(const std::string& who, const std::string& trusted = "ca") const {
    if (who.empty()) return {{}, {}, path(trusted)};
    return {path(who), path(who + "-key"), path(trusted)};
  }
  void serve(size_t most = HttpServer::kMostConnections) {
    server_.reset();
    auto opened = HttpServer::open(
        loop_, "127.0.0.1", 0, Tls::server(files("agent")).value(),
        [this](const HttpRequest& request, const HttpServer::Respond& respond) {
          last_ = request;
          respond({200, request.peer.certificate});
        },
        [](const Error& error) { return HttpAnswer{400, error.message}; }, most);
    ASSERT_TRUE(opened) << opened.error().message;
    server_ = std::move(*opened);
  }
  HttpAddress address(const std::string& host = "127.0.0.1") const {
    return {{}, host, server_->port(), "127.0.0.1"};
  }
  Result<HttpAnswer> ask(HttpClient& client, Ns patience = kPatience) {
    std::optional<Result<HttpAnswer>> answer;
    client.ask({"GET", "/x", {}, "Bearer t"}, patience, [&](Result<HttpAnswer> a) { answer = std::move(a); });
    EXPECT_TRUE(run_until(loop_, [&] { return answer.has_value(); }, std::chrono::seconds(6)));
    return answer.value_or(fail(Code::internal, "no answer"));
  }
  Result<HttpAnswer> ask(const TlsFiles& as, const std::string& host = "127.0.0.1") {
    HttpClient client(loop_, address(host), Tls::client(as).value());
    return ask(client);
  }
  bool holds(size_t connections, int seconds = 3) {
    return run_until(
        loop_, [&] { return server_->connections() == connections; }, std::chrono::seconds(seconds));
  }

  std::string directory_;
  Certificate authority_;
  Loop loop_;
  HttpRequest last_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpTlsTest, WhoAsksIsKnownByItsCertificate) {
  HttpClient client(loop_, address(), Tls::client(files("ann")).value());
  EXPECT_EQ(ask(client).value().body, "ann");
  EXPECT_TRUE(last_.peer.address.starts_with("127.0.0.1:"));
  EXPECT_EQ(last_.peer.uid, -1);
  EXPECT_EQ(last_.authorization, "Bearer t");
  EXPECT_EQ(ask(client).value().body, "ann");  // on the same connection
  EXPECT_EQ(server_->connections(), 1u);
  EXPECT_EQ(ask(files("")).value().body, "");  // without one it is nobody
}

TEST_F(HttpTlsTest, WhatIsTooLongIsNotRead) {
  for (const size_t excess : {0, 1}) {
    HttpClient client(loop_, address(), Tls::client(files("")).value());
    std::optional<Result<HttpAnswer>> answer;
    const std::string body(HttpServer::kMostRemoteBody + excess, 'x');
    client.ask({"POST", "/x", body, {}}, kPatience, [&](Result<HttpAnswer> a) { answer = std::move(a); });
    ASSERT_TRUE(run_until(loop_, [&] { return answer.has_value(); }));
    EXPECT_EQ(*answer && (*answer)->status == 200, excess == 0);
    EXPECT_EQ(last_.body.size(), HttpServer::kMostRemoteBody);
  }
}

TEST_F(HttpTlsTest, WhoIsTrustedMaySendMore) {
  server_->trust(
      [](const HttpRequest& head) { return head.peer.certificate == "ann" && head.target == "/x"; });
  struct Case {
    const char* who;
    size_t bytes;
    bool is_read;
  };
  for (const auto& [who, bytes, is_read] :
       {Case{"ann", HttpServer::kMostBody, true}, Case{"ann", HttpServer::kMostBody + 1, false},
        Case{"", HttpServer::kMostRemoteBody, true}, Case{"", HttpServer::kMostRemoteBody + 1, false},
        Case{"", HttpServer::kMostBody, false}}) {
    HttpClient client(loop_, address(), Tls::client(files(who)).value());
    std::optional<Result<HttpAnswer>> answer;
    last_ = {};
    client.ask({"POST", "/x", std::string(bytes, 'x'), {}}, kPatience,
               [&](Result<HttpAnswer> a) { answer = std::move(a); });
    ASSERT_TRUE(run_until(loop_, [&] { return answer.has_value(); }));
    EXPECT_EQ(*answer && (*answer)->status == 200, is_read) << who << " " << bytes;
    EXPECT_EQ(last_.body.size(), is_read ? bytes : 0) << who;
  }
}

TEST_F(HttpTlsTest, WhoIsNotTrusted) {
  const auto refused = ask(files("stranger"));  // of another authority, by the same name
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::denied) << refused.error().message;
  EXPECT_FALSE(ask(files("agent")));  // a server's certificate is no client's
  EXPECT_EQ(last_.method, "");

  const auto foreign =
      ask(files("ann", "foreign"));  // the server's is of an authority that the client does not trust
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, Code::denied);
  EXPECT_NE(foreign.error().message.find("not trusted"), std::string::npos) << foreign.error().message;
  EXPECT_FALSE(ask(files("ann"), "n2"));  // the certificate has another name
  EXPECT_TRUE(ask(files("ann"), "localhost"));
  EXPECT_TRUE(holds(0));
}

TEST_F(HttpTlsTest, WhatIsNoTls) {
  Client plain = Client::tcp(server_->port());
  plain.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(run_until(loop_, [&] { return plain.over(); }));
  Client half = Client::tcp(server_->port());
  half.send(std::string("\x16\x03\x01\x02\x00\x01", 6));  // the beginning of a greeting
  EXPECT_TRUE(holds(1));
  EXPECT_EQ(ask(files("ann")).value().body, "ann");                                     // beside it
  EXPECT_TRUE(run_until(loop_, [&] { return half.over(); }, std::chrono::seconds(7)));  // kRequestTime
  EXPECT_TRUE(holds(0));
}

TEST_F(HttpTlsTest, SilentOnesMakeRoom) {
  serve(4);
  std::vector<Client> silent;
  for (int i = 0; i < 20; i++) {
    silent.push_back(Client::tcp(server_->port()));
    run_due(loop_);
  }
  EXPECT_EQ(ask(files("ann")).value().body, "ann");
  EXPECT_LE(server_->connections(), 4u);
  EXPECT_GE(server_->closed_for_room(), 16);
}

TEST_F(HttpTlsTest, AskingWhoDoesNotAnswer) {
  const HttpAddress there = address();
  server_.reset();
  HttpClient nobody(loop_, there, Tls::client(files("ann")).value());
  EXPECT_EQ(ask(nobody).error().code, Code::not_found);
  // It accepts and says nothing.
  const Client silent(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof a;
  ASSERT_EQ(bind(silent.fd(), reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
  ASSERT_EQ(listen(silent.fd(), 1), 0);
  getsockname(silent.fd(), reinterpret_cast<sockaddr*>(&a), &length);
  HttpClient client(loop_, {{}, "127.0.0.1", ntohs(a.sin_port), {}}, Tls::client(files("ann")).value());
  const auto answer = ask(client, 100'000'000);
  EXPECT_EQ(answer.error().code, Code::io);
  EXPECT_NE(answer.error().message.find("no answer in 0.1 s"), std::string::npos) << answer.error().message;
}

// A proxy for one connection, which it takes to a port of this machine whatever it is asked for.
class Proxy {
 public:
  Proxy(u16 to, std::string answer) : to_(to), answer_(std::move(answer)) {
    listener_ = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_.fd, reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
    socklen_t length = sizeof a;
    getsockname(listener_.fd, reinterpret_cast<sockaddr*>(&a), &length);
    port_ = ntohs(a.sin_port);
    EXPECT_EQ(listen(listener_.fd, 8), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Proxy() {
    shutdown(listener_.fd, SHUT_RDWR);
    thread_.join();
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  u16 port() const { return port_; }
  std::string asked() const { return asked_; }  // once an answer has come

 private:
  void serve() {
    const Descriptor client(accept4(listener_.fd, nullptr, nullptr, SOCK_CLOEXEC));
    if (client.fd < 0) return;
    char buffer[4096];
    while (asked_.find("\r\n\r\n") == asked_.npos) {
      const ssize_t n = recv(client.fd, buffer, sizeof buffer, 0);
      if (n <= 0) return;
      asked_.append(buffer, static_cast<size_t>(n));
    }
    // In two parts, as a network may.
    ::send(client.fd, answer_.data(), 5, MSG_NOSIGNAL);
    ::send(client.fd, answer_.data() + 5, answer_.size() - 5, MSG_NOSIGNAL);
    const Client server = Client::tcp(to_);
    pollfd both[] = {{client.fd, POLLIN, 0}, {server.fd(), POLLIN, 0}};
    while (poll(both, 2, 5000) > 0) {
      for (int from = 0; from < 2; ++from) {
        if (!both[from].revents) continue;
        const ssize_t n = recv(both[from].fd, buffer, sizeof buffer, 0);
        if (n <= 0) return;
        ::send(both[1 - from].fd, buffer, static_cast<size_t>(n), MSG_NOSIGNAL);
      }
    }
  }

  u16 to_, port_ = 0;
  std::string answer_, asked_;
  Descriptor listener_;
  std::thread thread_;
};

TEST_F(HttpTlsTest, ByAProxy) {
  Proxy proxy(server_->port(), "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n");
  // Only the proxy knows where the host is.
  HttpAddress at{{}, "localhost", 4, {}};
  at.proxy_host = "127.0.0.1";
  at.proxy_port = proxy.port();
  HttpClient client(loop_, at, Tls::client(files("ann")).value());
  EXPECT_EQ(ask(client).value().body, "ann");
  EXPECT_EQ(proxy.asked(), "CONNECT localhost:4 HTTP/1.1\r\nHost: localhost:4\r\n\r\n");
}

TEST_F(HttpTlsTest, AProxyThatDoesNotConnect) {
  Proxy proxy(server_->port(), "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  HttpAddress at{{}, "localhost", 4, {}};
  at.proxy_host = "127.0.0.1";
  at.proxy_port = proxy.port();
  HttpClient client(loop_, at, Tls::client(files("ann")).value());
  const auto answer = ask(client);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "localhost:4: the proxy answers 407 Proxy Authentication Required");
  EXPECT_EQ(last_.method, "");
}

TEST_F(HttpTlsTest, ServersThatSpeakOneTwoForThoseWhoTakeIt) {
  const auto old = Tls::server(files("agent")).value();
  SSL_CTX_set_min_proto_version(old->context().native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(old->context().native_handle(), TLS1_2_VERSION);
  server_ = HttpServer::open(
                loop_, "127.0.0.1", 0, old,
                [](const HttpRequest&, const HttpServer::Respond& respond) { respond({200, "old"}); },
                [](const Error& error) { return HttpAnswer{400, error.message}; })
                .value();
  EXPECT_FALSE(ask(files("ann")));
  HttpClient client(loop_, address(), Tls::client(files("ann"), true).value());
  const auto answer = ask(client);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "old");
  SSL_CTX_set_min_proto_version(old->context().native_handle(), TLS1_1_VERSION);
  SSL_CTX_set_max_proto_version(old->context().native_handle(), TLS1_1_VERSION);
  HttpClient other(loop_, address(), Tls::client(files("ann"), true).value());
  EXPECT_FALSE(ask(other));
}

TEST_F(HttpTlsTest, AddressesOfTheOwnLink) {
  using boost::asio::ip::make_address;
  for (const char* address :
       {"169.254.169.254", "169.254.0.1", "fe80::1", "febf::1", "fd00:ec2::254", "::ffff:169.254.1.1"})
    EXPECT_TRUE(is_link_local(make_address(address))) << address;
  for (const char* address :
       {"127.0.0.1", "169.253.255.255", "169.255.0.0", "::1", "fec0::1", "fd00:ec2::253", "::ffff:10.0.0.1"})
    EXPECT_FALSE(is_link_local(make_address(address))) << address;
  HttpAddress at{{}, "localhost", server_->port(), "169.254.169.254"};
  at.refuses_link_local = true;
  HttpClient client(loop_, at, Tls::client(files("ann")).value());
  EXPECT_EQ(ask(client).error().code, Code::denied);
}

TEST_F(HttpTlsTest, FilesThatCannotBeUsed) {
  EXPECT_NE(Tls::server({path("nowhere"), path("agent-key"), {}}).error().message.find("nowhere"),
            std::string::npos);
  EXPECT_EQ(Tls::server({path("agent"), path("ann-key"), {}}).error().code, Code::invalid);
  EXPECT_EQ(Tls::client({{}, {}, path("ca-key")}).error().code, Code::invalid);
}

TEST_F(HttpTlsTest, CertificatesThatAreNotMade) {
  EXPECT_EQ(make_authority("").error().code, Code::invalid);
  EXPECT_EQ(make_authority(std::string(65, 'x')).error().code, Code::invalid);
  for (const char* name : {"", "a b", "a,DNS:b", "*", "a*"})
    EXPECT_EQ(issue(authority_, {"x", {name}, true}).error().code, Code::invalid) << name;
  EXPECT_EQ(issue({authority_.certificate, make_authority("x")->key}, {"x", {}, true}).error().code,
            Code::invalid);
  EXPECT_EQ(issue({"", ""}, {"x", {}, true}).error().code, Code::invalid);
}

TEST(ResolveTest, NamesAndNumbers) {
  Loop loop;
  std::optional<Result<Endpoints>> number, name, none;
  resolve(loop, "127.0.0.9", 7, [&](Result<Endpoints> e) { number = std::move(e); });
  resolve(loop, "localhost", 7, [&](Result<Endpoints> e) { name = std::move(e); });
  resolve(loop, "no such host", 7, [&](Result<Endpoints> e) { none = std::move(e); });
  ASSERT_TRUE(run_until(loop, [&] { return number && name && none; }, std::chrono::seconds(20)));
  EXPECT_EQ((*number)->at(0).address().to_string(), "127.0.0.9");
  EXPECT_EQ((*name)->at(0).port(), 7);
  EXPECT_EQ(none->error().code, Code::not_found);
}

TEST(ResolveTest, NobodyIsToldWhenTheLoopHasGone) {
  const auto told = std::make_shared<std::atomic<int>>(0);
  int under_way = 0;  // when the loop went
  for (int i = 0; i < 20; i++) {
    const long before = told.use_count();
    {
      Loop loop;
      resolve(loop, "localhost", 7, [told](const Result<Endpoints>&) { ++*told; });
    }
    under_way += told.use_count() > before;
  }
  EXPECT_GT(under_way, 0);
  // They end all the same, and let go of what they hold.
  for (int i = 0; i < 20'000 && told.use_count() > 1; i++)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(told.use_count(), 1);
  EXPECT_EQ(*told, 0);
}

}  // namespace
}  // namespace spotter::net

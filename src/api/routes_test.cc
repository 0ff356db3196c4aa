#include "api/routes.h"

#include <gtest/gtest.h>

#include <optional>

#include "agent/test_agent.h"
#include "api/doors.h"
#include "api/status.h"

namespace spotter::api {
namespace {

class RoutesTest : public testing::Test, protected agent::TestAgent {
 protected:
  RoutesTest() {
    DoorOptions options;
    options.api_socket = (root_ / "api").string();
    options.said = {{"rpc_port", "0"}};
    auto opened = Doors::open(loop_, *agent_, options);
    CHECK(opened);
    doors_ = std::move(*opened);
  }
  static net::HttpRequest request(const std::string& method, const std::string& target) {
    net::HttpRequest r;
    r.method = method;
    r.target = target;
    r.peer.uid = geteuid();
    r.peer.pid = getpid();
    return r;
  }
  net::HttpAnswer ask(net::HttpRequest r) {
    std::optional<net::HttpAnswer> got;
    answer_http({*agent_, *doors_}, std::move(r), [&](net::HttpAnswer answer) { got = std::move(answer); });
    EXPECT_TRUE(got);
    return got.value_or(net::HttpAnswer{});
  }
  net::HttpAnswer ask(const std::string& method, const std::string& target) {
    return ask(request(method, target));
  }
  // The methods that the answer allows; empty: it is none of status 405.
  std::string allowed(const std::string& method, const std::string& target) {
    const net::HttpAnswer got = ask(method, target);
    if (got.status != 405) return {};
    EXPECT_EQ(got.headers.size(), 1u);
    EXPECT_EQ(got.headers[0].first, "Allow");
    return got.headers[0].second;
  }

  std::unique_ptr<Doors> doors_;
};

TEST_F(RoutesTest, APartOfTheAgentAsksByNoSocket) {
  const agent::Peer part = agent::Access::own("rule slow_step");
  const auto asked = [&](const net::HttpRequest& r) {
    std::optional<net::HttpAnswer> got;
    answer_peer({*agent_, *doors_}, part, r, [&](net::HttpAnswer answer) { got = std::move(answer); });
    return got.value_or(net::HttpAnswer{});
  };
  EXPECT_EQ(asked(request("GET", "/v1/status")).status, 200);
  EXPECT_EQ(asked(request("POST", "/v1/captures")).status, 404);  // it may; nobody is registered
  EXPECT_EQ(asked(request("DELETE", "/v1/captures/some")).status, 404);
}

TEST_F(RoutesTest, EachPartHasItsLineInTheStatus) {
  beside([&] {
    send("nonsense");
    poll();
    EXPECT_EQ(answer_to_registration(), kineto::encode_count(1));
  });
  const Table status = status_table(*agent_, *doors_);
  const char* parts[] = {"agent",       "ipc",        "api",         "api for other hosts",
                         "dynolog rpc", "prometheus", "connections", "history"};
  const char* states[] = {"works", "works", "works", "off", "works", "off", "works", "off"};
  ASSERT_EQ(status.rows(), std::size(parts));
  for (size_t row = 0; row < status.rows(); ++row) {
    EXPECT_EQ(status.text(row, 1), parts[row]);
    EXPECT_EQ(status.text(row, 2), states[row]) << parts[row];
  }
  EXPECT_NE(status.text(1, 3).find("1 polls, 0 requests sent, 0 sends failed, 1 bad datagrams"),
            std::string_view::npos)
      << status.text(1, 3);
}

TEST_F(RoutesTest, APathThatIsKnownByAnotherMethod) {
  EXPECT_EQ(allowed("POST", "/v1/status"), "GET");
  EXPECT_EQ(allowed("HEAD", "/metrics"), "GET");
  EXPECT_EQ(allowed("PUT", "/v1/captures?x=1"), "GET, POST");
  EXPECT_EQ(allowed("PATCH", "/v1/captures/some"), "GET, DELETE");
  EXPECT_EQ(allowed("GET", "/v1/captures/some/analyze"), "POST");
  EXPECT_NE(ask("POST", "/v1/status").body.find("what is of that name here is asked by GET"),
            std::string::npos);
}

TEST_F(RoutesTest, APathThatIsNone) {
  for (const char* path : {"", "/", "/v1", "/v1/", "/v1/status/", "/v1/captures/", "/v1/captures/a/b",
                           "/v1/captures//analyze", "/v1/captures/{id}/x", "metrics"}) {
    EXPECT_EQ(ask("GET", path).status, 404) << path;
    EXPECT_EQ(ask("POST", path).status, 404) << path;
  }
}

TEST_F(RoutesTest, IdsArePartsOfPaths) {
  for (const char* id : {"none", "%2F", "{id}", "analyze"}) {
    const net::HttpAnswer got = ask("GET", std::string("/v1/captures/") + id);
    EXPECT_EQ(got.status, 404) << id;
    EXPECT_NE(got.body.find("there is no capture of that id"), std::string::npos) << got.body;
  }
}

TEST_F(RoutesTest, APageOfAnotherSiteIsRefused) {
  net::HttpRequest r = request("POST", "/v1/captures");
  EXPECT_EQ(ask(r).status, 404);  // nobody is registered
  r.content_type = "text/plain";
  EXPECT_EQ(ask(r).status, 400);
  r.content_type = "application/json";
  EXPECT_EQ(ask(r).status, 404);
  r.origin = "https://evil.example";
  EXPECT_EQ(ask(r).status, 403);
  r.method = "DELETE";
  r.target = "/v1/captures/some";
  EXPECT_EQ(ask(r).status, 403);
  r.method = "GET";  // what it is told the browser keeps from the page
  EXPECT_EQ(ask(r).status, 404);
}

TEST_F(RoutesTest, ANameThatIsNotThisHostsIsRefusedWhereNobodyElseLooks) {
  net::HttpRequest r = request("GET", "/v1/status");
  r.host = "localhost:8080";
  EXPECT_EQ(ask(r).status, 200);
  r.host = "evil.example";
  EXPECT_EQ(ask(r).status, 403);
  r.peer.address = "10.0.0.7:1234";  // by TLS; and it has no role there
  EXPECT_EQ(ask(r).status, 401);
}

TEST_F(RoutesTest, WhoIsNobodyIsNotToldWhatThereIs) {
  for (const char* path : {"/v1/status", "/nothing"}) {
    net::HttpRequest r = request("POST", path);
    r.peer.uid = -1;
    EXPECT_EQ(ask(r).status, 401) << path;
  }
}

}  // namespace
}  // namespace spotter::api

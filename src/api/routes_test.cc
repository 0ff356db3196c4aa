#include "api/routes.h"

#include <gtest/gtest.h>

#include <optional>

#include "agent/test_agent.h"
#include "api/doors.h"
#include "api/status.h"
#include "base/gzip_writer.h"
#include "net/http/browser_headers.h"
#include "page/page.h"
#include "render/columns_binary.h"
#include "wire/read_tables.h"

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
    return header(got, "Allow");
  }
  static std::string header(const net::HttpAnswer& answer, std::string_view name) {
    for (const auto& [key, value] : answer.headers)
      if (key == name) return value;
    return {};
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
                         "dynolog rpc", "prometheus", "connections", "history",
                         "incidents"};
  const char* states[] = {"works", "works", "works", "off", "works", "off", "works", "off", "works"};
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
  for (const char* path : {"", "//", "/v1", "/v1/", "/v1/status/", "/v1/captures/", "/v1/captures/a/b",
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
  r.method = "GET";
  EXPECT_EQ(ask(r).status, 403);
  r.origin = "";
  EXPECT_EQ(ask(r).status, 404);
  r.sec_fetch_site = "cross-site";
  EXPECT_EQ(ask(r).status, 403);
}

TEST_F(RoutesTest, OurOwnPageMayAskForAll) {
  net::HttpRequest r = request("POST", "/v1/captures");
  r.content_type = "application/json";
  r.host = "localhost:8080";
  r.origin = "http://localhost:8080";
  r.sec_fetch_site = "same-origin";
  EXPECT_EQ(ask(r).status, 404);  // nobody is registered
  r.origin = "https://localhost:8080";
  EXPECT_EQ(ask(r).status, 403);
}

TEST_F(RoutesTest, ThePageIsForEverybody) {
  net::HttpRequest r = request("GET", "/");
  r.peer.uid = -1;  // nobody
  const net::HttpAnswer page = ask(r);
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, page::served());
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(header(page, "Content-Security-Policy"), page::served_policy());
  EXPECT_EQ(header(page, "X-Content-Type-Options"), "nosniff");
  r.accept_encoding = "gzip";
  const net::HttpAnswer packed = ask(r);
  EXPECT_EQ(packed.content_encoding, "gzip");
  EXPECT_EQ(gunzipped(packed.body).value(), page::served());
  r.target = "/licences";
  r.accept_encoding = "";
  EXPECT_EQ(ask(r).body, page::licences());
  r.target = "/favicon.ico";
  EXPECT_EQ(ask(r).status, 204);
  r.target = "/v1/hosts";
  EXPECT_EQ(ask(r).status, 401);
  r.target = "/";
  r.host = "evil.example";
  EXPECT_EQ(ask(r).status, 403);
  EXPECT_EQ(allowed("POST", "/"), "GET");
}

TEST_F(RoutesTest, ColumnsForWhoAcceptsThem) {
  net::HttpRequest r = request("GET", "/v1/processes");
  const net::HttpAnswer json = ask(r);
  EXPECT_EQ(json.body.substr(0, 10), R"({"tables":)");
  EXPECT_EQ(header(json, "Content-Security-Policy"), net::kDataPolicy);
  r.accept = "*/*";
  EXPECT_EQ(ask(r).body, json.body);
  r.accept = render::kColumnsType;
  const net::HttpAnswer columns = ask(r);
  EXPECT_EQ(columns.content_type, render::kColumnsType);
  EXPECT_EQ(columns.body.substr(0, 4), "SPT1");
  r.accept_encoding = "gzip";
  EXPECT_EQ(gunzipped(ask(r).body).value(), columns.body);
}

TEST_F(RoutesTest, TheHostsOfAnAgentsPageAreItself) {
  const auto hosts = wire::read_tables(ask("GET", "/v1/hosts").body);
  ASSERT_TRUE(hosts);
  const Table& table = hosts->tables[0];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.text(0, table.column("host")), agent_->host_name);
  EXPECT_EQ(table.text(0, table.column("state")), "up");
  EXPECT_EQ(table.text(0, table.column("role")), "admin");
  EXPECT_EQ(table.text(0, table.column("prefix")), "");
  EXPECT_EQ(table.text(0, table.column("failing")), "");
  EXPECT_FALSE(is_null(table.at(0, table.column("uptime_ns"))));
  const auto jobs = wire::read_tables(ask("GET", "/v1/jobs").body);
  ASSERT_TRUE(jobs);
  EXPECT_EQ(jobs->tables[0].rows(), 0U);
  EXPECT_EQ(ask("GET", "/v1/analyses").status, 200);
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

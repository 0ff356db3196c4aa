#include "serve/agents.h"

#include <gtest/gtest.h>

#include "client/client.h"
#include "net/testing.h"
#include "render/list.h"
#include "wire/columns.h"
#include "wire/error.h"

namespace spotter::serve {
namespace {

// What it asks of agents at UNIX sockets, of which one answers as a test wants.
class AgentsTest : public testing::Test {
 protected:
  static net::HttpAddress at(std::string socket) {
    net::HttpAddress address;
    address.socket = std::move(socket);
    return address;
  }
  void show(std::vector<net::HttpAddress> addresses) {
    agents_ = std::make_unique<Agents>(
        loop_, desk_, AgentsOptions{std::move(addresses), {.tls = {}, .authorization = "Bearer x"}, "train"},
        "me");
  }
  void listen(std::function<net::HttpAnswer(const net::HttpRequest&)> answer) {
    auto opened = net::HttpServer::open(
        loop_, socket_,
        [this, answer](net::HttpRequest request, net::HttpServer::Respond respond) {
          asked_.push_back(request);
          is_silent_ ? held_.push_back(std::move(respond)) : respond(answer(request));
        },
        [](const Error& error) { return net::HttpAnswer{400, error.message}; });
    ASSERT_TRUE(opened) << opened.error().message;
    server_ = std::move(*opened);
  }
  void begin(net::HttpRequest request, std::optional<net::HttpAnswer>& got) {
    const std::string target = request.target;
    agents_->answer(std::string_view(target).substr(0, target.find('?')), request, role_,
                    [&got](net::HttpAnswer answer) { got = std::move(answer); });
  }
  net::HttpAnswer ask(net::HttpRequest request) {
    std::optional<net::HttpAnswer> got;
    begin(std::move(request), got);
    net::run_until(loop_, [&] { return got.has_value(); });
    return got.value_or(net::HttpAnswer{});
  }
  net::HttpAnswer ask(const std::string& target, const std::string& method = "GET",
                      const std::string& body = {}) {
    net::HttpRequest request;
    request.method = method;
    request.target = target;
    request.body = body;
    request.when_gone = [this](std::function<void()> act) { gone_ = std::move(act); };
    return ask(std::move(request));
  }
  Table hosts() {
    auto answer = client::read_answer(ask("/v1/hosts"), wire::hosts_columns());
    CHECK(answer);
    return std::move(answer->table);
  }

  const std::string socket_ = fmt::format("/tmp/{}", net::private_name("agents"));
  net::Loop loop_;
  Desk desk_{loop_, 1, 1 << 20};
  std::vector<net::HttpRequest> asked_;
  bool is_silent_ = false;
  AccessRole role_ = AccessRole::admin;
  std::vector<net::HttpServer::Respond> held_;
  std::function<void()> gone_;
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<Agents> agents_;
};

TEST_F(AgentsTest, WhatIsTheirs) {
  for (const char* path : {"/v1/hosts", "/v1/hosts/", "/v1/hosts/me/status"})
    EXPECT_TRUE(Agents::has(path)) << path;
  for (const char* path : {"/v1/host", "/v1/hostsx", "/v1/jobs", "/"})
    EXPECT_FALSE(Agents::has(path)) << path;
}

TEST_F(AgentsTest, WithoutAnyTheListIsEmpty) {
  show({});
  EXPECT_EQ(hosts().rows(), 0U);
  EXPECT_EQ(ask("/v1/hosts/me/status").status, 404);
}

TEST_F(AgentsTest, AQuestionIsPassedOnAndItsAnswerComesAsItIs) {
  listen([](const net::HttpRequest&) {
    return net::HttpAnswer{.status = 409, .body = "said", .content_type = "text/x"};
  });
  show({at(socket_)});
  net::HttpRequest request;
  request.method = "POST";
  request.target = "/v1/hosts/me/captures?a=1&b=%20";
  request.body = "{}";
  request.accept = "x/y";
  request.content_type = "application/json";
  request.authorization = "Bearer of-this-server";
  request.when_gone = [](const std::function<void()>&) {};
  const net::HttpAnswer answer = ask(std::move(request));
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body, "said");
  EXPECT_EQ(answer.content_type, "text/x");
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].method, "POST");
  EXPECT_EQ(asked_[0].target, "/v1/captures?a=1&b=%20");
  EXPECT_EQ(asked_[0].body, "{}");
  EXPECT_EQ(asked_[0].accept, "x/y");
  EXPECT_EQ(asked_[0].content_type, "application/json");
  EXPECT_EQ(asked_[0].authorization, "Bearer x");
  EXPECT_EQ(asked_[0].origin, "");
}

TEST_F(AgentsTest, AnAgentThatIsNotThere) {
  show({at(socket_)});
  const net::HttpAnswer answer = ask("/v1/hosts/me/status");
  EXPECT_EQ(answer.status, 502);
  EXPECT_EQ(wire::read_error(answer.body).value().code, Code::not_found);
  const Table table = hosts();
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.text(0, table.column("state")), "down");
  EXPECT_TRUE(is_null(table.at(0, table.column("version"))));
  EXPECT_TRUE(is_null(table.at(0, table.column("failing"))));
}

TEST_F(AgentsTest, HowHostsAre) {
  net::HttpAnswer says{404, wire::error_text({Code::not_found, "there is nothing of that name here"})};
  listen([&](const net::HttpRequest&) { return says; });
  show({at(socket_)});
  const auto state = [&] {
    const Table table = hosts();
    return std::string(table.text(0, table.column("state")));
  };
  EXPECT_EQ(state(), "up");  // of a release that had no such answer
  says = {401, wire::error_text({Code::denied, "nobody may look"})};
  EXPECT_EQ(state(), "denied");
  says = {200, "<html>"};
  EXPECT_EQ(state(), "down");
  is_silent_ = true;
  says = {404, "{}"};
  EXPECT_EQ(state(), "down");  // as it was when it answered last
  EXPECT_EQ(held_.size(), 1U);
  EXPECT_EQ(state(), "down");
  EXPECT_EQ(held_.size(), 1U) << "who has not answered yet is not asked again";
}

// An agent says what the server may; the list says the lower of that and what who asks may.
TEST_F(AgentsTest, TheRoleIsTheLowerOfBoth) {
  std::string_view granted;
  bool is_old = false;
  listen([&](const net::HttpRequest&) {
    if (is_old)
      return net::HttpAnswer{404, wire::error_text({Code::not_found, "there is nothing of that name here"})};
    Table table("hosts", wire::hosts_columns());
    table.append({std::string_view("me"), std::string_view(), std::string_view("local"),
                  std::string_view("up"), granted, std::string_view("1"), i64{1}, std::string_view(), true,
                  Value(), std::string_view()});
    return net::HttpAnswer{200, render::render(render::kJson, {std::span(&table, 1), {}})};
  });
  show({at(socket_)});
  const auto role_for = [&](AccessRole role) {
    role_ = role;
    const Table table = hosts();
    EXPECT_EQ(table.text(0, table.column("state")), "up");
    const bool is_told = !is_null(table.at(0, table.column("role")));
    return is_told ? std::string(table.text(0, table.column("role"))) : "not told";
  };
  for (const char* name : {"view", "trace", "admin"}) {
    granted = name;
    EXPECT_EQ(role_for(AccessRole::admin), name);
    EXPECT_EQ(role_for(AccessRole::view), "view");
  }
  is_old = true;
  EXPECT_EQ(role_for(AccessRole::admin), "not told");
  EXPECT_EQ(role_for(AccessRole::view), "view");
  server_.reset();
  role_ = AccessRole::view;
  const Table gone = hosts();
  EXPECT_EQ(gone.text(0, gone.column("state")), "down");
  EXPECT_TRUE(is_null(gone.at(0, gone.column("role"))));
}

TEST_F(AgentsTest, OfOneHostWithTwoPortsTheNamesHavePorts) {
  net::HttpAddress one, two, other;
  one.host = two.host = "gpu01";
  one.port = 1, two.port = 2, other.port = 1779;
  other.host = "::1";
  show({one, two, other});
  std::vector<std::string> names, prefixes;
  const Table table = hosts();
  for (size_t row = 0; row < table.rows(); ++row) {
    names.emplace_back(table.text(row, table.column("host")));
    prefixes.emplace_back(table.text(row, table.column("prefix")));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"gpu01:1", "gpu01:2", "::1"}));
  EXPECT_EQ(prefixes[2], "v1/hosts/%3A%3A1/");
}

TEST_F(AgentsTest, ManyQuestionsAtOnceAreRefusedAndThoseTakenBackMakeRoom) {
  is_silent_ = true;
  listen([](const net::HttpRequest&) { return net::HttpAnswer{}; });
  show({at(socket_)});
  constexpr size_t kMost = 32;
  std::vector<std::optional<net::HttpAnswer>> got(kMost);
  std::vector<std::function<void()>> gone(kMost);
  for (size_t i = 0; i < kMost; ++i) {
    net::HttpRequest request;
    request.method = "GET";
    request.target = "/v1/hosts/me/status";
    request.when_gone = [&, i](std::function<void()> act) { gone[i] = std::move(act); };
    begin(std::move(request), got[i]);
  }
  EXPECT_EQ(wire::read_error(ask("/v1/hosts/me/status").body).value().code, Code::busy);
  gone[0]();
  is_silent_ = false;
  EXPECT_EQ(ask("/v1/hosts/me/status").status, 200);
  EXPECT_FALSE(got[0]);
}

TEST_F(AgentsTest, WhatIsNoQuestionForFindings) {
  show({at(socket_)});
  for (const char* body :
       {"", "{}", "[]", R"({"captures":{}})", R"({"captures":["a"]})", R"({"captures":{"me":"a"},"x":1})"})
    EXPECT_EQ(ask("/v1/hosts/findings", "POST", body).status, 400) << body;
  for (const char* body : {R"({"captures":{"you":"a"}})", R"({"captures":{"me":1}})"})
    EXPECT_EQ(ask("/v1/hosts/findings", "POST", body).status, 404) << body;
  EXPECT_TRUE(asked_.empty());
  const net::HttpAnswer nobody = ask("/v1/hosts/findings", "POST", R"({"captures":{"me":"a/b"}})");
  EXPECT_EQ(nobody.status, 404) << nobody.body;  // no agent answers, so there is nothing to diagnose
}

TEST_F(AgentsTest, FindingsAreAskedOfTheCapturesOfEachHost) {
  listen([](const net::HttpRequest&) { return net::HttpAnswer{200, R"({"version":"of another release"})"}; });
  show({at(socket_)});
  const net::HttpAnswer answer = ask("/v1/hosts/findings", "POST", R"({"captures":{"me":"a/b"}})");
  EXPECT_EQ(answer.status, 404) << answer.body;
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].method, "POST");
  EXPECT_EQ(asked_[0].target, "/v1/captures/a%2Fb/analyze");
}

}  // namespace
}  // namespace spotter::serve

#include "client/fleet.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "net/testing.h"

namespace spotter::client {
namespace {

using Respond = net::HttpServer::Respond;

std::string receipt(int pid, const char* state, bool is_over, int revision) {
  return fmt::format(
      R"({{"tables": [{{"name": "receipts", "columns": [{{"name": "host"}}, {{"name": "pid"}}, {{"name": "state"}}, )"
      R"({{"name": "took_ns"}}], "rows": [["h", {}, "{}", {}]]}}], "notes": [{{"kind": "k", "sentence": "said once", )"
      R"("count": 1}}], "capture": "c{}", "revision": {}, "over": {}, "unix_ms": 1, "remaining_ms": 60000}})",
      pid, state, is_over ? "7" : "null", pid, revision, is_over);
}

// An agent that answers what a test wants it to.
class FakeAgent {
 public:
  using Script = std::function<void(const net::HttpRequest&, const Respond&)>;
  FakeAgent(net::Loop& loop, Script script) : path_("/tmp/" + net::private_name("fleet")) {
    auto opened = net::HttpServer::open(
        loop, path_,
        [this, script](const net::HttpRequest& request, const Respond& respond) {
          asked.push_back(request.method + " " + request.target);
          script(request, respond);
        },
        [](const Error&) { return net::HttpAnswer{400, {}}; });
    EXPECT_TRUE(opened);
    server_ = std::move(*opened);
  }
  net::HttpAddress address() const { return {path_, {}, 0, {}}; }
  void go() { server_.reset(); }
  std::vector<std::string> asked;

 private:
  std::string path_;
  std::unique_ptr<net::HttpServer> server_;
};

class FleetTest : public testing::Test {
 protected:
  // Follows until it is over.
  Table run(std::vector<net::HttpAddress> hosts, const std::function<void(Fleet&)>& on_change = {},
            int seconds = 10) {
    Fleet fleet(loop_, std::move(hosts), {});
    fleet.begin({}, [&] {
      if (on_change) on_change(fleet);
    });
    EXPECT_TRUE(net::run_until(loop_, [&] { return fleet.is_over(); }, std::chrono::seconds(seconds)));
    EXPECT_TRUE(fleet.has_begun());
    matches_none_ = 0;
    for (const Fleet::Member& member : fleet.members()) matches_none_ += member.matches_none;
    return fleet.receipts();
  }
  static std::string cell(const Table& table, size_t row, const char* column) {
    const Value value = table.at(row, table.column(column));
    return is_null(value) ? "" : std::string(std::get<std::string_view>(value));
  }
  net::Loop loop_;
  int matches_none_ = 0;
};

TEST_F(FleetTest, EachIsFollowedToItsEnd) {
  std::vector<std::unique_ptr<FakeAgent>> agents;
  std::vector<net::HttpAddress> hosts;
  for (int i = 1; i <= 3; i++) {
    agents.push_back(
        std::make_unique<FakeAgent>(loop_, [i, n = 0](const auto&, const Respond& respond) mutable {
          ++n;
          respond({200, receipt(i, n > i ? "written" : "capturing", n > i, n)});
        }));
    hosts.push_back(agents.back()->address());
  }
  const Table receipts = run(hosts);
  ASSERT_EQ(receipts.rows(), 3u);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(cell(receipts, i, "state"), "written");
    EXPECT_EQ(agents[i]->asked.size(), i + 2);
    EXPECT_EQ(agents[i]->asked[0], "POST /v1/captures");
    EXPECT_EQ(agents[i]->asked[1], fmt::format("GET /v1/captures/c{}?seen=1&wait_ms=10000", i + 1));
  }
  EXPECT_EQ(receipts.notes.count("k"), 3);  // once for each
}

TEST_F(FleetTest, WhoIsNotThereHasARow) {
  FakeAgent good(loop_,
                 [](const auto&, const Respond& respond) { respond({200, receipt(1, "written", true, 1)}); });
  FakeAgent none(loop_, [](const auto&, const Respond& respond) {
    respond({404, R"({"error": {"code": "not_found", "message": "none matches"}})"});
  });
  FakeAgent busy(loop_, [](const auto&, const Respond& respond) {
    respond({409, R"({"error": {"code": "busy", "message": "since noon"}})"});
  });
  FakeAgent garbage(loop_, [](const auto&, const Respond& respond) { respond({200, "<html>"}); });
  const Table receipts =
      run({{"/tmp/sp_nobody", {}, 0, {}}, good.address(), none.address(), busy.address(), garbage.address()});
  ASSERT_EQ(receipts.rows(), 4u);
  EXPECT_EQ(matches_none_, 1);  // no failure, and no row
  EXPECT_NE(cell(receipts, 0, "reason").find("no agent answers at /tmp/sp_nobody"), std::string::npos);
  EXPECT_EQ(cell(receipts, 0, "state"), "failed");
  EXPECT_EQ(cell(receipts, 1, "state"), "written");
  EXPECT_EQ(cell(receipts, 2, "reason"), "since noon");
  EXPECT_NE(cell(receipts, 3, "reason").find("no agent of this program"), std::string::npos);
}

TEST_F(FleetTest, WhoIsLostOnTheWay) {
  std::vector<Respond> waiting;
  FakeAgent lost(loop_, [&](const net::HttpRequest& request, const Respond& respond) {
    if (request.method == "POST") return respond({200, receipt(1, "delivered", false, 1)});
    waiting.push_back(respond);
  });
  FakeAgent restarted(loop_, [](const net::HttpRequest& request, const Respond& respond) {
    if (request.method == "POST") return respond({200, receipt(2, "delivered", false, 1)});
    respond({404, R"({"error": {"code": "not_found", "message": "there is no capture of that id"}})"});
  });
  const Table receipts = run({lost.address(), restarted.address()}, [&](Fleet&) {
    if (!waiting.empty()) lost.go();
  });
  ASSERT_EQ(receipts.rows(), 2u);
  for (size_t i = 0; i < 2; i++) {
    EXPECT_EQ(cell(receipts, i, "state"), "failed");
    EXPECT_EQ(std::get<i64>(receipts.at(i, receipts.column("pid"))), static_cast<i64>(i) + 1);
  }
  EXPECT_NE(cell(receipts, 0, "reason").find("no agent answers"), std::string::npos);
  EXPECT_EQ(cell(receipts, 1, "reason"), "its agent says: there is no capture of that id");
}

// It says that it ends the capture at once, and then nothing.
TEST_F(FleetTest, AnAgentThatDoesNotKeepItsTimeIsGivenUp) {
  std::vector<Respond> waiting;
  FakeAgent agent(loop_, [&](const net::HttpRequest& request, const Respond& respond) {
    std::string text = receipt(1, "accepted", false, 1);
    text.replace(text.find("60000"), 5, "-9");
    if (request.method == "POST") return respond({200, text});
    waiting.push_back(respond);
  });
  const Table receipts = run({agent.address()}, {}, 20);
  EXPECT_EQ(cell(receipts, 0, "state"), "failed");
  EXPECT_NE(cell(receipts, 0, "reason").find("does not end the capture"), std::string::npos);
}

TEST_F(FleetTest, TakenBack) {
  std::vector<Respond> waiting;
  FakeAgent agent(loop_, [&](const net::HttpRequest& request, const Respond& respond) {
    if (request.method == "POST") return respond({200, receipt(1, "accepted", false, 1)});
    if (request.method == "DELETE") return respond({200, receipt(1, "failed", true, 2)});
    waiting.push_back(respond);
  });
  FakeAgent slow(loop_, [&](const net::HttpRequest& request, const Respond& respond) {
    if (request.method == "POST")
      waiting.push_back(respond);
    else
      respond({200, receipt(2, "failed", true, 2)});
  });
  bool is_ended = false;
  const Table receipts = run({agent.address(), slow.address()}, [&](Fleet& fleet) {
    if (!std::exchange(is_ended, true)) fleet.end();
    for (const Respond& respond : std::exchange(waiting, {}))
      respond({200, receipt(2, "accepted", false, 1)});
  });
  EXPECT_EQ(agent.asked.back(), "DELETE /v1/captures/c1");
  EXPECT_EQ(slow.asked.back(), "DELETE /v1/captures/c2");
  EXPECT_EQ(cell(receipts, 0, "state"), "failed");
}

}  // namespace
}  // namespace spotter::client

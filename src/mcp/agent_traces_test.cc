#include "mcp/agent_traces.h"

#include <gtest/gtest.h>

namespace spotter::mcp {
namespace {

// Agents that each have one capture.
class TwoAgents : public Agents {
 public:
  struct Has {
    std::string name, id, job;
    i64 began;
  };
  explicit TwoAgents(std::vector<Has> all) : all_(std::move(all)) {}
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const Has& one : all_) names.push_back(one.name);
    return names;
  }
  std::string options() const override { return "--host all"; }
  std::vector<Result<net::HttpAnswer>> ask(std::span<const size_t> which,
                                           std::span<const net::HttpQuestion> questions, Ns,
                                           const Patience&) const override {
    std::vector<Result<net::HttpAnswer>> answers;
    for (size_t i = 0; i < which.size(); ++i) {
      const Has& has = all_[which[i]];
      if (questions[i].method == "POST") {
        asked.push_back(has.name);
        answers.emplace_back(fail(Code::busy, "not now"));
        continue;
      }
      net::HttpAnswer answer{200, fmt::format(kCaptures, has.id, has.job, has.began)};
      answer.content_type = "application/json";
      answers.emplace_back(std::move(answer));
    }
    return answers;
  }
  mutable std::vector<std::string> asked;  // to analyse

 private:
  static constexpr const char* kCaptures =
      R"({{"tables":[{{"name":"captures","columns":[{{"name":"id","type":"text","unit":"none","role":"key","help":"."}},)"
      R"({{"name":"job","type":"text","unit":"none","role":"key","help":"."}},)"
      R"({{"name":"began_ns","type":"integer","unit":"ns","role":"time","help":"."}}],)"
      R"("rows":[["{}","{}",{}]]}}],"notes":[]}})";
  const std::vector<Has> all_;
};

constexpr i64 kAt = 1'795'000'000'000'000'000;

std::vector<std::string> ids_of(AgentTraces& traces) {
  std::vector<std::string> ids;
  const auto captures = traces.captures({});
  if (!captures) return {captures.error().message};
  for (const Capture& capture : *captures) ids.push_back(capture.id);
  std::ranges::sort(ids);
  return ids;
}

// Agents count for themselves: two may call different captures alike.
TEST(AgentTraces, OneIdOfTwoHostsIsTwoCaptures) {
  const TwoAgents agents(
      {{"gpu01", "20260101T000000-1", "a", kAt}, {"gpu02", "20260101T000000-1", "b", kAt}});
  AgentTraces traces(agents);
  EXPECT_EQ(ids_of(traces), (std::vector<std::string>{"gpu01.20260101T000000-1", "gpu02.20260101T000000-1"}));
  const auto captures = traces.captures({});
  ASSERT_TRUE(captures);
  for (const Capture& capture : *captures) {
    agents.asked.clear();
    EXPECT_FALSE(traces.table(capture, {}, {}));
    EXPECT_EQ(agents.asked, std::vector<std::string>{capture.job == "a" ? "gpu01" : "gpu02"});
  }
}

TEST(AgentTraces, WhatBeganTogetherOfOneJobIsOneCapture) {
  const TwoAgents agents(
      {{"gpu01", "20260101T000000-1", "a", kAt}, {"gpu02", "20260101T000001-7", "a", kAt + kSecond}});
  AgentTraces traces(agents);
  EXPECT_EQ(ids_of(traces), std::vector<std::string>{"20260101T000001-7"});
  const auto captures = traces.captures({});
  ASSERT_TRUE(captures);
  EXPECT_FALSE(traces.table(captures->at(0), {}, {}));
  EXPECT_EQ(agents.asked.size(), 2U);
}

TEST(AgentTraces, WhatIsNoIdIsNotPassedOn) {
  const TwoAgents agents({{"gpu01", "EVIL TEXT", "a", kAt}, {"gpu02", "20260101T000000-1", "b", kAt}});
  AgentTraces traces(agents);
  EXPECT_EQ(ids_of(traces), std::vector<std::string>{"20260101T000000-1"});
}

}  // namespace
}  // namespace spotter::mcp

#include "notify/test_notifiers.h"

namespace spotter::notify {
namespace {

using net::body_of;
using net::http;
using Kind = Outcome::Kind;

class PagerDutyTest : public NotifierTest {};

TEST_F(PagerDutyTest, TriggersOnceAndResolvesTheSame) {
  receiver_.answer(http("202 Accepted", R"({"status":"success"})"));
  const auto notifier = pager();
  tell(*notifier, Occasion::verdict);
  const boost::json::object trigger = last_body();
  EXPECT_EQ(text_at(trigger, "/event_action"), "trigger");
  EXPECT_EQ(text_at(trigger, "/routing_key"), "R0UT1NG");
  EXPECT_EQ(text_at(trigger, "/dedup_key"), "spotter/a/4711/speed/2");
  EXPECT_EQ(text_at(trigger, "/payload/source"), "gpu05");
  EXPECT_EQ(text_at(trigger, "/payload/component"), "rank 37");
  EXPECT_EQ(text_at(trigger, "/payload/group"), "job 4711");
  EXPECT_EQ(text_at(trigger, "/payload/class"), "slow_device");
  EXPECT_EQ(text_at(trigger, "/payload/severity"), "warning");
  EXPECT_EQ(text_at(trigger, "/payload/timestamp"), "2026-11-23T04:46:46.123Z");
  EXPECT_EQ(text_at(trigger, "/links/0/href"), "https://gpu01:1779/v1/incidents/4711-speed-2");
  EXPECT_EQ(text_at(trigger, "/payload/summary").find("Job 4711 pretrain (alice): steps 3.10 → 4.42 s"), 0U);
  tell(*notifier, Occasion::resolved);
  const boost::json::object resolve = last_body();
  EXPECT_EQ(text_at(resolve, "/event_action"), "resolve");
  EXPECT_EQ(resolve.at("dedup_key"), trigger.at("dedup_key"));
  EXPECT_FALSE(resolve.contains("payload"));
}

// An acknowledgement has no payload, and none reaches an alert that is resolved.
TEST_F(PagerDutyTest, IsPagedAgainByWhatWasAcknowledgedOnce) {
  receiver_.answer(http("202 Accepted"));
  const auto notifier = pager();
  std::string kept;
  Telling telling = test_telling("step_time_up", Occasion::verdict);
  const auto actions = [&](Occasion occasion) {
    telling.occasion = occasion;
    const size_t before = asked();
    EXPECT_EQ(notifier->tell(telling, kept).kind, Kind::done);
    std::vector<std::string> all;
    const auto requests = receiver_.requests();
    for (size_t i = before; i < requests.size(); ++i)
      all.push_back(text_at(wire::read_object(body_of(requests[i])).value(), "/event_action"));
    return all;
  };
  using All = std::vector<std::string>;
  EXPECT_EQ(actions(Occasion::verdict), All{"trigger"});
  telling.incident.acknowledged = respond::Acknowledgement{"carol", "slack", 1};
  EXPECT_EQ(actions(Occasion::changed), All{"acknowledge"});
  // An event of what is acknowledged calls nobody: what is worse is an alert of its own.
  telling.incident.urgency = respond::Urgency::critical;
  const std::string warning = text_at(last_body(), "/dedup_key");
  EXPECT_EQ(actions(Occasion::changed), (All{"trigger", "resolve"}));
  EXPECT_EQ(text_at(last_body(), "/dedup_key"), warning);
  const auto critical = wire::read_object(body_of(receiver_.requests()[asked() - 2])).value();
  EXPECT_EQ(text_at(critical, "/dedup_key"), warning + "/critical");
  EXPECT_EQ(text_at(critical, "/payload/severity"), "critical");
  EXPECT_EQ(actions(Occasion::changed), All{"trigger"});
  EXPECT_EQ(text_at(last_body(), "/dedup_key"), warning + "/critical");
  // Who adopts it does not know which of them there are.
  std::string nothing;
  telling.occasion = Occasion::resolved;
  const size_t before = asked();
  EXPECT_EQ(notifier->tell(telling, nothing).kind, Kind::done);
  EXPECT_EQ(asked() - before, 3u);
  EXPECT_EQ(actions(Occasion::resolved), (All{"resolve", "resolve"}));
  EXPECT_EQ(text_at(last_body(), "/dedup_key"), warning);
  EXPECT_EQ(actions(Occasion::changed), All{"trigger"});
  EXPECT_EQ(text_at(last_body(), "/dedup_key"), warning);
  // Both are new.
  telling.incident.acknowledged->at = 2;
  telling.incident.urgency = respond::Urgency::warning;
  EXPECT_EQ(actions(Occasion::changed), (All{"trigger", "acknowledge"}));
}

TEST_F(PagerDutyTest, KeysAreShortAndStayApart) {
  receiver_.answer(http("202 Accepted"));
  const auto notifier = pager();
  const auto key_of = [&](i64 n) {
    Telling telling = test_telling("gpu_fault", Occasion::opened);
    telling.incident.job.id = std::string(300, 'j') + "ä";
    telling.incident.n = n;
    std::string kept;
    notifier->tell(telling, kept);
    return text_at(last_body(), "/dedup_key");
  };
  EXPECT_LE(key_of(1).size(), 255U);
  EXPECT_EQ(key_of(1), key_of(1));
  EXPECT_NE(key_of(1), key_of(2));
}

TEST_F(PagerDutyTest, ATestIsOverAtOnce) {
  receiver_.answer(http("202 Accepted"));
  tell(*pager(), Occasion::test);
  ASSERT_EQ(asked(), 2U);
  EXPECT_EQ(text_at(last_body(), "/event_action"), "resolve");
}

}  // namespace
}  // namespace spotter::notify

// A receiver that answers with errors for ten minutes, while incidents go on and end: what arrives of them
// after it, by the real PagerDuty notifier and a clock that is made up.
#include <gtest/gtest.h>

#include "notify/courier.h"
#include "notify/test_notifiers.h"
#include "notify/test_outbox.h"

namespace spotter::notify {
namespace {

class Outage : public NotifierTest {
 protected:
  void SetUp() override {
    auto pager = open("pagerduty", {{"key_file", secret("routing", "R0UT1NG")}, {"url", receiver_.url()}});
    Receiver receiver{"ops", "pagerduty", std::move(pager), {}};
    courier_ = std::make_unique<Courier>(
        std::move(receiver), outbox_,
        Chance{.unix_now = [this] { return now_; }, .jitter = [] { return 1.0; }}, CourierLimits{});
  }
  void put(i64 sequence, Occasion occasion) {
    respond::Incident incident = incident_of(4711, sequence);
    if (occasion == Occasion::resolved) incident.state = respond::IncidentState::resolved;
    outbox_->put("ops", word_of(incident, occasion));
  }
  void run_for(Ns time) {
    const Ns end = now_ + time;
    for (Ns next = courier_->step(); next <= end; next = courier_->step()) now_ = std::max(now_, next);
    now_ = end;
  }
  void answers(const char* status) {
    receiver_.answer(net::http(status));
    before_ = asked();
  }
  // What arrived since the receiver answers so.
  std::vector<std::string> actions() {
    std::vector<std::string> actions;
    const auto requests = receiver_.requests();
    for (size_t i = before_; i < requests.size(); ++i) {
      const auto event = wire::read_object(net::body_of(requests[i])).value();
      EXPECT_EQ(text_at(event, "/dedup_key"), "spotter/a/4711/speed/1");
      actions.push_back(text_at(event, "/event_action"));
    }
    return actions;
  }

  Ns now_ = kStart;
  size_t before_ = 0;
  std::shared_ptr<TestOutbox> outbox_ = std::make_shared<TestOutbox>();
  std::unique_ptr<Courier> courier_;
};

using Actions = std::vector<std::string>;

TEST_F(Outage, WhatBeginsInItArrivesOnceAndSoDoesItsEnd) {
  answers("503 Busy");
  put(1, Occasion::verdict);
  run_for(5 * kMinute);
  put(2, Occasion::changed);
  run_for(5 * kMinute);
  EXPECT_LE(asked(), 20u) << "it is not asked again and again";
  answers("202 Accepted");
  run_for(kMinute);
  EXPECT_EQ(actions(), Actions{"trigger"});
  put(3, Occasion::resolved);
  run_for(kHour);
  EXPECT_EQ(actions(), (Actions{"trigger", "resolve"}));
  EXPECT_EQ(courier_->state().waiting, 0);
  EXPECT_EQ(courier_->state().dropped, 0);
}

TEST_F(Outage, WhatBeganBeforeAndEndsInItIsEndedOnce) {
  answers("202 Accepted");
  put(1, Occasion::verdict);
  run_for(kMinute);
  ASSERT_EQ(actions(), Actions{"trigger"});
  answers("500 Broken");
  put(2, Occasion::changed);
  run_for(4 * kMinute);
  put(3, Occasion::resolved);
  run_for(6 * kMinute);
  answers("202 Accepted");
  run_for(kHour);
  EXPECT_EQ(actions(), Actions{"resolve"});
  EXPECT_EQ(courier_->state().waiting, 0);
}

}  // namespace
}  // namespace spotter::notify

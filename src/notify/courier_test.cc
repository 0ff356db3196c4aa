#include "notify/courier.h"

#include <gtest/gtest.h>

#include "notify/test_outbox.h"

namespace spotter::notify {
namespace {

using enum Outcome::Kind;

class Couriers : public ::testing::Test {
 protected:
  void begin(Redaction redaction = {}) {
    Receiver receiver{"ops", "test", std::make_unique<TestNotifier>(script_), redaction};
    courier_ = std::make_unique<Courier>(
        std::move(receiver), outbox_,
        Chance{.unix_now = [this] { return now_; }, .jitter = [this] { return jitter_; }}, CourierLimits{});
  }
  void put(const respond::Incident& incident, Occasion occasion = Occasion::verdict) {
    outbox_->put("ops", word_of(incident, occasion));
  }
  // Goes on until nothing more is due by then.
  void run_until(Ns end) {
    for (int steps = 0; steps < 100'000; ++steps) {
      const Ns next = courier_->step();
      if (next > end) {
        now_ = end;
        return;
      }
      now_ = std::max(now_, next);
    }
    FAIL() << "it comes again and again at " << now_;
  }
  std::vector<Ns> times() const {
    std::vector<Ns> all;
    for (const Telling& telling : script_->told) all.push_back((telling.at - kStart) / kSecond);
    return all;
  }

  Ns now_ = kStart;
  double jitter_ = 1;
  std::shared_ptr<TestOutbox> outbox_ = std::make_shared<TestOutbox>();
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::unique_ptr<Courier> courier_;
};

using Times = std::vector<Ns>;

TEST_F(Couriers, AWordIsToldOnceAndWhatIsKeptComesBack) {
  begin();
  script_->keeps = "message 7";
  EXPECT_EQ(courier_->step(), Courier::kNever);
  put(incident_of(1));
  run_until(kStart + kHour);
  ASSERT_EQ(script_->told.size(), 1U);
  EXPECT_EQ(script_->told[0].incident.id(), "1-speed-1");
  EXPECT_EQ(script_->told[0].occasion, Occasion::verdict);
  put(incident_of(1, 2), Occasion::resolved);
  run_until(kStart + 2 * kHour);
  EXPECT_EQ(script_->kept, (std::vector<std::string>{"", "message 7"}));
  EXPECT_EQ(script_->told[1].occasion, Occasion::resolved);
  const NotifierState state = courier_->state();
  EXPECT_EQ(state.sent, 2);
  EXPECT_EQ(state.waiting, 0);
  EXPECT_EQ(state.failed, 0);
  EXPECT_EQ(state.last_sent, kStart + kHour);
}

TEST_F(Couriers, PausesDoubleUpToAMinute) {
  begin();
  script_->answers.assign(9, {again, "no connection"});
  put(incident_of(1));
  run_until(kStart + kHour);
  EXPECT_EQ(times(), (Times{0, 1, 3, 7, 15, 31, 63, 123, 183, 243}));
  EXPECT_EQ(courier_->state().failed, 9);
  EXPECT_EQ(courier_->state().sent, 1);
  EXPECT_EQ(courier_->state().last_error, "");
}

TEST_F(Couriers, PausesAreDrawnFromNothingOn) {
  begin();
  jitter_ = 0.25;
  script_->answers.assign(6, {again, "no connection"});
  put(incident_of(1));
  run_until(kStart + kHour);
  EXPECT_EQ(times(), (Times{0, 1, 2, 3, 5, 9, 17}));  // never two in a second
}

TEST_F(Couriers, AWishForAPauseIsGrantedUpToFiveMinutes) {
  begin();
  script_->answers = {{again, "too many", 90 * kSecond}, {again, "too many", kHour}, {again, "broken"}};
  put(incident_of(1));
  run_until(kStart + kHour);
  EXPECT_EQ(times(), (Times{0, 90, 390, 394}));
}

TEST_F(Couriers, AWordIsGivenUpAfterAnHourAnUrgentOneAfterADay) {
  begin();
  script_->answers.assign(10'000, {again, "no connection"});
  put(incident_of(1));
  run_until(kStart + 2 * kHour);
  EXPECT_EQ(courier_->state().dropped, 1);
  EXPECT_EQ(courier_->state().waiting, 0);
  EXPECT_GE(times().back(), 3600);
  EXPECT_LE(times().back(), 3660);
  const Ns then = now_;
  respond::Incident critical = incident_of(2);
  critical.urgency = respond::Urgency::critical;
  put(critical);
  run_until(then + 23 * kHour);
  EXPECT_EQ(courier_->state().dropped, 1);
  run_until(then + 25 * kHour);
  EXPECT_EQ(courier_->state().dropped, 2);
}

TEST_F(Couriers, AClockThatJumpsGivesNothingUp) {
  begin();
  script_->answers.assign(2, {again, "no connection"});
  put(incident_of(1));
  courier_->step();
  now_ += 30 * kDay;  // the first time that it is set
  run_until(now_ + kMinute);
  EXPECT_EQ(courier_->state().dropped, 0);
  EXPECT_EQ(courier_->state().sent, 1);
  script_->answers.assign(1, {again, "no connection"});
  put(incident_of(2));
  run_until(now_);
  now_ -= 10 * kDay;
  outbox_->put("ops", word_of(incident_of(3)));
  run_until(now_ + kMinute);
  EXPECT_EQ(courier_->state().sent, 2);
}

TEST_F(Couriers, WhatIsRefusedForGoodIsCountedAndDoesNotComeAgain) {
  begin();
  script_->answers = {{for_good, "400 \x1b[31mbad"}};
  put(incident_of(1));
  put(incident_of(2));
  run_until(kStart);
  EXPECT_EQ(courier_->state().last_error, "400 \xEF\xBF\xBD[31mbad");
  run_until(kStart + kHour);
  EXPECT_EQ(script_->told.size(), 2U);
  EXPECT_EQ(courier_->state().dropped, 1);
  EXPECT_EQ(courier_->state().sent, 1);
  EXPECT_EQ(courier_->state().last_error, "");
}

TEST_F(Couriers, WhoAsksToBeLeftAloneIsToldNothingMore) {
  begin();
  script_->answers = {{gone, "410 Gone"}};
  for (i64 job = 1; job <= 3; ++job) put(incident_of(job));
  run_until(kStart + kHour);
  put(incident_of(4));
  run_until(kStart + 2 * kHour);
  EXPECT_EQ(script_->told.size(), 1U);
  const NotifierState state = courier_->state();
  EXPECT_TRUE(state.is_off);
  EXPECT_EQ(state.dropped, 4);
  EXPECT_EQ(state.waiting, 0);
}

TEST_F(Couriers, NeverMoreThanOneASecond) {
  begin();
  for (i64 job = 0; job < 30; ++job) put(incident_of(job));
  run_until(kStart + 10 * kSecond);
  EXPECT_EQ(times(), (Times{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(courier_->state().waiting, 19);
}

TEST_F(Couriers, WhoIsToldMuchGetsADigestAMinute) {
  script_->has_digest = true;
  begin();
  for (i64 job = 0; job < 50; ++job) put(incident_of(job));
  run_until(kStart + 59 * kSecond);
  EXPECT_EQ(script_->told.size(), 20U);
  EXPECT_EQ(script_->digests, (std::vector<size_t>{30}));
  for (i64 job = 50; job < 60; ++job) put(incident_of(job));
  run_until(kStart + 79 * kSecond);
  EXPECT_EQ(script_->digests.size(), 1U);
  run_until(kStart + 2 * kMinute);
  EXPECT_EQ(script_->digests, (std::vector<size_t>{30, 10}));
  EXPECT_EQ(courier_->state().sent, 22);
  EXPECT_EQ(courier_->state().waiting, 0);
  put(incident_of(60));  // alone it can be amended later
  run_until(kStart + 5 * kMinute);
  EXPECT_EQ(script_->digests.size(), 2U);
  EXPECT_EQ(script_->told.size(), 21U);
  for (i64 job = 61; job < 64; ++job) put(incident_of(job));
  run_until(kStart + 40 * kMinute);
  for (i64 job = 70; job < 73; ++job) put(incident_of(job));  // long after the storm
  run_until(kStart + 50 * kMinute);
  EXPECT_EQ(script_->digests.size(), 3U);
  EXPECT_EQ(script_->told.size(), 24U);
}

TEST_F(Couriers, WhatAmendsAMessageIsNoNoise) {
  script_->has_digest = true;
  script_->keeps = "7";
  begin();
  put(incident_of(1));
  for (i64 sequence = 2; sequence < 60; ++sequence) {
    run_until(now_ + kSecond);
    put(incident_of(1, sequence));
  }
  run_until(now_ + kSecond);
  EXPECT_EQ(script_->told.size(), 59U);
  for (i64 job = 2; job < 30; ++job) put(incident_of(job));
  run_until(now_ + 20 * kSecond);
  EXPECT_EQ(script_->digests, (std::vector<size_t>{9}));
  put(incident_of(1, 100));
  put(incident_of(50));
  put(incident_of(51));
  run_until(now_ + 2 * kSecond);
  EXPECT_EQ(script_->told.back().incident.sequence, 100);
}

TEST_F(Couriers, ADigestThatIsRefusedIsToldOneByOne) {
  script_->has_digest = true;
  begin();
  for (i64 job = 0; job < 30; ++job) put(incident_of(job));
  run_until(kStart + 19 * kSecond);
  script_->answers = {{for_good, "too long"}};
  run_until(kStart + 2 * kMinute);
  EXPECT_EQ(script_->digests, (std::vector<size_t>{10}));
  EXPECT_EQ(script_->told.size(), 30U);
  EXPECT_EQ(courier_->state().dropped, 0);
}

TEST_F(Couriers, WithoutADigestEachIsTold) {
  begin();
  for (i64 job = 0; job < 50; ++job) put(incident_of(job));
  run_until(kStart + kMinute);
  EXPECT_EQ(script_->told.size(), 50U);
}

TEST_F(Couriers, WhoForgetsIsToldAgainUntilAWhileAfterTheEnd) {
  script_->renewal = kMinute;
  begin();
  put(incident_of(1), Occasion::opened);
  run_until(kStart + 3 * kMinute);
  EXPECT_EQ(times(), (Times{0, 60, 120, 180}));
  EXPECT_EQ(courier_->state().waiting, 0);
  EXPECT_EQ(courier_->state().sent, 1);
  respond::Incident ended = incident_of(1, 2);
  ended.state = respond::IncidentState::resolved;
  ended.closed = now_;
  put(ended, Occasion::resolved);
  run_until(kStart + kHour);
  EXPECT_EQ(times().back(), 3 * 60 + 15 * 60);
  EXPECT_EQ(script_->told.back().incident.sequence, 2);
  EXPECT_EQ(script_->told.size(), 4U + 16U);
}

TEST_F(Couriers, ARenewalIsNotGivenUpAfterAnHour) {
  script_->renewal = kMinute;
  begin();
  put(incident_of(1), Occasion::opened);
  courier_->step();
  script_->answers.assign(150, {again, "no connection"});
  run_until(kStart + 4 * kHour);
  EXPECT_EQ(courier_->state().dropped, 0);
  EXPECT_GE(courier_->state().last_sent, kStart + 4 * kHour - 2 * kMinute);
}

// By a proxy, while a token is changed: who is told each minute would say that it is over.
TEST_F(Couriers, ARenewalThatIsRefusedIsTriedAgain) {
  script_->renewal = kMinute;
  begin();
  put(incident_of(1), Occasion::opened);
  courier_->step();
  script_->answers.assign(2, {Outcome::Kind::for_good, "404: not found"});
  run_until(kStart + 5 * kMinute);
  EXPECT_EQ(times(), (Times{0, 60, 120, 180, 240, 300}));
  EXPECT_EQ(courier_->state().failed, 2);
  EXPECT_EQ(courier_->state().dropped, 0);
}

TEST_F(Couriers, WhatCannotBeWrittenDownIsNotBegun) {
  begin();
  put(incident_of(1));
  outbox_->break_for(1);  // the beginning: nothing is told then
  courier_->step();
  EXPECT_EQ(script_->told.size(), 0U);
  EXPECT_NE(courier_->state().last_error.find("disk is full"), std::string::npos);
  run_until(kStart + kMinute);
  EXPECT_EQ(script_->told.size(), 1U);
  EXPECT_EQ(courier_->state().last_error, "");
}

// Breaks the outbox while it is told.
class Breaker : public Notifier {
 public:
  Breaker(TestOutbox& outbox, int& told) : outbox_(outbox), told_(told) {}
  Outcome tell(const Telling&, std::string&) override {
    if (++told_ == 1) outbox_.break_for(5);
    return {};
  }

 private:
  TestOutbox& outbox_;
  int& told_;
};

TEST_F(Couriers, WhatArrivedAndCannotBeWrittenDownWaitsForThat) {
  int told = 0;
  courier_ = std::make_unique<Courier>(
      Receiver{"ops", "test", std::make_unique<Breaker>(*outbox_, told)}, outbox_,
      Chance{.unix_now = [this] { return now_; }, .jitter = [] { return 1.0; }}, CourierLimits{});
  put(incident_of(1));
  run_until(kStart + 10 * kSecond);
  EXPECT_EQ(told, 1);
  EXPECT_NE(courier_->state().last_error.find("disk is full"), std::string::npos);
  run_until(kStart + kHour);
  EXPECT_EQ(told, 1);
  put(incident_of(2));
  run_until(kStart + 2 * kHour);
  EXPECT_EQ(told, 2);
}

TEST_F(Couriers, DoubtIsHandedOn) {
  begin();
  script_->answers = {{again, "refused"}, {again, "no answer", 0, true}, {again, "refused"}};
  put(incident_of(1));
  courier_->step();
  EXPECT_FALSE(outbox_->in_doubt("ops", "1-speed-1"));
  run_until(kStart + kSecond);
  EXPECT_TRUE(outbox_->in_doubt("ops", "1-speed-1"));
  run_until(kStart + 3 * kSecond);
  EXPECT_TRUE(outbox_->in_doubt("ops", "1-speed-1"));
}

TEST_F(Couriers, OfWhatIsGivenUpAndMayHaveArrivedTheEndIsTold) {
  begin();
  script_->answers = {{again, "no answer", 0, true}};
  script_->answers.insert(script_->answers.end(), 1000, {again, "no connection"});
  put(incident_of(1));
  courier_->step();
  put(incident_of(2));  // of this one it is known that it has not
  run_until(kStart + 3 * kHour);
  EXPECT_EQ(courier_->state().dropped, 2);
  script_->answers.clear();
  const size_t told = script_->told.size();
  put(incident_of(1, 2), Occasion::resolved);
  put(incident_of(2, 2), Occasion::resolved);
  run_until(kStart + 4 * kHour);
  ASSERT_EQ(script_->told.size(), told + 1);
  EXPECT_EQ(script_->told.back().incident.id(), "1-speed-1");
  EXPECT_EQ(script_->told.back().occasion, Occasion::resolved);
}

TEST_F(Couriers, WhatIsRefusedAfterItMayHaveArrivedIsEndedAsWell) {
  begin();
  script_->answers = {{again, "no answer", 0, true}, {for_good, "400"}};
  put(incident_of(1));
  run_until(kStart + kMinute);
  EXPECT_EQ(courier_->state().dropped, 1);
  put(incident_of(1, 2), Occasion::resolved);
  run_until(kStart + kHour);
  EXPECT_EQ(script_->told.size(), 3U);
}

TEST_F(Couriers, AStormOfWordsThatComeOneByOneIsAMessageAMinute) {
  script_->has_digest = true;
  begin();
  for (i64 job = 0; job < 20; ++job) put(incident_of(job));
  run_until(kStart + 20 * kSecond);
  ASSERT_EQ(script_->told.size(), 20U);
  for (i64 job = 20; job < 79; ++job) {
    put(incident_of(job));
    run_until(now_ + 5 * kSecond);
  }
  EXPECT_LE(script_->told.size() + script_->digests.size(), 25U);
  EXPECT_GE(script_->digests.size(), 3U);
}

TEST_F(Couriers, WhatCannotBeReadIsDroppedAndCounted) {
  begin();
  Word word = word_of(incident_of(1));
  word.text = "{";
  outbox_->put("ops", word);
  put(incident_of(2));
  run_until(kStart + kMinute);
  EXPECT_EQ(courier_->state().dropped, 1);
  ASSERT_EQ(script_->told.size(), 1U);
  EXPECT_EQ(script_->told[0].incident.job.id, "2");
}

TEST_F(Couriers, NamesAreLeftOutForThisReceiver) {
  begin({.users = true});
  put(incident_of(1));
  run_until(kStart + kMinute);
  ASSERT_EQ(script_->told.size(), 1U);
  EXPECT_NE(script_->told[0].incident.job.user, "alice");
}

}  // namespace
}  // namespace spotter::notify

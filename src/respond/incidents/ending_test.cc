// How an incident ends: what is over, what is usual now, and what nobody says any more are three things.
#include <gtest/gtest.h>

#include "respond/incidents/incidents.h"

namespace spotter::respond {
namespace {

constexpr Ns kBegan = 1'795'000'000 * kSecond;
const std::string kId = "4711-speed-1";

struct Leader {
  void say(i64 rank, bool is_firing, bool is_new_normal = false, bool has_job_ended = false) {
    Condition condition{
        .rule = "step_time_up", .family = "speed", .job = "4711", .host = "gpu01", .rank = rank};
    condition.is_firing = is_firing;
    condition.since = kBegan;
    condition.at = at;
    condition.is_new_normal = is_new_normal;
    condition.has_job_ended = has_job_ended;
    incidents.take(condition, at);
  }
  // The last change.
  IncidentChange pass(Ns time) {
    IncidentChange last;
    for (const Ns end = at + time; at < end;) {
      at += kSecond;
      for (IncidentChange& change : incidents.pass(at)) last = std::move(change);
    }
    return last;
  }
  // Of two ranks, with no cause.
  void begin() {
    say(0, true);
    say(1, true);
    pass(5 * kSecond);
    ASSERT_TRUE(incidents.conclude(kId, {}, at));
    ASSERT_EQ(incidents.find(kId)->state, IncidentState::inconclusive);
  }

  Incidents incidents{{.cluster = "a", .host = "gpu01"}};
  Ns at = kBegan;
};

TEST(Ending, WhatIsOverIsOver) {
  Leader leader;
  leader.begin();
  leader.say(0, false);
  leader.say(1, false);
  const IncidentChange last = leader.pass(6 * kMinute);
  EXPECT_EQ(last.word, Word::resolved);
  EXPECT_EQ(last.incident.ending, Ending::over);
}

TEST(Ending, WhatStaysSoIsNotMended) {
  Leader leader;
  leader.begin();
  leader.say(0, false, true);
  leader.say(1, true);  // the other still says so, a while
  leader.pass(30 * kSecond);
  EXPECT_EQ(leader.incidents.find(kId)->state, IncidentState::inconclusive);
  leader.say(1, false, true);
  EXPECT_EQ(leader.pass(kSecond).why, "it stays so, which is normal now");
  const IncidentChange last = leader.pass(6 * kMinute);
  EXPECT_EQ(last.word, Word::resolved);
  EXPECT_EQ(last.incident.ending, Ending::new_normal);
  // What is worse than that is the same incident, and may be mended.
  leader.say(0, true);
  leader.pass(kSecond);
  leader.say(0, false);
  EXPECT_EQ(leader.pass(6 * kMinute).incident.ending, Ending::over);
  EXPECT_EQ(leader.incidents.find(kId)->state, IncidentState::resolved);
}

TEST(Ending, WhatNobodySaysAnyMoreIsNotKnown) {
  Leader leader;
  leader.begin();
  const IncidentChange last = leader.pass(20 * kMinute);
  EXPECT_EQ(last.word, Word::resolved);
  EXPECT_EQ(last.incident.ending, Ending::not_known);
}

// A rank recovers, and the job is ended then: the other was slow to the end.
TEST(Ending, AJobThatEndsHasNothingMended) {
  Leader leader;
  leader.begin();
  leader.say(0, false);
  leader.say(1, false, false, true);
  EXPECT_EQ(leader.pass(kSecond).why, "the job ended or began anew");
  const IncidentChange last = leader.pass(6 * kMinute);
  EXPECT_EQ(last.word, Word::resolved);
  EXPECT_EQ(last.incident.ending, Ending::over);
  EXPECT_TRUE(last.incident.has_job_ended);
  // A host leaves the job, which is mended.
  Leader elastic;
  elastic.begin();
  elastic.say(1, false, false, true);
  elastic.say(0, false);
  EXPECT_FALSE(elastic.pass(6 * kMinute).incident.has_job_ended);
  // It is slow again when it is begun anew, and that is mended.
  leader.say(0, true);
  leader.pass(kSecond);
  leader.say(0, false);
  EXPECT_FALSE(leader.pass(6 * kMinute).incident.has_job_ended);
}

TEST(Ending, WhatAPersonResolvesIsNotSeenToEnd) {
  Leader leader;
  leader.begin();
  ASSERT_TRUE(leader.incidents.resolve(kId, "bob", leader.at));
  EXPECT_EQ(leader.incidents.find(kId)->resolved_by, "bob");
  leader.pass(kSecond);
  leader.say(0, true);
  EXPECT_EQ(leader.incidents.find(kId)->resolved_by, "");
  // What is over already needs nobody who says so.
  leader.say(0, false);
  leader.pass(kSecond);
  ASSERT_TRUE(leader.incidents.resolve(kId, "bob", leader.at));
  EXPECT_EQ(leader.incidents.find(kId)->resolved_by, "");
}

// A crowd of warnings that do not end keeps nobody from hearing of what is critical.
TEST(Ending, OfTooManyThatDoNotEndCriticalOnesHaveRoom) {
  Incidents incidents{{.cluster = "a", .host = "gpu01", .most = 10, .more_critical = 5}};
  const auto begin = [&](int job, Urgency urgency) {
    Condition condition{.rule = "gpu_fault", .family = "gpu", .urgency = urgency, .job = std::to_string(job)};
    condition.since = condition.at = kBegan;
    incidents.take(condition, kBegan);
  };
  for (int job = 0; job < 20; ++job) begin(job, Urgency::warning);
  EXPECT_EQ(incidents.all().size(), 10u);
  for (int job = 100; job < 120; ++job) begin(job, Urgency::critical);
  EXPECT_EQ(incidents.all().size(), 15u);
  EXPECT_EQ(incidents.left_out(), 25);
}

// One host is heard no more; the other goes on, and then says that it is over.
TEST(Ending, WhoIsLeftKnows) {
  Leader leader;
  leader.begin();
  for (int minute = 0; minute < 15; ++minute) {
    leader.say(1, true);
    leader.pass(kMinute);
  }
  EXPECT_EQ(leader.incidents.find(kId)->state, IncidentState::inconclusive);
  leader.say(1, false);
  EXPECT_EQ(leader.pass(6 * kMinute).incident.ending, Ending::over);
}

TEST(Ending, WhoCannotLookAnyMoreDoesNotKnow) {
  Leader leader;
  leader.begin();
  leader.say(0, false);
  Condition unheard{.rule = "step_time_up", .family = "speed", .job = "4711", .host = "gpu01", .rank = 1};
  unheard.is_firing = false;
  unheard.is_unheard = true;
  leader.incidents.take(unheard, leader.at);
  EXPECT_EQ(leader.pass(6 * kMinute).incident.ending, Ending::not_known);
}

// Another condition comes and goes while a rank's steps stay slow.
TEST(Ending, WhatComesAndGoesMendsNothingElse) {
  Leader leader;
  leader.begin();
  leader.say(0, false, true);
  leader.say(2, true);
  leader.pass(kSecond);
  leader.say(2, false);
  leader.say(1, false);
  EXPECT_EQ(leader.pass(6 * kMinute).incident.ending, Ending::new_normal);
}

// The rules of an agent that was restarted have not seen how fast the job was before.
TEST(Ending, AfterARestartItIsNotKnown) {
  Leader before, after;
  before.begin();
  after.at = before.at + kSecond;
  after.incidents.restore(*before.incidents.find(kId), after.at);
  const IncidentChange last = after.pass(20 * kMinute);
  EXPECT_EQ(last.word, Word::resolved);
  EXPECT_EQ(last.incident.ending, Ending::not_known);
}

}  // namespace
}  // namespace spotter::respond

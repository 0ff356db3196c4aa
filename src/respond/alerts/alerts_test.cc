#include "respond/alerts/alerts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace spotter::respond {
namespace {

constexpr Ns kStart = 1'795'409'206 * kSecond;

const std::vector<Resident> kResidents = {
    {.job = "4711",
     .user = "alice",
     .rank = 0,
     .pod = "train-0",
     .pod_namespace = "ml",
     .gpu = 0,
     .gpu_uuid = "GPU-a"},
    {.job = "4711", .user = "alice", .rank = 1, .gpu = 1, .gpu_uuid = "GPU-b"},
    {.job = "4712",
     .user = "bob",
     .rank = 7,
     .pod = "train-7",
     .pod_namespace = "ml",
     .gpu = 2,
     .gpu_uuid = "GPU-c"},
};

using Labels = std::map<std::string, std::string>;

std::string job_of(const Labels& labels) {
  const auto target = target_of({.labels = labels}, kResidents, "gpu01.example.org");
  return target ? target->job : target.error().message;
}

TEST(AlertTarget, ByItsLabels) {
  EXPECT_EQ(job_of({{"spotter_job", "4712"}}), "4712");
  EXPECT_EQ(job_of({{"job_id", "4711"}}), "4711");
  EXPECT_EQ(job_of({{"slurm_job_id", "4711"}, {"instance", "other:9100"}}), "4711");
  EXPECT_EQ(job_of({{"exported_job", "4711"}}), "4711");
  EXPECT_EQ(job_of({{"exported_job", "node"}, {"spotter_rank", "7"}}), "4712");
  EXPECT_EQ(job_of({{"spotter_rank", "7"}}), "4712");
  EXPECT_EQ(job_of({{"pod", "train-0"}, {"namespace", "ml"}}), "4711");
  EXPECT_EQ(job_of({{"pod", "exporter"},
                    {"namespace", "x"},
                    {"exported_pod", "train-7"},
                    {"exported_namespace", "ml"}}),
            "4712");
  EXPECT_EQ(job_of({{"instance", "gpu01:9400"}, {"gpu", "2"}}), "4712");
  EXPECT_EQ(job_of({{"Hostname", "GPU01.example.org"}, {"UUID", "GPU-b"}}), "4711");
  EXPECT_EQ(job_of({{"node", "gpu01"}, {"device", "nvidia1"}}), "4711");
  EXPECT_EQ(target_of({.labels = {{"job_id", "4711"}, {"spotter_rank", "1"}}}, kResidents, "gpu01")->rank, 1);
  EXPECT_EQ(target_of({.labels = {{"job_id", "4711"}}}, kResidents, "gpu01")->user, "alice");
}

TEST(AlertTarget, CannotTellWhom) {
  EXPECT_EQ(job_of({}), "cannot tell whom: no label of it names a job, a rank, a pod or this host");
  // A job that is named and not here is not another one.
  EXPECT_EQ(job_of({{"job_id", "9"}, {"instance", "gpu01"}, {"gpu", "0"}}),
            "cannot tell whom: job_id=9 is of no job here");
  EXPECT_EQ(job_of({{"instance", "gpu01:9400"}}), "cannot tell whom: instance=gpu01:9400 is of 2 jobs here");
  EXPECT_EQ(job_of({{"instance", "gpu02:9400"}}),
            "cannot tell whom: instance=gpu02:9400 is not this host, gpu01.example.org");
  EXPECT_EQ(job_of({{"instance", "gpu011"}}),
            "cannot tell whom: instance=gpu011 is not this host, gpu01.example.org");
  EXPECT_EQ(job_of({{"node", "gpu01"}, {"gpu", "5"}}),
            "cannot tell whom: node=gpu01, gpu=5 is of no job here");
  EXPECT_EQ(job_of({{"pod", "train-0"}, {"namespace", "other"}}),
            "cannot tell whom: pod=train-0, namespace=other is of no job here");
  EXPECT_EQ(job_of({{"node", "gpu01"}, {"device", "/dev/sda"}}),
            "cannot tell whom: node=gpu01 is of 2 jobs here");
}

class AlertsTest : public testing::Test {
 protected:
  static Alert alert(const std::string& fingerprint, Labels labels = {{"job_id", "4711"}}) {
    labels.emplace("alertname", "StepSlow");
    return {.fingerprint = fingerprint, .starts = kStart, .labels = std::move(labels), .summary = "slow"};
  }
  static Alert over(Alert alert) {
    alert.is_firing = false;
    return alert;
  }
  std::vector<AlertAnswer> take(std::vector<Alert> all, i64 truncated = 0, const std::string& caller = "am") {
    conditions.clear();
    const auto answers =
        alerts.take({.sender = "alertmanager", .truncated = truncated, .alerts = std::move(all)},
                    {.name = caller,
                     .is_limited = is_limited,
                     .may = [&](const std::string& job) -> Result<void> {
                       if (job == denied) return fail(Code::denied, "not yours");
                       return {};
                     }},
                    residents, at, conditions);
    EXPECT_TRUE(answers);
    return answers.value_or(std::vector<AlertAnswer>());
  }
  AlertOutcome outcome(const Alert& one, i64 truncated = 0, const std::string& caller = "am") {
    return take({one}, truncated, caller).at(0).outcome;
  }

  std::vector<Condition> pass(Ns now) {
    return alerts.pass(now, [&](const std::string& job) {
      return std::ranges::find(residents, job, &Resident::job) != residents.end();
    });
  }

  Alerts alerts{{.host = "gpu01", .most = 20}};
  std::vector<Resident> residents = kResidents;
  std::vector<Condition> conditions;
  Ns at = kStart + kSecond;
  std::string denied;
  bool is_limited = false;
};

TEST_F(AlertsTest, ItIsACondition) {
  EXPECT_EQ(outcome(alert("a", {{"job_id", "4711"}, {"severity", "critical"}, {"spotter_rank", "1"}})),
            AlertOutcome::begins);
  ASSERT_EQ(conditions.size(), 1u);
  const Condition& c = conditions[0];
  EXPECT_EQ(c.rule + c.family + c.job + c.user + c.host, "alertalert4711alicegpu01");
  EXPECT_EQ(c.urgency, Urgency::critical);
  EXPECT_EQ(c.rank, 1);
  EXPECT_EQ(c.since, kStart);
  EXPECT_EQ(c.source, "alertmanager:StepSlow");
  EXPECT_EQ(c.text, "slow");
  EXPECT_TRUE(c.is_firing);
  EXPECT_FALSE(c.no_capture);
}

TEST_F(AlertsTest, TheSameTwiceIsOne) {
  EXPECT_EQ(outcome(alert("a")), AlertOutcome::begins);
  EXPECT_EQ(outcome(alert("a")), AlertOutcome::goes_on);
  EXPECT_TRUE(conditions.empty());
  EXPECT_EQ(outcome(over(alert("a"))), AlertOutcome::over);
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_FALSE(conditions[0].is_firing);
  EXPECT_EQ(outcome(over(alert("a"))), AlertOutcome::left_alone);
  EXPECT_EQ(outcome(alert("a")), AlertOutcome::left_alone);  // what was sent before, sent again
  EXPECT_TRUE(conditions.empty());
  Alert later = alert("a");
  later.starts += kMinute;
  EXPECT_EQ(outcome(later), AlertOutcome::begins);
  EXPECT_EQ(outcome(over(alert("a"))), AlertOutcome::left_alone);  // the end of the one before
  EXPECT_EQ(outcome(over(alert("never seen"))), AlertOutcome::left_alone);
}

// Senders tell an end once: what counts is the alert's own status, whatever was left out beside it.
TEST_F(AlertsTest, AnAlertIsOverAlsoWhereOthersWereLeftOut) {
  take({alert("a"), alert("b")});
  EXPECT_EQ(outcome(over(alert("a")), 1), AlertOutcome::over);
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_FALSE(conditions[0].is_firing);
  EXPECT_EQ(outcome(alert("b"), 1), AlertOutcome::goes_on);
}

TEST_F(AlertsTest, OursBeginNothing) {
  EXPECT_EQ(outcome(alert("a", {{"job_id", "4711"}, {"incident", "4711-speed-1"}})), AlertOutcome::linked);
  Alert ours = alert("b");
  ours.labels["alertname"] = "SpotterStepTimeUp";
  EXPECT_EQ(outcome(ours), AlertOutcome::linked);
  EXPECT_TRUE(conditions.empty());
}

TEST_F(AlertsTest, WhatItIsToDo) {
  EXPECT_EQ(outcome(alert("a", {{"job_id", "4711"}, {"spotter_action", "diagnose"}})), AlertOutcome::begins);
  EXPECT_TRUE(conditions.at(0).no_capture);
  EXPECT_EQ(outcome(alert("b", {{"job_id", "4711"}, {"spotter_action", "none"}})), AlertOutcome::left_alone);
  EXPECT_EQ(outcome(alert("c", {{"job_id", "4711"}, {"spotter_action", "rm -rf /"}})),
            AlertOutcome::not_taken);
  EXPECT_TRUE(conditions.empty());
}

TEST_F(AlertsTest, NobodyActsForOthers) {
  denied = "4712";
  EXPECT_EQ(outcome(alert("a", {{"job_id", "4712"}})), AlertOutcome::not_taken);
  EXPECT_TRUE(conditions.empty());
  denied.clear();
  EXPECT_EQ(outcome(alert("a", {{"job_id", "4712"}})), AlertOutcome::begins);
  denied = "4712";
  EXPECT_EQ(outcome(over(alert("a", {{"job_id", "4712"}}))), AlertOutcome::not_taken);
}

TEST_F(AlertsTest, TenAMinuteOfACaller) {
  std::vector<Alert> storm;
  for (int i = 0; i < 1000; ++i) storm.push_back(alert("storm " + std::to_string(i)));
  const auto answers = take(storm);
  EXPECT_EQ(std::ranges::count(answers, AlertOutcome::begins, &AlertAnswer::outcome), 10);
  EXPECT_EQ(conditions.size(), 10u);
  EXPECT_EQ(outcome(alert("another"), 0, "grafana"), AlertOutcome::begins);
  EXPECT_EQ(outcome(storm[0]), AlertOutcome::goes_on);  // those that are known cost nothing
  at += kMinute;
  EXPECT_EQ(outcome(storm[500]),
            AlertOutcome::begins);  // it was not taken before, and is when it is sent again
}

TEST_F(AlertsTest, AnotherJobsAlertIsToBeSentAgainWhereTenOfTheMinuteAreOfOne) {
  std::vector<Alert> storm;
  for (int i = 0; i < 12; ++i) storm.push_back(alert("storm " + std::to_string(i)));
  const Alert other = alert("other", {{"job_id", "4712"}});
  storm.push_back(other);
  const auto answers = take(storm);
  EXPECT_EQ(answers[11].outcome, AlertOutcome::not_taken);
  EXPECT_EQ(answers[12].outcome, AlertOutcome::not_now);
  at += kMinute;
  EXPECT_EQ(outcome(other), AlertOutcome::begins);
}

TEST_F(AlertsTest, ThereIsRoomForSoMany) {
  for (int i = 0; i < 20; ++i) {
    at += kMinute;
    EXPECT_EQ(outcome(alert(std::to_string(i))), AlertOutcome::begins);
  }
  const auto full = alerts.take({.sender = "alertmanager", .alerts = {alert("more")}}, {.name = "am"},
                                kResidents, at, conditions);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::busy);
  EXPECT_EQ(outcome(over(alert("3"))), AlertOutcome::over);
  EXPECT_EQ(outcome(alert("more")), AlertOutcome::begins);
}

TEST_F(AlertsTest, OverOnesMakeRoom) {
  for (int i = 0; i < 100; ++i) {
    at += kMinute;
    EXPECT_EQ(outcome(alert(std::to_string(i))), AlertOutcome::begins);
    EXPECT_EQ(outcome(over(alert(std::to_string(i)))), AlertOutcome::over);
  }
}

TEST_F(AlertsTest, ItIsSaidAgainUntilNobodyRepeatsIt) {
  take({alert("a")});
  EXPECT_TRUE(pass(at + kSecond).empty());
  at += 31 * kSecond;
  const auto again = pass(at);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].is_firing);
  EXPECT_EQ(again[0].at, at);
  const auto last = pass(at + 26 * kHour);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_FALSE(last[0].is_firing);
  EXPECT_TRUE(pass(at + 27 * kHour).empty());
}

TEST_F(AlertsTest, ARestartKeepsThem) {
  take({alert("a")});
  Alerts next{{.host = "gpu01"}};
  next.adopt(conditions.at(0), at);
  std::vector<Condition> ended;
  const Alerts::Caller caller{.name = "am", .may = [](const std::string&) -> Result<void> { return {}; }};
  EXPECT_EQ(next.take({.alerts = {alert("a")}}, caller, kResidents, at, ended)->at(0).outcome,
            AlertOutcome::goes_on);
  EXPECT_EQ(next.take({.alerts = {over(alert("a"))}}, caller, kResidents, at, ended)->at(0).outcome,
            AlertOutcome::over);
  EXPECT_EQ(fingerprint(ended.at(0)), fingerprint(conditions.at(0)));
}

TEST_F(AlertsTest, WhoResolvesItIsNotToldAgain) {
  take({alert("a")});
  alerts.resolve("4711");
  EXPECT_TRUE(pass(at + kHour).empty());
  EXPECT_EQ(outcome(alert("a")), AlertOutcome::left_alone);
}

// Whoever may tell of his own jobs alone tells nothing of an alert that somebody else sends.
TEST_F(AlertsTest, NobodyEndsOrHidesAnothersAlert) {
  is_limited = true;
  Alert forged = alert("a", {{"job_id", "4712"}});
  forged.starts = kStart + 1000 * kHour;
  EXPECT_EQ(outcome(forged, 0, "user 1000"), AlertOutcome::begins);
  is_limited = false;
  EXPECT_EQ(outcome(alert("a")), AlertOutcome::begins);
  is_limited = true;
  EXPECT_EQ(outcome(over(alert("a")), 0, "user 1001"), AlertOutcome::left_alone);
}

// A host that is hot is so under the next job, too, and who sends the alert goes on with the first one.
TEST_F(AlertsTest, OneThatOutlivesItsJobIsTheNextOnes) {
  const Alert hot = alert("a", {{"instance", "gpu01"}});
  residents = {kResidents[0]};
  EXPECT_EQ(take({hot}).at(0).job, "4711");
  EXPECT_TRUE(pass(at + kSecond).empty());
  residents = {kResidents[2]};
  const auto answer = take({hot}).at(0);
  EXPECT_EQ(answer.outcome, AlertOutcome::begins);
  EXPECT_EQ(answer.job, "4712");
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_TRUE(conditions[0].job == "4711" && !conditions[0].is_firing && conditions[0].has_job_ended);
  EXPECT_TRUE(conditions[1].job == "4712" && conditions[1].is_firing);
}

TEST_F(AlertsTest, ItEndsWithItsJob) {
  take({alert("a")});
  EXPECT_TRUE(pass(at + kSecond).empty());
  residents.clear();
  const auto ended = pass(at + 2 * kSecond);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_TRUE(!ended[0].is_firing && ended[0].has_job_ended);
  EXPECT_TRUE(pass(at + kHour).empty());
}

// After a restart nothing is known of this host at first.
TEST_F(AlertsTest, WhatWasAdoptedWaitsForItsJob) {
  take({alert("a")});
  Condition adopted = conditions.at(0);
  alerts = Alerts({.host = "gpu01"});
  alerts.adopt(adopted, at);
  residents.clear();
  EXPECT_TRUE(pass(at + kSecond).empty());
  EXPECT_EQ(outcome(alert("a")), AlertOutcome::goes_on);
}

}  // namespace
}  // namespace spotter::respond

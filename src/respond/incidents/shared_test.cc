#include "respond/incidents/shared.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "respond/incidents/incidents.h"

namespace spotter::respond {
namespace {

constexpr Ns kBegin = 1'795'000'000 * kSecond;
const std::string kId = "gpu05-speed-1-shared";

Condition slow(const std::string& job, Ns since) {
  Condition condition;
  condition.rule = "step_time_up";
  condition.family = "speed";
  condition.job = job;
  condition.user = "alice";
  condition.host = "gpu05";
  condition.since = since;
  condition.value = 4.42;
  condition.baseline = 3.1;
  condition.unit = "s";
  return condition;
}

// A host that leads the jobs that run on it.
class Host {
 public:
  void say(Condition condition, bool is_firing = true) {
    condition.is_firing = is_firing;
    condition.at = at;
    const SharedConditions::Words words = shared.take(condition);
    for (const Condition& each : words.shared) keep(incidents.take(each, at));
    if (shared.is_shared(condition)) {
      Condition common = condition;
      common.is_shared = true;
      if (const auto incident = incidents.open(common)) condition.shared_incident = incident->id();
    }
    for (Condition again : words.again) {
      again.shared_incident = condition.shared_incident;
      keep(incidents.take(again, at));
    }
    keep(incidents.take(condition, at));
  }
  void begin(const std::string& job, Ns after) { say(slow(job, kBegin + after)); }
  void end(const std::string& job, Ns after) { say(slow(job, kBegin + after), false); }
  void pass(Ns time) {
    for (const Ns end = at + time; at < end;) {
      at += kSecond;
      shared.pass(at);
      keep(incidents.pass(at));
    }
  }
  // What the disk has of it.
  void start_again(Host& after) const {
    after.at = at;
    for (const Incident& incident : stored) {
      after.shared.restore(incident, at);
      after.incidents.restore(incident, at);
    }
  }
  size_t told(const std::string& id) const {
    return static_cast<size_t>(
        std::ranges::count(messages, id, [](const auto& each) { return each.incident.id(); }));
  }
  size_t shared_ones() const {
    const std::vector<Incident> all = incidents.all();
    return static_cast<size_t>(
        std::ranges::count_if(all, [](const Incident& each) { return each.shared_by.has_value(); }));
  }
  std::string refers_to(const std::string& job) const {
    return incidents.find(job + "-speed-1")->shared_incident;
  }

  Ns at = kBegin;
  bool speaks = true;
  Incidents incidents{{.cluster = "a", .host = "gpu05"}};
  SharedConditions shared{[this](const std::string&, const std::vector<std::string>& jobs) {
    asked = jobs;
    return speaks;
  }};
  std::vector<std::string> asked = {};
  std::vector<IncidentChange> messages = {};
  std::vector<Incident> stored = {};

 private:
  void keep(const Incidents::Changes& changes) {
    for (const IncidentChange& change : changes) {
      if (change.word != Word::none) messages.push_back(change);
      std::erase_if(stored, [&](const Incident& each) { return each.id() == change.incident.id(); });
      stored.push_back(change.incident);
    }
  }
};

TEST(Shared, ThreeJobsWithinTwoMinutesAreOneIncidentToWhichTheirsRefer) {
  Host host;
  host.begin("4711", 0);
  host.begin("4712", kMinute);
  EXPECT_EQ(host.shared_ones(), 0u);
  host.begin("4713", 2 * kMinute);
  host.pass(kMinute);
  const auto incident = host.incidents.find(kId);
  ASSERT_TRUE(incident);
  EXPECT_EQ(incident->key(), "a/gpu05/speed/shared");
  EXPECT_EQ(incident->state, IncidentState::inconclusive);
  EXPECT_EQ(incident->shared_by->job_count, 3);
  EXPECT_EQ(incident->shared_by->jobs, (std::vector<std::string>{"4711", "4712", "4713"}));
  EXPECT_TRUE(incident->job.id.empty());
  EXPECT_TRUE(incident->job.user.empty()) << "it is of several users";
  EXPECT_EQ(host.told(kId), 1u);
  for (const char* job : {"4711", "4712", "4713"}) {
    EXPECT_EQ(host.refers_to(job), kId);
    EXPECT_EQ(host.told(std::string(job) + "-speed-1"), 1u) << "whose job it is hears of it";
  }
  for (const IncidentChange& message : host.messages)
    EXPECT_EQ(message.incident.shared_incident.empty(), message.incident.shared_by.has_value());
}

TEST(Shared, TwoJobsAreNot) {
  Host host;
  host.begin("4711", 0);
  host.begin("4712", 0);
  Condition other = slow("4711", kBegin);
  other.rank = 3;  // more of one job
  host.say(other);
  host.pass(kMinute);
  EXPECT_EQ(host.shared_ones(), 0u);
  EXPECT_TRUE(host.refers_to("4711").empty());
}

TEST(Shared, AThirdThatBeginsLaterIsNot) {
  Host host;
  host.begin("4711", 0);
  host.begin("4712", kSecond);
  host.begin("4713", 2 * kMinute + kSecond);
  EXPECT_EQ(host.shared_ones(), 0u);
  host.begin("4714", 2 * kMinute);  // with the first two
  EXPECT_EQ(host.shared_ones(), 1u);
  EXPECT_EQ(host.shared.jobs("speed"), (std::vector<std::string>{"4711", "4712", "4714"}));
  host.begin("4713", 2 * kMinute + kSecond);  // said again: now it is near one of them
  EXPECT_EQ(host.shared.jobs("speed").size(), 4u);
}

TEST(Shared, EachFamilyIsForItselfAndAlertsAreNot) {
  Host host;
  const char* families[] = {"speed", "progress", "gpu"};
  for (int i = 0; i < 3; ++i) {
    Condition condition = slow("471" + std::to_string(i), kBegin);
    condition.family = families[i];
    host.say(condition);
    condition.rule = condition.family = "alert";
    host.say(condition);
  }
  EXPECT_EQ(host.shared_ones(), 0u);
}

TEST(Shared, WhatIsOverIsNotCounted) {
  Host host;
  host.begin("4711", 0);
  host.begin("4712", 0);
  host.end("4711", 0);
  host.begin("4713", kSecond);
  EXPECT_EQ(host.shared_ones(), 0u);
}

TEST(Shared, AnotherJobJoinsWithoutAWordAndComesBack) {
  Host host;
  for (const char* job : {"4711", "4712", "4713"}) host.begin(job, 0);
  host.pass(kMinute);
  host.begin("4714", 2 * kMinute);
  host.begin("4715", 2 * kMinute + kSecond);  // near the last one
  host.begin("4716", kHour);
  EXPECT_EQ(host.incidents.find(kId)->shared_by->job_count, 5);
  EXPECT_EQ(host.refers_to("4715"), kId);
  EXPECT_TRUE(host.refers_to("4716").empty());
  host.end("4711", 0);
  host.pass(10 * kMinute);
  host.begin("4711", 11 * kMinute);
  EXPECT_TRUE(host.shared.is_shared(slow("4711", 0)));
  host.pass(kMinute);
  EXPECT_EQ(host.told(kId), 1u);
}

TEST(Shared, ItIsOverWhenAllOfThemAre) {
  Host host;
  for (const char* job : {"4711", "4712", "4713"}) host.begin(job, 0);
  host.pass(kMinute);
  host.end("4711", 0);
  host.end("4712", 0);
  host.pass(5 * kSecond);
  EXPECT_EQ(host.incidents.find(kId)->state, IncidentState::inconclusive);
  host.end("4713", 0);
  host.pass(kSecond);
  EXPECT_EQ(host.incidents.find(kId)->state, IncidentState::recovering);
  EXPECT_TRUE(host.shared.jobs("speed").empty());
  host.begin("4711", 2 * kMinute);  // alone it has nothing in common with the others
  host.pass(6 * kMinute);
  EXPECT_EQ(host.incidents.find(kId)->state, IncidentState::resolved);
  EXPECT_EQ(host.messages.back().word, Word::resolved);
  for (const char* job : {"4712", "4713"}) host.begin(job, 3 * kMinute);
  EXPECT_EQ(host.incidents.find(kId)->state, IncidentState::inconclusive) << "soon after it is the same one";
  EXPECT_EQ(host.shared_ones(), 1u);
}

TEST(Shared, AJobHasOneConditionInItTheMostUrgent) {
  Host host;
  for (const char* job : {"4711", "4712", "4713"}) host.begin(job, 0);
  Condition worse = slow("4711", kBegin);
  worse.rank = 3;
  worse.urgency = Urgency::critical;
  host.say(worse);
  host.pass(5 * kSecond);
  const auto incident = host.incidents.find(kId);
  EXPECT_EQ(incident->condition_count, 3);
  EXPECT_EQ(incident->urgency, Urgency::critical);
  EXPECT_EQ(incident->conditions[0].rank, 3);
  host.say(worse, false);
  host.end("4711", 0);
  for (const char* job : {"4712", "4713"}) host.end(job, 0);
  host.pass(kSecond);
  EXPECT_EQ(host.incidents.find(kId)->state, IncidentState::recovering);
}

TEST(Shared, WhatIsWrongWithTheHostIsTheCauseAndAmendsIt) {
  Host host;
  for (const char* job : {"4711", "4712", "4713"}) host.begin(job, 0);
  host.pass(20 * kSecond);
  EXPECT_FALSE(host.incidents.find(kId)->verdict);
  Condition starved;
  starved.rule = "host_starved";
  starved.family = "host";
  starved.host = "gpu05";
  starved.device = "memory";
  starved.since = kBegin;
  starved.at = host.at;
  (void)host.incidents.take(starved, host.at);
  host.pass(kSecond);
  const auto incident = host.incidents.find(kId);
  ASSERT_TRUE(incident->verdict);
  EXPECT_EQ(incident->verdict->cause, "host_starved");
  EXPECT_EQ(host.told(kId), 2u);
  EXPECT_EQ(host.messages.back().word, Word::changed);
}

TEST(Shared, WhatOneJobHasIsNoCauseOfTheOthers) {
  Host host;
  for (const char* job : {"4711", "4712", "4713"}) {
    Condition hot = slow(job, kBegin);
    hot.rule = "gpu_throttled";
    hot.family = "gpu";
    host.say(hot);
  }
  host.pass(kMinute);
  EXPECT_FALSE(host.incidents.find("gpu05-gpu-1-shared")->verdict);
}

TEST(Shared, AfterARestartItIsTheSameOneAndNotToldAgain) {
  Host before;
  for (const char* job : {"4711", "4712", "4713"}) before.begin(job, 0);
  before.pass(kMinute);
  Host host;
  before.start_again(host);
  host.pass(10 * kSecond);
  EXPECT_EQ(host.shared.jobs("speed").size(), 3u);
  host.begin("4711", 70 * kSecond);
  EXPECT_EQ(host.refers_to("4711"), kId);
  EXPECT_EQ(host.incidents.find(kId)->shared_by->job_count, 3);
  host.pass(kMinute);
  EXPECT_EQ(host.shared_ones(), 1u);
  EXPECT_TRUE(host.messages.empty());
  host.pass(20 * kMinute);  // nobody says any more that it goes on
  EXPECT_TRUE(host.shared.jobs("speed").empty());
  EXPECT_EQ(host.incidents.find(kId)->state, IncidentState::resolved);
}

TEST(Shared, WhereAnotherHostTellsOfItThisOneDoesNot) {
  Host host;
  host.speaks = false;
  for (const char* job : {"4713", "4711", "4712"}) host.begin(job, 0);
  host.pass(kMinute);
  EXPECT_EQ(host.asked, (std::vector<std::string>{"4711", "4712", "4713"}));
  EXPECT_EQ(host.shared_ones(), 0u);
  EXPECT_TRUE(host.refers_to("4711").empty());
}

TEST(Shared, ItIsSilencedWhereEachOfItsJobsIs) {
  const auto told = [](const std::vector<Silence>& silences) {
    Host host;
    for (const Silence& silence : silences) EXPECT_TRUE(host.incidents.silence(silence, host.at));
    for (const char* job : {"4711", "4712", "4713", "4714"}) host.begin(job, 0);
    host.pass(kMinute);
    EXPECT_EQ(host.shared_ones(), 1u);
    EXPECT_EQ(host.incidents.find(kId)->silenced_until.has_value(), host.told(kId) == 0);
    return host.told(kId);
  };
  const auto of_job = [](const char* job) {
    return Silence{.job = job, .until = kBegin + kHour, .reason = "planned"};
  };
  EXPECT_EQ(told({of_job("4711"), of_job("4712"), of_job("4713")}), 1u);
  EXPECT_EQ(told({of_job("4711"), of_job("4712"), of_job("4713"), of_job("4714")}), 0u);
  EXPECT_EQ(told({{.user = "alice", .until = kBegin + kHour, .reason = "planned"}}), 0u);
  EXPECT_EQ(told({{.host = "gpu05", .until = kBegin + kHour, .reason = "planned"}}), 0u);
}

TEST(Shared, AThousandJobsAreOneMessageOfABoundedLength) {
  Host host;
  for (int i = 0; i < 1000; ++i) host.begin(std::to_string(4000 + i), i * kMillisecond);
  host.pass(5 * kSecond);
  EXPECT_EQ(host.shared_ones(), 1u);
  EXPECT_EQ(host.told(kId), 1u);
  const auto incident = host.incidents.find(kId);
  EXPECT_EQ(incident->shared_by->job_count, 1000);
  EXPECT_EQ(incident->shared_by->jobs.size(), SharedBy::kMostNamed);
  EXPECT_EQ(incident->conditions.size(), 3u);
}

TEST(Shared, ThereIsAnEndToWhatIsKept) {
  SharedConditions shared([](const auto&, const auto&) { return false; });
  const auto more = static_cast<i64>(SharedConditions::kMost + 7);
  for (i64 i = 0; i < more; ++i) {
    Condition condition = slow("4711", kBegin);
    condition.rank = i;
    shared.take(condition);
  }
  EXPECT_EQ(shared.left_out(), 7);
}

TEST(Shared, NoNameOfAJobMakesItsNames) {
  Host host;
  for (const char* job : {"4711", "4712", "4713"}) host.begin(job, 0);
  const Incident shared = *host.incidents.open([] {
    Condition condition = slow("4711", 0);
    condition.is_shared = true;
    return condition;
  }());
  // What a job's name can be is open, but its key ends with a family, and its id with a number.
  for (const char* name :
       {"shared", "gpu05", "gpu05/speed", "gpu05-speed-1-shared", "host/gpu05", "gpu05-speed-1"}) {
    Incident of_job{.cluster = "a", .family = "speed", .n = 1};
    of_job.job.id = name;
    EXPECT_NE(of_job.key(), shared.key());
    EXPECT_NE(of_job.id(), shared.id());
  }
  host.begin("gpu05-speed-1-shared", kHour);
  EXPECT_TRUE(host.incidents.find(kId)->shared_by);
}

TEST(Shared, SomebodyResolvesItAndItsJobsKeepTheirs) {
  Host host;
  for (const char* job : {"4711", "4712", "4713"}) {
    Condition fault = slow(job, kBegin);
    fault.rule = "gpu_fault";
    fault.family = "gpu";
    host.say(fault);
  }
  host.pass(kMinute);
  ASSERT_TRUE(host.incidents.resolve("gpu05-gpu-1-shared", "carol", host.at));
  Condition fault = slow("4711", kBegin);
  fault.rule = "gpu_fault";
  fault.family = "gpu";
  host.say(fault);
  host.pass(kMinute);
  EXPECT_EQ(host.incidents.find("gpu05-gpu-1-shared")->state, IncidentState::resolved);
  EXPECT_TRUE(host.incidents.find("4711-gpu-1")->is_open());
  EXPECT_FALSE(host.incidents.is_mended(fault));
}

TEST(Shared, AnotherHostCannotSayThatItLeadsOne) {
  Host host;
  Incident theirs{.cluster = "a", .family = "speed", .n = 7};
  theirs.job.id = "4711";
  theirs.state = IncidentState::inconclusive;
  theirs.shared_by = SharedBy{.jobs = {"4711"}, .job_count = 3};
  Condition condition = slow("4711", kBegin);
  condition.shared_incident = "gpu09-speed-1-shared";
  const Report report{.host = "gpu09",
                      .sent = kBegin,
                      .job = {.id = "4711"},
                      .conditions = {condition},
                      .incidents = {theirs}};
  (void)host.incidents.receive(report, host.at);
  EXPECT_EQ(host.shared_ones(), 0u);
  ASSERT_EQ(host.incidents.all().size(), 1u);
  EXPECT_EQ(host.incidents.all()[0].shared_incident, "gpu09-speed-1-shared");
}

}  // namespace
}  // namespace spotter::respond

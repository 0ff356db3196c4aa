#include "notify/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/system/file.h"
#include "base/text/utf8.h"
#include "notify/redact.h"
#include "notify/symptom.h"
#include "notify/test_incidents.h"
#include "notify/words.h"
#include "respond/hang.h"
#include "respond/incidents/symptoms.h"
#include "respond/rules/list.h"
#include "wire/incident.h"
#include "wire/json.h"

namespace spotter::notify {
namespace {

using namespace respond;

size_t characters(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); text.remove_prefix(first_code_point(text).bytes)) ++count;
  return count;
}

struct Case {
  const char* name;
  Occasion occasion;
  bool has_verdict;
};
constexpr Case kCases[] = {{"opened", Occasion::opened, false},
                           {"verdict", Occasion::verdict, true},
                           {"inconclusive", Occasion::verdict, false},
                           {"resolved", Occasion::resolved, true}};

Telling telling_of(const char* rule, const Case& c) {
  if (c.has_verdict || c.occasion == Occasion::opened) return test_telling(rule, c.occasion);
  Telling telling = test_telling(rule, Occasion::changed);
  telling.occasion = c.occasion;
  return telling;
}

TEST(MessageTest, LongStepsAreSaidToBeFew) {
  const auto text_of_steps = [](double before) {
    Telling telling = test_telling("step_time_up", Occasion::opened);
    telling.incident.symptom.before = before;
    return text_of(message_of(telling, {}));
  };
  constexpr const char* kFew = "since step 18,250; such long steps are judged by few of them";
  EXPECT_EQ(text_of_steps(10).find("judged by few"), std::string::npos);
  EXPECT_NE(text_of_steps(11).find(kFew), std::string::npos) << text_of_steps(11);
}

// What its rule says is the cause, where no trace says more.
Telling of_metrics(const char* rule) {
  Telling telling = telling_of(rule, kCases[2]);
  Incident& i = telling.incident;
  const Condition condition = i.conditions.front();
  i.verdict = verdict_of({&condition});
  i.state = i.verdict ? IncidentState::verdict : IncidentState::inconclusive;
  i.captures.clear();
  i.report.reset();
  i.conditions.resize(1);
  return telling;
}

Telling of_a_hang() {
  HangFacts facts{.host = "gpu01", .world_size = 1024};
  facts.ranks = {{.host = "gpu05", .rank = 37, .pid = 615, .state = 'T'}};
  Conclusion conclusion = conclusion_of(facts);
  Telling telling = telling_of("progress_stopped", kCases[2]);
  Incident& i = telling.incident;
  i.verdict = conclusion.verdict;
  i.evidence = conclusion.evidence;
  i.against = {"but others wait for rank 12, say NCCL or the flight recorders"};
  i.not_known = conclusion.not_known;
  i.state = IncidentState::verdict;
  return telling;
}

// Those that are sent: what a rule finds is a cause or a symptom, and critical ones are told at once.
// SPOTTER_WRITE_GOLDEN=1 writes it anew; look at what has changed.
TEST(MessageTest, EachRuleOnEachOccasion) {
  constexpr const char* kPath = "tests/fixtures/notify/messages.txt";
  std::string all;
  const auto add = [&](const std::string& name, const Telling& telling) {
    all += fmt::format("== {}\n{}\n", name, text_of(message_of(telling, {})));
  };
  for (const char* rule : kTestRules) {
    const Condition condition = test_condition(rule);
    const bool is_cause = find_rule(rule)->rank_as_cause != 0;
    if (condition.urgency == Urgency::critical && condition.family != "progress")
      add(std::string(rule) + " opened", telling_of(rule, kCases[0]));
    if (is_cause) {
      add(std::string(rule) + " verdict of metrics", of_metrics(rule));
    } else {
      for (const Case& c : {kCases[1], kCases[2]})
        add(fmt::format("{} {}", rule, c.name), telling_of(rule, c));
    }
    add(std::string(rule) + " resolved", telling_of(rule, kCases[3]));
  }
  add("hang verdict", of_a_hang());
  for (const Case& c : {kCases[2], kCases[3]})
    all += fmt::format("== shared step_time_up {}\n{}\n", c.name,
                       text_of(message_of(shared_telling(c.occasion), {})));
  for (const respond::Ending ending : {respond::Ending::new_normal, respond::Ending::not_known}) {
    Telling closed = test_telling("step_time_up", Occasion::resolved);
    closed.incident.ending = ending;
    all += fmt::format("== step_time_up ends: {}\n{}\n", respond::kEndingNames[static_cast<size_t>(ending)],
                       text_of(message_of(closed, {})));
  }
  Telling ended = test_telling("step_time_up", Occasion::resolved);
  ended.incident.has_job_ended = true;
  all += fmt::format("== step_time_up ends: with the job\n{}\n", text_of(message_of(ended, {})));
  Telling by_hand = test_telling("step_time_up", Occasion::resolved);
  by_hand.incident.resolved_by = "carol";
  all += fmt::format("== step_time_up ends: by hand\n{}\n", text_of(message_of(by_hand, {})));
  Telling one = test_telling("step_time_up", Occasion::verdict);
  one.incident.shared_incident = "gpu05-speed-1-shared";
  all += fmt::format("== step_time_up verdict of one of several jobs\n{}\n", text_of(message_of(one, {})));
  if (std::getenv("SPOTTER_WRITE_GOLDEN")) {
    ASSERT_TRUE(write_file_atomically(kPath, all));
  }
  EXPECT_EQ(read_small_file(kPath, size_t{1} << 20).value(), all);
}

TEST(MessageTest, NineLinesAndAShortHeadline) {
  for (const char* rule : kTestRules) {
    for (const Case& c : kCases) {
      Telling telling = telling_of(rule, c);
      telling.incident.job.name = std::string(500, 'n');
      telling.incident.job.user = std::string(500, 'u');
      telling.incident.logs.resize(20, {"a line", "/x", 0, 1});
      telling.incident.acknowledged = Acknowledgement{"carol", "slack", kTestOpened};
      const Message message = message_of(telling, {});
      const std::string text = text_of(message);
      EXPECT_LE(std::ranges::count(text, '\n'), 9) << text;
      EXPECT_LE(characters(message.headline()), kMostHeadline) << text;
    }
  }
}

TEST(MessageTest, TheSuspectIsNeverCut) {
  for (const char* rule : kTestRules) {
    Telling telling = test_telling(rule, Occasion::verdict);
    Incident& i = telling.incident;
    const std::string host = "gpu-node-0123.cluster.example.com";
    i.job.id = std::string(32, '7');
    for (Condition& condition : i.conditions) condition.host = host;
    i.verdict->suspects.clear();
    for (i64 rank = 37; rank < 45; ++rank)
      i.verdict->suspects.push_back({.rank = rank, .host = host, .gpu = 5});
    for (Ns* const told_for : {static_cast<Ns*>(nullptr), &i.fired_again, &i.repeated}) {
      i.fired_again = i.repeated = 0;
      if (told_for) {
        telling.occasion = Occasion::changed;
        *told_for = i.updated;
        i.urgency = Urgency::critical;
      }
      const std::string headline = message_of(telling, {}).headline();
      EXPECT_EQ(headline.starts_with("■ Critical again · "), told_for == &i.fired_again) << headline;
      EXPECT_EQ(headline.starts_with("■ Critical still · "), told_for == &i.repeated) << headline;
      EXPECT_LE(characters(headline), kMostHeadline);
      EXPECT_NE(headline.find("rank 37 on gpu-node-0123 and 7 more"), headline.npos) << headline;
    }
  }
}

// Whom our own sentences name is nobody else's to know either.
TEST(MessageTest, WhoIsNamedInSentencesIsRedactedAsWell) {
  Telling telling = test_telling("gpu_shared", Occasion::verdict);
  Incident& i = telling.incident;
  i.conditions.push_back(test_condition("storage_hangs"));
  i.verdict->sentence = "Ranks 4, 5 on n2, n3 are stopped (T); the others wait";
  i.evidence = {{.says = "gpu77: tasks in wait (cpu) 70 %", .row = {{"host", "gpu77"}}}};
  i.against = {"but rank 12 on gpu09 (GPU 4): SM clock 900 MHz",
               "but gpu08: TCP segments sent again 300 a second"};
  redact(i, {.hosts = true, .users = true});
  std::string text = text_of(message_of(telling, {}));
  for (const std::string& line : details_of(telling)) text += line + "\n";
  for (const char* name : {"bob", "alice", "nfs1", "n2", "n3", "gpu77", "gpu09", "gpu08", "gpu05"})
    EXPECT_EQ(text.find(name), text.npos) << name << "\n" << text;
  EXPECT_NE(text.find("tasks in wait (cpu) 70 %"), text.npos);
}

TEST(MessageTest, ShapeAndWordSayHowBadItIs) {
  Telling telling = test_telling("gpu_fault", Occasion::opened);
  EXPECT_TRUE(message_of(telling, {}).headline().starts_with("■ Critical · Job 4711 "));
  telling.incident.urgency = Urgency::warning;
  EXPECT_TRUE(message_of(telling, {}).headline().starts_with("▲ Warning · "));
  telling.incident.urgency = Urgency::info;
  EXPECT_TRUE(message_of(telling, {}).headline().starts_with("● Info · "));
  telling.incident.fired_again = telling.incident.updated;
  telling.occasion = Occasion::changed;
  EXPECT_TRUE(message_of(telling, {}).headline().starts_with("● Info again · "));
  telling.incident.updated += kSecond;  // somebody has acknowledged it
  EXPECT_TRUE(message_of(telling, {}).headline().starts_with("● Info · "));
  telling.occasion = Occasion::resolved;
  EXPECT_TRUE(message_of(telling, {}).headline().starts_with("✓ Resolved · "));
  telling.occasion = Occasion::test;
  EXPECT_TRUE(
      message_of(telling, {.host_name = "gpu01"}).headline().starts_with("● Test · Spotter on gpu01"));
}

TEST(MessageTest, OfAnotherDayOfAHostAndOfARuleWithoutWords) {
  Telling telling = test_telling("step_time_up", Occasion::opened);
  telling.incident.job = {};
  telling.incident.host = "gpu07";
  telling.incident.symptom.rule = "fan_stopped";
  telling.incident.symptom.unit = "rpm";
  telling.incident.symptom.hosts = 1;
  telling.incident.conditions.clear();
  telling.at += kDay;
  EXPECT_EQ(message_of(telling, {}).what,
            "Host gpu07: fan stopped: 4.42 rpm, before 3.1 rpm since 23 Nov 04:46 UTC");
  telling.incident.host.clear();
  EXPECT_EQ(message_of(telling, {}).what.find("Cluster a: fan stopped"), 0U);
}

TEST(MessageTest, WhatMetricsAloneSayIsSaidOnce) {
  Telling telling = test_telling("gpu_fault", Occasion::verdict);
  telling.incident.verdict->cause = "gpu_fault";
  EXPECT_EQ(
      message_of(telling, {}).what,
      "Job 4711 pretrain (alice): GPU 5 on gpu05 has a fault (XID 79: the GPU has fallen off the bus: it cannot be "
      "reached) at 04:46 UTC");
}

TEST(MessageTest, WhatMoreThereIsIsCounted) {
  Telling telling = test_telling("link_errors", Occasion::opened);
  for (int port = 2; port < 5; ++port) {
    telling.incident.conditions.push_back(telling.incident.conditions[0]);
    telling.incident.conditions.back().device = fmt::format("mlx5_0 port {}", port);
  }
  telling.incident.logs.resize(7, {"a line", "/x", 0, 1});
  telling.incident.not_known.resize(1000, "x");
  EXPECT_EQ(details_of(telling).back(), "and 947 more");
  const std::string text = text_of(message_of(telling, {}));
  EXPECT_NE(text.find("; the same on 3 more"), text.npos) << text;
  EXPECT_NE(text.find("; 4 more are not shown"), text.npos) << text;
}

TEST(MessageTest, TextOfAJobIsOnOneLineAndCut) {
  Telling telling = test_telling("log_error", Occasion::opened);
  const std::string hostile = "a\r\nBcc: x\n\x1b[31m\xE2\x80\xAE\xff" + std::string(1 << 20, 'y');
  telling.incident.job.name = telling.incident.job.user = telling.incident.job.id = hostile;
  telling.incident.conditions[0].text = telling.incident.conditions[0].host = hostile;
  telling.incident.conditions[0].device = hostile;
  telling.incident.logs = {{hostile, hostile, 1, 2}};
  telling.incident.changes = {{1, hostile, hostile, hostile, hostile, hostile, hostile}};
  telling.incident.not_known = telling.incident.against = {hostile, hostile};
  telling.incident.evidence = {{hostile, hostile, {}, hostile}};
  const std::string text = text_of(message_of(telling, {}));
  EXPECT_LE(std::ranges::count(text, '\n'), 9);
  EXPECT_LT(text.size(), 4000U);
  EXPECT_TRUE(is_valid_utf8(text));
  for (const char* bad : {"\r", "\x1b", "\xE2\x80\xAE"}) EXPECT_EQ(text.find(bad), text.npos);
}

TEST(MessageTest, OfAThousandJobsTheFirstAreNamed) {
  Telling telling = shared_telling(Occasion::verdict);
  respond::SharedBy& by = *telling.incident.shared_by;
  by.job_count = 1000;
  by.jobs.assign(8, std::string(500, 'j'));
  by.hosts.assign(8, std::string(500, 'h'));
  telling.incident.acknowledged = Acknowledgement{"carol", "slack", kTestOpened};
  const std::string text = text_of(message_of(telling, {}));
  EXPECT_NE(text.find("Warning · 1,000 jobs on gpu05: "), text.npos) << text;
  EXPECT_NE(text.find(" and 994 more"), text.npos) << text;
  EXPECT_LE(std::ranges::count(text, '\n'), 9) << text;
  EXPECT_LT(text.size(), 2500U) << text;
}

TEST(MessageTest, LinksToWhereTheConfigurationSays) {
  Telling telling = test_telling("step_time_up", Occasion::verdict);
  telling.incident.job.id = "a/b c";
  const auto link = [&](const char* url) {
    return message_of(telling, {.host_name = "gpu01", .report_url = url}).link;
  };
  EXPECT_EQ(link("https://gpu01:1779/#/incidents?id={id}"),
            "https://gpu01:1779/#/incidents?id=a%2Fb%20c-speed-2");
  EXPECT_EQ(link("https://x/{host}/{job}?{other}{"), "https://x/gpu01/a%2Fb%20c?{other}{");
  telling.incident.job.id = "{host}";
  EXPECT_EQ(link("https://x/{job}"), "https://x/%7Bhost%7D");
  EXPECT_EQ(message_of(telling, {}).link, "");
}

TEST(MessageTest, CostIsKnownOnlyWhereItCanBe) {
  Telling telling = test_telling("step_time_up", Occasion::verdict);
  EXPECT_EQ(message_of(telling, {}).cost, "Costs about 7,300 GPU-hours a day.");
  telling.incident.job.world_size = 0;
  EXPECT_EQ(message_of(telling, {}).cost, "");
  EXPECT_EQ(message_of(test_telling("link_errors", Occasion::verdict), {}).cost, "");
  EXPECT_EQ(message_of(test_telling("progress_stopped", Occasion::verdict), {}).cost,
            "Costs about 1,000 GPU-hours each hour.");
}

TEST(WordsTest, NoCharacterIsCutInTwo) {
  EXPECT_EQ(cut_characters("äöü", 3), "äöü");
  EXPECT_EQ(cut_characters("äöüx", 3), "äö…");
  EXPECT_EQ(cut_bytes("äöü", 6), "äöü");
  for (size_t most = 3; most < 8; ++most) {
    const std::string cut = cut_bytes("äöüxyz", most);
    EXPECT_LE(cut.size(), most);
    EXPECT_TRUE(is_valid_utf8(cut)) << cut;
  }
  EXPECT_EQ(clean("a\tb\nc\x01", 9), "a b c\xEF\xBF\xBD");
}

TEST(WordsTest, Lengths) {
  EXPECT_EQ(length_text(95 * kSecond), "95 s");
  EXPECT_EQ(length_text(12 * kMinute + kSecond), "12 min");
  EXPECT_EQ(length_text(3 * kHour + 20 * kMinute), "3 h 20 min");
  EXPECT_EQ(length_text(2 * kDay + 4 * kHour), "2 d 4 h");
  EXPECT_EQ(clocks_text(kTestOpened, kTestOpened + kDay, kTestOpened + kDay),
            "23 Nov 04:46 to 24 Nov 04:46 UTC");
  EXPECT_EQ(change_text(3.1, 95, "s"), "3.10 → 95 s (× 31)");
  EXPECT_EQ(change_text(1.98e9, 1.155e9, "Hz"), "1980 → 1155 MHz (−42 %)");
}

TEST(RedactTest, EachOfThemAndNothingElse) {
  const Telling whole = test_telling("log_error", Occasion::verdict);
  const auto text = [&](const char* what) {
    Telling telling = whole;
    telling.incident.changes = {{kTestOpened, "code", "fix of bob", "1f", "2e", "bob", "https://x"}};
    telling.incident.logs = {{"a line of alice", "/home/alice/log", 1, 37}};
    redact(telling.incident, parse_redaction(what).value());
    std::string all = text_of(message_of(telling, {}));
    for (const std::string& line : details_of(telling)) all += line + "\n";
    return all;
  };
  const auto has = [](const std::string& all, const char* word) { return all.find(word) != all.npos; };
  const std::string plain = text("");
  for (const char* word :
       {"pretrain", "alice", "gpu05", "OutOfMemoryError", "bob", "a line of alice", "fix of bob"})
    EXPECT_TRUE(has(plain, word)) << word << plain;
  const std::string names = text("names"), hosts = text("hosts"), users = text("users"),
                    logs = text("log_lines");
  EXPECT_FALSE(has(names, "pretrain") || has(names, "fix of bob")) << names;
  EXPECT_TRUE(has(names, "alice") && has(names, "gpu05"));
  EXPECT_FALSE(has(hosts, "gpu05")) << hosts;
  EXPECT_TRUE(has(hosts, "rank 37 on host-") && has(hosts, "pretrain"));
  EXPECT_FALSE(has(users, "alice") || has(users, "bob")) << users;
  EXPECT_TRUE(has(users, "a line of …") && has(users, "gpu05"));
  EXPECT_FALSE(has(logs, "OutOfMemoryError") || has(logs, "a line of")) << logs;
  EXPECT_EQ(parse_redaction("names,hots").error().code, Code::invalid);
}

TEST(RedactTest, AHostIsTheSameInAllTextsAndOnlyAsAWord) {
  Incident i{.host = "gpu5.site"};
  i.verdict =
      Verdict{.suspects = {{1, "gpu5", {}}}, .sentence = "gpu5.site and gpu5 wait for gpu55; 10 of 20"};
  i.led_by = "10.0.0.1";
  redact(i, {.hosts = true});
  EXPECT_NE(
      i.verdict->sentence.find(i.host + " and " + i.verdict->suspects[0].host + " wait for gpu55; 10 of"),
      std::string::npos)
      << i.verdict->sentence;
  EXPECT_TRUE(i.led_by.starts_with("host-")) << i.led_by;
}

// Launchers call jobs by the host on which they meet.
TEST(RedactTest, AJobThatIsCalledByAHost) {
  for (const char* id : {"torchrun-gpu31.site:29500", "torchrun-[gpu31.site]:29500",
                         "prterun-gpu31.site-512@1", "17.gpu31.site", "17[3].gpu31.site"}) {
    Telling telling = test_telling("step_time_up", Occasion::verdict);
    Incident& i = telling.incident;
    i.job.id = i.conditions.at(0).job = id;
    i.part_of = "gpu31.site-storage-2";
    i.report = ReportOfIncident{.host = "gpu05", .uid = 1007};
    i.evidence.push_back({.says = "it waits", .command = fmt::format("spotter captures --job {}", id)});
    redact(i, {.hosts = true, .users = true});
    const std::string text = text_of(message_of(telling, {})) + wire::json_text(wire::to_json(i));
    EXPECT_EQ(text.find("gpu31"), text.npos) << text;
    EXPECT_EQ(text.find("1007"), text.npos) << text;
    EXPECT_NE(i.job.id.find(redacted_host("gpu31.site")), i.job.id.npos) << i.job.id;
  }
  Incident plain{.job = {.id = "v1.2-llama"}};
  redact(plain, {.hosts = true});
  EXPECT_EQ(plain.job.id, "v1.2-llama");
}

TEST(RedactTest, AHostThatSeveralJobsShareIsTheSameInEach) {
  Telling telling = shared_telling(Occasion::verdict);
  telling.incident.shared_by->hosts = {"gpu05", "gpu66"};
  Incident one{.family = "speed", .shared_incident = telling.incident.id()};
  redact(telling.incident, {.hosts = true});
  redact(one, {.hosts = true});
  EXPECT_EQ(one.shared_incident, telling.incident.id());
  const std::string text = text_of(message_of(telling, {}));
  EXPECT_EQ(text.find("gpu"), text.npos) << text;
}

// In whatever field of it, and by whatever sentence alone.
TEST(RedactTest, NoHostIsLeftInTheDataEither) {
  Telling telling = test_telling("step_time_up", Occasion::verdict);
  Incident& i = telling.incident;
  i.to_trace = "spotter trace --job 4711 --host gpu11:1779,gpu12:1779 --duration 1500ms --analyze";
  i.report = ReportOfIncident{.host = "gpu13"};
  i.acknowledged = Acknowledgement{.by = "alice", .where = "gpu16", .at = kTestOpened};
  i.against.push_back("GPUs: no clock of gpu14 is held down for heat or power");
  i.against.emplace_back("but rank 3 is slow on rank 4");
  i.against.emplace_back(
      "host: no control group that is seen on gpu15 is stopped for its share of processors");
  i.not_known = {
      "gpu21, which leads this job, did not answer gpu22.site",
      "this is what gpu23 alone has seen: it has no credentials for the job's other hosts",
      "rank 3 wrote no trace: no agent answers at gpu24:1779: Connection refused",
      "what was measured of its ranks: [fd00::25]:1779: no answer in 5.0 s; at 2026-11-23T12:30 as well",
      "rank 5 wrote no trace: gpu12: its agent says nothing"};
  redact(i, {.hosts = true});
  EXPECT_EQ(i.to_trace, "");
  std::string text = text_of(message_of(telling, {})) + wire::json_text(wire::to_json(i));
  for (const std::string& line : details_of(telling)) text += line + "\n";
  for (const char* name : {"gpu0", "gpu1", "gpu2", "fd00"}) EXPECT_EQ(text.find(name), text.npos) << text;
  EXPECT_NE(text.find("at 2026-11-23T12:30 as well"), text.npos) << text;
  EXPECT_NE(text.find("rank 3 is slow on rank 4"), text.npos) << text;
  EXPECT_NE(text.find("for its share of processors"), text.npos) << text;
}

TEST(MessageTest, AnAlertOfOthers) {
  Telling telling = test_telling("step_time_up", Occasion::verdict);
  Incident& incident = telling.incident;
  incident.family = "alert";
  incident.state = IncidentState::inconclusive;
  incident.verdict.reset();
  incident.evidence.clear();
  incident.captures.clear();
  incident.symptom = {
      .rule = "alert", .source = "alertmanager:StepSlow", .since = incident.opened, .hosts = 1};
  incident.conditions = {{.rule = "alert",
                          .family = "alert",
                          .job = "4711",
                          .host = "gpu01",
                          .rank = 3,
                          .device = "alert b3d8110e04668ca5",
                          .source = "alertmanager:StepSlow",
                          .text = "\x1b[31mslow <!channel>"}};
  const std::string text = text_of(message_of(telling, {}));
  EXPECT_NE(text.find("alert StepSlow fires (rank 3)"), std::string::npos) << text;
  EXPECT_NE(text.find("the alert says: “"), std::string::npos) << text;
  EXPECT_EQ(text.find("b3d8110e"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

// Only what says the same is counted as the same; the others have names.
TEST(MessageTest, SeveralAlertsOfAJobAreNamed) {
  Telling telling = test_telling("step_time_up", Occasion::opened);
  Incident& i = telling.incident;
  i.family = "alert";
  i.verdict.reset();
  i.evidence.clear();
  i.symptom = {.rule = "alert", .source = "am:DiskFull", .since = i.opened, .hosts = 1};
  i.conditions.clear();
  for (const char* name : {"am:DiskFull", "am:NodeHot", "am:DiskFull", "am:NfsSlow"})
    i.conditions.push_back({.rule = "alert",
                            .family = "alert",
                            .job = "4711",
                            .host = "gpu01",
                            .device = fmt::format("alert {}", i.conditions.size()),
                            .source = name});
  i.condition_count = 4;
  const std::string text = text_of(message_of(telling, {}));
  EXPECT_NE(text.find("alert DiskFull fires; the same on 1 more; and 2 other alerts"), text.npos) << text;
  EXPECT_NE(text.find("alert NodeHot fires"), text.npos) << text;
  EXPECT_NE(text.find("alert NfsSlow fires"), text.npos) << text;
  EXPECT_EQ(text.find("DiskFull", text.find("DiskFull") + 1), text.npos) << text;
}

}  // namespace
}  // namespace spotter::notify

#include "notify/redact.h"

#include <gtest/gtest.h>

#include "wire/incident.h"

namespace spotter::notify {
namespace {

respond::Incident whole() {
  respond::Incident i;
  i.cluster = "a";
  i.family = "speed";
  i.led_by = "gpu01";
  i.job = {.id = "4711", .name = "pretrain", .user = "alice"};
  i.symptom.source = "log of gpu01";
  i.verdict = respond::Verdict{.cause = "slow_device",
                               .suspects = {{37, "gpu05", 5}},
                               .sentence = "Rank 37 on gpu05 holds gpu055 and gpu01.rack up",
                               .remedy = "drain gpu05"};
  i.evidence = {
      {"alice's rank on gpu05", "stragglers", {{"rank", "37"}, {"host", "gpu07"}}, "spotter /home/alice"}};
  i.against = {"gpu07 is clean"};
  i.changes = {{.kind = "code",
                .what = "fix gpu05",
                .before = "a1",
                .after = "b2",
                .by = "bob",
                .link = "http://g/x"}};
  i.logs = {{.text = "secret line", .file = "/home/alice/pretrain.log"}};
  i.captures = {{.id = "c1", .path = "/tmp/spotter/alice"}};
  i.not_known = {"of gpu01 nothing"};
  i.conditions = {{.rule = "log_error", .user = "carol", .host = "gpu01.rack", .text = "secret text"}};
  i.acknowledged = respond::Acknowledgement{.by = "dave", .where = "gpu05"};
  return i;
}

bool says(const respond::Incident& incident, const char* word) {
  return wire::incident_text(incident).find(word) != std::string::npos;
}

TEST(Redact, LeavesAllWhereNothingIsAsked) {
  EXPECT_EQ(wire::incident_text(redacted(whole(), {})), wire::incident_text(whole()));
}

TEST(Redact, HostsHaveStandInsThatAreTheSame) {
  const respond::Incident out = redacted(whole(), *redaction_of({"hosts"}));
  for (const char* host : {"gpu01", "gpu05 ", "\"gpu05\"", "gpu07", "rack"})
    EXPECT_FALSE(says(out, host)) << host;
  EXPECT_TRUE(says(out, "gpu055"));  // another word
  EXPECT_TRUE(says(out, "alice"));
  const std::string& suspect = out.verdict->suspects[0].host;
  EXPECT_EQ(suspect.substr(0, 5), "host-");
  EXPECT_EQ(out.verdict->remedy, "drain " + suspect);
  EXPECT_NE(out.led_by, suspect);
  EXPECT_EQ(redacted(whole(), *redaction_of({"hosts"})).led_by, out.led_by);
}

TEST(Redact, UsersAreNowhere) {
  const respond::Incident out = redacted(whole(), *redaction_of({"users"}));
  for (const char* user : {"alice", "bob", "carol", "dave"}) EXPECT_FALSE(says(out, user)) << user;
  EXPECT_TRUE(says(out, "gpu05"));
}

TEST(Redact, NamesAndLinesAreLeftOut) {
  respond::Incident out = redacted(whole(), *redaction_of({"log_lines"}));
  EXPECT_FALSE(says(out, "secret"));
  EXPECT_TRUE(says(out, "pretrain"));
  out = redacted(whole(), *redaction_of({"names"}));
  for (const char* name : {"pretrain", "/home", "/tmp", "http:", "fix"})
    EXPECT_FALSE(says(out, name)) << name;
  EXPECT_TRUE(says(out, "secret line"));
}

TEST(Redact, OnlyWhatThereIsCanBeLeftOut) {
  const auto redaction = redaction_of({"hosts", "passwords"});
  ASSERT_FALSE(redaction);
  EXPECT_NE(redaction.error().message.find("names, hosts, users, log_lines"), std::string::npos);
}

}  // namespace
}  // namespace spotter::notify

#include "respond/incidents/silences.h"

#include <gtest/gtest.h>

#include "respond/incidents/incidents.h"

namespace spotter::respond {
namespace {

constexpr Ns kBegin = 1'795'000'000 * kSecond;

Condition slow(i64 rank, const std::string& host) {
  return {.rule = "step_time_up",
          .family = "speed",
          .job = "4711",
          .user = "alice",
          .host = host,
          .rank = rank,
          .since = kBegin,
          .at = kBegin,
          .value = 4.42,
          .baseline = 3.1,
          .unit = "s"};
}

Silence of(Silence what) {
  what.until = kBegin + kHour;
  what.reason = "planned";
  return what;
}

// How often a job is told of that is slow on a hundred hosts, with this silence, within two minutes.
size_t told(const Silence& silence, bool is_late = false) {
  Incidents incidents({.cluster = "a", .host = "gpu000"});
  size_t words = 0;
  const auto count = [&](const Incidents::Changes& changes) {
    for (const IncidentChange& change : changes) words += change.word != Word::none;
  };
  const Ns silenced = kBegin + (is_late ? 10 * kSecond : 0);
  for (Ns at = kBegin; at < kBegin + 2 * kMinute; at += kSecond) {
    EXPECT_TRUE(at != silenced || incidents.silence(silence, at));
    for (i64 i = 0; at % (30 * kSecond) == 0 && i < 100; ++i) {
      Condition condition = slow(i, fmt::format("gpu{:03}", i));
      condition.at = at;
      count(incidents.take(condition, at));
    }
    count(incidents.pass(at));
  }
  const auto all = incidents.all();
  EXPECT_EQ(all.size(), 1u) << "it is shown all the same";
  EXPECT_EQ(all.at(0).silenced_until.has_value(), words == 0);
  return words;
}

TEST(Silences, OfAHostThatIsNotAmongThoseThatAnIncidentShows) {
  EXPECT_EQ(told(of({.host = "gpu077"})), 0u);
  EXPECT_EQ(told(of({.host = "gpu077"}), true), 0u);
  EXPECT_EQ(told(of({.rule = "step_time_up", .host = "gpu077"})), 0u);
}

TEST(Silences, OfAHostThatHasNoPartInItDoNothing) {
  EXPECT_EQ(told(of({.host = "gpu777"})), 1u);
  EXPECT_EQ(told(of({.job = "4712", .host = "gpu077"})), 1u) << "each field has to match";
  EXPECT_EQ(told(of({.rule = "gpu_fault", .host = "gpu077"})), 1u);
}

TEST(Silences, OfAUser) {
  EXPECT_EQ(told(of({.user = "alice"})), 0u);
  EXPECT_EQ(told(of({.user = "bob"})), 1u);
  EXPECT_EQ(told(of({.host = "gpu077", .user = "bob"})), 1u);
}

TEST(Silences, OfAHostEndWithItsPartInTheIncident) {
  Incidents incidents({.cluster = "a", .host = "gpu000"});
  ASSERT_TRUE(incidents.silence(of({.host = "gpu004"}), kBegin));
  size_t words = 0;
  for (Ns at = kBegin; at < kBegin + 10 * kMinute; at += kSecond) {
    for (i64 i = 0; i < 5; ++i) {
      Condition condition = slow(i, fmt::format("gpu{:03}", i));
      condition.at = at;
      condition.is_firing = i != 4 || at < kBegin + 5 * kMinute;
      incidents.take(condition, at);
    }
    for (const IncidentChange& change : incidents.pass(at)) words += change.word != Word::none;
    EXPECT_EQ(words, at < kBegin + 5 * kMinute ? 0u : 1u) << (at - kBegin) / kSecond;
  }
}

// The agent's store has silences and incidents, of which each shows three of its conditions.
TEST(Silences, HoldOverARestart) {
  Incidents before({.cluster = "a", .host = "gpu000"});
  ASSERT_TRUE(before.silence(of({.host = "gpu077"}), kBegin));
  for (i64 i = 0; i < 100; ++i) before.take(slow(i, fmt::format("gpu{:03}", i)), kBegin);
  for (Ns at = kBegin; at < kBegin + kMinute; at += kSecond) before.pass(at);
  ASSERT_EQ(before.all().at(0).told, 0);

  Ns at = kBegin + kMinute;
  Incidents after({.cluster = "a", .host = "gpu000"});
  after.restore(before.all().at(0), at);
  for (const Silence& silence : before.silences(at)) after.restore(silence);
  for (; at < kBegin + kHour; at += kSecond) {
    for (const IncidentChange& change : after.pass(at)) EXPECT_EQ(change.word, Word::none);
    for (i64 i = 0; at % (30 * kSecond) == 0 && i < 100; ++i) {
      Condition condition = slow(i, fmt::format("gpu{:03}", i));
      condition.at = at;
      after.take(condition, at);
    }
  }
  std::vector<Word> words;
  for (; at < kBegin + kHour + kMinute; at += kSecond) {
    for (const IncidentChange& change : after.pass(at))
      if (change.word != Word::none) words.push_back(change.word);
  }
  EXPECT_EQ(words, std::vector{Word::verdict}) << "when it is over";
}

}  // namespace
}  // namespace spotter::respond

#include "respond/change.h"

#include <gtest/gtest.h>

namespace spotter::respond {
namespace {

constexpr Ns kBegan = 1'795'409'206 * kSecond;

Change change(const char* what, Ns before, const char* kind = "driver") {
  return {.change = {.at = kBegan - before, .kind = kind, .what = what}};
}

Incident incident(std::vector<Suspect> suspects = {{.rank = 37, .host = "gpu05"}}) {
  Incident incident;
  incident.job.id = "4711";
  incident.opened = kBegan + kMinute;
  incident.symptom.since = kBegan;
  incident.conditions = {{.rule = "step_time_up", .host = "gpu01"},
                         {.rule = "step_time_up", .host = "gpu05"}};
  incident.verdict = Verdict{.suspects = std::move(suspects)};
  return incident;
}

std::vector<std::string> shown(const std::vector<Change>& changes, const Incident& of = incident()) {
  std::vector<std::string> names;
  for (const ChangeBefore& c : changes_before(changes, of)) names.push_back(c.what);
  return names;
}
using Names = std::vector<std::string>;

TEST(Changes, TheNearestFirstAndNoneAfter) {
  EXPECT_EQ(shown({change("old", 2 * kHour), change("near", 2 * kMinute), change("after", -kSecond),
                   change("same time", 0)}),
            (Names{"same time", "near", "old"}));
  EXPECT_EQ(shown({change("yesterday", kDay)}), Names{});
}

TEST(Changes, AtMostThree) {
  EXPECT_EQ(shown({change("4", 4 * kMinute), change("3", 3 * kMinute), change("2", 2 * kMinute),
                   change("1", kMinute)}),
            (Names{"1", "2", "3"}));
}

TEST(Changes, TheirKindsWeigh) {
  EXPECT_EQ(shown({change("a lamp", kMinute, "office"), change("a driver", 20 * kMinute)}),
            (Names{"a driver", "a lamp"}));
}

TEST(Changes, ThoseOfOthersAreNone) {
  Change others = change("other job", kMinute), elsewhere = change("other host", kMinute);
  others.job = "9";
  elsewhere.hosts = {"gpu77"};
  Change own = change("own job", kMinute);
  own.job = "4711";
  EXPECT_EQ(shown({others, elsewhere, own}), Names{"own job"});
}

TEST(Changes, WhoTouchesExactlyTheSuspectsIsLikelier) {
  Change both = change("both hosts", kMinute), exact = change("the suspect", 30 * kMinute);
  both.hosts = {"gpu01", "gpu05"};
  exact.hosts = {"gpu05"};
  EXPECT_EQ(shown({both, exact}), (Names{"the suspect", "both hosts"}));
  EXPECT_EQ(shown({both, exact}, incident({})), (Names{"both hosts", "the suspect"}));
}

// Each of a job's hosts has seen it, at a time of its own.
TEST(Changes, WhatAllHostsTellIsShownOnce) {
  Change own = change("a commit", kMinute);
  own.job = "4711";
  Change others = own;
  others.change.at += 5;
  EXPECT_EQ(shown({own, others, change("a driver", 2 * kMinute)}), (Names{"a commit", "a driver"}));
}

TEST(Changes, WhatIsOtherwise) {
  const Facts before = {{"driver/nvidia", {"550", kBegan}}, {"environment/NCCL_DEBUG", {"INFO", kBegan}}};
  const FactValues now = {{"driver/nvidia", "570"}, {"environment/NCCL_ALGO", "Ring"}};
  const auto whole = differences(before, now, kBegan + kHour, true);
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(whole[0].kind + " " + whole[0].what + " " + whole[0].before + " " + whole[0].after,
            "driver nvidia 550 570");
  EXPECT_EQ(whole[1].what + whole[1].before + whole[1].after, "NCCL_ALGORing");
  EXPECT_EQ(whole[2].what + whole[2].before + whole[2].after, "NCCL_DEBUGINFO");
  EXPECT_EQ(differences(before, now, kBegan, false).size(), 1u);
  const Facts kept =
      kept_facts(before, {{"driver/nvidia", "550"}, {"kernel/release", "6.1"}}, kBegan + kHour);
  EXPECT_EQ(kept.at("driver/nvidia").since, kBegan);
  EXPECT_EQ(kept.at("kernel/release").since, kBegan + kHour);
}

}  // namespace
}  // namespace spotter::respond

#include "respond/budget.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace spotter::respond {
namespace {

CaptureWish wish(Ns at, const char* job = "4711") {
  return {.job = job, .family = "speed", .at = at, .age = kHour, .steps = 1000, .step = kSecond};
}

std::string refusal(const Result<CapturePlan>& plan) { return plan ? "" : plan.error().message; }

constexpr Ns kStart = 1'795'000'000 * kSecond;

TEST(Budget, TheFirstCaptureIsACanaryAndCostsMore) {
  Budget budget{BudgetOptions()};
  const auto first = budget.plan(wish(kStart));
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_canary);
  EXPECT_EQ(first->warm_up, 5 * kSecond);
  EXPECT_EQ(first->window, 3500 * kMillisecond);
  EXPECT_NEAR(first->cost_s, 8.5 * 0.2 + 3, 1e-9);
  budget.ended("4711", kStart + 20 * kSecond, {}, 0.06, 1.0);
  const auto second = budget.plan(wish(kStart + kHour));
  ASSERT_TRUE(second) << refusal(second);
  EXPECT_FALSE(second->is_canary);
  EXPECT_NEAR(second->cost_s, 4.5 * 0.06 + 0.3, 1e-9) << "with the overhead that was measured";
}

TEST(Budget, WindowsHaveALeastAndAMost) {
  Budget budget{BudgetOptions()};
  CaptureWish fast = wish(kStart);
  fast.step = kMillisecond;
  EXPECT_EQ(budget.plan(fast)->window, 1500 * kMillisecond);
  CaptureWish slow = wish(kStart, "2");
  slow.step = kMinute;
  slow.age = 5 * kMinute;
  // 6 s, which is more than a job begins with and has saved since.
  EXPECT_EQ(refusal(budget.plan(slow)),
            "nothing was traced: it would cost the job 6.0 s, and 5.3 s are left of its budget");
  slow.at += 20 * kMinute;
  const auto plan = budget.plan(slow);
  ASSERT_TRUE(plan) << refusal(plan);
  EXPECT_EQ(plan->window, 10 * kSecond);
}

// Half of the steps may still be fast, and the others wait for a disk.
TEST(Budget, AWindowHasRoomForStepsAsTheyAreNow) {
  const auto window = [](Ns step, Ns longest) { return window_of(BudgetOptions(), step, longest); };
  EXPECT_EQ(window(100 * kMillisecond, 120 * kMillisecond), 1500 * kMillisecond);
  EXPECT_EQ(window(100 * kMillisecond, 1200 * kMillisecond), 2400 * kMillisecond);
  EXPECT_EQ(window(100 * kMillisecond, kHour), 4 * kSecond) << "a checkpoint was written";
  EXPECT_EQ(window(kSecond, 2 * kSecond), 4 * kSecond);
  EXPECT_EQ(window(2 * kSecond, 3 * kSecond), 7 * kSecond);
}

TEST(Budget, EachLimitSaysSo) {
  BudgetOptions options;
  options.allowance = 0.1;  // time is the limit here, not the budget
  const auto refused = [&](auto change) {
    Budget budget(options);
    CaptureWish w = wish(kStart);
    change(w);
    return refusal(budget.plan(w));
  };
  EXPECT_EQ(refused([](CaptureWish& w) { w.age = kMinute; }),
            "nothing was traced: the job's first step was seen less than 300 s ago");
  EXPECT_EQ(refused([](CaptureWish& w) { w.steps = 99; }),
            "nothing was traced: the job has made fewer than 100 steps");
  EXPECT_EQ(refused([](CaptureWish& w) { w.last_person = w.at - kMinute; }),
            "nothing was traced: somebody has traced the job just now");
  EXPECT_EQ(refused([](CaptureWish& w) { w.last_checkpoint = w.at - kMinute; }),
            "nothing was traced: the job has written a lot just now, as at a checkpoint");
  EXPECT_EQ(refused([](CaptureWish&) {}), "");
  Budget budget(options);
  const auto at = [&](Ns time, const char* family) {
    CaptureWish w = wish(kStart + time);
    w.family = family;
    const auto plan = budget.plan(w);
    if (plan) budget.ended("4711", kStart + time, 0.1, {}, {});
    return refusal(plan);
  };
  EXPECT_EQ(at(0, "speed"), "");
  EXPECT_EQ(at(9 * kMinute, "gpu"), "nothing was traced: the last capture is less than 600 s ago");
  EXPECT_EQ(at(20 * kMinute, "speed"),
            "nothing was traced: the last capture for the like is less than 1800 s ago");
  EXPECT_EQ(at(20 * kMinute, "gpu"), "");
  EXPECT_EQ(at(40 * kMinute, "host"), "nothing was traced: there were 2 captures in this hour");
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(at(i * 2 * kHour, "speed"), "");
  EXPECT_EQ(at(20 * kHour, "speed"), "nothing was traced: there were 6 captures in this day");
  EXPECT_EQ(at(25 * kHour, "speed"), "");
}

TEST(Budget, WhatWasNotBegunIsNoCapture) {
  Budget budget{BudgetOptions()};
  CaptureWish critical = wish(kStart);
  critical.is_critical = true;
  for (int i = 0; i < 8; ++i) {
    critical.at += kMinute;
    const double saved = budget.saved_s("4711", critical.at);
    const auto plan = budget.plan(critical);
    ASSERT_TRUE(plan) << refusal(plan);
    EXPECT_TRUE(plan->is_canary) << "the job has not gone on after one";
    EXPECT_EQ(plan->warm_up, 5 * kSecond);
    budget.not_begun("4711", critical.at);
    if (i > 0) {  // it is known
      EXPECT_NEAR(budget.saved_s("4711", critical.at), saved, 1e-9);
    }
  }
  ASSERT_TRUE(budget.plan(critical));
  budget.ended("4711", critical.at, 0.1, {}, {});
  critical.at += 31 * kMinute;
  ASSERT_TRUE(budget.plan(critical));
  budget.not_begun("4711", critical.at);
  budget.not_begun("4711", critical.at);
  critical.at -= 2 * kMinute;
  EXPECT_EQ(refusal(budget.plan(critical)),
            "nothing was traced: the last capture for the like is less than 1800 s ago");
}

TEST(Budget, AnOverdraftThatPaidForNothingIsNone) {
  Budget budget{BudgetOptions()};
  budget.begin_empty();
  CaptureWish critical = wish(kStart);
  critical.is_critical = true;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(budget.plan(critical));
    budget.not_begun("4711", critical.at);
  }
}

// What an agent that was restarted reads in incidents of before.
TEST(Budget, WhatCapturesOfBeforeDidCountsAsWell) {
  Budget budget{BudgetOptions()};
  budget.learn("4711", "speed", kStart - kDay);
  budget.slower_after("4711", 1);
  EXPECT_EQ(refusal(budget.plan(wish(kStart))), "");
  budget.ended("4711", kStart, 0.1, {}, 1.5);
  EXPECT_EQ(refusal(budget.plan(wish(kStart + kHour))),
            "nothing was traced: it stayed slower after two captures");
  budget.learn("4712", "speed", kStart - kDay);
  budget.slower_after("4712", 2);
  EXPECT_EQ(refusal(budget.plan(wish(kStart, "4712"))),
            "nothing was traced: it stayed slower after two captures");
}

TEST(Budget, TwoCapturesAtOnceInAllJobs) {
  Budget budget{BudgetOptions()};
  EXPECT_EQ(refusal(budget.plan(wish(kStart, "1"))), "");
  EXPECT_EQ(refusal(budget.plan(wish(kStart, "1"))), "nothing more was traced: a capture is under way");
  EXPECT_EQ(refusal(budget.plan(wish(kStart, "2"))), "");
  EXPECT_EQ(refusal(budget.plan(wish(kStart, "3"))),
            "nothing was traced: 2 captures of other jobs are under way");
  budget.ended("1", kStart, {}, {}, {});
  EXPECT_EQ(refusal(budget.plan(wish(kStart, "3"))), "");
}

TEST(Budget, ASecondCaptureForOneIncidentIsPaidForAndNoneOfTheLimits) {
  BudgetOptions options;
  options.most_saved_s = options.first_s = 10;
  Budget budget{options};
  const auto first = budget.plan(wish(kStart));
  ASSERT_TRUE(first);
  const auto second = budget.plan_more("4711", *first, kStart + 10 * kSecond);
  ASSERT_TRUE(second) << refusal(second);
  EXPECT_FALSE(second->is_canary);
  EXPECT_EQ(second->window, first->window);
  EXPECT_EQ(second->warm_up, kSecond);
  EXPECT_NEAR(second->cost_s, 4.5 * 0.2 + 0.3, 1e-9);
  EXPECT_NEAR(budget.saved_s("4711", kStart + 10 * kSecond), 10 - first->cost_s - second->cost_s, 0.02);
  // What they cost together is known later.
  budget.ended("4711", kStart + 30 * kSecond, 2.0, 0.06, 1.0);
  EXPECT_NEAR(budget.saved_s("4711", kStart + 30 * kSecond), 8, 0.04);
  const auto next = budget.plan(wish(kStart + 31 * kMinute));
  EXPECT_TRUE(next) << refusal(next);
}

TEST(Budget, ASecondCaptureThatCannotBePaidIsNone) {
  Budget budget{BudgetOptions()};
  CaptureWish young = wish(kStart);
  young.age = 5 * kMinute;
  const auto first = budget.plan(young);
  ASSERT_TRUE(first);
  EXPECT_EQ(refusal(budget.plan_more("4711", *first, kStart + 10 * kSecond)),
            "nothing more was traced: it would cost the job 1.2 s, and 0.6 s are left of its budget");
  budget.harmed("4711", "it is gone");
  EXPECT_EQ(refusal(budget.plan_more("4711", *first, kStart + kHour)), "nothing was traced: it is gone");
}

TEST(Budget, AJobThatSuffersIsLeftAlone) {
  Budget budget{BudgetOptions()};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(budget.plan(wish(kStart + i * 3 * kHour)));
    budget.ended("4711", kStart + i * 3 * kHour, {}, 0.1, 1.1);
  }
  const auto third = budget.plan(wish(kStart + 9 * kHour));
  EXPECT_EQ(refusal(third), "nothing was traced: it stayed slower after two captures");
  EXPECT_EQ(third.error().code, Code::denied);
  ASSERT_TRUE(budget.plan(wish(kStart, "2")));
  budget.harmed("2", "possible harm by the last capture");
  EXPECT_EQ(refusal(budget.plan(wish(kStart + kDay, "2"))),
            "nothing was traced: possible harm by the last capture");
}

TEST(Budget, WhereTheClockIsSetBackNoJobWaitsForIt) {
  Budget budget{BudgetOptions()};
  ASSERT_TRUE(budget.plan(wish(kStart)));
  budget.ended("4711", kStart + 20 * kSecond, 1, 0.06, 1.0);
  budget.pass(kStart + kMinute);
  budget.pass(kStart - kDay);
  EXPECT_FALSE(budget.plan(wish(kStart - kDay + kMinute))) << "it was traced just now";
  const auto later = budget.plan(wish(kStart - kDay + kHour));
  EXPECT_TRUE(later) << refusal(later);
}

TEST(Budget, ACriticalIncidentMayOverdrawOnceADay) {
  Budget budget{BudgetOptions()};
  budget.begin_empty();
  EXPECT_EQ(refusal(budget.plan(wish(kStart))),
            "nothing was traced: it would cost the job 4.7 s, and 0.0 s are left of its budget");
  CaptureWish critical = wish(kStart);
  critical.is_critical = true;
  EXPECT_TRUE(budget.plan(critical));
  budget.ended("4711", kStart + kMinute, {}, {}, {});
  critical.at += kHour;
  EXPECT_FALSE(budget.plan(critical));
}

TEST(Budget, WhatWasBegunBeforeOrByAnotherLeaderCounts) {
  Budget budget{BudgetOptions()};
  for (int i = 0; i < 3; ++i) budget.learn("4711", "gpu", kStart - 5 * kMinute + i * kSecond);
  EXPECT_EQ(refusal(budget.plan(wish(kStart))),
            "nothing was traced: the last capture is less than 600 s ago");
  EXPECT_LT(budget.saved_s("4711", kStart), 1) << "of a job that was captured before nothing is saved up";
  EXPECT_FALSE(budget.plan(wish(kStart + 50 * kMinute)));
  ASSERT_TRUE(budget.plan(wish(kStart + 3 * kHour))) << "it was one";
  budget.ended("4711", kStart + 3 * kHour, 0.1, 0.1, 1.0);
  for (int i = 0; i < 4; ++i) budget.learn("4711", "gpu", kStart + (i + 4) * kHour);
  EXPECT_EQ(refusal(budget.plan(wish(kStart + 12 * kHour))),
            "nothing was traced: there were 6 captures in this day");
}

// An accelerated week of a job that is always in trouble, whatever the captures turn out to cost, up to four
// times what was planned: it never pays more than it began with and was allowed, and one overdraft a day.
TEST(Budget, AWeekNeverCostsMoreThanWasAllowed) {
  std::mt19937_64 random(7);
  const BudgetOptions options;
  Budget budget(options);
  double paid = 0;
  int captures = 0, days_overdrawn = 0;
  double worst = 0, most_beyond = 0;
  for (Ns time = 0; time < 7 * kDay; time += 10 * kSecond) {
    CaptureWish w = wish(kStart + time);
    w.family = random() % 2 == 0 ? "speed" : "gpu";
    w.is_critical = random() % 50 == 0;
    const double before = budget.saved_s("4711", w.at);
    const auto plan = budget.plan(w);
    if (!plan) continue;
    ++captures;
    days_overdrawn += plan->cost_s > before;
    const double cost = plan->cost_s * (0.5 + 3.5 * static_cast<double>(random() % 1000) / 1000);
    paid += cost;
    worst = std::max(worst, plan->cost_s);
    most_beyond = std::max(most_beyond, cost - plan->cost_s);
    budget.ended("4711", w.at + 20 * kSecond, cost, 0.05 + 0.1 * static_cast<double>(random() % 3), 1.0);
  }
  const double allowed = options.first_s + options.allowance * 7 * 86'400;
  EXPECT_LE(paid, allowed + days_overdrawn * worst + most_beyond)
      << "only the last one's excess is not paid back";
  EXPECT_LE(days_overdrawn, 7);
  EXPECT_LE(captures, 7 * options.per_day);
  EXPECT_GT(captures, 10);
}

// Three hosts lead it in turn, and each is started anew each time: they know of one another what incidents
// tell.
TEST(Budget, LeadersInTurnKeepTheLimitsOfOne) {
  const BudgetOptions options;
  std::vector<Ns> begun;
  for (Ns time = 0; time < 3 * kDay;) {
    Budget budget(options);
    for (const Ns end = time + 2 * kHour; time < end; time += 30 * kSecond) {
      for (const Ns before : begun) budget.learn("4711", "speed", before);
      CaptureWish w = wish(kStart + time);
      w.is_critical = true;
      if (!budget.plan(w)) continue;
      begun.push_back(w.at);
      budget.ended("4711", w.at + 20 * kSecond, 0.5, 0.1, 1.0);
    }
  }
  EXPECT_GT(begun.size(), 6u);
  for (size_t i = 0; i < begun.size(); ++i) {
    if (i + 1 < begun.size()) {
      EXPECT_GE(begun[i + 1] - begun[i], options.family_apart);
    }
    if (i + 6 < begun.size()) {
      EXPECT_GE(begun[i + 6] - begun[i], kDay);
    }
  }
}

}  // namespace
}  // namespace spotter::respond

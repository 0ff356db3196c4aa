#include "sink/choice.h"

#include <gtest/gtest.h>

#include "base/time.h"
#include "sink/test_batches.h"

namespace spotter::sink {
namespace {

SharedBatch batch_of(Ns unix_ns, std::initializer_list<const char*> tables) {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = unix_ns;
  for (const char* name : tables) batch->tables.emplace_back(name, kDiskColumns);
  return batch;
}

std::string names_of(Choice& choice, const SharedBatch& batch) {
  std::string names;
  for (const Table* table : choice.of(*batch)) names += table->name() + " ";
  return names;
}

TEST(ChoiceTest, WhatIsWanted) {
  const SharedBatch all = batch_of(0, {"cpu", "gpu", "gpu_process", "process"});
  Choice everything({});
  EXPECT_EQ(names_of(everything, all), "cpu gpu gpu_process process ");
  Choice bounded({{}, {"process", "gpu_process"}, 0});
  EXPECT_EQ(names_of(bounded, all), "cpu gpu ");
  Choice said({{"gpu*"}, {"process", "gpu_process"}, 0});
  EXPECT_EQ(names_of(said, all), "gpu gpu_process ");
  Choice all_at_once({{"*"}, {"process"}, 0}), all_in_time({{"*"}, {}, 10 * kSecond});
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(names_of(all_at_once, all), "cpu gpu gpu_process process ");
    EXPECT_EQ(names_of(all_in_time, all), time == 0 ? "cpu gpu gpu_process process " : "");
  }
  Choice none({{"nothing"}, {}, 0});
  EXPECT_EQ(names_of(none, all), "");
}

TEST(ChoiceTest, OnceInEachPeriod) {
  Choice choice({{}, {}, 10 * kSecond});
  EXPECT_EQ(names_of(choice, batch_of(1003 * kSecond, {"cpu"})), "cpu ");
  EXPECT_EQ(names_of(choice, batch_of(1009 * kSecond, {"cpu", "disk"})), "disk ");
  EXPECT_EQ(names_of(choice, batch_of(1010 * kSecond, {"cpu"})), "cpu ");
  EXPECT_EQ(names_of(choice, batch_of(1011 * kSecond, {"cpu"})), "");
  EXPECT_EQ(names_of(choice, batch_of(500 * kSecond, {"cpu"})), "cpu ");  // the clock was set back
  EXPECT_EQ(names_of(choice, batch_of(501 * kSecond, {"cpu"})), "");
}

TEST(ChoiceTest, NoEventIsLeftOut) {
  static constexpr Field kEvents[] = {{"time_ns", Type::integer, Unit::ns, Role::time, "When it happened."}};
  Choice choice({{"gpu*"}, {}, 10 * kSecond});
  for (Ns second = 1003; second < 1009; ++second) {
    auto batch = std::make_shared<Batch>(*batch_of(second * kSecond, {"gpu"}));
    batch->tables.emplace_back("gpu_event", kEvents).is_events = true;
    EXPECT_EQ(names_of(choice, batch), second == 1003 ? "gpu gpu_event " : "gpu_event ");
  }
}

TEST(ChoiceTest, ABitBeforeItsTimeIsInTime) {
  Choice choice({{}, {}, 10 * kSecond});
  Ns time = 1000 * kSecond;
  for (const Ns jitter : {3, -2, 1, -5, 0, -1}) {
    time += 10 * kSecond;
    auto batch = std::make_shared<Batch>(*batch_of(time + jitter, {"cpu"}));
    batch->period_ns = 10 * kSecond;
    EXPECT_EQ(names_of(choice, batch), "cpu ") << jitter;
  }
}

TEST(ChoiceTest, WhoLooksAtOtherThingsIsAnother) {
  Choice choice({{}, {}, 10 * kSecond});
  for (const char* by : {"nvidia", "amd"}) {
    auto batch = std::make_shared<Batch>(*batch_of(1000 * kSecond, {"gpu"}));
    batch->by = by;
    EXPECT_EQ(names_of(choice, batch), "gpu ") << by;
    EXPECT_EQ(names_of(choice, batch), "") << by;
  }
}

TEST(ChoiceTest, LessOftenThanThePeriodIsAll) {
  Choice choice({{}, {}, kSecond});
  for (Ns t = 0; t < 50; t += 10) EXPECT_EQ(names_of(choice, batch_of(t * kSecond, {"cpu"})), "cpu ");
}

}  // namespace
}  // namespace spotter::sink

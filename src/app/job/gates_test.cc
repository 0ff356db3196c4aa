#include "app/job/gates.h"

#include <gtest/gtest.h>

namespace spotter::app {
namespace {

using diagnose::Quantity;

diagnose::Diagnosis job(Ns step, i64 memory) {
  diagnose::Diagnosis d;
  d.facts.steps = {.count = 2, .mean = step};
  diagnose::RankFacts rank;
  rank.compute = 100;
  rank.communication = 60;
  rank.hidden_communication = 20;
  diagnose::DeviceFacts device;
  device.peak_allocated = memory;
  rank.devices = {device};
  d.facts.ranks = {rank, rank};
  d.facts.has_device_work = true;
  return d;
}

bool exceeds(const char* gate, const diagnose::Diagnosis& before, const diagnose::Diagnosis& after) {
  return is_exceeded(*parse_gate(gate), before, after).value();
}

TEST(Gates, HoldGrowthAgainstPercentOrTime) {
  EXPECT_FALSE(exceeds("step>5%", job(1000, 0), job(1050, 0)));
  EXPECT_TRUE(exceeds("step>5%", job(1000, 0), job(1051, 0)));
  EXPECT_TRUE(exceeds("step>0%", job(1000, 0), job(1001, 0)));
  EXPECT_FALSE(exceeds("step>0%", job(1000, 0), job(900, 0)));
  EXPECT_FALSE(exceeds("step>1us", job(1000, 0), job(2000, 0)));
  EXPECT_TRUE(exceeds("step>1us", job(1000, 0), job(2001, 0)));
  EXPECT_TRUE(exceeds("memory>1K", job(1, 1000), job(1, 3000)));
}

TEST(Gates, QuantitiesAreOfAMeanStepOfARank) {
  // Of two ranks and two steps.
  EXPECT_EQ(quantity_of(job(1000, 0), Quantity::device), 50);
  EXPECT_EQ(quantity_of(job(1000, 0), Quantity::communication), 20);
  EXPECT_EQ(quantity_of(job(1000, 7), Quantity::memory), 7);
  EXPECT_FALSE(quantity_of(job(1000, 0), Quantity::memory));
  EXPECT_FALSE(quantity_of(job(0, 0), Quantity::step));
}

TEST(Gates, WhatIsNotToldIsAnError) {
  const auto result = is_exceeded(*parse_gate("memory>5%"), job(1, 5), job(1, 0));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("the second job's traces do not tell its memory"), std::string::npos);
}

TEST(Gates, ErrorsNameWhatThereIs) {
  const auto error = [](const char* word) { return parse_gate(word).error().message; };
  EXPECT_NE(error("stp>5%").find("did you mean \"step\"?"), std::string::npos);
  EXPECT_NE(error("loss>5%").find("there are step, device, communication, memory"), std::string::npos);
  for (const char* word : {"step", ">5%", "step>", "step<5%"})
    EXPECT_NE(error(word).find("QUANTITY>AMOUNT"), std::string::npos) << word;
  EXPECT_NE(error("step>x%").find("no number of percent"), std::string::npos);
  EXPECT_FALSE(parse_gate("step>5"));
  EXPECT_FALSE(parse_gate("memory>5ms"));
}

}  // namespace
}  // namespace spotter::app

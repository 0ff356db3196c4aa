#include "simulate/faults/shares.h"

#include <gtest/gtest.h>

namespace spotter::simulate {
namespace {

TEST(Shares, WhatSomeHaveMoreOthersOfTheirStageHaveLess) {
  for (const char* fault : {"imbalance", "imbalance:rank=1,spread=10", "imbalance:rank=0-2"}) {
    Spec spec;
    spec.pipeline = 2;
    spec.faults.push_back(*parse_fault(fault, spec.last_step()));
    const Layout layout(spec);
    const Shares shares(spec, layout);
    for (i64 step = 0; step < spec.steps; ++step) {
      double sum = 0, most = 0;
      for (i64 rank = 0; rank < 4; ++rank) {
        sum += shares.of(0, rank, step);
        most = std::max(most, shares.of(0, rank, step));
      }
      EXPECT_NEAR(sum, 4, 1e-9) << fault;
      EXPECT_GT(most, 1) << fault;
    }
  }
}

TEST(Shares, StayWhenAnotherFaultIsTakenAway) {
  Spec spec;
  for (const char* fault : {"slow-rank", "imbalance"}) {
    spec.faults.push_back(*parse_fault(fault, spec.last_step()));
    spec.faults.back().number = spec.faults.size() - 1;
  }
  Spec without = spec;
  without.faults.erase(without.faults.begin());
  const Layout layout(spec);
  EXPECT_EQ(Shares(spec, layout).of(1, 3, 2), Shares(without, layout).of(0, 3, 2));
}

}  // namespace
}  // namespace spotter::simulate

// What faults do to a job's schedule, wherever they act.
#include "simulate/faults/step_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "simulate/test_job.h"

namespace spotter::simulate {
namespace {

Ns total(const std::vector<Ns>& injected) {
  Ns sum = 0;
  for (const Ns ns : injected) sum += ns;
  return sum;
}

TEST(Faults, CostWhatTheySay) {
  Spec spec = small();
  spec.jitter_percent = 0;
  const auto injected = [&](const char* fault) { return Simulated(with(spec, fault)).injected; };
  EXPECT_EQ(injected("data-loader-stall:rank=2,step=3,ms=7")[2], (std::vector<Ns>{7'000'000, 0}));
  EXPECT_EQ(injected("gc-pause:rank=1,ms=3")[1], (std::vector<Ns>{3'000'000, 3'000'000}));
  EXPECT_EQ(total(injected("gc-pause:rank=1,ms=3")[0]), 0);
  EXPECT_GE(total(injected("allocator-retries:count=2,ms=4")[0]), 2 * 2 * 4'000'000);
  EXPECT_GE(total(injected("host-sync:every=2,ms=1")[0]), 2 * 2 * 1'000'000);
  EXPECT_GT(total(injected("launch-bound")[3]), 0);
  EXPECT_GT(total(injected("unoverlapped-communication")[3]), 0);
  EXPECT_EQ(injected("slow-link:factor=2")[0], injected("slow-link:factor=2")[3]);
}

TEST(Faults, ASlowDeviceCostsItsShare) {
  Spec spec = small();
  spec.jitter_percent = 0;
  const Simulated plain(spec);
  Ns compute = 0;
  for (const Seen& work : plain.ranks[1].seen)
    if (work.kind == DeviceKind::compute) compute += work.event.end - work.event.start;
  for (const char* fault : {"throttle:rank=1,factor=1.5", "straggling-step:rank=1,step=all,factor=1.5"}) {
    const Simulated run(with(spec, fault));
    EXPECT_NEAR(static_cast<double>(total(run.injected[1])), static_cast<double>(compute) / 2, 1000) << fault;
  }
  EXPECT_EQ(Simulated(with(spec, "throttle:rank=1,step=4")).injected[1][0], 0);
  const Simulated uneven(with(spec, "imbalance"));
  EXPECT_NE(uneven.injected[0], uneven.injected[1]);
}

TEST(Faults, OneFaultLeavesTheRestOfTheJobAsItWas) {
  const Simulated plain(small()), stalled(with(small(), "data-loader-stall:step=4,ms=5"));
  EXPECT_EQ(plain.step_ns[0][0], stalled.step_ns[0][0]);
  EXPECT_NEAR(static_cast<double>(stalled.step_ns[0][1] - plain.step_ns[0][1]), 5e6, 2e5);
}

// Device work of this rank with this in its name: how often, and how long in all.
std::pair<i64, Ns> work(const Simulated& run, size_t rank, const char* name) {
  std::pair<i64, Ns> found;
  for (const Seen& seen : run.ranks[rank].seen) {
    if (seen.name.find(name) == seen.name.npos) continue;
    ++found.first;
    found.second += seen.event.end - seen.event.start;
  }
  return found;
}

i64 calls(const Simulated& run, size_t rank, Call call) {
  return std::ranges::count(run.ranks[rank].calls, call, &CallEvent::call);
}

Spec even() {
  Spec spec = small();
  spec.jitter_percent = 0;
  return spec;
}

TEST(Faults, ExtraCallsAreCallsOfWhatIsThere) {
  const Simulated plain(even()), more(with(even(), "extra-calls:rank=1,count=5"));
  const auto [count, ns] = work(plain, 1, "Gelu");
  EXPECT_EQ(work(more, 0, "Gelu").first, count);
  EXPECT_EQ(work(more, 1, "Gelu").first, count + 2 * 5);
  const Simulated all(with(even(), "extra-calls:rank=all,count=1000"));
  EXPECT_EQ(work(all, 3, "GeluCUDA").first, work(plain, 3, "GeluCUDA").first + 2 * 1000);
  EXPECT_GT(total(more.injected[1]), 10 * ns / count / 2);
  EXPECT_EQ(total(more.injected[0]), 0);
}

TEST(Faults, ACopyOfPageableMemoryHoldsTheHost) {
  const Simulated run(with(even(), "copies:rank=2,count=3,mb=9"));
  EXPECT_EQ(work(run, 1, "Pageable").first, 0);
  EXPECT_EQ(work(run, 2, "Device -> Pageable").first, 2 * 2);
  EXPECT_EQ(work(run, 2, "Pageable -> Device").first, 2 * 1);
  for (const Seen& seen : run.ranks[2].seen) {
    if (seen.name.find("Pageable") == seen.name.npos) continue;
    const auto call = std::ranges::find(run.ranks[2].calls, seen.event.correlation, &CallEvent::correlation);
    ASSERT_NE(call, run.ranks[2].calls.end());
    EXPECT_LE(call->start, seen.event.start);
    EXPECT_GT(call->end, seen.event.end);
    EXPECT_NEAR(static_cast<double>(seen.event.end - seen.event.start), (9 << 20) / 9., 2'000);
  }
}

TEST(Faults, CompilationIsInItsStepsAlone) {
  const Simulated run(with(even(), "compilation:ms=40"));
  EXPECT_EQ(run.ranks[3].loads, (std::vector<Ns>{2'000'000}));
  EXPECT_EQ(calls(run, 3, Call::driver_launch), 1);
  EXPECT_EQ(run.injected[3][0], 0);
  EXPECT_NEAR(static_cast<double>(run.injected[3][1]), 40e6, 1e5);
}

TEST(Faults, UnderMemoryPressureAnAllocationIsTriedAgain) {
  const Simulated run(with(even(), "memory-pressure:rank=0,ms=6"));
  EXPECT_EQ(calls(run, 0, Call::malloc), 2 * 2 * 2);
  EXPECT_EQ(calls(run, 0, Call::free), 2 * 2);
  EXPECT_EQ(calls(run, 1, Call::free), 0);
  EXPECT_NEAR(static_cast<double>(run.injected[0][1]), 6e6, 5'000);
}

TEST(Faults, LowEfficiencyIsOfProductsOfMatrices) {
  const Simulated plain(even()), slow(with(even(), "low-efficiency:factor=4"));
  EXPECT_NEAR(static_cast<double>(work(slow, 2, "gemm").second),
              4. * static_cast<double>(work(plain, 2, "gemm").second), 1'000);
  EXPECT_EQ(work(slow, 2, "flash"), work(plain, 2, "flash"));
}

TEST(Faults, TheLinkOfTwoRanksSlowsWhatBothAreIn) {
  Spec spec = even();
  spec.tensor = 2;
  const auto injected = [&](const char* fault) {
    std::vector<bool> is_hit;
    for (const auto& of : Simulated(with(spec, fault)).injected) is_hit.push_back(total(of) > 0);
    return is_hit;
  };
  using Hit = std::vector<bool>;
  EXPECT_EQ(injected("slow-link:ranks=0-1"), (Hit{true, true, false, false}));  // tensor
  EXPECT_EQ(injected("slow-link:ranks=3-1"), (Hit{false, true, false, true}));  // data
  EXPECT_FALSE(validate(with(spec, "slow-link:ranks=0-3")));
  EXPECT_FALSE(validate(with(spec, "slow-link:ranks=0-4")));
  spec.tensor = 1;
  spec.pipeline = 4;
  EXPECT_EQ(injected("slow-link:ranks=1-2"), (Hit{false, true, true, false}));
  EXPECT_TRUE(validate(with(spec, "slow-link:ranks=1-2")));
  EXPECT_FALSE(validate(with(spec, "slow-link:ranks=1-3")));
}

TEST(Faults, WorkersThatAreLateTogetherStallSomeSteps) {
  const Simulated run(with(even(), "data-loader-stall:ms=7,every=2"));  // the steps are 3 and 4
  EXPECT_EQ(run.injected[1], (std::vector<Ns>{0, 7'000'000}));
  EXPECT_FALSE(validate(with(even(), "data-loader-stall:every=5")));
}

TEST(Faults, WhatImbalanceGivesItTakes) {
  const Simulated run(with(even(), "imbalance:rank=0"));
  for (size_t step = 0; step < 2; ++step) {
    Ns sum = 0;
    for (const auto& rank : run.injected) sum += rank[step];
    EXPECT_NEAR(static_cast<double>(sum), 0, 200);
    EXPECT_GT(run.injected[0][step], 100'000);
    EXPECT_LT(run.injected[3][step], 0);
  }
}

TEST(Noise, IsRoughAndTheSameEachTime) {
  Spec spec = even();
  spec.steps = 12;
  const Simulated quiet(spec);
  spec.noise = Noise::rough;
  const Simulated rough(spec), again(spec);
  EXPECT_EQ(rough.step_ns, again.step_ns);
  EXPECT_EQ(rough.step_ns, rough.plan.steps);
  EXPECT_GT(rough.step_ns[0], quiet.step_ns[0]);
  std::set<Ns> devices;
  for (size_t rank = 0; rank < 4; ++rank) {
    const double slower = static_cast<double>(work(rough, rank, "gemm").second) /
                          static_cast<double>(work(quiet, rank, "gemm").second);
    EXPECT_GT(slower, 1);
    EXPECT_LT(slower, 1.015);
    devices.insert(work(rough, rank, "gemm").second);
  }
  EXPECT_EQ(devices.size(), 4u);
}

TEST(Noise, HostsStandStillNowAndThen) {
  i64 hiccups = 0;
  for (i64 step = 0; step < 800; ++step) hiccups += hiccup_place(Noise::rough, step_hash(1, 0, step), 50) > 0;
  EXPECT_GT(hiccups, 50);
  EXPECT_LT(hiccups, 200);
  EXPECT_EQ(hiccup_place(Noise::quiet, step_hash(1, 0, 3), 50), 0u);
}

}  // namespace
}  // namespace spotter::simulate

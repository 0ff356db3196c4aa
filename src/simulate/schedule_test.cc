#include "simulate/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "simulate/tally.h"
#include "simulate/test_job.h"

namespace spotter::simulate {
namespace {

TEST(Schedule, ACollectiveEndsOnAllRanksAtOnceAfterTheLastHasCome) {
  const Simulated run(small());
  const std::vector<Seen> first = run.ranks[0].of(kData);
  ASSERT_GT(first.size(), 4u);
  for (size_t i = 0; i < first.size(); ++i) {
    Ns latest = 0;
    for (const Recorder& rank : run.ranks) {
      EXPECT_EQ(rank.of(kData)[i].event.end, first[i].event.end);
      EXPECT_EQ(rank.of(kData)[i].event.sequence, static_cast<i64>(i + 1));
      latest = std::max(latest, rank.of(kData)[i].event.start);
    }
    EXPECT_GT(first[i].event.end, latest);
  }
}

TEST(Schedule, BothPassesAgree) {
  for (const char* fault :
       {"slow-rank", "throttle:from_ms=20", "launch-bound:pieces=3", "allocator-retries"}) {
    const Simulated run(with(small(), fault));
    EXPECT_EQ(run.step_ns, run.plan.steps) << fault;
  }
}

TEST(Schedule, AStreamRunsOneAfterTheOtherAndNothingBeforeItsLaunch) {
  Spec spec = small();
  spec.tensor = 2;
  const Simulated run(spec);
  for (const Recorder& rank : run.ranks) {
    ASSERT_FALSE(rank.seen.empty());
    EXPECT_EQ(rank.depth, 0);
    for (u8 s = 0; s < kStreams; ++s) {
      Ns end = 0;
      for (const Seen& work : rank.of(static_cast<Stream>(s))) {
        EXPECT_GE(work.event.start, end);
        end = work.event.end;
      }
    }
    for (const Seen& work : rank.seen) {
      const auto call = std::ranges::find(rank.calls, work.event.correlation, &CallEvent::correlation);
      ASSERT_NE(call, rank.calls.end());
      EXPECT_GE(work.event.start, call->end);
    }
  }
}

TEST(Schedule, AStreamThatWaitsGoesOnWhenTheOtherIsDone) {
  const Simulated run(small());
  const Recorder& rank = run.ranks[0];
  size_t waits = 0;
  for (const SyncEvent& wait : rank.syncs) {
    if (!wait.is_of_stream || wait.stream != kCompute) continue;
    Ns done = 0, next = kNever;
    for (const Seen& work : rank.seen) {
      if (work.event.stream == wait.on && work.event.correlation < wait.record) done = work.event.end;
      if (work.event.stream == kCompute && work.event.correlation > wait.correlation)
        next = std::min(next, work.event.start);
    }
    EXPECT_GE(next, done);
    ++waits;
  }
  EXPECT_EQ(waits, 2u);  // for the gradients, once in each step
}

TEST(Schedule, AnEventWaitsForWhatItsStreamStillWaitsFor) {
  Spec spec = small();
  spec.ranks = spec.steps = 1;
  Job job(spec);
  Program& program = job.programs[0];
  program = {};
  program.work.push_back({.name = "long", .ns = 1'000'000});
  program.code = {
      {.op = Op::enter_step},
      {.op = Op::launch},
      {.op = Op::wait, .stream = kTensor, .what = kCompute},
      {.op = Op::wait,
       .stream = kData,
       .call = Call::stream_wait_event,
       .what = kTensor},  // nothing ran there
      {.op = Op::synchronize, .stream = kData, .call = Call::stream_synchronize},
      {.op = Op::leave},
  };
  Schedule plan = schedule(job).value();
  Recorder seen(program);
  Machine(job, 0, plan.rendezvous, &seen).run();
  ASSERT_EQ(seen.seen.size(), 1u);
  ASSERT_EQ(seen.syncs.size(), 3u);
  EXPECT_GT(seen.syncs[2].end, seen.seen[0].event.end);
}

TEST(Schedule, AReceiverWaitsForItsSender) {
  Spec spec = small();
  spec.pipeline = 4;
  spec.micro_batches = 8;
  const Simulated run(spec);
  for (size_t stage = 1; stage < 4; ++stage) {
    const std::vector<Seen> sent = run.ranks[stage - 1].of(kSend), received = run.ranks[stage].of(kReceive);
    // Sends to the next stage are every one of stage 0's; a later stage also sends back.
    EXPECT_EQ(received.size(), (stage == 3 ? 1u : 2u) * 16u);
    if (stage > 1) continue;
    size_t next = 0;
    const Program& program = run.job.programs[1];
    for (const Seen& r : received) {
      if (program.collectives[r.event.collective].way != Collective::Way::receive_previous) continue;
      EXPECT_GT(r.event.end, sent[next].event.start);
      ++next;
    }
    EXPECT_EQ(next, sent.size());
  }
}

TEST(Schedule, AnExchangeEndsOnBothAtOnceAfterBothHaveCome) {
  Spec spec = small();
  spec.pipeline = 4;
  spec.micro_batches = 6;
  spec.coupled_sends = true;
  const Simulated run(spec);
  EXPECT_EQ(run.step_ns, run.plan.steps);
  const auto exchanges = [&](size_t rank, Collective::Way way) {
    std::vector<DeviceEvent> found;
    for (const Seen& seen : run.ranks[rank].seen)
      if (seen.event.collective != kNone &&
          run.job.program(static_cast<i64>(rank)).collectives[seen.event.collective].way == way)
        found.push_back(seen.event);
    return found;
  };
  for (size_t rank = 0; rank < 3; ++rank) {
    const auto here = exchanges(rank, Collective::Way::exchange_next);
    const auto there = exchanges(rank + 1, Collective::Way::exchange_previous);
    ASSERT_EQ(here.size(), 2 * (6 - (3 - rank)));
    ASSERT_EQ(here.size(), there.size());
    for (size_t i = 0; i < here.size(); ++i) {
      EXPECT_EQ(here[i].end, there[i].end);
      EXPECT_EQ(here[i].end, std::max(here[i].start, there[i].start) + here[i].transfer);
    }
  }
}

TEST(Schedule, MorePartsOfTheModelMakeASmallerBubble) {
  Spec spec = small();
  spec.pipeline = 4;
  spec.layers = 16;
  spec.micro_batches = 8;
  spec.jitter_percent = 0;
  const Simulated plain(spec);
  spec.virtual_stages = 4;
  const Simulated interleaved(spec);
  EXPECT_EQ(interleaved.step_ns, interleaved.plan.steps);
  EXPECT_LT(interleaved.step_ns[0][0], plain.step_ns[0][0]);
}

TEST(Schedule, TokensGoToTheirExpertsAndBack) {
  Spec spec = small();
  spec.expert = 2;
  const Simulated run(spec);
  EXPECT_EQ(run.step_ns, run.plan.steps);
  const i64 passes = 2 * spec.layers * 2;  // forward and backward, there and back
  EXPECT_EQ(run.ranks[0].of(kExpert).size(), static_cast<size_t>(passes * spec.steps));
  EXPECT_EQ(run.ranks[0].of(kExpert)[0].event.end, run.ranks[1].of(kExpert)[0].event.end);
  EXPECT_NE(run.ranks[0].of(kExpert)[0].event.end, run.ranks[2].of(kExpert)[0].event.end);
  EXPECT_FALSE(run.ranks[0].of(kExpertData).empty());
  EXPECT_EQ(run.ranks[0].of(kExpertData)[0].event.end, run.ranks[2].of(kExpertData)[0].event.end);
}

TEST(Schedule, WithoutJitterStepsAreEqual) {
  Spec spec = small();
  spec.jitter_percent = 0;
  spec.steps = 4;
  const Simulated run(spec);
  for (const std::vector<Ns>& steps : run.step_ns)
    EXPECT_EQ(std::set<Ns>(steps.begin(), steps.end()).size(), 1u);
}

TEST(Schedule, AnotherSeedIsAnotherJob) {
  Spec spec = small();
  const Simulated one(spec), same(spec);
  spec.seed = 2;
  const Simulated other(spec);
  EXPECT_EQ(one.step_ns, same.step_ns);
  EXPECT_NE(one.step_ns, other.step_ns);
}

TEST(Schedule, LaunchesDoNotRunAheadOfTheDeviceForEver) {
  Spec spec = small();
  spec.micro_batches = 40;
  const Simulated run(spec);
  const std::vector<Seen>& work = run.ranks[0].seen;
  ASSERT_GT(work.size(), 1200u);
  for (size_t i = 1024; i < work.size(); ++i) {
    const auto call =
        std::ranges::find(run.ranks[0].calls, work[i].event.correlation, &CallEvent::correlation);
    ASSERT_GE(call->end, work[i - 1024].event.start);
    if (i > 1200) break;
  }
}

TEST(Schedule, ScaleStretchesWhatItNames) {
  const auto sum = [](const Simulated& run, const char* name) {
    Ns ns = 0;
    for (const Seen& work : run.ranks[0].seen)
      if (work.name.find(name) != work.name.npos) ns += work.event.end - work.event.start;
    return ns;
  };
  Spec spec = small();
  spec.jitter_percent = 0;
  const Simulated plain(spec);
  spec.scales.push_back({"flash_fwd", 0.5});
  const Simulated scaled(spec);
  EXPECT_GT(sum(plain, "flash_fwd"), 1000);
  EXPECT_GT(sum(plain, "flash_bwd"), 0);
  EXPECT_NEAR(static_cast<double>(sum(scaled, "flash_fwd")), static_cast<double>(sum(plain, "flash_fwd")) / 2,
              8);
  EXPECT_EQ(sum(scaled, "flash_bwd"), sum(plain, "flash_bwd"));
  EXPECT_LT(scaled.step_ns[0][0], plain.step_ns[0][0]);
}

TEST(Schedule, AHangLeavesTheOthersInTheirCollective) {
  const Simulated run(with(small(), "hang:rank=1,after_ms=100"));
  ASSERT_LT(run.plan.stop, kNever);
  for (size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(run.step_ns[rank].size(), 1u);
    EXPECT_GT(run.ranks[rank].depth, 0);  // what it was in did not end
    for (const Seen& work : run.ranks[rank].seen) EXPECT_LE(work.event.end, run.plan.stop);
  }
  EXPECT_EQ(run.ranks[0].of(kData).size(), run.ranks[1].of(kData).size());
}

TEST(Tally, CountsEachMomentOnce) {
  Tally tally;
  tally.begin_step(5);
  tally.device(DeviceKind::compute, 10, 20);
  tally.device(DeviceKind::compute, 15, 30);
  tally.device(DeviceKind::communication, 25, 40);
  tally.device(DeviceKind::copy, 50, 60);
  tally.end_step(70, true);
  tally.begin_step(75);
  tally.device(DeviceKind::compute, 80, 90);
  tally.end_step(95, false);
  const RankNumbers numbers = tally.take();
  const StepNumbers& step = numbers.steps[0];
  EXPECT_EQ(step.step, 65);
  EXPECT_EQ(step.window(), 50);
  EXPECT_EQ(step.compute, 20);
  EXPECT_EQ(step.communication, 15);
  EXPECT_EQ(step.hidden, 5);
  EXPECT_EQ(step.memory, 10);
  EXPECT_EQ(step.idle, 10);
  EXPECT_EQ(numbers.steps[1].step, -1);
  EXPECT_EQ(numbers.whole.window(), 80);
  EXPECT_EQ(numbers.whole.idle, 30);
  EXPECT_EQ(numbers.whole.compute, 30);
}

TEST(Tally, WaitingIsWhereACollectiveIsAndNoneTransfers) {
  Tally tally;
  tally.begin_step(0);
  const auto add = [&](u32 number, bool is_of_all, Ns start, Ns transfer, Ns end) {
    tally.device(DeviceKind::communication, start, end);
    tally.collective(number, is_of_all, start, transfer, end);
  };
  add(0, true, 10, 20, 50);   // transfers 30-50
  add(1, true, 40, 10, 80);   // transfers 70-80
  add(2, false, 60, 5, 100);  // a receive
  add(0, true, 110, 10, 120);
  tally.end_step(130, true);
  const RankNumbers numbers = tally.take();
  EXPECT_EQ(numbers.steps[0].transfer, 20 + 10 + 10);
  EXPECT_EQ(numbers.steps[0].wait, 20 + 20);
  EXPECT_EQ(numbers.whole.wait, 40);
  ASSERT_EQ(numbers.collectives.size(), 3u);
  EXPECT_EQ(numbers.collectives[0].calls, 2);
  EXPECT_EQ(numbers.collectives[0].time, 50);
  EXPECT_EQ(numbers.collectives[0].transfer, 30);
  EXPECT_EQ(numbers.collectives[0].wait, 20);
  EXPECT_EQ(numbers.collectives[2].wait, 35);
}

TEST(Schedule, WhatWouldLastForEverIsRefused) {
  Spec spec;
  spec.ranks = 2;
  spec.layers = spec.steps = spec.micro_batches = 1;
  spec.scales.assign(kMostScales, {"a", 1000});
  EXPECT_EQ(schedule(Job(spec)).error().code, Code::invalid);
  spec.scales.clear();
  spec.faults.assign(20, *parse_fault("slow-rank:rank=1,factor=1000", spec.last_step()));
  EXPECT_EQ(schedule(Job(spec)).error().code, Code::invalid);  // rank 0 waits for what never comes
  spec.faults.assign(20, *parse_fault("slow-link:factor=1000", spec.last_step()));
  EXPECT_EQ(schedule(Job(spec)).error().code, Code::invalid);
  spec.faults.clear();
  EXPECT_TRUE(schedule(Job(spec)));
}

}  // namespace
}  // namespace spotter::simulate

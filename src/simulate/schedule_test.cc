#include "simulate/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "simulate/tally.h"

namespace spotter::simulate {
namespace {

struct Seen {
  DeviceEvent event;
  std::string name;
  DeviceKind kind;
};

// All device work of a rank.
class Recorder final : public Observer {
 public:
  explicit Recorder(const Program& program) : program_(program) {}
  void enter_step(i64, Ns at) override {
    steps.push_back(at);
    ++depth;
  }
  void enter(const Instruction&, u32, Ns) override { ++depth; }
  void leave(Ns) override { --depth; }
  void call(const CallEvent& event) override { calls.push_back(event); }
  void device(const DeviceEvent& event) override {
    seen.push_back({event, program_.work[event.work].name, program_.work[event.work].kind});
  }
  void synchronize(const SyncEvent& event) override { syncs.push_back(event); }
  void memory(u32, u32, Ns) override {}
  void end_step(Ns at) override { ends.push_back(at); }

  std::vector<Seen> of(Stream stream) const {
    std::vector<Seen> found;
    std::ranges::copy_if(seen, std::back_inserter(found),
                         [&](const Seen& s) { return s.event.stream == stream; });
    return found;
  }

  std::vector<Seen> seen;
  std::vector<CallEvent> calls;
  std::vector<SyncEvent> syncs;
  std::vector<Ns> steps, ends;
  int depth = 0;

 private:
  const Program& program_;
};

struct Simulated {
  explicit Simulated(const Spec& spec) : job(spec), plan(schedule(job).value()) {
    for (i64 rank = 0; rank < spec.ranks; ++rank) {
      ranks.emplace_back(job.program(rank));
      Machine machine(job, rank, plan.rendezvous, &ranks.back(), plan.stop);
      machine.run();
      injected.push_back(machine.injected());
      step_ns.push_back(machine.step_ns());
    }
  }
  Job job;
  Schedule plan;
  std::vector<Recorder> ranks;
  std::vector<std::vector<Ns>> injected, step_ns;
};

Spec small() {
  Spec spec;
  spec.ranks = 4;
  spec.steps = 2;
  spec.layers = 4;
  spec.micro_batches = 1;
  return spec;
}

Spec with(Spec spec, const std::string& fault) {
  spec.faults.push_back(*parse_fault(fault, spec.last_step()));
  return spec;
}

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

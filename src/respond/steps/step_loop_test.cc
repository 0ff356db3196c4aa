#include "respond/steps/step_loop.h"

#include <gtest/gtest.h>

namespace spotter::respond {
namespace {

class Job {
 public:
  // `took`: 0: the line says none.
  void line(std::string_view form, i64 step, std::optional<i64> of, Ns took = 0, u64 file = 1) {
    StepLine said{.form = form, .step = step, .of = of, .took = {}, .took_within = 5, .stamp = {}};
    if (took > 0) said.took = took;
    loop.add({.line = said, .file = file, .at = now, .at_within = kSecond});
  }
  std::vector<Ns> took() {
    std::vector<Ns> times;
    for (const LoopStep& step : loop.take()) times.push_back(step.took);
    return times;
  }
  StepLoop loop;
  Ns now = 1000 * kSecond;
};
using Times = std::vector<Ns>;

TEST(StepLoop, TakesTheTimeOfLines) {
  Job job;
  for (i64 step : {10, 20}) job.line("megatron", step, 500, 1200 * kMillisecond);
  EXPECT_EQ(job.took(), (Times{1200 * kMillisecond, 1200 * kMillisecond}));
  EXPECT_EQ(job.loop.steps(), 10);
  EXPECT_EQ(job.loop.form(), "megatron");
}

TEST(StepLoop, OrTheTimeBetweenTheLastLinesOfTwoLooks) {
  Job job;
  job.line("own", 1, {});
  EXPECT_EQ(job.took(), Times{});
  job.now += 10 * kSecond;
  for (i64 step : {2, 3, 5}) job.line("own", step, {});
  const auto steps = job.loop.take();
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].took, 2500 * kMillisecond);
  EXPECT_EQ(steps[0].within, 500 * kMillisecond);  // of 2 s over four steps
}

TEST(StepLoop, OrBetweenTheirOwnTimes) {
  Job job;
  for (i64 step : {10, 20, 30}) {
    StepLine said{.form = "torchtitan", .step = step, .of = {}, .took = {}, .stamp = step * kSecond};
    job.loop.add({.line = said, .file = 1, .at = job.now, .at_within = kSecond});
  }
  const auto steps = job.loop.take();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].took, kSecond);
  EXPECT_EQ(steps[0].within, kMillisecond / 10);
}

TEST(StepLoop, KeepsToTheLoopInWhichTheJobSpendsItsTime) {
  Job job;
  const auto bar = [&](i64 first, i64 last, i64 of, Ns step) {
    for (i64 i = first; i <= last; ++i) {
      job.now += step;
      job.line("tqdm", i, of, step);
    }
  };
  bar(1, 7, 7, kSecond);  // files are loaded
  bar(1, 30, 1000, 2 * kSecond);
  EXPECT_EQ(job.took().back(), 2 * kSecond);
  bar(1, 20, 20, kSecond);  // evaluation
  EXPECT_EQ(job.took(), Times{});
  EXPECT_EQ(job.loop.others(), 20 + 8);  // seven steps of 2 s and one until it is ahead
  bar(31, 33, 1000, 2 * kSecond);
  EXPECT_EQ(job.took(), Times(3, 2 * kSecond));
}

TEST(StepLoop, AFrameworksLineComesBeforeABar) {
  Job job;
  job.line("tqdm", 1, 10, kSecond);
  job.line("nemo", 5, 100, 3 * kSecond);
  job.line("tqdm", 2, 10, kSecond);
  job.line("own", 5, 100, 4 * kSecond);
  job.line("nemo", 6, 100, 3 * kSecond);
  EXPECT_EQ(job.took(), (Times{kSecond, 3 * kSecond, 4 * kSecond}));
}

TEST(StepLoop, RanksThatSayTheSameAreOne) {
  Job job;
  for (i64 step : {10, 10, 20, 10, 20, 20, 30, 20, 30}) job.line("own", step, 100, kSecond);
  EXPECT_EQ(job.took(), Times(3, kSecond));
  for (i64 step : {10, 20, 30}) job.line("own", step, 100, kSecond, 2);  // another file
  EXPECT_EQ(job.took(), Times{});
  EXPECT_EQ(job.loop.steps(), 20);
}

TEST(StepLoop, BeginsAnewFromACheckpoint) {
  Job job;
  for (i64 step : {100, 110, 120, 50, 60}) job.line("own", step, 500, kSecond);
  EXPECT_EQ(job.took(), Times(5, kSecond));
  EXPECT_EQ(job.loop.steps(), 30);
}

TEST(StepLoop, OneWhoseFileHasEndedGivesWay) {
  Job job;
  job.line("own", 5, 100, kSecond);
  job.loop.leave(2);
  job.line("own", 1, 100, 2 * kSecond, 3);
  EXPECT_EQ(job.took(), Times{kSecond});
  job.loop.leave(1);
  job.line("own", 2, 100, 2 * kSecond, 3);
  EXPECT_EQ(job.took(), Times{2 * kSecond});
}

TEST(StepLoop, OneThatIsSilentGivesWay) {
  Job job;
  job.now += 100 * kSecond;
  job.line("own", 5, 100, kSecond);
  job.now += 9 * kMinute;
  job.line("tqdm", 1, 10, kSecond);
  EXPECT_EQ(job.took(), Times{kSecond});
  job.now += 2 * kMinute;
  job.line("tqdm", 2, 10, 2 * kSecond);
  EXPECT_EQ(job.took(), Times{2 * kSecond});
}

}  // namespace
}  // namespace spotter::respond

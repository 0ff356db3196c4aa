#include "respond/steps/step_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "base/time.h"

namespace spotter::respond {
namespace {

const StepLines& lines() {
  static const StepLines made = *StepLines::make();
  return made;
}

// What a line is to say; took in ms, 0: no time.
struct Case {
  const char* form;
  std::optional<i64> step, of;
  double ms;
  std::string text;
};

const Case kCases[] = {
    {"megatron", 20, 500, 1234.5,
     " [2026-08-22 10:11:12.345678] iteration       20/     500 | consumed samples:         5120 | elapsed time per "
     "iteration (ms): 1234.5 | learning rate: 1.500000E-04 | global batch size:   256 | lm loss: 9.8E+00 |"},
    {"megatron", 20, 500, 1234.5,
     " iteration       20/     500 | consumed samples:         5120 | elapsed time per iteration (ms): 1234.5 | "
     "learning rate: 1.500E-04 | global batch size:   256 |"},
    {"torchtitan",
     10,
     {},
     0,
     "[titan] 2026-08-22 10:11:12,345 - root - INFO - step: 10  loss:  7.12345  grad_norm:  1.2345  memory: "
     "60.12GiB(75.90%)  tps: 6,412  tflops: 312.10  mfu: 31.56%"},
    {"torchtitan", 1, {}, 0, "step:  1  loss: 12.2  memory:  1.0GiB(1.00%)  tps: 98"},
    {"tqdm", 37, 100, 1000 / 2.5,
     " 37%|\xe2\x96\x88\xe2\x96\x88\xe2\x96\x8b       | 37/100 [00:14<00:25,  2.50it/s]"},
    {"tqdm", 2, 100, 3210, "  2%|2         | 2/100 [00:06<05:14,  3.21s/it]"},
    {"tqdm", 0, 100, 0, "  0%|          | 0/100 [00:00<?, ?it/s]"},
    {"tqdm", 4000, 90000, 2000,
     "Train:   4%|4         | 4000/90000 [2:13:20<1 day, 23:46:40,  2.00s/it, loss=2.1]"},
    {"tqdm", 4000, 900000, 2000, "  0%|          | 4000/900000 [2:13:20<20 days, 17:46:40,  2.00s/it]"},
    {"tqdm", 12, 50, 1000 / 1.5,
     "Epoch 0:  24%|##4       | 12/50 [00:08<00:25,  1.50it/s, v_num=3, train_loss=0.7]"},
    {"hf_dict", {}, {}, 0, "{'loss': 2.3456, 'grad_norm': 1.25, 'learning_rate': 4.5e-05, 'epoch': 0.1}"},
    {"hf_dict",
     {},
     {},
     0,
     "{'loss': '2.346', 'grad_norm': '1.25', 'learning_rate': '4.5e-05', 'epoch': '0.1'}"},
    {"hf_dict", {}, {}, 0, "{'loss': nan, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 3}"},
    {"deepspeed",
     30,
     {},
     0,
     "[2026-08-22 10:11:12,345] [INFO] [timer.py:264:stop] epoch=0/micro_step=120/global_step=30, "
     "RunningAvgSamplesPerSec=45.1, CurrSamplesPerSec=44.9, MemAllocated=1.2GB, MaxMemAllocated=2.3GB"},
    {"ds_pipe", 40, {}, 1250, "steps: 40 loss: 2.3012 iter time (s): 1.250 samples/sec: 204.800"},
    {"nemo", 19, 99, 2512,
     "Training epoch 0, iteration 19/99 | lr: 1.5e-05 | global_batch_size: 512 | global_step: 19 | "
     "reduced_train_loss: 10.3 | train_step_timing in s: 2.512 | consumed_samples: 10240"},
    {"nemo", 20, 99, 0, "Training epoch 0, iteration 20/99 | lr: 1.5e-05"},
    {"verl",
     3,
     {},
     61250,
     "step:3 - global_seqlen/min:484245.000 - actor/entropy:0.323 - timing_s/gen:30.100 - timing_s/step:61.250 - "
     "perf/throughput:812.1"},
};

TEST(StepLines, EachFrameworksLinesAreRead) {
  for (const Case& c : kCases) {
    const auto line = lines().step(c.text);
    ASSERT_TRUE(line) << c.text;
    EXPECT_EQ(line->form, c.form) << c.text;
    EXPECT_EQ(line->step, c.step) << c.text;
    EXPECT_EQ(line->of, c.of) << c.text;
    EXPECT_EQ(line->took.has_value(), c.ms > 0) << c.text;
    EXPECT_NEAR(static_cast<double>(line->took.value_or(0)), c.ms * 1e6, 1) << c.text;
    EXPECT_FALSE(lines().stuck(c.text)) << c.text;
  }
}

TEST(StepLines, EachFormHasALine) {
  for (const LineForm& form : line_forms())
    EXPECT_TRUE(std::ranges::any_of(kCases, [&](const Case& c) {
      return std::string_view(c.form) == form.name;
    })) << form.name;
}

TEST(StepLines, WhatIsNoStepIsNone) {
  for (
      const char* text : {
          "",
          "[titan] 2026-08-22 10:11:12,345 - root - INFO - validate step: 10  loss:  6.9  memory: 60.12GiB(75.90%)  "
          "tps: 9,120",
          "validate step: 10  loss:  6.9  memory:  1.0GiB(1.00%)  tps: 98",
          "step:0 - val-aux/openai/gsm8k/reward/mean@1:0.565",
          "Map:  50%|#####     | 500/1000 [00:01<00:01, 480.11 examples/s]",
          "{'eval_loss': 2.1, 'eval_runtime': 3.2, 'epoch': 1.0}",
          "training/global_step:1.000 - timing_s/step:61.2",
          " validation loss at iteration 20 | lm loss value: 9.8E+00 | lm loss PPL: 1.0E+04 |",
      })
    EXPECT_FALSE(lines().step(text)) << text;
}

TEST(StepLines, ALinesOwnTimeIsTaken) {
  const auto stamp = [](std::string_view text) { return lines().step(text)->stamp; };
  constexpr Ns kMoment = 1787393472 * kSecond;  // 2026-08-22 10:11:12
  EXPECT_EQ(stamp(kCases[0].text), kMoment + 345'678 * kMicrosecond);
  EXPECT_EQ(stamp(kCases[2].text), kMoment + 345 * kMillisecond);
  EXPECT_FALSE(stamp(kCases[1].text));
  EXPECT_FALSE(stamp("2026-08-22 10:11:12 - step: 10  loss:  7.1  tps: 6"));  // whole seconds are too coarse
  EXPECT_FALSE(stamp("2026-02-30 10:11:12,345 - step: 10  loss:  7.1  tps: 6"));  // no such day
  EXPECT_FALSE(stamp("9999-02-03 10:11:12,345 - step: 10  loss:  7.1  tps: 6"));
  EXPECT_FALSE(stamp("- step: 10  loss:  7.1  at 2026-08-22 10:11:12,345 tps: 6"));  // of something else
}

TEST(StepLines, TheStepClockPrefersIt) {
  StepClock clock({.left_out_first = 0});
  const auto add = [&](const char* text, Ns at) { return clock.add(*step_end(*lines().step(text), at)); };
  EXPECT_FALSE(add("2026-08-22 10:11:12,345 - step: 10  loss: 7.1  tps: 6", 100 * kSecond));
  // Both came at once, out of a buffer.
  EXPECT_EQ(add("2026-08-22 10:11:32,345 - step: 20  loss: 7.1  tps: 6", 100 * kSecond)->took, 2 * kSecond);
}

TEST(StepLines, ALineWithoutANumberEndsNoStep) {
  EXPECT_FALSE(step_end(*lines().step("{'loss': 2.3, 'epoch': 0.1}"), kSecond));
}

TEST(StepLines, WhatLaunchersPutBeforeALineIsTakenOff) {
  EXPECT_EQ(lines().step("[default0]:{'loss': 2.3, 'epoch': 0.1}")->form, "hf_dict");
  EXPECT_EQ(lines().step("(TaskRunner pid=4242) step:7 - a:1 - timing_s/step:2.5")->step, 7);
  EXPECT_EQ(lines().step("(TaskRunner pid=4242, ip=10.0.0.7) step:7 - a:1 - timing_s/step:2.5")->step, 7);
}

TEST(StepLines, TheWatchdogTellsWhichCollectiveIsStuck) {
  const char* text =
      "[rank3]:[E822 10:11:12.345678901 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation "
      "timeout: WorkNCCL(SeqNum=1402, OpType=ALLREDUCE, NumelIn=262144, NumelOut=262144, Timeout(ms)=600000) ran for "
      "600021 milliseconds before timing out.";
  const auto stuck = lines().stuck(text);
  ASSERT_TRUE(stuck);
  EXPECT_EQ(stuck->rank, 3);
  EXPECT_EQ(stuck->sequence, 1402);
  EXPECT_EQ(stuck->operation, "ALLREDUCE");
  EXPECT_EQ(stuck->timeout, 600 * kSecond);
  EXPECT_EQ(stuck->ran, 600'021 * kMillisecond);
  EXPECT_FALSE(lines().step(text));
}

TEST(StepLines, NumbersThatDoNotFitAreNone) {
  EXPECT_FALSE(lines().step("steps: 99999999999999999999 loss: 2.3 iter time (s): 1.250 samples/sec: 204.8"));
  const auto took = [](std::string_view text) { return lines().step(text)->took; };
  EXPECT_FALSE(took("steps: 4 loss: 2.3 iter time (s): 0.000 samples/sec: 204.8"));
  EXPECT_FALSE(took("steps: 4 loss: 2.3 iter time (s): 99999999999999999.9 samples/sec: 204.8"));
  EXPECT_FALSE(took(" 37%|###       | 37/100 [00:14<00:25,  0.00it/s]"));
  EXPECT_FALSE(took("step:3 - a:1 - timing_s/step:1.2.3"));
  EXPECT_FALSE(
      lines().stuck("[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=A, "
                    "Timeout(ms)=9223372036854775807) ran for 1 milliseconds"));
}

// A character is cut, or there never was one.
TEST(StepLines, BytesThatAreNoTextAreReadOver) {
  EXPECT_EQ(lines().step("\xff\xfe steps: 4 loss: \xe2\x96 iter time (s): 1.0 samples/sec: 2.0")->step, 4);
  std::string nulls = "steps: 4 loss: 2.3 ";
  nulls.resize(100);
  EXPECT_EQ(lines().step(nulls + " iter time (s): 1.0 samples/sec: 2.0")->step, 4);
}

// A segment of beginnings that lead nowhere takes an engine that tries them one after the other time in
// proportion to the square of its length, or worse; here it is 0.03 to 0.2 ms.
TEST(StepLines, ASegmentOfBeginningsIsReadInTime) {
  const auto before = std::chrono::steady_clock::now();
  for (const char* part :
       {"iteration 1/ 2 |", "step: 1 loss:", "0%|| 1/1 [00:00<", "{'loss': 1,", "steps: 1 loss: x ", "\x1b[",
        "[Rank 1] Watchdog caught collective operation timeout"}) {
    std::string text;
    while (text.size() < 4096) text += part;
    EXPECT_FALSE(lines().step(text)) << part;
    EXPECT_FALSE(lines().stuck(text)) << part;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2));
}

Result<StepLines> with(const std::string& expression) { return StepLines::make(std::vector{expression}); }

TEST(StepLines, TheUsersExpressionComesFirst) {
  const auto own = with(R"(it (?P<step>\d+) of (?P<of>\d+) in (?P<ms>\S+) ms)");
  ASSERT_TRUE(own);
  const auto line = own->step("loss 2.1 it 5 of 9 in 250.5 ms");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->form, kOwnForm);
  EXPECT_EQ(line->step, 5);
  EXPECT_EQ(line->of, 9);
  EXPECT_EQ(line->took, 250'500 * kMicrosecond);
  EXPECT_FALSE(own->step("it 5 of 9 in nan ms")->took);
  EXPECT_EQ(own->step(kCases[0].text)->form, "megatron");
  EXPECT_EQ(with(R"((?P<step>\d+) at (?P<ips>\S+)/s)")->step("7 at 4/s")->took, 250 * kMillisecond);
  EXPECT_EQ(with(R"((?P<step>\d+) at (?P<sps>\S+)/s)")->step("7 at 4/s")->took, std::nullopt);
}

TEST(StepLines, ATimeIsAsExactAsItIsPrinted) {
  const auto within = [](const std::string& expression, std::string_view line) {
    return with(expression)->step(line)->took_within;
  };
  const std::string in_s = R"((?P<step>\d+) (?P<s>\S+))";
  EXPECT_EQ(within(in_s, "7 2.5"), 50 * kMillisecond);
  EXPECT_EQ(within(in_s, "7 2"), 500 * kMillisecond);
  EXPECT_EQ(within(in_s, "7 2.512e-01"), 50'000);
  EXPECT_EQ(within(R"((?P<step>\d+) (?P<ms>\S+))", "7 1234.5"), 50'000);
  EXPECT_EQ(within(R"((?P<step>\d+) (?P<ips>\S+))", "7 4.0"), 3'125'000);  // 3.95 to 4.05 a second
  EXPECT_EQ(within(R"((?P<step>\d+) (?P<sps>\S+))", "7 4.0"), 0);
}

TEST(StepLines, TheUsersExpressionIsChecked) {
  const auto refusal = [](const std::string& expression) {
    const auto made = with(expression);
    return made ? "" : made.error().message;
  };
  const std::string good = R"((?P<step>\d+) (?P<s>\d+))";
  EXPECT_EQ(refusal(good), "");
  EXPECT_EQ(refusal(good + "[" + std::string(510 - good.size(), 'x') + "]"), "");
  EXPECT_NE(refusal(good + std::string(513 - good.size(), 'x')).find("513 bytes; at most 512"),
            std::string::npos);
  EXPECT_EQ(refusal(good + "x{100}"), "");
  EXPECT_NE(refusal(good + "(?:.a?){100}").find("take too long"), std::string::npos);
  EXPECT_NE(refusal("(?P<step>").find("no expression of RE2"), std::string::npos);
  EXPECT_NE(refusal("(?P<s>1)").find("no group (?P<step>"), std::string::npos);
  EXPECT_NE(refusal("(?P<step>1)").find("has 0"), std::string::npos);
  EXPECT_NE(refusal("(?P<step>1)(?P<s>1)(?P<ms>1)").find("has 2"), std::string::npos);
  EXPECT_NE(refusal("(?P<step>1)(?P<sec>1)").find("a group `sec`"), std::string::npos);
  EXPECT_NE(refusal(good + "((((((((((((((()))))))))))))))").find("more than 15 groups"), std::string::npos);
  EXPECT_NE(refusal(good + "((x{100}){100}){100}").find("no expression"), std::string::npos);
  EXPECT_NE(refusal("(?P<step>1)(?=x)").find("no expression"), std::string::npos);
}

}  // namespace
}  // namespace spotter::respond

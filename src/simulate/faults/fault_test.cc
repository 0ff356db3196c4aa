#include "simulate/faults/fault.h"

#include <gtest/gtest.h>

#include "simulate/spec.h"

namespace spotter::simulate {
namespace {

std::string error(const std::string& text) {
  const Result<Fault> fault = parse_fault(text, 7);
  return fault ? "" : fault.error().message;
}

TEST(Fault, DefaultsAreThoseOfTheTable) {
  const Fault fault = *parse_fault("slow-rank", 7);
  EXPECT_EQ(fault.type, FaultType::slow_rank);
  EXPECT_EQ(fault.factor, 1.3);
  EXPECT_TRUE(fault.is_at(0, 5));
  EXPECT_FALSE(fault.is_at(1, 5));
}

TEST(Fault, ParametersAreRead) {
  const Fault fault = *parse_fault("throttle:rank=2-3,step=5-,from_ms=1.5,factor=2", 7);
  EXPECT_TRUE(fault.is_at(3, 5));
  EXPECT_FALSE(fault.is_at(3, 4));
  EXPECT_EQ(fault.from_ns, 1'500'000);
  EXPECT_EQ(fault.factor, 2);
  EXPECT_EQ(parse_fault("slow-link:group=tensor,index=1", 7)->group, GroupKind::tensor);
  EXPECT_TRUE(parse_fault("straggling-step", 7)->is_at(0, 7));
  EXPECT_FALSE(parse_fault("straggling-step", 7)->is_at(0, 6));
}

TEST(Fault, ErrorsNameTheRemedy) {
  EXPECT_EQ(error("slow"), "there is no fault \"slow\"; did you mean \"slow-rank\" or \"slow-link\"?");
  EXPECT_EQ(error("meteor"), "there is no fault \"meteor\"; --list-faults lists them");
  EXPECT_EQ(error("hang:ms=3"), "the fault hang has no parameter \"ms\"; it has rank, step, after_ms");
  EXPECT_EQ(error("slow-rank:factor"),
            "\"factor\" of the fault slow-rank does not fit; factor: its kernels and copies take this many "
            "times as long (1 to 1000)");
  EXPECT_EQ(
      error("slow-link:ranks=0-1,index=0"),
      "the fault slow-link is either between two ranks or at groups of them; leave out ranks or group and index");
  for (const char* text :
       {"slow-link:ranks=3", "slow-link:ranks=3-3", "slow-link:ranks=1-x", "copies:mb=0",
        "memory-pressure:percent=101", "slow-rank:rank=last", "slow-rank:rank=-1", "slow-rank:rank=3-2",
        "slow-rank:factor=0", "slow-rank:factor=nan", "data-loader-stall:ms=-1", "launch-bound:pieces=0",
        "slow-link:group=x", "throttle:step=1x"})
    EXPECT_NE(error(text), "") << text;
}

std::string invalid(const Spec& spec) {
  const Result<void> valid = validate(spec);
  return valid ? "" : valid.error().message;
}

TEST(Spec, FaultsMustBeWithinTheJob) {
  const auto with = [](const char* fault) {
    Spec spec;
    spec.faults.push_back(*parse_fault(fault, spec.last_step()));
    return spec;
  };
  EXPECT_EQ(invalid(with("slow-rank:rank=7")), "");
  EXPECT_EQ(invalid(with("slow-rank:rank=8")), "the fault slow-rank is at rank 8, but the ranks are 0 to 7");
  EXPECT_EQ(invalid(with("slow-rank:rank=6-20")),
            "the fault slow-rank is at rank 20, but the ranks are 0 to 7");
  EXPECT_EQ(invalid(with("slow-rank:rank=6-")), "");
  EXPECT_EQ(invalid(with("gc-pause:step=8")), "the fault gc-pause is at step 8, but the steps are 3 to 7");
  EXPECT_NE(invalid(with("slow-link:group=tensor")), "");
  EXPECT_NE(invalid(with("slow-link:index=1")), "");
  Spec alone = with("hang");
  alone.ranks = 1;
  EXPECT_NE(invalid(alone), "");
}

TEST(Spec, SizesMustFit) {
  Spec spec;
  spec.tensor = 3;
  EXPECT_EQ(invalid(spec), "--ranks 8 is no multiple of --tp 3 times --pp 1");
  spec = {};
  spec.pipeline = 8;
  EXPECT_EQ(invalid(spec), "--layers 12 is no multiple of --pp 8");
  spec = {};
  spec.events = 1'000'000'000;
  EXPECT_NE(invalid(spec), "");
  spec = {};
  spec.expert = 3;
  EXPECT_EQ(invalid(spec), "--ep 3 does not divide the 8 data-parallel ranks; see --ranks, --tp and --pp");
  spec = {};
  spec.virtual_stages = 2;
  EXPECT_EQ(invalid(spec), "--virtual-stages needs a pipeline of three stages at least (--pp)");
  spec.pipeline = 4;
  EXPECT_EQ(invalid(spec), "--layers 12 is no multiple of --pp 4 times --virtual-stages 2");
  spec.layers = 16;
  EXPECT_EQ(invalid(spec), "");
  spec.micro_batches = 6;
  EXPECT_EQ(invalid(spec), "--micro-batches 6 is no multiple of --pp 4, as --virtual-stages wants it");
  spec = {};
  spec.coupled_sends = true;
  EXPECT_NE(invalid(spec), "");
}

}  // namespace
}  // namespace spotter::simulate

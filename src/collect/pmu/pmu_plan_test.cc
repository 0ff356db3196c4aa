#include "collect/pmu/pmu_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "collect/pmu/pfm_library.h"
#include "collect/pmu/pmu_device.h"
#include "collect/test_machine.h"

namespace spotter::collect {
namespace {

// "core: 0/0 0/1 4/c5; uncore_imc_0@0,8: 30/cf05": type and configuration of each event.
std::string text_of(const PmuPlan& plan) {
  std::string text = plan.model;
  for (const PlannedGroup& group : plan.groups) {
    text += "; " + group.name;
    for (size_t i = 0; i < group.cpus.size(); ++i)
      text += (i == 0 ? "@" : ",") + std::to_string(group.cpus[i]);
    text += ":";
    for (const PlannedEvent& event : group.events)
      text += fmt::format(" {}/{:x}", event.attributes.type, u64{event.attributes.config});
  }
  return text;
}

std::string plan_of(const char* machine) {
  const TestMachine tree(machine);
  return text_of(plan_pmu(tree.host()));
}

TEST(PmuPlan, SapphireRapids) {
  EXPECT_EQ(
      plan_of("intel_8gpu"),
      "Intel Sapphire Rapids or later; core: 0/0 0/1 0/9 4/c5 4/412e; uncore_imc_0@0,8: 30/cf05 30/f005; "
      "uncore_imc_1@0,8: 31/cf05 31/f005; caches: 4/151 4/1f25 4/e11; tlb: 4/e12 4/e13; "
      "topdown: 4/400 4/8000 4/8100 4/8200 4/8300; software: 1/3 1/4 1/2 1/5 1/6");
}

TEST(PmuPlan, Zen4) {
  EXPECT_EQ(
      plan_of("amd_epyc"),
      "AMD Zen 4; core: 0/0 0/1 4/c3 4/964; amd_umc_0@0: 20/10a 20/20a; amd_umc_12@8: 32/10a 32/20a; "
      "amd_l3@0,4,8,12: 13/300c00000000104; tlb: 4/ff44 4/f045 4/f85; "
      "topdown: 4/76 4/1000001a0 4/100001ea0 4/1000060a0; topdown: 4/7aa 4/c1; software: 1/3 1/4 1/2 1/5 1/6");
}

TEST(PmuPlan, Grace) {
  EXPECT_EQ(
      plan_of("arm_grace"),
      "Arm; core: 8/11 8/8 8/4004 8/22 8/37; nvidia_scf_pmu_0@0: 20/1a5 20/1db; caches: 8/3 8/17 8/34 8/35; "
      "topdown: 8/11 8/3e 8/3d 8/3b 8/3a; software: 1/3 1/4 1/2 1/5 1/6");
}

TEST(PmuPlan, WithoutHardwareCountersThereIsSoftware) {
  EXPECT_EQ(plan_of("small_vm"), "; software: 1/3 1/4 1/2 1/5 1/6");
}

TEST(PmuPlan, SlotsAreOfTheWidthThatTheKernelSays) {
  const TestMachine tree("arm_grace");
  const PmuPlan plan = plan_pmu(tree.host());
  const auto topdown = std::ranges::find(plan.groups, "topdown", &PlannedGroup::name);
  ASSERT_NE(topdown, plan.groups.end());
  EXPECT_EQ(topdown->events[0].terms[0].column, PmuColumn::slots);
  EXPECT_EQ(topdown->events[0].terms[0].weight, 8);
}

// Without op_spec, op_retired would be taken from nothing.
TEST(PmuPlan, AColumnThatLacksAnEventIsLeftOut) {
  const TestMachine tree("arm_grace");
  const std::string device = "sys/bus/event_source/devices/armv8_pmuv3_0/";
  tree.remove(device + "events/op_spec");
  tree.remove(device + "caps");
  tree.remove(device + "events/cnt_cycles");
  const PmuPlan plan = plan_pmu(tree.host());
  for (const PlannedGroup& group : plan.groups)
    for (const PlannedEvent& event : group.events)
      for (const PmuTerm& term : event.terms)
        if (term.weight != 0) {
          EXPECT_NE(term.column, PmuColumn::bad_speculation_slots);
          EXPECT_NE(term.column, PmuColumn::slots);
          EXPECT_NE(term.column, PmuColumn::ref_cycles);
        }
  EXPECT_NE(text_of(plan).find("topdown: 8/3e 8/3d 8/3a;"), std::string::npos) << text_of(plan);
}

TEST(PmuPlan, AnUnknownProcessorHasWhatTheKernelKnows) {
  TestMachine tree;
  tree.write("proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 9999\n\n");
  tree.write("sys/bus/event_source/devices/cpu/type", "4\n");
  EXPECT_EQ(
      text_of(plan_pmu(tree.host())),
      "any; core: 0/0 0/1 0/9 0/5; caches: 3/10000 3/10002 3/10003 3/10004; software: 1/3 1/4 1/2 1/5 1/6");
}

TEST(PmuPlan, GarbageOfTheKernelIsNotCounted) {
  for (const char* text : {"event=0x05,umask=0x1ff", "event=,umask=1", "event=0x05,nonsense=1",
                           "../../type=1", "=", "event=zz", "event=0x05,umask=-1"}) {
    TestMachine tree;
    tree.write("sys/bus/event_source/devices/imc/type", "30\n");
    tree.write("sys/bus/event_source/devices/imc/format/event", "config:0-7\n");
    tree.write("sys/bus/event_source/devices/imc/format/umask", "config:8-15\n");
    tree.write("sys/bus/event_source/devices/imc/events/x", text);
    const auto device = PmuDevice::open(tree.host(), "imc");
    ASSERT_TRUE(device);
    EXPECT_FALSE(device->event("x")) << text;
  }
}

TEST(PmuPlan, FieldsOfSeveralRanges) {
  TestMachine tree;
  const std::string device = "sys/bus/event_source/devices/amd_df/";
  tree.write(device + "type", "14");
  tree.write(device + "format/event", "config:0-7,32-37");
  tree.write(device + "format/umask", "config:8-15,24-27");
  tree.write(device + "format/slice", "config1:48-51");
  tree.write(device + "events/read", "event=0x11f,umask=0xffe,slice=2");
  const auto event = PmuDevice::open(tree.host(), "amd_df")->event("read");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, 14u);
  EXPECT_EQ(u64{event->config}, 0x10f00fe1fu);
  EXPECT_EQ(u64{event->config1}, u64{2} << 48);
}

// Two who know the processors agree: our encodings and libpfm4's.
TEST(PmuEvents, EncodingsAreThoseOfLibpfm) {
  setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
  int compared = 0;
  {
    const PfmLibrary library;
    if (!library.is_open()) GTEST_SKIP() << "libpfm4 is not installed";
    for (const PmuModel& model : pmu_models()) {
      for (const PmuGroup& group : model.groups) {
        for (const PmuEvent& event : group.events) {
          if (!event.name || !model.pfm) continue;
          const std::string name = std::string(model.pfm) + "::" + event.name;
          const auto attributes = library.encode(name);
          // Not all processors of a maker call all events the same; most must be known.
          if (!attributes) continue;
          EXPECT_EQ(attributes->type, event.type) << name;
          EXPECT_EQ(u64{attributes->config}, event.config) << name;
          ++compared;
        }
      }
    }
    EXPECT_FALSE(library.encode("spr::NO_SUCH_EVENT"));
  }
  unsetenv("LIBPFM_ENCODE_INACTIVE");
  RecordProperty("compared", compared);
  EXPECT_GE(compared, 40);
}

}  // namespace
}  // namespace spotter::collect

// The collectors of /sys's hardware on machines that change.
#include <gtest/gtest.h>

#include "base/time.h"
#include "collect/list.h"
#include "collect/test_collectors.h"

namespace spotter::collect {
namespace {

constexpr const char* kFan = "sys/class/hwmon/hwmon3/fan1_input";

TEST(Hardware, SensorsComeAndGo) {
  const TestMachine empty;
  EXPECT_FALSE(find_collector("hwmon")->open({.host = empty.host()}));
  TestMachine machine;
  machine.write("sys/class/hwmon/hwmon3/name", "fans\n");
  machine.write(kFan, "1200\n");
  const auto hwmon = open("hwmon", machine);
  EXPECT_EQ(column(*hwmon, "chip"), "fans");
  EXPECT_EQ(column(*hwmon, "fan_rpm"), "1200");
  machine.write("sys/class/hwmon/hwmon3/fan2_input", "900\n");
  machine.write("sys/class/hwmon/hwmon3/fan1_min", "400\n");
  machine.write(kFan, "1300\n");
  EXPECT_EQ(column(*hwmon, "fan_rpm"), "1300");  // each time, but files and limits once a minute
  EXPECT_EQ(column(*hwmon, "fan_min_rpm"), "null");
  machine.pass(kMinute);
  EXPECT_EQ(column(*hwmon, "fan_rpm"), "1300 900");
  EXPECT_EQ(column(*hwmon, "fan_min_rpm"), "400 null");
  machine.remove(kFan);
  EXPECT_EQ(column(*hwmon, "fan_rpm"), "null 900");
  machine.pass(kMinute);
  EXPECT_EQ(column(*hwmon, "fan_rpm"), "900");
  machine.remove("sys/class/hwmon/hwmon3");
  machine.pass(kMinute);
  EXPECT_EQ(column(*hwmon, "fan_rpm").find("no chip"), 0U);
}

// Files of sensors that are switched off fail to be read: a folder in their place does, too.
TEST(Hardware, WhatCannotBeReadIsNull) {
  TestMachine machine;
  machine.write("sys/class/hwmon/hwmon0/temp1_input/x", "");
  machine.write("sys/class/hwmon/hwmon0/temp1_alarm/x", "");
  machine.write("sys/class/hwmon/hwmon0/temp2_input", "40000\n");
  const auto hwmon = open("hwmon", machine);
  EXPECT_EQ(column(*hwmon, "temperature_celsius"), "null 40");
  EXPECT_EQ(column(*hwmon, "alarm"), "null null");
}

TEST(Hardware, ChipsOfOneNameStayApart) {
  TestMachine machine;
  for (const char* chip : {"hwmon0", "hwmon1"}) {
    machine.write(fmt::format("sys/class/hwmon/{}/name", chip), "jc42\n");
    machine.write(fmt::format("sys/class/hwmon/{}/temp1_input", chip), "30000\n");
  }
  EXPECT_EQ(column(*open("hwmon", machine), "chip"), "jc42 hwmon1");
}

TEST(Hardware, OneAlarmOfSeveralIsAnAlarm) {
  TestMachine machine;
  const std::string chip = "sys/class/hwmon/hwmon0/";
  machine.write(chip + "in0_input", "1000\n");
  machine.write(chip + "in0_min_alarm", "0\n");
  machine.write(chip + "in0_max_alarm", "0\n");
  const auto hwmon = open("hwmon", machine);
  EXPECT_EQ(column(*hwmon, "alarm"), "false");
  for (const char* alarm : {"in0_min_alarm", "in0_max_alarm"}) {
    machine.write(chip + alarm, "1\n");
    EXPECT_EQ(column(*hwmon, "alarm"), "true");
    machine.write(chip + alarm, "0\n");
  }
  EXPECT_EQ(column(*hwmon, "alarm"), "false");
}

TEST(Hardware, MoreSensorsThanTheMostAreCounted) {
  TestMachine machine;
  for (int i = 1; i <= 1003; ++i)
    machine.write(fmt::format("sys/class/hwmon/hwmon0/temp{}_input", i), "1000\n");
  const auto tables = open("hwmon", machine)->sample();
  ASSERT_TRUE(tables);
  EXPECT_EQ(tables->front().rows(), 1000U);
  EXPECT_EQ(tables->front().notes.count("sensors_left_out"), 3);
}

TEST(Hardware, TheStateOfANvmeControllerIsOfNow) {
  TestMachine machine("training_node");
  const auto nvme = open("nvme", machine);
  EXPECT_EQ(column(*nvme, "live"), "true false");
  machine.write("sys/class/nvme/nvme1/state", "live\n");
  machine.write("sys/class/nvme/nvme1/model", "ANOTHER\n");
  EXPECT_EQ(column(*nvme, "live"), "true true");
  EXPECT_EQ(column(*nvme, "model"), "SAMSUNG MZWLO3T8HCLS-00A07 KIOXIA KCM7XRUG7T68");
  machine.pass(kMinute);
  EXPECT_EQ(column(*nvme, "model"), "SAMSUNG MZWLO3T8HCLS-00A07 ANOTHER");
  machine.write("sys/class/nvme/nvme1/nvme0c1n2/size", "x\n");
  machine.pass(kMinute);
  EXPECT_EQ(column(*nvme, "size_bytes"), "3840755982336 null");  // a part of it would be wrong
}

TEST(Hardware, MemoryModulesComeWithTheirDriver) {
  TestMachine machine;
  EXPECT_FALSE(find_collector("edac")->open({.host = machine.host()}));
  machine.write("sys/devices/system/edac/mc/mc0/ce_count", "7\n");
  const auto edac = open("edac", machine);
  EXPECT_EQ(column(*edac, "correctable_errors"), "7");
  EXPECT_EQ(column(*edac, "uncorrectable_errors"), "null");
  machine.remove("sys/devices/system/edac/mc/mc0");
  EXPECT_EQ(column(*edac, "correctable_errors").find("no driver"), 0U);
}

}  // namespace
}  // namespace spotter::collect

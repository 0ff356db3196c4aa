// Devices that come and go while their collectors run.
#include <gtest/gtest.h>

#include "base/time.h"
#include "collect/test_collectors.h"

namespace spotter::collect {
namespace {

TEST(Devices, DisksComeAndGo) {
  TestMachine machine("small_vm");
  const auto disks = open("disk", machine);
  EXPECT_EQ(column(*disks, "device"), "vda dm-0 dm-1");
  const std::string stats = machine.read("proc/diskstats");
  machine.write("proc/diskstats", stats + "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
  EXPECT_EQ(column(*disks, "device"), "vda dm-0 dm-1");  // not in /sys yet
  machine.write("proc/diskstats", stats);
  EXPECT_EQ(column(*disks, "device"), "vda dm-0 dm-1");
  machine.write("sys/block/sda/device/model", "FIRST\n");
  machine.write("proc/diskstats", stats + "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
  EXPECT_EQ(column(*disks, "device"), "vda dm-0 dm-1 sda");
  EXPECT_EQ(column(*disks, "model"), "null null null FIRST");
  EXPECT_EQ(column(*disks, "read_bytes").substr(column(*disks, "read_bytes").rfind(' ')), " 1536");
  // What it is called is looked up again after a minute, or when it was away.
  machine.write("sys/block/sda/device/model", "SECOND\n");
  EXPECT_EQ(column(*disks, "model"), "null null null FIRST");
  machine.pass(kMinute);
  EXPECT_EQ(column(*disks, "model"), "null null null SECOND");
  machine.write("sys/block/sda/device/model", "THIRD\n");
  machine.write("proc/diskstats", stats);
  EXPECT_EQ(column(*disks, "device"), "vda dm-0 dm-1");
  machine.write("proc/diskstats", stats + "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
  EXPECT_EQ(column(*disks, "model"), "null null null THIRD");
}

TEST(Devices, TimesOfADiskThatWrap) {
  TestMachine machine("small_vm");
  const auto disks = open("disk", machine);
  const auto set = [&](const char* read_ms) {
    machine.write("proc/diskstats", fmt::format(" 252 0 vda 1 2 3 {} 5 6 7 8 9 10 11\n", read_ms));
  };
  set("4294967290");
  EXPECT_EQ(column(*disks, "read_time_ns"), "4294967290000000");
  set("5");
  EXPECT_EQ(column(*disks, "read_time_ns"), "4294967301000000");
  set("25");
  EXPECT_EQ(column(*disks, "read_time_ns"), "4294967321000000");
  machine.write("proc/diskstats", "");
  EXPECT_EQ(column(*disks, "read_time_ns"), "");
  set("7");  // another disk
  EXPECT_EQ(column(*disks, "read_time_ns"), "7000000");
}

TEST(Devices, NamesWithSlashes) {
  TestMachine machine("small_vm");
  const auto disks = open("disk", machine);
  machine.write("sys/block/cciss!c0d0/size", "8\n");
  machine.write("proc/diskstats", " 104 0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11\n");
  EXPECT_EQ(column(*disks, "device"), "cciss/c0d0");
  EXPECT_EQ(column(*disks, "size_bytes"), "4096");
}

// What goes through them is not counted twice.
TEST(Devices, PathsToAnNvme) {
  TestMachine machine("small_vm");
  const auto disks = open("disk", machine);
  for (const char* name : {"nvme0n1", "nvme0c0n1", "nvme0c12n1", "nvme1n1", "nvme1c1n1", "nvme2n1"})
    machine.write(fmt::format("sys/block/{}/size", name), "8\n");
  machine.write("proc/diskstats",
                " 259 0 nvme0c0n1 1 2 3 4 5 6 7 8 9 10 11\n 259 1 nvme0n1 1 2 3 4 5 6 7 8 9 10 11\n"
                " 259 2 nvme0c12n1 1 2 3 4 5 6 7 8 9 10 11\n 259 3 nvme1n1 0 0 0 0 0 0 0 0 0 0 0\n"
                " 259 4 nvme1c1n1 1 2 3 4 5 6 7 8 9 10 11\n 259 5 nvme2n1 0 0 0 0 0 0 0 0 0 0 0\n");
  EXPECT_EQ(column(*disks, "device"), "nvme0n1 nvme1n1 nvme1c1n1 nvme2n1");
}

TEST(Devices, AVirtualFunctionBelowItsInterface) {
  TestMachine machine("small_vm");
  const std::string numbers = ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
  const std::string dev = machine.read("proc/1/net/dev") + "eth1" + numbers + "enP1" + numbers + "bond0" +
                          numbers + "ens1" + numbers;
  machine.write("proc/1/net/dev", dev);
  machine.link("sys/class/net/eth1/device/driver", "../../../../bus/vmbus/drivers/hv_netvsc");
  machine.link("sys/class/net/enP1/device/driver", "../../../../bus/pci/drivers/mlx5_core");
  machine.link("sys/class/net/enP1/master", "../eth1");
  machine.link("sys/class/net/ens1/device/driver", "../../../../bus/pci/drivers/mlx5_core");
  machine.link("sys/class/net/ens1/master", "../bond0");
  const auto network = open("network", machine);
  EXPECT_EQ(column(*network, "interface"), "lo eth0 eth1 enP1 bond0 ens1");
  const std::string bytes = column(*network, "rx_bytes"), sent = column(*network, "tx_packets");
  EXPECT_TRUE(bytes.ends_with(" 1 null 1 1")) << bytes;
  EXPECT_TRUE(sent.ends_with(" 10 null 10 10")) << sent;
  EXPECT_TRUE(column(*network, "rx_errors").ends_with(" 3 3 3 3"));
}

TEST(Devices, InterfacesComeAndGo) {
  TestMachine machine("small_vm");
  const auto network = open("network", machine);
  EXPECT_EQ(column(*network, "interface"), "lo eth0");
  EXPECT_EQ(column(*network, "up"), "null true");
  // Its state is read each time, its speed every minute.
  machine.write("sys/class/net/eth0/operstate", "down\n");
  machine.write("sys/class/net/eth0/carrier_changes", "3\n");
  machine.write("sys/class/net/eth0/speed", "1000\n");
  EXPECT_EQ(column(*network, "up"), "null false");
  EXPECT_EQ(column(*network, "carrier_changes"), "0 3");
  EXPECT_EQ(column(*network, "speed_bytes_per_s"), "null null");
  machine.pass(kMinute);
  EXPECT_EQ(column(*network, "speed_bytes_per_s"), "null 125000000");
  const std::string dev = machine.read("proc/1/net/dev");
  machine.write("proc/1/net/dev", dev + "  ens9: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n veth1: 1\n");
  EXPECT_EQ(column(*network, "interface"), "lo eth0 ens9");
  EXPECT_EQ(column(*network, "up"), "null false null");  // nothing of it in /sys
  machine.write("proc/1/net/dev", dev);
  EXPECT_EQ(column(*network, "interface"), "lo eth0");
}

TEST(Devices, LongFilesAreReadWhole) {
  TestMachine machine("small_vm");
  const auto network = open("network", machine);
  std::string dev = machine.read("proc/1/net/dev");
  for (int i = 0; i < 5000; ++i) dev += fmt::format("veth{}: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", i);
  machine.write("proc/1/net/dev", dev + "  ens9: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
  EXPECT_EQ(column(*network, "interface"), "lo eth0 ens9");
}

TEST(Devices, UptimeLooksAtTheBootTimeEachMinute) {
  TestMachine machine("small_vm");
  const auto uptime = open("uptime", machine);
  EXPECT_EQ(column(*uptime, "boot_time_ns"), "1700000000000000000");
  machine.write("proc/stat", "btime 1700000001\n");
  EXPECT_EQ(column(*uptime, "boot_time_ns"), "1700000000000000000");
  machine.pass(kMinute);
  EXPECT_EQ(column(*uptime, "boot_time_ns"), "1700000001000000000");
}

}  // namespace
}  // namespace spotter::collect

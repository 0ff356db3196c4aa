#include <gtest/gtest.h>

#include "collect/gpu/test_gpu.h"
#include "collect/list.h"

namespace spotter::collect {
namespace {

using collect::test::GpuMachine;
using collect::test::sample;
using collect::test::Sampled;

class AmdTest : public testing::Test {
 protected:
  // An MI300X as the kernel shows it; GPU N is card N + 1 at 0000:(0x10 + N):00.0.
  void add_gpu(int n) {
    const std::string drm = fmt::format("sys/class/drm/card{}", n + 1), device = device_of(n);
    machine_.link(drm + "/device", machine_.path(device));
    machine_.file(fmt::format("sys/class/drm/card{}-DP-1/status", n + 1), "disconnected\n");
    machine_.file(device + "/vendor", "0x1002\n");
    machine_.file(device + "/uevent",
                  fmt::format("DRIVER=amdgpu\nPCI_SLOT_NAME=0000:{:02x}:00.0\n", 0x10 + n));
    machine_.file(device + "/product_name", "Instinct MI300X\n");
    machine_.file(device + "/serial_number", "6922412000000\n");
    machine_.file(device + "/unique_id", fmt::format("1b2c3d4e5f6071{:02x}\n", n));
    machine_.file(device + "/numa_node", "1\n");
    machine_.file(device + "/gpu_busy_percent", "87\n");
    machine_.file(device + "/mem_busy_percent", "30\n");
    machine_.file(device + "/mem_info_vram_total", "206141652992\n");
    machine_.file(device + "/mem_info_vram_used", "100000000000\n");
    machine_.file(device + "/pcie_replay_count", "2\n");
    machine_.file(device + "/current_link_speed", "32.0 GT/s PCIe\n");
    machine_.file(device + "/current_link_width", "16\n");
    machine_.file(device + "/max_link_speed", "32.0 GT/s PCIe\n");
    machine_.file(device + "/max_link_width", "16\n");
    machine_.file(device + "/pp_dpm_sclk", "0: 132Mhz\n1: 1900Mhz *\n2: 2100Mhz\n");
    machine_.file(device + "/pp_dpm_mclk", "0: 900Mhz\n1: 1300Mhz *\n");
    machine_.file(device + "/ras/umc_err_count", "ue: 1\nce: 3\n");
    machine_.file(device + "/ras/sdma_err_count", "ue: 0\nce: 2\n");
    const std::string hwmon = device + "/hwmon/hwmon5";
    machine_.file(hwmon + "/power1_average", "612000000\n");
    machine_.file(hwmon + "/power1_cap", "750000000\n");
    machine_.file(hwmon + "/temp1_label", "junction\n");
    machine_.file(hwmon + "/temp1_input", "64000\n");
    machine_.file(hwmon + "/temp2_label", "mem\n");
    machine_.file(hwmon + "/temp2_input", "52000\n");
    machine_.file(hwmon + "/freq1_label", "sclk\n");
    machine_.file(hwmon + "/freq1_input", "1900000000\n");
  }
  static std::string device_of(int n) { return fmt::format("sys/devices/pci0000:00/gpu{}", n); }
  void add_processes() {
    for (int n = 0; n < 2; ++n) {
      const std::string node = fmt::format("sys/class/kfd/kfd/topology/nodes/{}", n + 1);
      machine_.file(node + "/gpu_id", fmt::format("{}\n", 5000 + n));
      machine_.file(node + "/properties",
                    fmt::format("simd_count 1216\nlocation_id {}\ndomain 0\n", (0x10 + n) << 8));
    }
    machine_.file("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
    machine_.file("sys/class/kfd/kfd/proc/900/vram_5000", "70000\n");
    machine_.file("sys/class/kfd/kfd/proc/900/vram_5001", "80000\n");
    machine_.file("sys/class/kfd/kfd/proc/77/vram_5001", "90000\n");
  }
  std::unique_ptr<Collector> open() {
    auto collector = kAmd.open({.host = machine_.host});
    EXPECT_TRUE(collector) << collector.error().message;
    return collector ? std::move(*collector) : nullptr;
  }

  collect::test::GpuMachine machine_;
};

class AmdSysfsTest : public AmdTest {
 protected:
  AmdSysfsTest() { machine_.host.libraries.clear(); }
};

TEST_F(AmdSysfsTest, Row) {
  add_gpu(0);
  machine_.file("sys/module/amdgpu/version", "6.10.5\n");
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 1u);
  EXPECT_EQ(s.integer("gpu", 0, "gpu"), 0);
  EXPECT_EQ(s.text("gpu", 0, "vendor"), "amd");
  EXPECT_EQ(s.text("gpu", 0, "uuid"), "GPU-1b2c3d4e5f607100");
  EXPECT_EQ(s.text("gpu", 0, "name"), "Instinct MI300X");
  EXPECT_EQ(s.text("gpu", 0, "driver"), "6.10.5");
  EXPECT_EQ(s.text("gpu", 0, "pci_bus_id"), "0000:10:00.0");
  EXPECT_EQ(s.text("gpu", 0, "quality"), "(null)");
  EXPECT_EQ(s.integer("gpu", 0, "numa_node"), 1);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "utilization_ratio"), 0.87);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "memory_utilization_ratio"), 0.3);
  EXPECT_EQ(s.integer("gpu", 0, "memory_used_bytes"), 100000000000);
  EXPECT_EQ(s.integer("gpu", 0, "memory_free_bytes"), 106141652992);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "power_watts"), 612);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "power_limit_watts"), 750);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "temperature_celsius"), 64) << "has no edge sensor";
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "hotspot_temperature_celsius"), 64);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "memory_temperature_celsius"), 52);
  EXPECT_EQ(s.integer("gpu", 0, "sm_clock_hertz"), 1'900'000'000);
  EXPECT_EQ(s.integer("gpu", 0, "sm_clock_max_hertz"), 2'100'000'000);
  EXPECT_EQ(s.integer("gpu", 0, "memory_clock_max_hertz"), 1'300'000'000);
  EXPECT_EQ(s.integer("gpu", 0, "pcie_link_generation"), 5);
  EXPECT_EQ(s.integer("gpu", 0, "pcie_link_width_max"), 16);
  EXPECT_EQ(s.integer("gpu", 0, "pcie_replays"), 2);
  EXPECT_EQ(s.integer("gpu", 0, "ecc_corrected_volatile"), 5);
  EXPECT_EQ(s.integer("gpu", 0, "ecc_uncorrected_volatile"), 1);
  EXPECT_TRUE(is_null(s.at("gpu", 0, "energy_joules")));
  EXPECT_TRUE(is_null(s.at("gpu", 0, "fan_ratio")));
}

TEST_F(AmdSysfsTest, OtherChipsHaveOtherSensors) {
  add_gpu(0);
  const std::string hwmon = device_of(0) + "/hwmon/hwmon5";
  machine_.remove(hwmon + "/power1_average");
  machine_.file(hwmon + "/power1_input", "99000000\n");
  machine_.file(hwmon + "/temp3_label", "edge\n");
  machine_.file(hwmon + "/temp3_input", "48000\n");
  machine_.file(hwmon + "/fan1_input", "1500\n");
  machine_.file(hwmon + "/fan1_max", "3000\n");
  machine_.file(hwmon + "/energy1_input", "5000000\n");
  const auto collector = open();
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "power_watts"), 99);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "temperature_celsius"), 48);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "hotspot_temperature_celsius"), 64);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "fan_ratio"), 0.5);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "energy_joules"), 5);
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "stale");
  EXPECT_TRUE(is_null(s.at("gpu", 0, "energy_joules")));
}

TEST_F(AmdSysfsTest, NonsenseIsNull) {
  add_gpu(0);
  machine_.file(device_of(0) + "/gpu_busy_percent", "65535\n");
  machine_.file(device_of(0) + "/mem_busy_percent", "what\n");
  machine_.file(device_of(0) + "/mem_info_vram_used", "306141652992\n");
  machine_.file(device_of(0) + "/hwmon/hwmon5/power1_average", "0\n");
  machine_.file(device_of(0) + "/hwmon/hwmon5/temp1_input", "-273000\n");
  machine_.file(device_of(0) + "/current_link_speed", "Unknown\n");
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "blank+contradictory");
  for (const char* column : {"utilization_ratio", "memory_utilization_ratio", "memory_used_bytes",
                             "power_watts", "temperature_celsius", "pcie_link_generation"})
    EXPECT_TRUE(is_null(s.at("gpu", 0, column))) << column;
}

TEST_F(AmdSysfsTest, AGpuIsLostAndReturns) {
  add_gpu(0);
  add_gpu(1);
  const auto collector = open();
  collect::test::sample(*collector);
  machine_.remove(device_of(1));
  collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 2u);
  EXPECT_EQ(s.text("gpu", 1, "quality"), "lost");
  EXPECT_EQ(s.text("gpu", 1, "uuid"), "GPU-1b2c3d4e5f607101");
  EXPECT_TRUE(is_null(s.at("gpu", 1, "power_watts")));
  EXPECT_TRUE(is_null(s.at("gpu", 1, "sm_clock_max_hertz")));
  EXPECT_FALSE(is_null(s.at("gpu", 0, "power_watts")));
  ASSERT_EQ(s.table("gpu_event").rows(), 1u);
  EXPECT_EQ(s.text("gpu_event", 0, "event"), "lost");
  machine_.remove("sys/class/drm/card2");
  add_gpu(1);
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_event", 0, "event"), "returned");
  EXPECT_EQ(s.text("gpu", 1, "quality"), "(null)");
  EXPECT_DOUBLE_EQ(s.real("gpu", 1, "power_watts"), 612);
}

TEST_F(AmdSysfsTest, Processes) {
  add_gpu(0);
  add_gpu(1);
  add_processes();
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu_process").rows(), 3u);
  EXPECT_EQ(s.integer("gpu_process", 0, "gpu"), 0);
  EXPECT_EQ(s.integer("gpu_process", 0, "pid"), 900);
  EXPECT_EQ(s.integer("gpu_process", 0, "memory_bytes"), 70000);
  EXPECT_EQ(s.integer("gpu_process", 1, "pid"), 77);
  EXPECT_EQ(s.integer("gpu_process", 2, "memory_bytes"), 80000);
}

TEST_F(AmdSysfsTest, MemoryErrorsAreEvents) {
  add_gpu(0);
  const auto collector = open();
  EXPECT_EQ(collect::test::sample(*collector).table("gpu_event").rows(), 0u);
  machine_.file(device_of(0) + "/ras/umc_err_count", "ue: 2\nce: 3\n");
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu_event").rows(), 1u);
  EXPECT_EQ(s.text("gpu_event", 0, "event"), "ecc_uncorrected");
  EXPECT_EQ(s.integer("gpu_event", 0, "count"), 1);
}

TEST_F(AmdSysfsTest, IndicesFollowNvidias) {
  add_gpu(0);
  machine_.file("proc/driver/nvidia/gpus/0000:81:00.0/information", "");
  machine_.file("proc/driver/nvidia/gpus/0000:82:00.0/information", "");
  const auto collector = open();
  EXPECT_EQ(collect::test::sample(*collector).integer("gpu", 0, "gpu"), 2);
}

TEST_F(AmdSysfsTest, WhyItDoesNotOpen) {
  EXPECT_EQ(kAmd.open({.host = machine_.host}).error().code, Code::not_found);
  machine_.file("sys/class/drm/card0/device/vendor", "0x10de\n");
  EXPECT_EQ(kAmd.open({.host = machine_.host}).error().code, Code::not_found);
  machine_.file("sys/module/amdgpu/refcnt", "0\n");
  EXPECT_EQ(kAmd.open({.host = machine_.host}).error().message,
            "AMD's driver amdgpu is loaded, but has no GPU");
}

TEST_F(AmdTest, TheLibraryGoesBeforeTheKernel) {
  add_gpu(0);
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 1u);
  EXPECT_EQ(s.text("gpu", 0, "name"), "AMD Instinct MI300X OAM");
  EXPECT_EQ(s.text("gpu", 0, "uuid"), "GPU-1b2c3d4e5f607100") << "the same with and without the library";
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "utilization_ratio"), 0.93);
  EXPECT_EQ(s.integer("gpu", 0, "memory_used_bytes"), 150000000000);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "hotspot_temperature_celsius"), 71);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "temperature_celsius"), 71);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "energy_joules"), 15250);
  EXPECT_EQ(s.integer("gpu", 0, "ecc_corrected_volatile"), 4);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "power_watts"), 612) << "of the kernel";
}

TEST_F(AmdTest, WhereOnlyTheLibraryTells) {
  machine_.file("sys/module/amdgpu/refcnt", "0\n");
  machine_.scenario("gpus 2\ngpu 1 edge 45\n");
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 2u);
  EXPECT_EQ(s.text("gpu", 1, "pci_bus_id"), "0000:11:00.0");
  EXPECT_EQ(s.text("gpu", 1, "uuid"), "c4ff74a1-0000-1000-80e7-000000000001");
  EXPECT_DOUBLE_EQ(s.real("gpu", 1, "temperature_celsius"), 45);
  EXPECT_TRUE(is_null(s.at("gpu", 1, "power_watts")));
}

TEST_F(AmdTest, FailuresOfTheLibraryLeaveTheKernel) {
  add_gpu(0);
  machine_.scenario(
      "gpu 0 error amdsmi_get_gpu_activity 2\ngpu 0 error amdsmi_get_gpu_memory_usage 10\n"
      "gpu 0 memory_temperature 4294967295\n");
  const auto collector = open();
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "utilization_ratio"), 0.87);
  EXPECT_EQ(s.integer("gpu", 0, "memory_used_bytes"), 100000000000);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "denied");
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "memory_temperature_celsius"), 52) << "a placeholder is no answer";
  machine_.scenario("error amdsmi_init 34\n");
  const auto without = open();
  s = collect::test::sample(*without);
  EXPECT_EQ(s.text("gpu", 0, "name"), "Instinct MI300X");
  EXPECT_EQ(s.text("gpu", 0, "quality"), "(null)");
}

}  // namespace
}  // namespace spotter::collect

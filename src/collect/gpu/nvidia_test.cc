#include <gtest/gtest.h>

#include "collect/gpu/test_gpu.h"
#include "collect/gpu/xid.h"
#include "collect/list.h"

namespace spotter::collect {
namespace {

using collect::test::GpuMachine;
using collect::test::sample;
using collect::test::Sampled;

class NvidiaTest : public testing::Test {
 protected:
  std::unique_ptr<Collector> open() {
    identities_ = std::make_shared<Identities>(machine_.host);
    auto collector = kNvidia.open({.host = machine_.host, .identities = identities_});
    EXPECT_TRUE(collector) << collector.error().message;
    return collector ? std::move(*collector) : nullptr;
  }
  Error failure() {
    auto collector = kNvidia.open({.host = machine_.host});
    return collector ? Error{Code::internal, "it opened"} : collector.error();
  }

  collect::test::GpuMachine machine_;
  std::shared_ptr<Identities> identities_;
};

TEST_F(NvidiaTest, RowOfAGpu) {
  machine_.file("sys/bus/pci/devices/0000:1b:00.0/numa_node", "0\n");
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 1u);
  EXPECT_EQ(s.integer("gpu", 0, "gpu"), 0);
  EXPECT_EQ(s.text("gpu", 0, "uuid"), "GPU-1b2c3d4e-0000-4000-8000-000000000000");
  EXPECT_EQ(s.text("gpu", 0, "name"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(s.text("gpu", 0, "vendor"), "nvidia");
  EXPECT_EQ(s.text("gpu", 0, "pci_bus_id"), "0000:1b:00.0");
  EXPECT_EQ(s.text("gpu", 0, "driver"), "550.90.07");
  EXPECT_EQ(s.text("gpu", 0, "serial"), "1650123451000");
  EXPECT_EQ(s.text("gpu", 0, "mig_mode"), "off");
  EXPECT_EQ(s.integer("gpu", 0, "numa_node"), 0);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "(null)");
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "utilization_ratio"), 0.98);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "memory_utilization_ratio"), 0.41);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "decoder_utilization_ratio"), 0.03);
  EXPECT_EQ(s.integer("gpu", 0, "memory_total_bytes"), 85520809984);
  EXPECT_EQ(s.integer("gpu", 0, "memory_used_bytes"), 62914560000);
  EXPECT_EQ(s.integer("gpu", 0, "memory_reserved_bytes"), 545259520);
  EXPECT_EQ(s.integer("gpu", 0, "memory_free_bytes"), 85520809984 - 62914560000 - 545259520);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "power_watts"), 612.345);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "power_limit_watts"), 700);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "energy_joules"), 98765432.1);
  EXPECT_EQ(s.integer("gpu", 0, "sm_clock_hertz"), 1'755'000'000);
  EXPECT_EQ(s.integer("gpu", 0, "sm_clock_max_hertz"), 1'980'000'000);
  EXPECT_EQ(s.integer("gpu", 0, "memory_clock_hertz"), 2'619'000'000);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "temperature_celsius"), 61);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "memory_temperature_celsius"), 68);
  EXPECT_EQ(s.text("gpu", 0, "throttle_reasons"), "power_cap");
  EXPECT_EQ(s.integer("gpu", 0, "throttle_power_cap"), 1);
  EXPECT_EQ(s.integer("gpu", 0, "throttle_idle"), 0);
  EXPECT_EQ(s.integer("gpu", 0, "violation_power_ns"), 8'000'000'000);
  EXPECT_EQ(s.integer("gpu", 0, "pcie_link_generation"), 5);
  EXPECT_EQ(s.integer("gpu", 0, "pcie_link_width_max"), 16);
  EXPECT_EQ(s.integer("gpu", 0, "ecc_corrected_aggregate"), 2);
  EXPECT_EQ(s.integer("gpu", 0, "ecc_uncorrected_volatile"), 0);
  EXPECT_EQ(s.integer("gpu", 0, "remapped_rows_correctable"), 1);
  EXPECT_EQ(s.integer("gpu", 0, "remap_pending"), 0);
  EXPECT_EQ(s.integer("gpu", 0, "retired_pages_corrected"), -1) << "not supported by this GPU";
  EXPECT_EQ(s.integer("gpu", 0, "nvlink_links"), 18);
  EXPECT_EQ(s.integer("gpu", 0, "nvlink_links_active"), 18);
  EXPECT_EQ(s.integer("gpu", 0, "nvlink_tx_bytes"), 5'000'000 * 1024LL);
  EXPECT_EQ(s.integer("gpu", 0, "nvlink_crc_errors"), 0);
  EXPECT_EQ(s.integer("gpu", 0, "xid_errors"), 0);
  EXPECT_EQ(s.integer("gpu", 0, "last_xid"), -1);
  EXPECT_EQ(s.integer("gpu", 0, "performance_state"), 0);
  EXPECT_EQ(s.real("gpu", 0, "fan_ratio"), -1) << "has no fan";
}

TEST_F(NvidiaTest, ActivityIsTheDifferenceOfTwoSamples) {
  const auto collector = open();
  EXPECT_EQ(collect::test::sample(*collector).table("gpu_activity").rows(), 0u);
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu_activity").rows(), 1u);
  EXPECT_EQ(s.text("gpu_activity", 0, "source"), "gpm");
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "(null)");
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "sm_active_ratio"), 0.875);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "sm_occupancy_ratio"), 0.4125);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "tensor_hmma_active_ratio"), 0.625);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "dram_active_ratio"), 0.55);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "nvlink_rx_bytes_per_s"), 150000 * 1048576.0);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "nvlink_tx_bytes_per_s"), 140000 * 1048576.0);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "pcie_tx_bytes_per_s"), 120 * 1048576.0);
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "pcie_tx_bytes_per_s"), 120 * 1048576.0) << "the same, from GPM";
  // Less than 100 ms later nothing is measured, and the sample before stays the one to compare with.
  EXPECT_EQ(collect::test::sample(*collector, 50'000'000).table("gpu_activity").rows(), 0u);
  EXPECT_EQ(collect::test::sample(*collector, 60'000'000).table("gpu_activity").rows(), 1u);
}

TEST_F(NvidiaTest, EightGpusWithEightProcessesEach) {
  std::string text = "gpus 8\n";
  for (int gpu = 0; gpu < 8; ++gpu) {
    for (int i = 0; i < 8; ++i)
      text += fmt::format("gpu {} process {} {} compute {}\n", gpu, 1000 * gpu + i + 1, 1'000'000 * (i + 1),
                          10 * i);
  }
  machine_.scenario(text);
  const auto collector = open();
  collect::test::sample(*collector);
  const collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.table("gpu").rows(), 8u);
  EXPECT_EQ(s.table("gpu_activity").rows(), 8u);
  ASSERT_EQ(s.table("gpu_process").rows(), 64u);
  EXPECT_EQ(s.integer("gpu", 7, "gpu"), 7);
  EXPECT_DOUBLE_EQ(s.real("gpu", 7, "power_watts"), 619.345);
  EXPECT_EQ(s.integer("gpu_process", 63, "gpu"), 7);
  EXPECT_EQ(s.integer("gpu_process", 63, "pid"), 7008);
  EXPECT_EQ(s.integer("gpu_process", 63, "memory_bytes"), 8'000'000);
  EXPECT_DOUBLE_EQ(s.real("gpu_process", 63, "sm_utilization_ratio"), 0.7);
  EXPECT_DOUBLE_EQ(s.real("gpu_process", 56, "sm_utilization_ratio"), 0) << "the driver saw the others only";
}

TEST_F(NvidiaTest, ManyProcessesAndKinds) {
  std::string text;
  for (int i = 1; i <= 300; ++i) text += fmt::format("gpu 0 process {} 1000 compute\n", i);
  text += "gpu 0 process 5 1000 graphics\ngpu 0 process 400 unknown graphics\n";
  machine_.scenario(text);
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu_process").rows(), 301u);
  EXPECT_EQ(s.text("gpu_process", 4, "type"), "compute+graphics");
  EXPECT_EQ(s.integer("gpu_process", 4, "memory_bytes"), 1000) << "counted once";
  EXPECT_EQ(s.text("gpu_process", 300, "type"), "graphics");
  EXPECT_EQ(s.integer("gpu_process", 300, "memory_bytes"), -1) << "the driver does not say";
  EXPECT_EQ(s.real("gpu_process", 300, "sm_utilization_ratio"), -1) << "no sample of anybody";
}

TEST_F(NvidiaTest, PlaceholdersAreNull) {
  machine_.scenario(
      "gpu 0 utilization 4294967295\ngpu 0 power 0\ngpu 0 temperature 4294967295\ngpu 0 sm_clock 4294967295\n"
      "gpu 0 throttle blank\ngpu 0 field 83 blank\ngpu 0 field 82 blank\ngpu 0 memory_total 0\n");
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "blank");
  for (const char* column : {"utilization_ratio", "power_watts", "temperature_celsius", "sm_clock_hertz",
                             "throttle_idle", "throttle_reasons", "energy_joules",
                             "memory_temperature_celsius", "memory_total_bytes", "memory_used_bytes"})
    EXPECT_TRUE(is_null(s.at("gpu", 0, column))) << column;
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "memory_utilization_ratio"), 0.41);
}

TEST_F(NvidiaTest, ContradictionsAreNull) {
  machine_.scenario("gpu 0 utilization 100\ngpu 0 gpm 2 0\ngpu 0 memory_used 90000000000\n");
  const auto collector = open();
  collect::test::sample(*collector);
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "blank+contradictory") << "what is free would be negative";
  EXPECT_TRUE(is_null(s.at("gpu", 0, "memory_used_bytes")));
  EXPECT_EQ(s.integer("gpu", 0, "memory_total_bytes"), 85520809984);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "contradictory");
  EXPECT_TRUE(is_null(s.at("gpu_activity", 0, "sm_active_ratio")));
  EXPECT_TRUE(is_null(s.at("gpu_activity", 0, "dram_active_ratio")));
  EXPECT_FALSE(is_null(s.at("gpu_activity", 0, "pcie_tx_bytes_per_s")));
  machine_.scenario("gpu 0 utilization 0\ngpu 0 gpm 2 0\n");
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "(null)") << "an idle GPU";
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "sm_active_ratio"), 0);
}

TEST_F(NvidiaTest, ThrottleReasonsAreFlagsAndWords) {
  machine_.scenario("gpu 0 throttle 0x6e9\n");
  const auto collector = open();
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "throttle_reasons"),
            "idle+hw_slowdown+thermal_sw+thermal_hw+power_brake+board_limit+reliability");
  EXPECT_EQ(s.integer("gpu", 0, "throttle_hw_slowdown"), 1);
  EXPECT_EQ(s.integer("gpu", 0, "throttle_power_cap"), 0);
  machine_.scenario("gpu 0 throttle 0\n");
  s = collect::test::sample(*collector);
  EXPECT_TRUE(is_null(s.at("gpu", 0, "throttle_reasons")));
  EXPECT_EQ(s.integer("gpu", 0, "throttle_hw_slowdown"), 0);
}

TEST_F(NvidiaTest, EnergyThatStandsStillIsStale) {
  machine_.scenario("gpu 0 field 83 1000\n");
  const auto collector = open();
  EXPECT_DOUBLE_EQ(collect::test::sample(*collector).real("gpu", 0, "energy_joules"), 1);
  EXPECT_DOUBLE_EQ(collect::test::sample(*collector, 100'000'000).real("gpu", 0, "energy_joules"), 1)
      << "may be too early";
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "stale");
  EXPECT_TRUE(is_null(s.at("gpu", 0, "energy_joules")));
  machine_.scenario("gpu 0 field 83 2000\n");
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "(null)");
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "energy_joules"), 2);
}

TEST_F(NvidiaTest, GpmThatAnswersNonsense) {
  machine_.scenario(
      "gpu 0 gpm 2 nan\ngpu 0 gpm 3 250\ngpu 0 gpm 4 -1\ngpu 0 gpm 5 CODE:21\ngpu 0 gpm 12 CODE:3\n"
      "gpu 0 gpm 1 100.4\n");
  const auto collector = open();
  collect::test::sample(*collector);
  const collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "blank");
  for (const char* column : {"sm_active_ratio", "sm_occupancy_ratio", "integer_active_ratio",
                             "tensor_active_ratio", "fp32_active_ratio"})
    EXPECT_TRUE(is_null(s.at("gpu_activity", 0, column))) << column;
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "graphics_active_ratio"), 1);
}

TEST_F(NvidiaTest, AGpuIsLostAndReturns) {
  machine_.scenario("gpus 3\n");
  const auto collector = open();
  collect::test::sample(*collector);
  machine_.scenario("gpus 3\ngpu 1 lost\ngpu 1 xid 79\n");
  collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 3u);
  EXPECT_EQ(s.text("gpu", 1, "quality"), "lost");
  EXPECT_EQ(s.text("gpu", 1, "uuid"), "GPU-1b2c3d4e-0000-4000-8000-000000000001");
  EXPECT_TRUE(is_null(s.at("gpu", 1, "power_watts")));
  EXPECT_TRUE(is_null(s.at("gpu", 1, "sm_clock_max_hertz")));
  EXPECT_EQ(s.integer("gpu", 1, "last_xid"), 79);
  EXPECT_FALSE(is_null(s.at("gpu", 2, "power_watts")));
  ASSERT_EQ(s.table("gpu_event").rows(), 2u);
  EXPECT_EQ(s.text("gpu_event", 0, "event"), "xid");
  EXPECT_EQ(s.text("gpu_event", 1, "event"), "lost");
  EXPECT_EQ(s.integer("gpu_event", 1, "gpu"), 1);
  EXPECT_EQ(s.integer("gpu_event", 1, "time_ns"), collect::test::clock_ns);

  s = collect::test::sample(*collector);  // begins anew at once, and does not find it
  EXPECT_EQ(s.text("gpu", 1, "quality"), "lost");
  EXPECT_EQ(s.table("gpu_event").rows(), 0u) << "told once";
  machine_.scenario("gpus 3\ngpu 1 xid 79\n");
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 1, "quality"), "lost") << "asked once a minute";
  s = collect::test::sample(*collector, 61'000'000'000);
  EXPECT_EQ(s.text("gpu", 1, "quality"), "(null)");
  EXPECT_FALSE(is_null(s.at("gpu", 1, "power_watts")));
  EXPECT_EQ(s.integer("gpu", 1, "xid_errors"), 1) << "counted on";
  ASSERT_EQ(s.table("gpu_event").rows(), 1u);
  EXPECT_EQ(s.text("gpu_event", 0, "event"), "returned");
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.table("gpu_activity").rows(), 3u);
}

TEST_F(NvidiaTest, IndicesStayWithTheGpu) {
  machine_.scenario("gpus 3\n");
  const auto collector = open();
  collect::test::sample(*collector);
  machine_.scenario("gpus 3\ngpu 0 lost\ngpu 0 absent\n");  // NVML lists two, from 0, when it begins anew
  collect::test::sample(*collector);
  collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 3u);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "lost");
  EXPECT_EQ(s.integer("gpu", 2, "gpu"), 2);
  EXPECT_EQ(s.text("gpu", 2, "uuid"), "GPU-1b2c3d4e-0000-4000-8000-000000000002");
  EXPECT_DOUBLE_EQ(s.real("gpu", 2, "power_watts"), 614.345);
}

TEST_F(NvidiaTest, LostFromTheBeginning) {
  machine_.scenario("gpus 2\ngpu 0 lost\n");
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 2u);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "lost");
  EXPECT_EQ(s.text("gpu", 0, "uuid"), "(null)");
  machine_.scenario("gpus 2\n");
  const collect::test::Sampled later = collect::test::sample(*collector, 61'000'000'000);
  EXPECT_EQ(later.text("gpu", 0, "uuid"), "GPU-1b2c3d4e-0000-4000-8000-000000000000");
  EXPECT_EQ(later.table("gpu").rows(), 2u);
}

TEST_F(NvidiaTest, TheDriverGoesAway) {
  machine_.scenario("gpus 2\n");
  const auto collector = open();
  collect::test::sample(*collector);
  machine_.scenario("gpus 2\ngpu * error nvmlDeviceGetUtilizationRates 1\nerror nvmlInit_v2 9\n");
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "lost");
  s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 2u);
  EXPECT_EQ(s.text("gpu", 1, "quality"), "lost");
  machine_.scenario("gpus 2\n");
  s = collect::test::sample(*collector, 61'000'000'000);
  EXPECT_EQ(s.text("gpu", 1, "quality"), "(null)");
}

TEST_F(NvidiaTest, XidsAreEventsAndCounted) {
  machine_.scenario("gpus 2\ngpu 1 process 77 1000 compute\n");
  const auto collector = open();
  EXPECT_EQ(collect::test::sample(*collector).table("gpu_event").rows(), 0u);
  machine_.scenario("gpus 2\ngpu 1 process 77 1000 compute\ngpu 1 xid 31\ngpu 1 xid 63\ngpu 0 xid 12345\n");
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu_event").rows(), 3u);
  EXPECT_EQ(s.integer("gpu_event", 0, "xid"), 12345);
  EXPECT_TRUE(is_null(s.at("gpu_event", 0, "meaning")));
  EXPECT_EQ(s.integer("gpu_event", 1, "gpu"), 1);
  EXPECT_EQ(s.integer("gpu_event", 1, "xid"), 31);
  EXPECT_EQ(s.text("gpu_event", 1, "meaning"), std::string(xid_of(31).meaning));
  EXPECT_EQ(s.text("gpu_event", 0, "severity"), "error") << "of a number that is not known";
  EXPECT_EQ(s.text("gpu_event", 2, "severity"), "info");
  ASSERT_EQ(s.table("gpu_xid").rows(), 3u);
  EXPECT_EQ(s.integer("gpu_xid", 2, "gpu"), 1);
  EXPECT_EQ(s.integer("gpu_xid", 2, "xid"), 63);
  EXPECT_EQ(s.integer("gpu_xid", 2, "occurrences"), 1);
  EXPECT_EQ(s.integer("gpu", 1, "xid_errors"), 2);
  EXPECT_EQ(s.integer("gpu", 1, "last_xid"), 63);
  EXPECT_EQ(collect::test::sample(*collector).table("gpu_event").rows(), 0u);
}

TEST_F(NvidiaTest, SaysWhoseAGpuIs) {
  machine_.process(77, "4711", 5);
  machine_.process(78, "4711", 6);
  machine_.process(79, "4712", 0);
  const std::string text =
      "gpus 3\ngpu 0 process 77 1000 compute\ngpu 1 process 77 1000 compute\ngpu 1 process 78 1000 compute\n"
      "gpu 2 process 78 1000 compute\ngpu 2 process 79 1000 compute\n";
  machine_.scenario(text);
  const auto collector = open();
  collect::test::sample(*collector);
  machine_.scenario(text + "gpu 0 xid 94\n");
  const collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "job"), "4711");
  EXPECT_EQ(s.integer("gpu", 0, "rank"), 5);
  EXPECT_EQ(s.text("gpu", 1, "job"), "4711");
  EXPECT_EQ(s.integer("gpu", 1, "rank"), -1) << "of two ranks";
  EXPECT_EQ(s.text("gpu", 2, "job"), "(null)") << "of two jobs";
  EXPECT_EQ(identities_->gpu_owner(s.text("gpu", 0, "uuid")).job, "4711");
  EXPECT_EQ(identities_->gpu_owner(s.text("gpu", 2, "uuid")).job, "");
  EXPECT_EQ(s.text("gpu_activity", 0, "job"), "4711");
  EXPECT_EQ(s.text("gpu_process", 4, "job"), "4712");
  ASSERT_EQ(s.table("gpu_job").rows(), 5u) << "both jobs of the GPU that they share";
  EXPECT_EQ(s.integer("gpu_job", 3, "gpu"), 2);
  EXPECT_EQ(s.text("gpu_job", 3, "job"), "4711");
  EXPECT_EQ(s.integer("gpu_job", 4, "gpu"), 2);
  EXPECT_EQ(s.text("gpu_job", 4, "job"), "4712");
  EXPECT_EQ(s.integer("gpu_job", 4, "processes"), 1);
  EXPECT_EQ(s.integer("gpu_job", 4, "memory_bytes"), s.integer("gpu_process", 4, "memory_bytes"));
  EXPECT_EQ(s.text("gpu_event", 0, "job"), "4711");
  EXPECT_EQ(s.integer("gpu_event", 0, "rank"), 5);
}

TEST_F(NvidiaTest, MemoryErrorsAreEvents) {
  machine_.scenario("gpu 0 field 3 5\ngpu 0 field 142 1\n");
  const auto collector = open();
  EXPECT_EQ(collect::test::sample(*collector).table("gpu_event").rows(), 0u) << "what was before is no event";
  machine_.scenario("gpu 0 field 3 12\ngpu 0 field 4 1\ngpu 0 field 142 2\ngpu 0 field 144 1\n");
  collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu_event").rows(), 3u);
  EXPECT_EQ(s.text("gpu_event", 0, "event"), "ecc_corrected");
  EXPECT_EQ(s.integer("gpu_event", 0, "count"), 7);
  EXPECT_EQ(s.text("gpu_event", 1, "event"), "ecc_uncorrected");
  EXPECT_EQ(s.text("gpu_event", 2, "event"), "row_remapped");
  EXPECT_EQ(s.integer("gpu", 0, "remap_pending"), 1);
  machine_.scenario("gpu 0 field 3 0\n");  // the driver was loaded anew
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.table("gpu_event").rows(), 0u);
}

TEST_F(NvidiaTest, Instances) {
  machine_.scenario(
      "gpu 0 mig 1 0 42949672960 1073741824 60\ngpu 0 mig 2 0 21474836480 2147483648 16\n"
      "gpu 0 mig 2 1 21474836480 2147483648 16\n"
      "gpu 0 error nvmlDeviceGetUtilizationRates 3\ngpu 0 error nvmlGpmSampleGet 3\n"
      "gpu 0 process 11 5000 compute 0 1 0\ngpu 0 process 12 6000 compute 0 2 1\n"
      "gpu 0 gpm_instance 1:2 50\ngpu 0 gpm_instance 2:2 25\n");
  const auto collector = open();
  collect::test::sample(*collector);
  const collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu", 0, "mig_mode"), "on");
  EXPECT_TRUE(is_null(s.at("gpu", 0, "utilization_ratio")));
  EXPECT_EQ(s.table("gpu_activity").rows(), 0u);
  ASSERT_EQ(s.table("gpu_mig").rows(), 3u);
  EXPECT_EQ(s.integer("gpu_mig", 0, "instance"), 1);
  EXPECT_EQ(s.text("gpu_mig", 0, "uuid"), "MIG-00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(s.integer("gpu_mig", 0, "memory_used_bytes"), 1073741824);
  EXPECT_EQ(s.integer("gpu_mig", 0, "multiprocessors"), 60);
  EXPECT_DOUBLE_EQ(s.real("gpu_mig", 0, "sm_active_ratio"), 0.5);
  EXPECT_EQ(s.integer("gpu_mig", 2, "instance"), 2);
  EXPECT_EQ(s.integer("gpu_mig", 2, "compute_instance"), 1);
  EXPECT_DOUBLE_EQ(s.real("gpu_mig", 1, "sm_active_ratio"), 0.25);
  EXPECT_DOUBLE_EQ(s.real("gpu_mig", 2, "sm_active_ratio"), 0.25);
  EXPECT_TRUE(is_null(s.at("gpu_mig", 2, "tensor_active_ratio")));
  EXPECT_EQ(s.integer("gpu_process", 1, "instance"), 2);
}

TEST_F(NvidiaTest, FailuresOfOneFunctionLeaveTheRest) {
  machine_.scenario(
      "gpus 2\ngpu 0 error nvmlDeviceGetPowerUsage 999\ngpu 0 error nvmlDeviceGetFieldValues 999\n"
      "gpu 1 error nvmlGpmMetricsGet 999\ngpu 1 error nvmlDeviceGetComputeRunningProcesses_v3 4\n");
  const auto collector = open();
  collect::test::sample(*collector);
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_TRUE(is_null(s.at("gpu", 0, "power_watts")));
  EXPECT_TRUE(is_null(s.at("gpu", 0, "energy_joules")));
  EXPECT_FALSE(is_null(s.at("gpu", 0, "temperature_celsius")));
  EXPECT_FALSE(is_null(s.at("gpu", 1, "power_watts")));
  EXPECT_EQ(s.text("gpu", 1, "quality"), "denied");
  EXPECT_EQ(s.text("gpu_activity", 1, "quality"), "blank");
  EXPECT_TRUE(is_null(s.at("gpu_activity", 1, "sm_active_ratio")));
  machine_.scenario("gpus 2\n");
  s = collect::test::sample(*collector);
  EXPECT_FALSE(is_null(s.at("gpu", 0, "power_watts"))) << "a passing failure is asked again";
  EXPECT_EQ(s.text("gpu", 1, "quality"), "(null)");
}

TEST_F(NvidiaTest, WhatIsNotSupportedIsAskedRarely) {
  machine_.scenario("gpu 0 error nvmlDeviceGetPowerUsage 3\ngpu 0 field 83 unsupported\n");
  const auto collector = open();
  EXPECT_TRUE(is_null(collect::test::sample(*collector).at("gpu", 0, "power_watts")));
  machine_.scenario("");
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_TRUE(is_null(s.at("gpu", 0, "power_watts")));
  EXPECT_TRUE(is_null(s.at("gpu", 0, "energy_joules")));
  for (int i = 0; i < 600; ++i) s = collect::test::sample(*collector);
  EXPECT_FALSE(is_null(s.at("gpu", 0, "power_watts")));
  EXPECT_FALSE(is_null(s.at("gpu", 0, "energy_joules")));
}

TEST_F(NvidiaTest, OldDriver) {
  machine_.host.libraries += "/old";
  machine_.scenario("gpu 0 process 7 4096 compute\n");
  const auto collector = open();
  collect::test::sample(*collector);
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu").rows(), 1u);
  EXPECT_EQ(s.text("gpu", 0, "quality"), "(null)");
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "power_watts"), 612.345);
  EXPECT_EQ(s.integer("gpu", 0, "memory_used_bytes"), 62914560000 + 545259520)
      << "cannot tell what is reserved";
  EXPECT_TRUE(is_null(s.at("gpu", 0, "memory_reserved_bytes")));
  EXPECT_TRUE(is_null(s.at("gpu", 0, "energy_joules")));
  EXPECT_TRUE(is_null(s.at("gpu", 0, "xid_errors"))) << "not heard is not none";
  EXPECT_TRUE(is_null(s.at("gpu", 0, "mig_mode")));
  EXPECT_DOUBLE_EQ(s.real("gpu", 0, "pcie_tx_bytes_per_s"), 2'000'000 * 1024.0);
  EXPECT_EQ(s.table("gpu_activity").rows(), 0u);
  ASSERT_EQ(s.table("gpu_process").rows(), 1u);
  EXPECT_EQ(s.integer("gpu_process", 0, "memory_bytes"), 4096);
}

TEST_F(NvidiaTest, WhyItDoesNotOpen) {
  machine_.scenario("error nvmlInit_v2 9\n");
  EXPECT_EQ(failure().code, Code::not_found);
  EXPECT_NE(failure().message.find("driver is not loaded"), std::string::npos) << failure().message;
  machine_.scenario("error nvmlInit_v2 4\n");
  EXPECT_EQ(failure().code, Code::denied);
  machine_.scenario("error nvmlInit_v2 18\n");
  EXPECT_EQ(failure().code, Code::io);
  machine_.scenario("gpus 0\n");
  EXPECT_EQ(failure().code, Code::not_found);
  machine_.scenario("error nvmlDeviceGetCount_v2 999\n");
  EXPECT_EQ(failure().code, Code::io);
  machine_.host.libraries = "/nonexistent";
  EXPECT_EQ(failure().code, Code::not_found);
  EXPECT_NE(failure().message.find("libnvidia-ml.so.1"), std::string::npos);
}

TEST_F(NvidiaTest, ALibraryThatDoesNotLoad) {
  machine_.file("libraries/libnvidia-ml.so.1", "no library");
  machine_.host.libraries = machine_.path("libraries");
  EXPECT_EQ(failure().code, Code::io);
}

}  // namespace
}  // namespace spotter::collect

#include "trace/facts/device_peaks.h"

#include <gtest/gtest.h>

#include <set>

namespace spotter::trace {
namespace {

double bf16(std::string_view name, i64 multiprocessors = 0) {
  const DevicePeaks* peaks = peaks_of(name, multiprocessors);
  return peaks ? peaks->tflops_of(Precision::bf16).value_or(0) : -1;
}

TEST(DevicePeaks, NamesAsVendorsSpellThem) {
  const struct {
    const char* name;
    double bf16, memory_gbs, link_gbs;
  } cases[] = {
      {"NVIDIA H100 80GB HBM3", 989, 3350, 900},
      {"NVIDIA H100 PCIe", 756, 2000, 600},
      {"NVIDIA H100 NVL", 835, 3900, 600},
      {"NVIDIA H200", 989, 4800, 900},
      {"NVIDIA H800", 989, 3350, 400},
      {"NVIDIA H20", 148, 4000, 900},
      {"NVIDIA A100-SXM4-80GB", 312, 2039, 600},
      {"A100-SXM4-40GB", 312, 1555, 600},  // before the driver wrote the maker's name
      {"NVIDIA A100 80GB PCIe", 312, 1935, 600},
      {"NVIDIA A100-PCIE-40GB", 312, 1555, 600},
      {"Tesla V100-SXM2-32GB", 0, 900, 300},
      {"Tesla V100-SXM2-16GB", 0, 900, 300},
      {"Tesla V100-PCIE-16GB", 0, 900, 0},
      {"NVIDIA A40", 149.7, 696, 112},
      {"NVIDIA A30", 165, 933, 200},
      {"NVIDIA L4", 121, 300, 0},
      {"NVIDIA L40S", 362, 864, 0},
      {"NVIDIA B200", 2250, 8000, 1800},
      {"NVIDIA GB200", 2500, 8000, 1800},
      {"NVIDIA B300 SXM6 AC", 2250, 8000, 1800},
      {"NVIDIA GB300", 2500, 8000, 1800},
      {"NVIDIA GeForce RTX 4090", 165, 1008, 0},
      {"NVIDIA GeForce RTX 5090", 209.5, 1792, 0},
      {"AMD Instinct MI250X", 191.5, 1638, 0},
      {"AMD Instinct MI300X", 1307, 5300, 896},
      {"AMD Instinct MI300X OAM", 1307, 5300, 896},
      {"AMD Instinct MI325X", 1307, 6000, 896},
      {"AMD Instinct MI355X", 2500, 8000, 1075},
  };
  for (const auto& c : cases) {
    const DevicePeaks* peaks = peaks_of(c.name);
    ASSERT_TRUE(peaks) << c.name;
    EXPECT_EQ(peaks->tflops_of(Precision::bf16).value_or(0), c.bf16) << c.name;
    EXPECT_EQ(peaks->memory_gbs, c.memory_gbs) << c.name;
    EXPECT_EQ(peaks->link_gbs, c.link_gbs) << c.name;
  }
}

TEST(DevicePeaks, OthersHaveNone) {
  for (const char* name : {"",
                           "NVIDIA",
                           "AMD Radeon Graphics",
                           "NVIDIA A100-PG509-200",
                           "NVIDIA RTX A4000",
                           "NVIDIA RTX A3000",
                           "NVIDIA A100-SXM4-80GB MIG 1g.10gb",
                           "NVIDIA GeForce RTX 4090 Laptop GPU",
                           "NVIDIA GeForce RTX 5090 D",
                           "NVIDIA H200 NVL",
                           "NVIDIA H20-3e",
                           "NVIDIA H800 PCIe",
                           "NVIDIA GH200 480GB",
                           "NVIDIA H100",
                           "Tesla V100S-PCIE-32GB",
                           "Tesla V100-DGXS-32GB",
                           "AMD Instinct MI300A",
                           "AMD Instinct MI250X / MI250",
                           "NVIDIA XH200",
                           "NVIDIA H200X",
                           "MTIA",
                           "Intel(R) Data Center GPU Max 1550"})
    EXPECT_EQ(bf16(name), -1) << name;
}

TEST(DevicePeaks, PartsOfADeviceHaveNone) {
  EXPECT_EQ(bf16("AMD Instinct MI300X", 304), 1307);
  EXPECT_EQ(bf16("AMD Instinct MI300X", 38), -1);
  EXPECT_EQ(bf16("NVIDIA H100 80GB HBM3", 132), 989);
  EXPECT_EQ(bf16("NVIDIA H100 80GB HBM3", 16), -1);
  EXPECT_EQ(bf16("NVIDIA GB200", 152), 2500);  // of how many it has nobody says
  Device device;
  device.name = "Tesla V100-SXM2-32GB";
  device.sm_count = 80;
  EXPECT_TRUE(peaks_of(device));
  device.sm_count = 8;
  EXPECT_FALSE(peaks_of(device));
}

TEST(DevicePeaks, EachPrecision) {
  const DevicePeaks* h100 = peaks_of("NVIDIA H100 80GB HBM3");
  EXPECT_EQ(h100->tflops_of(Precision::fp64_vector), 34);
  EXPECT_EQ(h100->tflops_of(Precision::fp32_vector), 67);
  EXPECT_EQ(h100->tflops_of(Precision::fp64), 67);
  EXPECT_EQ(h100->tflops_of(Precision::fp32), 67);
  EXPECT_EQ(h100->tflops_of(Precision::tf32), 495);
  EXPECT_EQ(h100->tflops_of(Precision::fp16), 989);
  EXPECT_EQ(h100->tflops_of(Precision::fp8), 1979);
  EXPECT_EQ(h100->achievable_of(Precision::bf16), std::nullopt);
  const DevicePeaks* v100 = peaks_of("Tesla V100-SXM2-32GB");
  EXPECT_EQ(v100->tflops_of(Precision::fp16), 125);
  EXPECT_EQ(v100->tflops_of(Precision::tf32), std::nullopt);
  const DevicePeaks* mi325x = peaks_of("AMD Instinct MI325X");
  EXPECT_EQ(mi325x->achievable_of(Precision::bf16), 843);
  EXPECT_EQ(mi325x->achievable_of(Precision::fp8), 1519);
}

TEST(DevicePeaks, TheTableIsInOrder) {
  std::set<std::string_view> names;
  for (const DevicePeaks& peaks : all_device_peaks()) {
    for (const std::string_view name : peaks.names) {
      if (!name.empty()) {
        EXPECT_TRUE(names.insert(name).second) << name;
      }
    }
    EXPECT_FALSE(peaks.names[0].empty());
    EXPECT_NE(std::string_view(peaks.source), "");
    EXPECT_GT(peaks.memory_gbs, 0) << peaks.names[0];
    EXPECT_GT(peaks.tflops_of(Precision::fp32_vector), 0) << peaks.names[0];
    const auto tflops = [&](Precision p) { return peaks.tflops_of(p).value_or(0); };
    EXPECT_GE(tflops(Precision::fp64), tflops(Precision::fp64_vector)) << peaks.names[0];
    EXPECT_GE(tflops(Precision::fp32), tflops(Precision::fp32_vector)) << peaks.names[0];
    EXPECT_GT(tflops(Precision::fp16), tflops(Precision::fp32)) << peaks.names[0];
    for (const Precision p : {Precision::bf16, Precision::fp8})
      EXPECT_LE(peaks.achievable_of(p).value_or(0), tflops(p)) << peaks.names[0];
  }
}

}  // namespace
}  // namespace spotter::trace

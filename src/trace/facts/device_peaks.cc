#include "trace/facts/device_peaks.h"

namespace spotter::trace {
namespace {

// Data sheets of NVIDIA give matrix products with 2:4 sparsity, and half of that is here. fp16 is bf16's
// where a device has both. bf16 and memory agree with the tables that training frameworks use for their MFU
// (torchtitan, Lightning).
constexpr DevicePeaks kPeaks[] = {
    // .tflops: {fp64_vector, fp32_vector, fp64, fp32, tf32, fp16, bf16, fp8}
    {.names = {"V100-SXM2-16GB", "V100-SXM2-32GB"},
     .tflops = {7.8, 15.7, 7.8, 15.7, 0, 125, 0, 0},
     .memory_gbs = 900,
     .link_gbs = 300,
     .multiprocessors = 80,
     .source = "NVIDIA V100 data sheet, SXM2"},
    {.names = {"V100-PCIE-16GB", "V100-PCIE-32GB"},
     .tflops = {7, 14, 7, 14, 0, 112, 0, 0},
     .memory_gbs = 900,
     .multiprocessors = 80,
     .source = "NVIDIA V100 data sheet, PCIe"},
    {.names = {"A100-SXM4-80GB", "A100-SXM-80GB"},
     .tflops = {9.7, 19.5, 19.5, 19.5, 156, 312, 312, 0},
     .memory_gbs = 2'039,
     .link_gbs = 600,
     .multiprocessors = 108,
     .source = "NVIDIA A100 data sheet, 80 GB SXM"},
    {.names = {"A100-SXM4-40GB", "A100-SXM-40GB"},
     .tflops = {9.7, 19.5, 19.5, 19.5, 156, 312, 312, 0},
     .memory_gbs = 1'555,
     .link_gbs = 600,
     .multiprocessors = 108,
     .source = "NVIDIA A100 data sheet, 40 GB SXM"},
    {.names = {"A100 80GB PCIe"},
     .tflops = {9.7, 19.5, 19.5, 19.5, 156, 312, 312, 0},
     .memory_gbs = 1'935,
     .link_gbs = 600,
     .multiprocessors = 108,
     .source = "NVIDIA A100 data sheet, 80 GB PCIe"},
    {.names = {"A100-PCIE-40GB"},
     .tflops = {9.7, 19.5, 19.5, 19.5, 156, 312, 312, 0},
     .memory_gbs = 1'555,
     .link_gbs = 600,
     .multiprocessors = 108,
     .source = "NVIDIA A100 data sheet, 40 GB PCIe"},
    {.names = {"A40"},
     .tflops = {0, 37.4, 0, 37.4, 74.8, 149.7, 149.7, 0},
     .memory_gbs = 696,
     .link_gbs = 112,
     .multiprocessors = 84,
     .source = "NVIDIA A40 data sheet"},
    {.names = {"A30"},
     .tflops = {0, 10.3, 0, 10.3, 82, 165, 165, 0},
     .memory_gbs = 933,
     .link_gbs = 200,
     .multiprocessors = 56,
     .source = "NVIDIA A30 data sheet"},
    {.names = {"L4"},
     .tflops = {0, 30.3, 0, 30.3, 60, 121, 121, 242},
     .memory_gbs = 300,
     .multiprocessors = 58,
     .source = "NVIDIA L4 data sheet"},
    {.names = {"L40S"},
     .tflops = {0, 91.6, 0, 91.6, 183, 362, 362, 733},
     .memory_gbs = 864,
     .multiprocessors = 142,
     .source = "NVIDIA L40S data sheet"},
    {.names = {"H100 80GB HBM3", "H100 SXM5 80GB"},
     .tflops = {34, 67, 67, 67, 495, 989, 989, 1'979},
     .memory_gbs = 3'350,
     .link_gbs = 900,
     .multiprocessors = 132,
     .source = "NVIDIA H100 data sheet, SXM5"},
    {.names = {"H100 PCIe", "H100 80GB HBM2e"},
     .tflops = {26, 51, 51, 51, 378, 756, 756, 1'513},
     .memory_gbs = 2'000,
     .link_gbs = 600,
     .multiprocessors = 114,
     .source = "NVIDIA H100 data sheet, PCIe"},
    {.names = {"H100 NVL"},
     .tflops = {30, 60, 60, 60, 418, 835, 835, 1'671},
     .memory_gbs = 3'900,
     .link_gbs = 600,
     .multiprocessors = 132,
     .source = "NVIDIA H100 data sheet, NVL"},
    {.names = {"H200"},
     .tflops = {34, 67, 67, 67, 495, 989, 989, 1'979},
     .memory_gbs = 4'800,
     .link_gbs = 900,
     .multiprocessors = 132,
     .source = "NVIDIA H200 data sheet, SXM"},
    {.names = {"H800"},
     .tflops = {1, 67, 1, 67, 495, 989, 989, 1'979},
     .memory_gbs = 3'350,
     .link_gbs = 400,
     .multiprocessors = 132,
     .source = "NVIDIA H800 data sheet, SXM"},
    {.names = {"H20"},
     .tflops = {1, 44, 1, 44, 74, 148, 148, 296},
     .memory_gbs = 4'000,
     .link_gbs = 900,
     .multiprocessors = 78,
     .source = "NVIDIA H20 data sheet"},
    {.names = {"B200"},
     .tflops = {37, 75, 37, 75, 1'125, 2'250, 2'250, 4'500},
     .memory_gbs = 8'000,
     .link_gbs = 1'800,
     .multiprocessors = 148,
     .source =
         "nvidia.com/en-us/data-center/hgx, an eighth of HGX B200; memory: DGX B200 data sheet, 64 TB/s of eight"},
    {.names = {"GB200"},
     .tflops = {40, 80, 40, 80, 1'250, 2'500, 2'500, 5'000},
     .memory_gbs = 8'000,
     .link_gbs = 1'800,
     .source = "nvidia.com/en-us/data-center/gb200-nvl72, one of 72"},
    {.names = {"B300", "B300 SXM6 AC"},
     .tflops = {0, 75, 0, 75, 1'125, 2'250, 2'250, 4'500},
     .memory_gbs = 8'000,
     .link_gbs = 1'800,
     .source =
         "nvidia.com/en-us/data-center/hgx, an eighth of HGX B300; fp64 is told in whole tens, and so not here"},
    {.names = {"GB300"},
     .tflops = {0, 80, 0, 80, 1'250, 2'500, 2'500, 5'000},
     .memory_gbs = 8'000,
     .link_gbs = 1'800,
     .source =
         "nvidia.com/en-us/data-center/gb300-nvl72, one of 72; fp64 is told in whole hundreds, and so not here"},
    {.names = {"RTX 4090"},
     .tflops = {0, 82.6, 0, 82.6, 82.6, 165, 165, 330},
     .memory_gbs = 1'008,
     .multiprocessors = 128,
     .source = "NVIDIA Ada architecture white paper, sums in fp32"},
    {.names = {"RTX 5090"},
     .tflops = {0, 105, 0, 105, 105, 209.5, 209.5, 419},
     .memory_gbs = 1'792,
     .multiprocessors = 170,
     .source = "NVIDIA RTX Blackwell architecture white paper, sums in fp32"},
    // Its driver shows each of its two dies as a device: half of what the sheet says, and of the links nobody
    // says which are whose.
    {.names = {"MI250X"},
     .tflops = {23.95, 23.95, 47.85, 47.85, 0, 191.5, 191.5, 0},
     .memory_gbs = 1'638,
     .multiprocessors = 110,
     .source = "AMD Instinct MI250X data sheet, one of two dies"},
    {.names = {"MI300X", "MI300X OAM", "MI300X VF"},
     .tflops = {81.7, 163.4, 163.4, 163.4, 654, 1'307, 1'307, 2'615},
     .achievable = {0, 0, 0, 0, 0, 0, 708, 1'273},
     .memory_gbs = 5'300,
     .link_gbs = 896,
     .multiprocessors = 304,
     .source = "AMD Instinct MI300X data sheet; achievable: AMD's measurements in TraceLens"},
    {.names = {"MI325X", "MI325X OAM", "MI325X VF"},
     .tflops = {81.7, 163.4, 163.4, 163.4, 654, 1'307, 1'307, 2'615},
     .achievable = {0, 0, 0, 0, 0, 0, 843, 1'519},
     .memory_gbs = 6'000,
     .link_gbs = 896,
     .multiprocessors = 304,
     .source = "AMD Instinct MI325X data sheet; achievable: AMD's measurements in TraceLens"},
    {.names = {"MI355X", "MI355X OAM", "MI355X VF"},
     .tflops = {78.6, 157, 78.6, 157, 0, 2'500, 2'500, 5'000},
     .memory_gbs = 8'000,
     .link_gbs = 1'075,
     .multiprocessors = 256,
     .source = "AMD Instinct MI355X data sheet"},
};

bool is_word_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool ends_with_words(std::string_view text, std::string_view words) {
  if (!text.ends_with(words)) return false;
  return text.size() == words.size() || !is_word_character(text[text.size() - words.size() - 1]);
}

std::optional<double> known(double number) { return number > 0 ? std::optional(number) : std::nullopt; }

}  // namespace

const char* precision_name(Precision precision) {
  constexpr const char* kNames[] = {"float64", "float32", "float64",  "float32",
                                    "tf32",    "float16", "bfloat16", "float8"};
  static_assert(std::size(kNames) == kPrecisions);
  return kNames[static_cast<size_t>(precision)];
}

std::optional<double> DevicePeaks::tflops_of(Precision precision) const {
  return known(tflops[static_cast<size_t>(precision)]);
}

std::optional<double> DevicePeaks::achievable_of(Precision precision) const {
  return known(achievable[static_cast<size_t>(precision)]);
}

const DevicePeaks* peaks_of(std::string_view device_name, i64 multiprocessors) {
  const DevicePeaks* found = nullptr;
  size_t longest = 0;
  for (const DevicePeaks& peaks : kPeaks) {
    for (const std::string_view name : peaks.names) {
      if (name.size() <= longest || !ends_with_words(device_name, name)) continue;
      longest = name.size();
      found = &peaks;
    }
  }
  const bool is_whole = !found || found->multiprocessors == 0 || multiprocessors <= 0 ||
                        multiprocessors == found->multiprocessors;
  return is_whole ? found : nullptr;
}

std::span<const DevicePeaks> all_device_peaks() { return kPeaks; }

}  // namespace spotter::trace

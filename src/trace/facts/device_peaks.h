// Device peaks: the most that a device can do by its maker's data sheet, found by the name that its driver
// gives it. device_peaks.cc holds the one table and its sources. A device that is not in it has none: a share
// of a guessed peak is worse than no share.
//
// Units: TFLOP/s without sparsity, and GB/s, of 10^12 and 10^9. Constant data: any thread.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "trace/trace.h"

namespace spotter::trace {

// What computes, and on what. On matrix units (tensor cores) where the device has them for that type, else as
// fast as on its vector units; the others are the vector units alone.
enum class Precision : u8 { fp64_vector, fp32_vector, fp64, fp32, tf32, fp16, bf16, fp8, count_ };
inline constexpr size_t kPrecisions = static_cast<size_t>(Precision::count_);
const char* precision_name(Precision precision);  // as torch.dtype: "float32", for both of them

struct DevicePeaks {
  std::array<std::string_view, 3> names = {};   // as its driver spells it, without the maker's words in front
  std::array<double, kPrecisions> tflops = {};  // 0: it has no such units, or nobody says
  std::array<double, kPrecisions> achievable = {};  // in its maker's own measurements; 0: nobody says
  double memory_gbs = 0;                            // of the device's own memory
  double link_gbs = 0;  // NVLink or Infinity Fabric, all links and both directions; 0: none, or nobody says
  i64 multiprocessors = 0;  // of the whole device; 0: nobody says
  const char* source = "";

  std::optional<double> tflops_of(Precision precision) const;
  std::optional<double> achievable_of(Precision precision) const;
};

// nullptr for a device that is not known, and for a part of one: another number of multiprocessors than the
// whole device has, such as an instance (MIG) or a partition, of which it is not known what it can do. A name
// is one of a row's if it ends with it at the beginning of a word; of several the longest counts, so that
// GB300 is no B300 and "H100 NVL" no H100.
const DevicePeaks* peaks_of(std::string_view device_name, i64 multiprocessors = 0);
inline const DevicePeaks* peaks_of(const Device& device) { return peaks_of(device.name, device.sm_count); }

std::span<const DevicePeaks> all_device_peaks();

}  // namespace spotter::trace

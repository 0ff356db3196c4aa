// Copies and sets of a trace by device and type, and how much they move at a time.
#pragma once
#include <string_view>
#include <vector>

#include "table/table.h"
#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

// A bandwidth in 1/10,000 byte per second: whole numbers, so that a sum of many that come and go ends at 0.
using Bandwidth = i64;
inline constexpr double kUnitsPerByte = 1e4;
inline double bytes_per_s(Bandwidth bandwidth) { return static_cast<double>(bandwidth) / kUnitsPerByte; }

struct Copy {
  Ns start, end;
  Bandwidth bandwidth;  // 0 where the trace has none
};

struct CopyType {
  i64 device = 0;
  std::string_view name;     // "Memcpy DtoD", "Memset", ...
  std::vector<Copy> copies;  // by start
  i64 bytes = 0, without_bandwidth = 0;
};

// By device, then name.
std::vector<CopyType> copies_by_type(const Trace& trace);

// What is in flight from a time on.
struct BandwidthPoint {
  Ns time;
  Bandwidth bandwidth;
};
// A point for each begin and each end, a begin before an end at the same time. Copies shorter than `least`
// count as so long.
std::vector<BandwidthPoint> bandwidth_points(const CopyType& type, Ns least);

// Says in `table` how many copies have no bandwidth, if there are some.
void note_without_bandwidth(const std::vector<CopyType>& types, Table& table);

}  // namespace spotter::analyze

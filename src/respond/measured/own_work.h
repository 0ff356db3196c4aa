// OwnWork: the metrics that tell what a rank or a host does itself, whatever it waits for: one that is unlike
// its peers' names a suspect. What contains waiting (how busy a GPU is, its power) names those who wait, and
// is not among them.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace spotter::respond {

// Whose a row of the metric's table is.
enum class RowOf : unsigned char { gpu, rank, host };

struct OwnWork {
  const char* table;
  const char* sampled;  // its column in samples
  const char* column;   // the same of rates (table/rates.h)
  RowOf of;
  const char* name;     // "SM clock"
  const char* unit;     // of Condition
  double floor;         // a spread that means nothing, in the column's unit
  double least_spread;  // the same as a part of the median
  bool more_is_worse;
  const char* device = "";  // of host: the column that tells rows of one host apart; the worst one counts
};

// A GPU that has no work lowers its clocks and its link: of table gpu, samples in which it is less busy than
// this are not looked at.
inline constexpr const char* kGpuBusy = "utilization_ratio";
inline constexpr double kBusy = 0.5;

// What names a suspect best comes first.
std::span<const OwnWork> own_work();
// Their names, as GET /v1/metrics selects them.
std::vector<std::string> own_work_metrics();

}  // namespace spotter::respond

// The peak of each device's memory and what is held then, on a page.
#include "report/list.h"
#include "table/ops.h"

namespace spotter::report {
namespace {

constexpr size_t kMostHolders = 20;

std::vector<Part> memory_parts(const Subject& subject) {
  std::vector<Part> parts;
  if (const Table* peaks = find_table(subject, "memory_timeline"))
    parts.emplace_back(
        table::project(*peaks, {"rank", "device_type", "device_id", "allocations", "frees",
                                "peak_allocated_bytes", "peak_reserved_bytes", "peak_time_ns"}));
  if (const Table* held = find_table(subject, "memory_at_peak"))
    parts.emplace_back(table::head(table::sort(*held, {{"bytes", true}}), kMostHolders));
  return parts;
}

}  // namespace

const Section kMemory = {
    .name = "memory",
    .is_shown =
        [](const Subject& s) { return find_table(s, "memory_timeline") || find_table(s, "memory_at_peak"); },
    .title = [](const Subject&) { return std::string("Memory"); },
    .parts = memory_parts,
};

}  // namespace spotter::report

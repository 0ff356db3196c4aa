#include "agent/jobs/room_for_traces.h"

#include <fmt/format.h>

namespace spotter::agent {
namespace {

double gibibytes(i64 bytes) { return static_cast<double>(bytes) / (1 << 30); }

}  // namespace

bool has_room(const capture::Disk& disk, i64 least_free) {
  return disk.free_bytes >= least_free && disk.free_bytes >= disk.size_bytes / 10;
}

std::string why_no_room(const Host& host, std::span<const i64> pids, const std::string& directory,
                        i64 least_free) {
  for (const i64 pid : pids) {
    const auto disk = capture::ProcessRoot::open(host, pid).disk(directory);
    if (!disk || has_room(*disk, least_free)) continue;
    return fmt::format(
        "the disk of {} has {:.1f} of {:.1f} GiB free, and {:.1f} GiB and a tenth are left to others (respond: "
        "least_free)",
        directory, gibibytes(disk->free_bytes), gibibytes(disk->size_bytes), gibibytes(least_free));
  }
  return {};
}

}  // namespace spotter::agent

#include "agent/jobs/room_for_traces.h"

#include <fmt/format.h>

#include "capture/process_root.h"

namespace spotter::agent {
namespace {

double gibibytes(i64 bytes) { return static_cast<double>(bytes) / (1 << 30); }

}  // namespace

std::string why_no_room(const kineto::Registry& registry, const Host& host, const std::string& job,
                        const std::string& directory, i64 least_free) {
  if (least_free == 0) return {};
  for (const auto& [pid, process] : registry.all()) {
    if (process.identity.job != job) continue;
    const auto disk = capture::ProcessRoot::open(host, pid).disk(directory);
    if (!disk || (disk->free_bytes >= least_free && disk->free_bytes >= disk->size_bytes / 10)) continue;
    return fmt::format(
        "nothing was traced: the disk of {} has {:.1f} of {:.1f} GiB free, and {:.1f} GiB and a tenth are left "
        "to others (respond: least_free)",
        directory, gibibytes(disk->free_bytes), gibibytes(disk->size_bytes), gibibytes(least_free));
  }
  return {};
}

}  // namespace spotter::agent

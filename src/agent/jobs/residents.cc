#include "agent/jobs/residents.h"

#include <string_view>

#include "respond/rules/columns.h"

namespace spotter::agent {
namespace {

constexpr const char* kNames[] = {"job", "user", "rank", "pod", "pod_namespace", "gpu", "uuid"};
enum : size_t { kJob, kUser, kRank, kPod, kPodNamespace, kGpu, kUuid };

}  // namespace

std::vector<respond::Resident> residents(const kineto::Registry& registry,
                                         std::span<const SharedBatch> latest) {
  std::vector<respond::Resident> all;
  for (const auto& [pid, process] : registry.all()) {
    if (!process.identity.job.empty())
      all.push_back({.job = process.identity.job, .rank = process.identity.rank});
  }
  respond::Columns columns(kNames);
  for (const SharedBatch& batch : latest) {
    for (const Table& table : batch->tables) {
      if (table.name() != "job" && table.name() != "gpu") continue;
      columns.find(table);
      for (size_t row = 0; row < table.rows(); ++row) {
        const auto text = [&](size_t name) { return std::string(columns.text(row, name)); };
        if (text(kJob).empty()) continue;
        all.push_back({.job = text(kJob),
                       .user = text(kUser),
                       .rank = columns.integer(row, kRank),
                       .pod = text(kPod),
                       .pod_namespace = text(kPodNamespace),
                       .gpu = columns.integer(row, kGpu),
                       .gpu_uuid = text(kUuid)});
      }
    }
  }
  return all;
}

}  // namespace spotter::agent

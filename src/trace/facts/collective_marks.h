// The annotations in which torch.distributed's backends wrap their operations on the host: "nccl:all_reduce".
#pragma once
#include <string_view>

#include "base/types.h"

namespace spotter::trace {

// Where the work of a backend runs: on the host its marks last as long as the operation, else only as long as
// the launch.
enum class CollectiveBackend : u8 { none, on_host, on_device };

struct CollectiveBackendName {
  std::string_view name;
  CollectiveBackend backend;
};
inline constexpr CollectiveBackendName kCollectiveBackends[] = {
    {"nccl", CollectiveBackend::on_device}, {"gloo", CollectiveBackend::on_host},
    {"mpi", CollectiveBackend::on_host},    {"ucc", CollectiveBackend::on_device},
    {"xccl", CollectiveBackend::on_device}, {"hccl", CollectiveBackend::on_device},
    {"rccl", CollectiveBackend::on_device},
};

inline CollectiveBackendName backend_of_mark(std::string_view name) {
  for (const CollectiveBackendName& one : kCollectiveBackends) {
    if (name.starts_with(one.name) && name.substr(one.name.size()).starts_with(':')) return one;
  }
  return {"", CollectiveBackend::none};
}

inline bool is_collective_mark(std::string_view name) {
  return backend_of_mark(name).backend != CollectiveBackend::none;
}

}  // namespace spotter::trace

// The annotations in which torch.distributed's backends wrap their operations on the host.
#pragma once
#include <string_view>

namespace spotter::trace {

inline bool is_collective_mark(std::string_view name) {
  for (const std::string_view backend : {"nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:"}) {
    if (name.starts_with(backend)) return true;
  }
  return false;
}

}  // namespace spotter::trace

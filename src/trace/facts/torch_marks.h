// PyTorch's own marks of optimizers and of the wrappers that make a model parallel. To 2021 they were
// operators, since then they are annotations. Its marks of other things: collective_marks.h, data_loading.h,
// steps.h.
#pragma once
#include <string_view>

namespace spotter::trace {

// "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad".
inline bool is_optimizer_mark(std::string_view name) { return name.starts_with("Optimizer."); }

inline bool is_wrapper_mark(std::string_view name) {
  return name == "DistributedDataParallel.forward" || name == "FullyShardedDataParallel.forward" ||
         name == "DataParallel.forward";
}

}  // namespace spotter::trace

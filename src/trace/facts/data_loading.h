// PyTorch's spans around the wait for the next batch:
// "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", and "enumerate(DataPipe)#NAME" of what is
// read through torch.utils.data's pipes (from PyTorch 1.12 on).
#pragma once
#include <string_view>

namespace spotter::trace {

inline bool is_data_loading(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)") || name.starts_with("enumerate(DataPipe)");
}

}  // namespace spotter::trace

// What the plugin takes for work on tensor cores: lists of names of 2020.
#pragma once
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace spotter::analyze::tb_plugin {

bool is_tensor_kernel(std::string_view name);
bool is_tensor_operator(std::string_view name);

// The same of kernels, by name: each is looked at once.
class TensorKernels {
 public:
  explicit TensorKernels(const Trace& trace) : trace_(trace), known_(trace.strings().size()) {}
  bool has(EventId e) {
    u8& known = known_[trace_.name[e]];
    if (known == 0) known = is_tensor_kernel(trace_.name_of(e)) ? 2 : 1;
    return known == 2;
  }

 private:
  const Trace& trace_;
  std::vector<u8> known_;  // 0: not yet
};

}  // namespace spotter::analyze::tb_plugin

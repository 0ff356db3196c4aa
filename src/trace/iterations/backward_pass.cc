#include "trace/iterations/backward_pass.h"

#include <vector>

namespace spotter::trace {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

bool has_backward_pass(const Trace& trace) {
  std::vector<u8> is_backward(trace.strings().size());
  for (StringId s = 0; s < is_backward.size(); ++s) {
    const std::string_view name = trace.strings()[s];
    is_backward[s] = name.starts_with("autograd::engine::evaluate_function") || contains(name, "ackward") ||
                     contains(name, "_bwd") || contains(name, "multi_tensor_apply");
  }
  for (EventId e = 0; e < trace.size(); ++e) {
    const Category category = trace.category(e);
    if (is_backward[trace.name[e]] && (category == Category::cpu_op || is_device_work(category))) return true;
  }
  return false;
}

}  // namespace spotter::trace

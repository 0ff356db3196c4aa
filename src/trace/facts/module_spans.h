// PyTorch's spans of calls of modules, among Python's functions: "nn.Module: Linear_0".
#pragma once
#include <string_view>

namespace spotter::trace {

inline constexpr std::string_view kModuleSpan = "nn.Module: ";

inline bool is_module_span(std::string_view name) { return name.starts_with(kModuleSpan); }
// "Linear_0", of such a span.
inline std::string_view module_of_span(std::string_view name) { return name.substr(kModuleSpan.size()); }

}  // namespace spotter::trace

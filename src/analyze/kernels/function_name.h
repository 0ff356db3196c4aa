// The function in the name of a kernel.
#pragma once
#include <string>
#include <string_view>

namespace spotter::analyze {

// Without return type, template arguments, parameters and anonymous namespaces:
// "void at::native::fill<4, float>(int, float*)" is at::native::fill. What is no C++ signature stays as it is
// ("Memcpy HtoD (Pinned -> Device)", "aten::mm"), and so does what is not well-formed.
std::string function_name(std::string_view name);

}  // namespace spotter::analyze

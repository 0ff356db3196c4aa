// Whether two names are of one host: with its domain or without, in capitals or not.
#pragma once
#include <string_view>

namespace spotter {

// "gpu05", "GPU05" and "gpu05.cluster" are one; "gpu05.a" and "gpu05.b" are two, and so are "10.0.0.1" and
// "10.0.0.2".
bool is_same_host(std::string_view a, std::string_view b);

}  // namespace spotter

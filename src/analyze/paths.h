// Names of files as people read them.
#pragma once
#include <string_view>

namespace spotter {

inline std::string_view base_name(std::string_view path) {
  return path == "-" ? "standard input" : path.substr(path.rfind('/') + 1);
}

}  // namespace spotter

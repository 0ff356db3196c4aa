// Host: where the outside world begins. Whoever reads /proc is handed one of these, and tests hand in a tree
// of their own.
#pragma once
#include <string>

namespace spotter {

struct Host {
  std::string proc = "/proc";
};

}  // namespace spotter

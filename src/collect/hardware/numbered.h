// Devices that /sys numbers: mc0, mc1 .. in one folder.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter::collect {

struct Numbered {
  i64 number;
  std::string name;  // with the beginning: "mc0"
};

// Those whose name is this beginning and a number, by their numbers.
std::vector<Numbered> numbered_in(const std::string& folder, std::string_view beginning);

}  // namespace spotter::collect

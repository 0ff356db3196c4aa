// XID errors: the numbers that NVIDIA's driver gives to what goes wrong.
#pragma once
#include <string_view>

#include "base/types.h"

namespace spotter::collect {

struct Xid {
  // info: it follows another error, or was mended; error: a process, mostly the one at fault, loses its work;
  // critical: the GPU, its memory or its links need a reset, a repair or a look.
  std::string_view severity;
  std::string_view meaning;  // in a few words; empty where the number is not known
};
// NVIDIA, "Xid Errors": what is recommended for each. A number that is not known is an error.
Xid xid_of(i64 number);

}  // namespace spotter::collect

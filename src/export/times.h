// Times as trace files write them.
#pragma once
#include <fmt/format.h>

#include <string>

#include "base/types.h"

namespace spotter::export_ {

// Nanoseconds as decimal microseconds, exact: 1234567 is "1234.567".
inline std::string microseconds(Ns ns) {
  const u64 size = ns < 0 ? u64{0} - static_cast<u64>(ns) : static_cast<u64>(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

}  // namespace spotter::export_

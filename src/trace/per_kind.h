// A table over the kinds of a trace, so that a loop over events tests one byte each.
#pragma once
#include <array>

#include "trace/trace.h"

namespace spotter::trace {

// [index into kinds()] -> f(kind)
template <class F>
std::array<u8, 256> per_kind(const Trace& trace, F f) {
  std::array<u8, 256> table{};
  for (size_t k = 0; k < trace.kinds().size() && k < table.size(); ++k)
    table[k] = static_cast<u8>(f(trace.kinds()[k]));
  return table;
}

}  // namespace spotter::trace

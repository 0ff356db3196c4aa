// FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/): a number for a text that is the same on all
// hosts and in all versions.
#pragma once
#include <string_view>

#include "base/types.h"

namespace spotter {

// `from`: of a text before this one.
constexpr u64 fnv1a(std::string_view text, u64 from = 14695981039346656037U) {
  for (const char c : text) from = (from ^ static_cast<u8>(c)) * 1099511628211U;
  return from;
}

}  // namespace spotter

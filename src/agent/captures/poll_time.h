// How often the processes of a job ask for requests, as they have so far: a capture that all of them are to
// begin at once lies further ahead than that.
#pragma once
#include <algorithm>
#include <string>

#include "base/time.h"
#include "kineto/registry.h"

namespace spotter::agent {

inline Ns poll_time(const kineto::Registry& registry, const std::string& job) {
  constexpr Ns kUsual = 5 * kSecond;     // of Kineto
  constexpr Ns kLongest = 15 * kSecond;  // who polls less often is late, and says so
  Ns longest = 0;
  for (const auto& [pid, process] : registry.all()) {
    if (process.identity.job != job) continue;
    const Ns own =
        process.polls > 1 ? (process.last_poll - process.first_poll) / (process.polls - 1) : kUsual;
    longest = std::max(longest, own);
  }
  return std::min(longest == 0 ? kUsual : longest, kLongest);
}

}  // namespace spotter::agent

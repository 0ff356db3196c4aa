// What links of devices usually move: a reference where a job has no other.
#pragma once
#include <optional>

#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Bus bandwidth that groups reach in large messages, GB/s: within a host, and for each member of a host over
// the network.
struct UsualLink {
  std::string_view device;
  double inside, network;
};

// By the device's name; none for cards (PCIe) and parts (MIG) of a device.
std::optional<UsualLink> usual_link(const RankProgram& rank);

// What a message takes however small it is: a round within a host, and between hosts.
inline constexpr Ns kRound = 6'000, kRoundOfHosts = 14'000;

// Smaller messages are latency.
inline constexpr i64 kLargeMessage = 1'000'000;

// Under this part of what it should move a link is slow.
inline constexpr double kSlowLink = 0.6;

}  // namespace spotter::analyze

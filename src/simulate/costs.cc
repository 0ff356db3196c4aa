#include "simulate/costs.h"

#include <algorithm>
#include <cmath>

namespace spotter::simulate {
namespace {

constexpr double kFlopsPerNs = 520e3, kBytesPerNs = 2'600, kPcieBytesPerNs = 48, kPageableBytesPerNs = 9;
constexpr double kNvlinkBytesPerNs = 330, kNetworkBytesPerNs = 42;
constexpr Ns kKernelFloor = 2'400, kNvlinkRound = 6'000, kNetworkRound = 14'000;

Ns rounded(double ns, Ns least) { return least + static_cast<Ns>(std::llround(ns)); }

}  // namespace

Ns matrix_product_ns(i64 m, i64 n, i64 k) {
  return rounded(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / kFlopsPerNs,
                 kKernelFloor);
}

Ns memory_bound_ns(i64 bytes) { return rounded(static_cast<double>(bytes) / kBytesPerNs, kKernelFloor); }
Ns host_copy_ns(i64 bytes) { return rounded(static_cast<double>(bytes) / kPcieBytesPerNs, 1'400); }

Ns pageable_copy_ns(i64 bytes) { return rounded(static_cast<double>(bytes) / kPageableBytesPerNs, 1'400); }

Link link_of(const Layout& layout, GroupKind kind, i64 group) {
  const std::vector<i64> members = layout.members(kind, group);
  const i64 node = layout.node(members[0]);
  const auto on_first_node =
      std::ranges::count_if(members, [&](i64 rank) { return layout.node(rank) == node; });
  if (on_first_node == static_cast<i64>(members.size())) return {kNvlinkBytesPerNs, kNvlinkRound};
  // A ring leaves each host once, and several rings share the cards of the group's ranks there.
  const double network = kNetworkBytesPerNs * static_cast<double>(on_first_node);
  return {std::min(kNvlinkBytesPerNs, network), kNetworkRound};
}

Ns transfer_ns(const Link& link, i64 bytes, i64 rounds) {
  return rounded(static_cast<double>(bytes) / link.bytes_per_ns, link.floor * rounds);
}

}  // namespace spotter::simulate

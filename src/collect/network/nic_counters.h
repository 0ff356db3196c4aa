// What the drivers of network cards call their counters, and what they are here: columns that mean the same
// for every card. Which names make which column is data (nic_counters.cc).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "table/table.h"

namespace spotter::collect {

inline constexpr Field kNicColumns[] = {
    {"interface", Type::text, Unit::none, Role::key, "Network interface."},
    {"driver", Type::text, Unit::none, Role::detail, "The kernel's driver."},
    {"rx_pause", Type::integer, Unit::count, Role::counter,
     "Pause frames received: the switch asked this card to stop."},
    {"tx_pause", Type::integer, Unit::count, Role::counter,
     "Pause frames sent: this card could not take more."},
    {"rx_priority_pause", Type::integer, Unit::count, Role::counter,
     "Pause frames of a priority (PFC) received."},
    {"tx_priority_pause", Type::integer, Unit::count, Role::counter,
     "Pause frames of a priority (PFC) sent."},
    {"rx_pause_ns", Type::integer, Unit::ns, Role::counter,
     "Time that this card was kept from sending, all priorities together."},
    {"tx_pause_ns", Type::integer, Unit::ns, Role::counter,
     "Time that this card kept others from sending, all priorities together."},
    {"pause_storms", Type::integer, Unit::count, Role::counter, "Times that pausing went on for too long."},
    {"rx_discards", Type::integer, Unit::count, Role::counter,
     "Packets received and dropped by the card for want of room."},
    {"tx_discards", Type::integer, Unit::count, Role::counter,
     "Packets dropped by the card instead of sent."},
    {"rx_out_of_buffer", Type::integer, Unit::count, Role::counter,
     "Packets dropped since the machine gave the card no buffer in time."},
    {"rx_crc_errors", Type::integer, Unit::count, Role::counter, "Frames received with a wrong checksum."},
    {"rx_symbol_errors", Type::integer, Unit::count, Role::counter,
     "Errors of the link that its correction could not repair."},
    {"link_downs", Type::integer, Unit::count, Role::counter, "Times that the link went down."},
    {"pci_stalls", Type::integer, Unit::count, Role::counter,
     "Times that the card waited for the PCIe bus for long."},
    {"allowance_exceeded", Type::integer, Unit::count, Role::counter,
     "Packets that the cloud delayed or dropped since the machine's allowance was used up."},
};
inline constexpr size_t kNicDetails = 2;  // columns before those that the cards count

// How the counters of one driver are added up to the columns.
class NicCounters {
 public:
  explicit NicCounters(std::span<const std::string> names);

  // A cell for each column that the cards count. The values are in the order of the names. Null where the
  // driver has no counter for it.
  void append_to(std::vector<Value>& row, std::span<const u64> values) const;
  size_t names() const { return names_; }
  bool empty() const { return parts_.empty(); }  // none of the names is known

 private:
  struct Part {
    size_t name, column;
    i64 scale;
  };
  std::vector<Part> parts_;
  size_t names_;
};

}  // namespace spotter::collect

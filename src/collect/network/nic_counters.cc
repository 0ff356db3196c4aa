#include "collect/network/nic_counters.h"

#include <array>
#include <limits>

#include "base/time.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

enum Column : size_t {
  kRxPause,
  kTxPause,
  kRxPriorityPause,
  kTxPriorityPause,
  kRxPauseTime,
  kTxPauseTime,
  kPauseStorms,
  kRxDiscards,
  kTxDiscards,
  kRxOutOfBuffer,
  kRxCrcErrors,
  kRxSymbolErrors,
  kLinkDowns,
  kPciStalls,
  kAllowanceExceeded,
  kColumns,
};

static_assert(std::size(kNicColumns) == kNicDetails + kColumns);

// '#' stands for digits. Where a driver has a sum and its parts, only one of them is here. Sources:
// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst, and the tables of names in the
// drivers.
struct Pattern {
  const char* name;
  Column column;
  i64 scale = 1;
};
constexpr Pattern kPatterns[] = {
    // mlx5
    {"rx_pause_ctrl_phy", kRxPause},
    {"tx_pause_ctrl_phy", kTxPause},
    {"rx_prio#_pause", kRxPriorityPause},
    {"tx_prio#_pause", kTxPriorityPause},
    {"rx_prio#_pause_duration", kRxPauseTime, kMicrosecond},
    {"tx_prio#_pause_duration", kTxPauseTime, kMicrosecond},
    {"rx_global_pause_duration", kRxPauseTime, kMicrosecond},
    {"tx_global_pause_duration", kTxPauseTime, kMicrosecond},
    {"tx_pause_storm_warning_events", kPauseStorms},
    {"tx_pause_storm_error_events", kPauseStorms},
    {"rx_discards_phy", kRxDiscards},
    {"tx_discards_phy", kTxDiscards},
    {"rx_out_of_buffer", kRxOutOfBuffer},
    {"rx_crc_errors_phy", kRxCrcErrors},
    {"rx_symbol_err_phy", kRxSymbolErrors},
    {"link_down_events_phy", kLinkDowns},
    {"outbound_pci_stalled_rd_events", kPciStalls},
    {"outbound_pci_stalled_wr_events", kPciStalls},
    // ice
    {"link_xon_rx.nic", kRxPause},
    {"link_xoff_rx.nic", kRxPause},
    {"link_xon_tx.nic", kTxPause},
    {"link_xoff_tx.nic", kTxPause},
    {"rx_priority_#_xon.nic", kRxPriorityPause},
    {"rx_priority_#_xoff.nic", kRxPriorityPause},
    {"tx_priority_#_xon.nic", kTxPriorityPause},
    {"tx_priority_#_xoff.nic", kTxPriorityPause},
    {"rx_dropped.nic", kRxDiscards},
    {"tx_dropped_link_down.nic", kTxDiscards},
    {"rx_crc_errors.nic", kRxCrcErrors},
    {"illegal_bytes.nic", kRxSymbolErrors},
    // i40e
    {"port.link_xon_rx", kRxPause},
    {"port.link_xoff_rx", kRxPause},
    {"port.link_xon_tx", kTxPause},
    {"port.link_xoff_tx", kTxPause},
    {"port.rx_priority_#_xon", kRxPriorityPause},
    {"port.rx_priority_#_xoff", kRxPriorityPause},
    {"port.tx_priority_#_xon", kTxPriorityPause},
    {"port.tx_priority_#_xoff", kTxPriorityPause},
    {"port.rx_priority_#_xon_rx", kRxPriorityPause},
    {"port.rx_priority_#_xoff_rx", kRxPriorityPause},
    {"port.tx_priority_#_xon_tx", kTxPriorityPause},
    {"port.tx_priority_#_xoff_tx", kTxPriorityPause},
    {"port.rx_dropped", kRxDiscards},
    {"port.tx_dropped_link_down", kTxDiscards},
    {"port.rx_crc_errors", kRxCrcErrors},
    {"port.illegal_bytes", kRxSymbolErrors},
    // bnxt
    {"rx_pause_frames", kRxPause},
    {"tx_pause_frames", kTxPause},
    {"rx_pfc_ena_frames_pri#", kRxPriorityPause},
    {"tx_pfc_ena_frames_pri#", kTxPriorityPause},
    {"pfc_pri#_rx_duration_us", kRxPauseTime, kMicrosecond},
    {"pfc_pri#_tx_duration_us", kTxPauseTime, kMicrosecond},
    {"continuous_pause_events", kPauseStorms},
    {"continuous_roce_pause_events", kPauseStorms},
    {"rx_stat_discard", kRxDiscards},
    {"tx_stat_discard", kTxDiscards},
    {"rx_fcs_err_frames", kRxCrcErrors},
    {"rx_pcs_symbol_err", kRxSymbolErrors},
    {"link_down_events", kLinkDowns},
    // ena
    {"bw_in_allowance_exceeded", kAllowanceExceeded},
    {"bw_out_allowance_exceeded", kAllowanceExceeded},
    {"pps_allowance_exceeded", kAllowanceExceeded},
    {"conntrack_allowance_exceeded", kAllowanceExceeded},
    {"linklocal_allowance_exceeded", kAllowanceExceeded},
    // virtio_net, before and after Linux 6.10
    {"rx_queue_#_drops", kRxDiscards},
    {"rx#_drops", kRxDiscards},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool matches(std::string_view pattern, std::string_view name) {
  size_t at = 0;
  for (const char c : pattern) {
    if (at == name.size()) return false;
    if (c == '#') {
      if (!is_digit(name[at])) return false;
      while (at < name.size() && is_digit(name[at])) ++at;
    } else if (name[at++] != c) {
      return false;
    }
  }
  return at == name.size();
}

}  // namespace

NicCounters::NicCounters(std::span<const std::string> names) : names_(names.size()) {
  for (size_t i = 0; i < names.size(); ++i) {
    for (const Pattern& pattern : kPatterns) {
      if (!matches(pattern.name, names[i])) continue;
      parts_.push_back({i, pattern.column, pattern.scale});
      break;
    }
  }
}

void NicCounters::append_to(std::vector<Value>& row, std::span<const u64> values) const {
  struct Sum {
    i64 value = 0;
    bool has_come = false, is_broken = false;
  };
  std::array<Sum, kColumns> sums{};
  for (const Part& part : parts_) {
    if (part.name >= values.size()) continue;
    Sum& sum = sums[part.column];
    const u64 value = values[part.name];
    const auto number = value > static_cast<u64>(std::numeric_limits<i64>::max())
                            ? std::nullopt
                            : scaled(static_cast<i64>(value), part.scale);
    sum.has_come = true;
    if (!number || __builtin_add_overflow(sum.value, *number, &sum.value)) sum.is_broken = true;
  }
  for (const Sum& sum : sums) row.push_back(sum.has_come && !sum.is_broken ? Value(sum.value) : Value());
}

}  // namespace spotter::collect

#include "collect/network/nic_counters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace spotter::collect {
namespace {

// The columns that are not null.
std::map<std::string, i64> columns(const std::vector<std::pair<std::string, u64>>& counters) {
  std::vector<std::string> names;
  std::vector<u64> values;
  for (const auto& [name, value] : counters) {
    names.push_back(name);
    values.push_back(value);
  }
  std::vector<Value> row(kNicDetails);
  NicCounters(names).append_to(row, values);
  EXPECT_EQ(row.size(), std::size(kNicColumns));
  std::map<std::string, i64> told;
  for (size_t i = kNicDetails; i < row.size(); ++i) {
    if (!is_null(row[i])) told[kNicColumns[i].name] = std::get<i64>(row[i]);
  }
  return told;
}

using Told = std::map<std::string, i64>;

TEST(NicCounters, Mlx5) {
  EXPECT_EQ(columns({{"rx_packets", 999},
                     {"rx_out_of_buffer", 1},
                     {"rx_pause_ctrl_phy", 2},
                     {"tx_pause_ctrl_phy", 3},
                     {"rx_discards_phy", 4},
                     {"tx_discards_phy", 5},
                     {"rx_crc_errors_phy", 6},
                     {"rx_symbol_err_phy", 7},
                     {"link_down_events_phy", 8},
                     {"rx_prio0_pause", 10},
                     {"rx_prio3_pause", 20},
                     {"rx_prio3_pause_duration", 30},
                     {"rx_prio3_pause_transition", 40},
                     {"tx_prio3_pause", 50},
                     {"tx_prio3_pause_duration", 60},
                     {"tx_pause_storm_warning_events", 70},
                     {"tx_pause_storm_error_events", 80},
                     {"outbound_pci_stalled_wr", 90},
                     {"outbound_pci_stalled_wr_events", 100},
                     {"rx3_packets", 999}}),
            (Told{{"rx_out_of_buffer", 1},
                  {"rx_pause", 2},
                  {"tx_pause", 3},
                  {"rx_discards", 4},
                  {"tx_discards", 5},
                  {"rx_crc_errors", 6},
                  {"rx_symbol_errors", 7},
                  {"link_downs", 8},
                  {"rx_priority_pause", 30},
                  {"rx_pause_ns", 30'000},
                  {"tx_priority_pause", 50},
                  {"tx_pause_ns", 60'000},
                  {"pause_storms", 150},
                  {"pci_stalls", 100}}));
}

TEST(NicCounters, OtherDrivers) {
  EXPECT_EQ(columns({{"link_xon_rx.nic", 1},
                     {"link_xoff_rx.nic", 2},
                     {"tx_priority_7_xoff.nic", 3},
                     {"rx_dropped.nic", 4},
                     {"rx_dropped", 100}}),
            (Told{{"rx_pause", 3}, {"tx_priority_pause", 3}, {"rx_discards", 4}}));
  EXPECT_EQ(
      columns(
          {{"port.link_xoff_tx", 5}, {"port.rx_priority_1_xon", 6}, {"port.rx_priority_1_xon_2_xoff", 7}}),
      (Told{{"tx_pause", 5}, {"rx_priority_pause", 6}}));
  EXPECT_EQ(columns({{"rx_pause_frames", 1},
                     {"rx_pfc_ena_frames_pri0", 2},
                     {"rx_pfc_ena_frames_pri7", 3},
                     {"pfc_pri3_rx_duration_us", 4},
                     {"link_down_events", 5},
                     {"continuous_roce_pause_events", 6}}),
            (Told{{"rx_pause", 1},
                  {"rx_priority_pause", 5},
                  {"rx_pause_ns", 4000},
                  {"link_downs", 5},
                  {"pause_storms", 6}}));
  EXPECT_EQ(columns({{"bw_in_allowance_exceeded", 1},
                     {"pps_allowance_exceeded", 2},
                     {"conntrack_allowance_available", 100}}),
            (Told{{"allowance_exceeded", 3}}));
  EXPECT_EQ(columns({{"rx_queue_0_drops", 1}, {"rx_queue_12_drops", 2}, {"rx_queue__drops", 100}}),
            (Told{{"rx_discards", 3}}));
}

TEST(NicCounters, WhatIsTooLargeOrNotThereIsNull) {
  EXPECT_EQ(columns({{"rx_discards_phy", ~u64{0}}, {"tx_discards_phy", 1}}), (Told{{"tx_discards", 1}}));
  constexpr u64 kLargest = 0x7fff'ffff'ffff'ffff;
  EXPECT_EQ(columns({{"rx_prio0_pause", kLargest - 1}, {"rx_prio1_pause", 2}}), Told{});
  EXPECT_EQ(columns({{"rx_prio0_pause_duration", kLargest / 1000 + 1}}), Told{});
  EXPECT_EQ(columns({}), Told{});

  const std::vector<std::string> names = {"rx_out_of_buffer", "rx_discards_phy"};
  const NicCounters counters(names);
  std::vector<Value> row;
  counters.append_to(row, std::vector<u64>{5});  // fewer values than names
  EXPECT_EQ(std::ranges::count_if(row, [](const Value& v) { return !is_null(v); }), 1);
  EXPECT_TRUE(NicCounters(std::vector<std::string>{"rx_packets"}).empty());
  EXPECT_FALSE(counters.empty());
}

}  // namespace
}  // namespace spotter::collect

// The counters of an RDMA port: which files of /sys hold each column. Names differ between drivers; of a
// column's files the first that is there counts.
//
// Sources: Documentation/ABI/stable/sysfs-class-infiniband for ports/N/counters (InfiniBand's PortCounters
// and PortCountersExtended); for hw_counters the drivers mlx5 (whose names the columns have), bnxt_re, irdma
// and efa.
#pragma once
#include <array>

#include "table/table.h"

namespace spotter::collect {

struct RdmaCounter {
  Field column;
  std::array<const char*, 3> files;  // "counters/..." or "hw_counters/..."; nullptr: no more
  i64 factor = 1;                    // what the first of the files counts in, in the column's unit
};

constexpr Field rdma_count(const char* name, const char* help) {
  return {name, Type::integer, Unit::count, Role::counter, help};
}
constexpr Field rdma_bytes(const char* name, const char* help) {
  return {name, Type::integer, Unit::bytes, Role::counter, help};
}

// port_xmit_data and port_rcv_data are "divided by 4" (sysfs-class-infiniband, IBTA 16.1.3.5).
inline constexpr i64 kRdmaWord = 4;

inline constexpr RdmaCounter kRdmaCounters[] = {
    {rdma_bytes("tx_bytes", "Sent."), {"counters/port_xmit_data", "hw_counters/tx_bytes"}, kRdmaWord},
    {rdma_bytes("rx_bytes", "Received."), {"counters/port_rcv_data", "hw_counters/rx_bytes"}, kRdmaWord},
    {rdma_count("tx_packets", "Packets sent."), {"counters/port_xmit_packets", "hw_counters/tx_pkts"}},
    {rdma_count("rx_packets", "Packets received."), {"counters/port_rcv_packets", "hw_counters/rx_pkts"}},
    {rdma_count("tx_unicast_packets", "Unicast packets sent."), {"counters/unicast_xmit_packets"}},
    {rdma_count("rx_unicast_packets", "Unicast packets received."), {"counters/unicast_rcv_packets"}},
    {rdma_count("tx_multicast_packets", "Multicast packets sent."), {"counters/multicast_xmit_packets"}},
    {rdma_count("rx_multicast_packets", "Multicast packets received."), {"counters/multicast_rcv_packets"}},
    {rdma_count("tx_wait", "Ticks of the port's clock in which there was something to send and no credit."),
     {"counters/port_xmit_wait"}},
    {rdma_count("tx_discards", "Packets to send that were thrown away: the port was down or congested."),
     {"counters/port_xmit_discards", "hw_counters/tx_roce_discards"}},
    {rdma_count("rx_discards", "Packets thrown away on arrival."),
     {"hw_counters/rx_roce_discards", "hw_counters/rx_drops"}},
    {rdma_count("tx_errors", "Packets that could not be sent."), {"hw_counters/tx_roce_errors"}},
    {rdma_count("rx_errors", "Packets received with an error."),
     {"counters/port_rcv_errors", "hw_counters/rx_roce_errors"}},
    {rdma_count("rx_remote_physical_errors", "Packets received that were marked bad on the way."),
     {"counters/port_rcv_remote_physical_errors"}},
    {rdma_count("rx_switch_relay_errors", "Packets received that could not be forwarded."),
     {"counters/port_rcv_switch_relay_errors"}},
    {rdma_count("tx_constraint_errors", "Packets not sent for lack of a right."),
     {"counters/port_xmit_constraint_errors"}},
    {rdma_count("rx_constraint_errors", "Packets thrown away on arrival for lack of a right."),
     {"counters/port_rcv_constraint_errors"}},
    {rdma_count("symbol_errors", "Small errors on the link, of any lane."), {"counters/symbol_error"}},
    {rdma_count("link_error_recovery", "Times that the link recovered from an error."),
     {"counters/link_error_recovery"}},
    {rdma_count("link_downed", "Times that the link failed to recover and went down."),
     {"counters/link_downed"}},
    {rdma_count("local_link_integrity_errors", "Times that errors of the link were more than its threshold."),
     {"counters/local_link_integrity_errors"}},
    {rdma_count("excessive_buffer_overrun_errors", "Times that buffers overran again and again."),
     {"counters/excessive_buffer_overrun_errors"}},
    {rdma_count("vl15_dropped", "Management packets thrown away for lack of buffers."),
     {"counters/VL15_dropped"}},

    {rdma_count("out_of_sequence",
                "Packets that arrived out of sequence: others were lost or took another path."),
     {"hw_counters/out_of_sequence", "hw_counters/oos_drop_count"}},
    {rdma_count("out_of_buffer", "Packets thrown away since the receiver had posted no buffer."),
     {"hw_counters/out_of_buffer", "hw_counters/rx_out_of_buffer"}},
    {rdma_count("packet_seq_err", "Negative acknowledgements received for a lost packet."),
     {"hw_counters/packet_seq_err", "hw_counters/seq_err_naks_rcvd"}},
    {rdma_count("local_ack_timeout_err", "Acknowledgements that did not come in time."),
     {"hw_counters/local_ack_timeout_err", "hw_counters/to_retransmits",
      "hw_counters/retrans_timeout_events"}},
    {rdma_count("rnr_nak_retry_err", "Negative acknowledgements received since the receiver was not ready."),
     {"hw_counters/rnr_nak_retry_err", "hw_counters/rnr_naks_rcvd"}},
    {rdma_count("max_retry_exceeded", "Times that all retries had failed."),
     {"hw_counters/max_retry_exceeded"}},
    {rdma_count("np_cnp_sent", "Congestion notifications sent, as receiver."),
     {"hw_counters/np_cnp_sent", "hw_counters/tx_cnp_pkts", "hw_counters/cnpSent"}},
    {rdma_count("np_ecn_marked_roce_packets", "Packets received that a switch had marked as congested."),
     {"hw_counters/np_ecn_marked_roce_packets", "hw_counters/rx_ecn_marked_pkts", "hw_counters/RxECNMrkd"}},
    {rdma_count("rp_cnp_handled", "Congestion notifications received and obeyed, as sender."),
     {"hw_counters/rp_cnp_handled", "hw_counters/rx_cnp_pkts", "hw_counters/cnpHandled"}},
    {rdma_count("rp_cnp_ignored", "Congestion notifications received and not obeyed, as sender."),
     {"hw_counters/rp_cnp_ignored", "hw_counters/cnpIgnored"}},
    {rdma_count("roce_adp_retrans", "Adaptive retransmissions."), {"hw_counters/roce_adp_retrans"}},
    {rdma_count("roce_adp_retrans_to", "Adaptive retransmissions that timed out."),
     {"hw_counters/roce_adp_retrans_to"}},
    {rdma_count("roce_slow_restart", "Times that a slow restart was used."),
     {"hw_counters/roce_slow_restart"}},
    {rdma_count("roce_slow_restart_cnps", "Congestion notifications made by slow restarts."),
     {"hw_counters/roce_slow_restart_cnps"}},
    {rdma_count("roce_slow_restart_trans", "Changes of state to slow restart."),
     {"hw_counters/roce_slow_restart_trans"}},
    {rdma_count("duplicate_request", "Requests that came a second time: an answer was lost."),
     {"hw_counters/duplicate_request", "hw_counters/dup_req"}},
    {rdma_count("implied_nak_seq_err", "Answers that show that an earlier one was lost."),
     {"hw_counters/implied_nak_seq_err"}},
    {rdma_count("req_cqe_error", "Requests completed with an error, as sender."),
     {"hw_counters/req_cqe_error"}},
    {rdma_count("resp_cqe_error", "Requests completed with an error, as receiver."),
     {"hw_counters/resp_cqe_error"}},
    {rdma_count("req_cqe_flush_error", "Requests flushed after an error, as sender."),
     {"hw_counters/req_cqe_flush_error"}},
    {rdma_count("resp_cqe_flush_error", "Requests flushed after an error, as receiver."),
     {"hw_counters/resp_cqe_flush_error"}},
    {rdma_count("req_remote_access_errors", "Accesses that the other side refused."),
     {"hw_counters/req_remote_access_errors", "hw_counters/remote_access_err"}},
    {rdma_count("resp_remote_access_errors", "Accesses of the other side that were refused."),
     {"hw_counters/resp_remote_access_errors"}},
    {rdma_count("req_remote_invalid_request", "Requests that the other side found invalid."),
     {"hw_counters/req_remote_invalid_request", "hw_counters/remote_invalid_req_err"}},
    {rdma_count("resp_local_length_error", "Requests of a length that does not fit."),
     {"hw_counters/resp_local_length_error"}},
    {rdma_count("rx_icrc_encapsulated", "RoCE packets received with a wrong checksum."),
     {"hw_counters/rx_icrc_encapsulated"}},
    {rdma_count("rx_dct_connect", "Connections to dynamically connected targets received."),
     {"hw_counters/rx_dct_connect"}},
    {rdma_count("rx_write_requests", "Write requests received."),
     {"hw_counters/rx_write_requests", "hw_counters/rx_write_req", "hw_counters/InRdmaWrites"}},
    {rdma_count("rx_read_requests", "Read requests received."),
     {"hw_counters/rx_read_requests", "hw_counters/rx_read_req", "hw_counters/InRdmaReads"}},
    {rdma_count("rx_atomic_requests", "Atomic requests received."),
     {"hw_counters/rx_atomic_requests", "hw_counters/rx_atomic_req"}},

    {rdma_bytes("send_bytes", "Sent by send requests (efa)."), {"hw_counters/send_bytes"}},
    {rdma_bytes("recv_bytes", "Received by receive requests (efa)."), {"hw_counters/recv_bytes"}},
    {rdma_bytes("rdma_read_bytes", "Read from others (efa)."), {"hw_counters/rdma_read_bytes"}},
    {rdma_bytes("rdma_read_resp_bytes", "Read by others (efa)."), {"hw_counters/rdma_read_resp_bytes"}},
    {rdma_bytes("rdma_write_bytes", "Written to others (efa)."), {"hw_counters/rdma_write_bytes"}},
    {rdma_bytes("rdma_write_recv_bytes", "Written by others (efa)."), {"hw_counters/rdma_write_recv_bytes"}},
    {rdma_count("rdma_read_wr_err", "Reads completed with an error (efa)."),
     {"hw_counters/rdma_read_wr_err"}},
    {rdma_count("rdma_write_wr_err", "Writes completed with an error (efa)."),
     {"hw_counters/rdma_write_wr_err"}},
    {rdma_bytes("retrans_bytes", "Sent again (efa)."), {"hw_counters/retrans_bytes"}},
    {rdma_count("retrans_packets", "Packets sent again (efa, irdma)."),
     {"hw_counters/retrans_pkts", "hw_counters/RetransSegs", "hw_counters/tcpRetransSegs"}},
    {rdma_count("impaired_remote_events", "Times that the other side was found slow (efa)."),
     {"hw_counters/impaired_remote_conn_events"}},
    {rdma_count("unresponsive_remote_events", "Times that the other side did not answer (efa)."),
     {"hw_counters/unresponsive_remote_events"}},
};

}  // namespace spotter::collect

// network_stack: what TCP, UDP and IP met with: losses, time-outs, full queues.
// /proc/net/{snmp,netstat,sockstat}, Documentation/networking/snmp_counter.rst.
#include <unistd.h>

#include "collect/kernel_file.h"
#include "collect/key_values.h"
#include "collect/list.h"
#include "collect/namespaces.h"
#include "collect/values.h"
#include "collect/words.h"

namespace spotter::collect {
namespace {

constexpr i64 kMillisecond = 1'000'000;

// The keys are the names of a line and of a number in it.
constexpr KeyField kFields[] = {
    {"Tcp.CurrEstab",
     1,
     {"tcp_established", Type::integer, Unit::count, Role::value, "Connections that are open."}},
    {"Tcp.ActiveOpens",
     1,
     {"tcp_active_opens", Type::integer, Unit::count, Role::counter, "Connections begun from here."}},
    {"Tcp.PassiveOpens",
     1,
     {"tcp_passive_opens", Type::integer, Unit::count, Role::counter, "Connections begun by others."}},
    {"Tcp.AttemptFails",
     1,
     {"tcp_failed_attempts", Type::integer, Unit::count, Role::counter,
      "Connections that did not come about."}},
    {"Tcp.EstabResets",
     1,
     {"tcp_established_resets", Type::integer, Unit::count, Role::counter,
      "Open connections that were reset."}},
    {"Tcp.InSegs", 1, {"tcp_in_segments", Type::integer, Unit::count, Role::counter, "Segments received."}},
    {"Tcp.OutSegs",
     1,
     {"tcp_out_segments", Type::integer, Unit::count, Role::counter,
      "Segments sent, without those sent again."}},
    {"Tcp.RetransSegs",
     1,
     {"tcp_retransmitted_segments", Type::integer, Unit::count, Role::counter, "Segments sent again."}},
    {"Tcp.InErrs",
     1,
     {"tcp_in_errors", Type::integer, Unit::count, Role::counter, "Segments received with errors."}},
    {"Tcp.InCsumErrors",
     1,
     {"tcp_checksum_errors", Type::integer, Unit::count, Role::counter,
      "Segments received with a wrong checksum."}},
    {"Tcp.OutRsts", 1, {"tcp_out_resets", Type::integer, Unit::count, Role::counter, "Resets sent."}},
    {"TcpExt.TCPTimeouts",
     1,
     {"tcp_timeouts", Type::integer, Unit::count, Role::counter,
      "Times that no acknowledgement came in time."}},
    {"TcpExt.TCPLostRetransmit",
     1,
     {"tcp_lost_retransmits", Type::integer, Unit::count, Role::counter,
      "Segments sent again that were lost again."}},
    {"TcpExt.TCPFastRetrans",
     1,
     {"tcp_fast_retransmits", Type::integer, Unit::count, Role::counter,
      "Segments sent again before a time-out."}},
    {"TcpExt.TCPSlowStartRetrans",
     1,
     {"tcp_slow_start_retransmits", Type::integer, Unit::count, Role::counter,
      "Segments sent again in slow start."}},
    {"TcpExt.TCPSynRetrans",
     1,
     {"tcp_syn_retransmits", Type::integer, Unit::count, Role::counter,
      "First segments of connections sent again."}},
    {"TcpExt.TCPSpuriousRTOs",
     1,
     {"tcp_spurious_timeouts", Type::integer, Unit::count, Role::counter,
      "Time-outs that turned out to be needless."}},
    {"TcpExt.ListenOverflows",
     1,
     {"tcp_listen_overflows", Type::integer, Unit::count, Role::counter,
      "Connections that found the queue of a listening program full."}},
    {"TcpExt.ListenDrops",
     1,
     {"tcp_listen_drops", Type::integer, Unit::count, Role::counter,
      "Connections that a listening socket dropped."}},
    {"TcpExt.TCPReqQFullDrop",
     1,
     {"tcp_request_queue_drops", Type::integer, Unit::count, Role::counter,
      "Connections dropped since too many were about to begin."}},
    {"TcpExt.TCPBacklogDrop",
     1,
     {"tcp_backlog_drops", Type::integer, Unit::count, Role::counter,
      "Segments dropped since the socket was busy for too long."}},
    {"TcpExt.TCPRcvQDrop",
     1,
     {"tcp_receive_queue_drops", Type::integer, Unit::count, Role::counter,
      "Segments dropped since the receive queue was full."}},
    {"TcpExt.TCPZeroWindowDrop",
     1,
     {"tcp_zero_window_drops", Type::integer, Unit::count, Role::counter,
      "Segments dropped since the program did not read."}},
    {"TcpExt.TCPToZeroWindowAdv",
     1,
     {"tcp_zero_windows", Type::integer, Unit::count, Role::counter,
      "Times that a sender was told to stop since the program did not read."}},
    {"TcpExt.TCPOFOQueue",
     1,
     {"tcp_out_of_order_segments", Type::integer, Unit::count, Role::counter,
      "Segments that came out of order."}},
    {"TcpExt.PruneCalled",
     1,
     {"tcp_prunes", Type::integer, Unit::count, Role::counter,
      "Times that receive queues had to be made smaller."}},
    {"TcpExt.TCPAbortOnTimeout",
     1,
     {"tcp_timeout_aborts", Type::integer, Unit::count, Role::counter,
      "Connections given up after too many time-outs."}},
    {"TcpExt.TCPAbortOnMemory",
     1,
     {"tcp_memory_aborts", Type::integer, Unit::count, Role::counter,
      "Connections given up for want of memory."}},
    {"TcpExt.TCPMemoryPressures",
     1,
     {"tcp_memory_pressures", Type::integer, Unit::count, Role::counter,
      "Times that TCP came to be short of memory."}},
    {"TcpExt.TCPMemoryPressuresChrono",
     kMillisecond,
     {"tcp_memory_pressure_ns", Type::integer, Unit::ns, Role::counter,
      "Time that TCP was short of memory."}},
    {"Udp.InDatagrams",
     1,
     {"udp_in_datagrams", Type::integer, Unit::count, Role::counter, "Datagrams received."}},
    {"Udp.OutDatagrams",
     1,
     {"udp_out_datagrams", Type::integer, Unit::count, Role::counter, "Datagrams sent."}},
    {"Udp.NoPorts",
     1,
     {"udp_no_ports", Type::integer, Unit::count, Role::counter, "Datagrams for a port that nobody had."}},
    {"Udp.InErrors",
     1,
     {"udp_in_errors", Type::integer, Unit::count, Role::counter,
      "Datagrams that could not be delivered for other reasons."}},
    {"Udp.RcvbufErrors",
     1,
     {"udp_receive_buffer_errors", Type::integer, Unit::count, Role::counter,
      "Datagrams dropped since the receive buffer was full."}},
    {"Udp.SndbufErrors",
     1,
     {"udp_send_buffer_errors", Type::integer, Unit::count, Role::counter,
      "Datagrams dropped since the send buffer was full."}},
    {"Udp.InCsumErrors",
     1,
     {"udp_checksum_errors", Type::integer, Unit::count, Role::counter,
      "Datagrams received with a wrong checksum."}},
    {"Ip.InReceives",
     1,
     {"ip_in_packets", Type::integer, Unit::count, Role::counter,
      "Packets received, of IPv4 as all of ip_."}},
    {"Ip.OutRequests",
     1,
     {"ip_out_packets", Type::integer, Unit::count, Role::counter,
      "Packets sent by programs of this machine."}},
    {"IpExt.InOctets", 1, {"ip_in_bytes", Type::integer, Unit::bytes, Role::counter, "Received."}},
    {"IpExt.OutOctets", 1, {"ip_out_bytes", Type::integer, Unit::bytes, Role::counter, "Sent."}},
    {"Ip.InDiscards",
     1,
     {"ip_in_discards", Type::integer, Unit::count, Role::counter,
      "Packets received and dropped for want of memory or the like."}},
    {"Ip.OutDiscards",
     1,
     {"ip_out_discards", Type::integer, Unit::count, Role::counter,
      "Packets to be sent and dropped for want of memory or the like."}},
    {"Ip.OutNoRoutes",
     1,
     {"ip_no_routes", Type::integer, Unit::count, Role::counter, "Packets to where there is no route."}},
    {"Ip.ReasmFails",
     1,
     {"ip_reassembly_failures", Type::integer, Unit::count, Role::counter,
      "Packets of which a fragment did not come."}},
    {"Ip.FragFails",
     1,
     {"ip_fragmentation_failures", Type::integer, Unit::count, Role::counter,
      "Packets that were too long and must not be split."}},
    {"IpExt.InCEPkts",
     1,
     {"ip_congested_packets", Type::integer, Unit::count, Role::counter,
      "Packets received with the mark that the network is congested (ECN)."}},
    {"sockets.used", 1, {"sockets", Type::integer, Unit::count, Role::value, "Sockets of all kinds."}},
    {"TCP.inuse",
     1,
     {"tcp_sockets", Type::integer, Unit::count, Role::value, "Sockets of IPv4 that are in use or listen."}},
    {"TCP.orphan",
     1,
     {"tcp_orphans", Type::integer, Unit::count, Role::value, "Connections that no program has any more."}},
    {"TCP.tw",
     1,
     {"tcp_time_wait_sockets", Type::integer, Unit::count, Role::value,
      "Closed connections that wait for stray segments."}},
    {"TCP.mem",
     1,
     {"tcp_memory_bytes", Type::integer, Unit::bytes, Role::value, "Memory of the buffers of TCP."}},
    {"UDP.inuse", 1, {"udp_sockets", Type::integer, Unit::count, Role::value, "Sockets of IPv4."}},
    {"UDP.mem",
     1,
     {"udp_memory_bytes", Type::integer, Unit::bytes, Role::value, "Memory of the buffers of UDP."}},
};
constexpr auto kColumns = fields_of(kFields);
constexpr TableKind kTables[] = {
    {"network_stack", "/proc/net/{snmp,netstat,sockstat}", "What TCP, UDP and IP met with.", kColumns}};

class NetworkStack : public Collector {
 public:
  explicit NetworkStack(const std::string& folder)
      : snmp_(folder + "/snmp"), netstat_(folder + "/netstat"), sockstat_(folder + "/sockstat") {
    if (const long bytes = sysconf(_SC_PAGESIZE); bytes > 0) page_bytes_ = bytes;
  }

  Result<std::vector<Table>> sample() override {
    TRY_ASSIGN(const std::string_view text, snmp_.read());
    values_.clear();
    read_pairs_of_lines(text);
    read_pairs_of_lines(netstat_.read().value_or(""));
    read_sockstat(sockstat_.read().value_or(""));
    if (values_.empty()) return fail(Code::corrupt, "{} has no line that is known", snmp_.path());
    std::vector<Table> tables;
    std::vector<Value> row;
    values_.append_to(row);
    tables.emplace_back("network_stack", kColumns).append(row);
    return tables;
  }

 private:
  void add(std::string_view section, std::string_view name, std::optional<i64> value) {
    key_.assign(section).append(".").append(name);
    values_.add(key_, value);
  }

  // "Tcp: RtoAlgorithm RtoMin .." and in the next line "Tcp: 1 200 ..".
  void read_pairs_of_lines(std::string_view text) {
    text = whole_lines(text);
    while (!text.empty()) {
      std::string_view names = next_line(text), numbers = next_line(text);
      std::string_view section = next_word(names);
      if (section.empty() || section.back() != ':' || next_word(numbers) != section) return;
      section.remove_suffix(1);
      if (section != "Ip" && section != "IpExt" && section != "Tcp" && section != "TcpExt" &&
          section != "Udp")
        continue;
      for (std::string_view name = next_word(names); !name.empty(); name = next_word(names))
        add(section, name, to_integer(next_word(numbers)));
    }
  }

  // "TCP: inuse 27 orphan 0 tw 0 alloc 31 mem 3", where mem is in pages.
  void read_sockstat(std::string_view text) {
    text = whole_lines(text);
    while (!text.empty()) {
      std::string_view line = next_line(text);
      std::string_view section = next_word(line);
      if (!section.ends_with(':')) continue;
      section.remove_suffix(1);
      for (std::string_view name = next_word(line); !name.empty(); name = next_word(line)) {
        const std::optional<i64> value = to_integer(next_word(line));
        add(section, name, name == "mem" ? scaled(value, page_bytes_) : value);
      }
    }
  }

  KernelFile snmp_, netstat_, sockstat_;
  i64 page_bytes_ = 4096;
  KeyValues values_{kFields};
  std::string key_;
};

}  // namespace

const CollectorKind kNetworkStack = {
    "network_stack",
    "What TCP, UDP and IP met with: losses, time-outs, full queues.",
    kSecond,
    false,
    true,
    kTables,
    [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<NetworkStack>(process_of_namespaces(s.host) + "/net");
    },
};

}  // namespace spotter::collect

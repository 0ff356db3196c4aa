// network_stack: what TCP, UDP and IP met with: losses, time-outs, full queues.
// /proc/net/{snmp,netstat,sockstat}, Documentation/networking/snmp_counter.rst.
#include <unistd.h>

#include "base/text/words.h"
#include "base/time.h"
#include "collect/kernel_file.h"
#include "collect/key_values.h"
#include "collect/list.h"
#include "collect/process/namespaces.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr KeyField gauge(const char* keys, const char* column, const char* help) {
  return {keys, 1, {column, Type::integer, Unit::count, Role::value, help}};
}
constexpr KeyField memory(const char* keys, const char* column, const char* help) {
  return {keys, 1, {column, Type::integer, Unit::bytes, Role::value, help}};
}
constexpr KeyField counter(const char* keys, const char* column, const char* help) {
  return {keys, 1, {column, Type::integer, Unit::count, Role::counter, help}};
}
constexpr KeyField bytes(const char* keys, const char* column, const char* help) {
  return {keys, 1, {column, Type::integer, Unit::bytes, Role::counter, help}};
}
constexpr KeyField milliseconds(const char* keys, const char* column, const char* help) {
  return {keys, kMillisecond, {column, Type::integer, Unit::ns, Role::counter, help}};
}

// The keys are the names of a line and of a number in it.
constexpr KeyField kFields[] = {
    gauge("Tcp.CurrEstab", "tcp_established", "Connections that are open."),
    counter("Tcp.ActiveOpens", "tcp_active_opens", "Connections begun from here."),
    counter("Tcp.PassiveOpens", "tcp_passive_opens", "Connections begun by others."),
    counter("Tcp.AttemptFails", "tcp_failed_attempts", "Connections that did not come about."),
    counter("Tcp.EstabResets", "tcp_established_resets", "Open connections that were reset."),
    counter("Tcp.InSegs", "tcp_in_segments", "Segments received."),
    counter("Tcp.OutSegs", "tcp_out_segments", "Segments sent, without those sent again."),
    counter("Tcp.RetransSegs", "tcp_retransmitted_segments", "Segments sent again."),
    counter("Tcp.InErrs", "tcp_in_errors", "Segments received with errors."),
    counter("Tcp.InCsumErrors", "tcp_checksum_errors", "Segments received with a wrong checksum."),
    counter("Tcp.OutRsts", "tcp_out_resets", "Resets sent."),
    counter("TcpExt.TCPTimeouts", "tcp_timeouts", "Times that no acknowledgement came in time."),
    counter("TcpExt.TCPLostRetransmit", "tcp_lost_retransmits", "Segments sent again that were lost again."),
    counter("TcpExt.TCPFastRetrans", "tcp_fast_retransmits", "Segments sent again before a time-out."),
    counter("TcpExt.TCPSlowStartRetrans", "tcp_slow_start_retransmits", "Segments sent again in slow start."),
    counter("TcpExt.TCPSynRetrans", "tcp_syn_retransmits", "First segments of connections sent again."),
    counter("TcpExt.TCPSpuriousRTOs", "tcp_spurious_timeouts", "Time-outs that turned out to be needless."),
    counter("TcpExt.ListenOverflows", "tcp_listen_overflows",
            "Connections that found the queue of a listening program full."),
    counter("TcpExt.ListenDrops", "tcp_listen_drops", "Connections that a listening socket dropped."),
    counter("TcpExt.TCPReqQFullDrop", "tcp_request_queue_drops",
            "Connections dropped since too many were about to begin."),
    counter("TcpExt.TCPBacklogDrop", "tcp_backlog_drops",
            "Segments dropped since the socket was busy for too long."),
    counter("TcpExt.TCPRcvQDrop", "tcp_receive_queue_drops",
            "Segments dropped since the receive queue was full."),
    counter("TcpExt.TCPZeroWindowDrop", "tcp_zero_window_drops",
            "Segments dropped since the program did not read."),
    counter("TcpExt.TCPToZeroWindowAdv", "tcp_zero_windows",
            "Times that a sender was told to stop since the program did not read."),
    counter("TcpExt.TCPOFOQueue", "tcp_out_of_order_segments", "Segments that came out of order."),
    counter("TcpExt.PruneCalled", "tcp_prunes", "Times that receive queues had to be made smaller."),
    counter("TcpExt.TCPAbortOnTimeout", "tcp_timeout_aborts",
            "Connections given up after too many time-outs."),
    counter("TcpExt.TCPAbortOnMemory", "tcp_memory_aborts", "Connections given up for want of memory."),
    counter("TcpExt.TCPMemoryPressures", "tcp_memory_pressures",
            "Times that TCP came to be short of memory."),
    milliseconds("TcpExt.TCPMemoryPressuresChrono", "tcp_memory_pressure_ns",
                 "Time that TCP was short of memory."),
    counter("Udp.InDatagrams", "udp_in_datagrams", "Datagrams received over IPv4."),
    counter("Udp.OutDatagrams", "udp_out_datagrams", "Datagrams sent over IPv4."),
    counter("Udp.NoPorts", "udp_no_ports", "Datagrams over IPv4 for a port that nobody had."),
    counter("Udp.InErrors", "udp_in_errors",
            "Datagrams over IPv4 that could not be delivered for other reasons."),
    counter("Udp.RcvbufErrors", "udp_receive_buffer_errors",
            "Datagrams over IPv4 dropped since the receive buffer was full."),
    counter("Udp.SndbufErrors", "udp_send_buffer_errors",
            "Datagrams over IPv4 dropped since the send buffer was full."),
    counter("Udp.InCsumErrors", "udp_checksum_errors", "Datagrams received over IPv4 with a wrong checksum."),
    counter("Ip.InReceives", "ip_in_packets", "Packets received, of IPv4 as all of ip_."),
    counter("Ip.OutRequests", "ip_out_packets", "Packets sent by programs of this machine."),
    bytes("IpExt.InOctets", "ip_in_bytes", "Received."),
    bytes("IpExt.OutOctets", "ip_out_bytes", "Sent."),
    counter("Ip.InDiscards", "ip_in_discards",
            "Packets received and dropped for want of memory or the like."),
    counter("Ip.OutDiscards", "ip_out_discards",
            "Packets to be sent and dropped for want of memory or the like."),
    counter("Ip.OutNoRoutes", "ip_no_routes", "Packets to where there is no route."),
    counter("Ip.ReasmFails", "ip_reassembly_failures", "Packets of which a fragment did not come."),
    counter("Ip.FragFails", "ip_fragmentation_failures", "Packets that were too long and must not be split."),
    counter("IpExt.InCEPkts", "ip_congested_packets",
            "Packets received with the mark that the network is congested (ECN)."),
    gauge("sockets.used", "sockets", "Sockets of all kinds."),
    gauge("TCP.inuse", "tcp_sockets", "Sockets of IPv4 that are in use or listen."),
    gauge("TCP.orphan", "tcp_orphans", "Connections that no program has any more."),
    gauge("TCP.tw", "tcp_time_wait_sockets", "Closed connections that wait for stray segments."),
    memory("TCP.mem", "tcp_memory_bytes", "Memory of the buffers of TCP."),
    gauge("UDP.inuse", "udp_sockets", "Sockets of IPv4."),
    memory("UDP.mem", "udp_memory_bytes", "Memory of the buffers of UDP."),
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
  void add(std::string_view section, std::string_view name, std::string_view number, i64 factor = 1) {
    key_.assign(section).append(".").append(name);
    values_.add(key_, number, factor);
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
        add(section, name, next_word(numbers));
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
      for (std::string_view name = next_word(line); !name.empty(); name = next_word(line))
        add(section, name, next_word(line), name == "mem" ? page_bytes_ : 1);
    }
  }

  KernelFile snmp_, netstat_, sockstat_;
  i64 page_bytes_ = 4096;
  KeyValues values_{kFields};
  std::string key_;
};

}  // namespace

const CollectorKind kNetworkStack = {
    .name = "network_stack",
    .help = "What TCP, UDP and IP met with: losses, time-outs, full queues.",
    .period = kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<NetworkStack>(process_of_namespaces(s.host) + "/net");
    },
};

}  // namespace spotter::collect

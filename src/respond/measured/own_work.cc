#include "respond/measured/own_work.h"

#include <string_view>

#include "table/metric.h"

namespace spotter::respond {
namespace {

constexpr double kUsual = 0.05;

constexpr OwnWork kOwnWork[] = {
    {"gpu", "sm_clock_hertz", "sm_clock_hertz", RowOf::gpu, "SM clock", "Hz", 30e6, kUsual, false},
    {"gpu", "memory_clock_hertz", "memory_clock_hertz", RowOf::gpu, "memory clock", "Hz", 30e6, kUsual,
     false},
    {"gpu", "pcie_link_width", "pcie_link_width", RowOf::gpu, "PCIe lanes", "count", 0.25, 0, false},
    {"gpu", "pcie_link_generation", "pcie_link_generation", RowOf::gpu, "PCIe generation", "count", 0.1, 0,
     false},
    {"cgroup", "cpu_throttled_ns", "cpu_throttled_ratio", RowOf::rank, "time stopped by a CPU quota", "ratio",
     0.02, kUsual, true},
    {"cgroup", "cpu_stalled_ns", "cpu_stalled_ratio", RowOf::rank, "time in wait for processors", "ratio",
     0.02, kUsual, true},
    {"cgroup", "memory_stalled_ns", "memory_stalled_ratio", RowOf::rank, "time in wait for memory", "ratio",
     0.02, kUsual, true},
    {"cgroup", "io_stalled_ns", "io_stalled_ratio", RowOf::rank, "time in wait for disks", "ratio", 0.02,
     kUsual, true},
    {"pressure", "some_ns", "some_ratio", RowOf::host, "tasks in wait", "ratio", 0.02, kUsual, true,
     "resource"},
    {"cpu", "steal_ns", "steal_cores", RowOf::host, "processors taken by the hypervisor", "count", 0.25,
     kUsual, true},
    {"job", "major_faults", "major_faults_per_s", RowOf::rank, "page faults read from disk", "per_s", 10,
     kUsual, true},
    {"rdma", "retrans_packets", "retrans_packets_per_s", RowOf::host, "RDMA packets sent again", "per_s", 20,
     kUsual, true, "device"},
    {"rdma", "roce_adp_retrans", "roce_adp_retrans_per_s", RowOf::host, "RoCE retransmissions", "per_s", 20,
     kUsual, true, "device"},
    {"rdma", "out_of_sequence", "out_of_sequence_per_s", RowOf::host, "RDMA packets out of sequence", "per_s",
     20, kUsual, true, "device"},
    {"network_stack", "tcp_retransmitted_segments", "tcp_retransmitted_segments_per_s", RowOf::host,
     "TCP segments sent again", "per_s", 20, kUsual, true},
    {"gpu", "pcie_replays", "pcie_replays_per_s", RowOf::gpu, "PCIe packets sent again", "per_s", 1, kUsual,
     true},
    {"gpu", "temperature_celsius", "temperature_celsius", RowOf::gpu, "temperature", "celsius", 2, kUsual,
     true},
};

}  // namespace

std::span<const OwnWork> own_work() { return kOwnWork; }

std::vector<std::string> own_work_metrics() {
  std::vector<std::string> names = {table::metric_name("gpu", kGpuBusy)};
  for (const OwnWork& each : kOwnWork) names.push_back(table::metric_name(each.table, each.sampled));
  return names;
}

}  // namespace spotter::respond

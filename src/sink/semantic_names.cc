#include "sink/semantic_names.h"

namespace spotter::sink {
namespace {

constexpr Instrument kCounter = Instrument::counter, kUpDown = Instrument::updown_counter,
                     kGauge = Instrument::gauge;

constexpr FixedAttribute kRead{"disk.io.direction", "read"}, kWrite{"disk.io.direction", "write"};
constexpr FixedAttribute kReceive{"network.io.direction", "receive"},
    kTransmit{"network.io.direction", "transmit"};
constexpr FixedAttribute kGpu{"hw.type", "gpu"};

constexpr SemanticName kNames[] = {
    {"uptime", "uptime_ns", "system.uptime", "s", kGauge},

    {"cpu", "cpus", "system.cpu.logical.count", "{cpu}", kUpDown},
    {"cpu", "user_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "user"}}}},
    {"cpu", "nice_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "nice"}}}},
    {"cpu", "system_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "system"}}}},
    {"cpu", "idle_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "idle"}}}},
    {"cpu", "iowait_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "iowait"}}}},
    {"cpu", "irq_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "interrupt"}}}},
    {"cpu", "softirq_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "softirq"}}}},
    {"cpu", "steal_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "steal"}}}},
    {"cpu", "guest_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "guest"}}}},
    {"cpu", "guest_nice_ns", "system.cpu.time", "s", kCounter, {{{"cpu.mode", "guest_nice"}}}},
    {"cpu", "forks", "system.process.created", "{process}", kCounter},

    {"memory", "total_bytes", "system.memory.limit", "By", kUpDown},
    {"memory",
     "total_bytes",
     "system.memory.usage",
     "By",
     kUpDown,
     {{{"system.memory.state", "used"}}},
     {"free_bytes", "buffers_bytes", "cached_bytes"}},
    {"memory", "free_bytes", "system.memory.usage", "By", kUpDown, {{{"system.memory.state", "free"}}}},
    {"memory", "buffers_bytes", "system.memory.usage", "By", kUpDown, {{{"system.memory.state", "buffers"}}}},
    {"memory", "cached_bytes", "system.memory.usage", "By", kUpDown, {{{"system.memory.state", "cached"}}}},
    {"memory", "available_bytes", "system.memory.linux.available", "By", kUpDown},
    {"memory", "shmem_bytes", "system.memory.linux.shared", "By", kUpDown},
    {"memory",
     "slab_reclaimable_bytes",
     "system.memory.linux.slab.usage",
     "By",
     kUpDown,
     {{{"system.memory.linux.slab.state", "reclaimable"}}}},
    {"memory",
     "slab_unreclaimable_bytes",
     "system.memory.linux.slab.usage",
     "By",
     kUpDown,
     {{{"system.memory.linux.slab.state", "unreclaimable"}}}},
    {"memory",
     "swap_total_bytes",
     "system.paging.usage",
     "By",
     kUpDown,
     {{{"system.paging.state", "used"}}},
     {"swap_free_bytes"}},
    {"memory", "swap_free_bytes", "system.paging.usage", "By", kUpDown, {{{"system.paging.state", "free"}}}},

    {"vmstat",
     "page_faults",
     "system.paging.faults",
     "{fault}",
     kCounter,
     {{{"system.paging.fault.type", "minor"}}},
     {"major_page_faults"}},
    {"vmstat",
     "major_page_faults",
     "system.paging.faults",
     "{fault}",
     kCounter,
     {{{"system.paging.fault.type", "major"}}}},
    {"vmstat",
     "swapped_in_pages",
     "system.paging.operations",
     "{operation}",
     kCounter,
     {{{"system.paging.direction", "in"}, {"system.paging.fault.type", "major"}}}},
    {"vmstat",
     "swapped_out_pages",
     "system.paging.operations",
     "{operation}",
     kCounter,
     {{{"system.paging.direction", "out"}, {"system.paging.fault.type", "major"}}}},

    {"disk", "size_bytes", "system.disk.limit", "By", kUpDown},
    {"disk", "read_bytes", "system.disk.io", "By", kCounter, {{kRead}}},
    {"disk", "write_bytes", "system.disk.io", "By", kCounter, {{kWrite}}},
    {"disk", "reads", "system.disk.operations", "{operation}", kCounter, {{kRead}}},
    {"disk", "writes", "system.disk.operations", "{operation}", kCounter, {{kWrite}}},
    {"disk", "reads_merged", "system.disk.merged", "{operation}", kCounter, {{kRead}}},
    {"disk", "writes_merged", "system.disk.merged", "{operation}", kCounter, {{kWrite}}},
    {"disk", "read_time_ns", "system.disk.operation_time", "s", kCounter, {{kRead}}},
    {"disk", "write_time_ns", "system.disk.operation_time", "s", kCounter, {{kWrite}}},
    {"disk", "io_time_ns", "system.disk.io_time", "s", kCounter},

    {"filesystem", "size_bytes", "system.filesystem.limit", "By", kUpDown},
    {"filesystem",
     "size_bytes",
     "system.filesystem.usage",
     "By",
     kUpDown,
     {{{"system.filesystem.state", "used"}}},
     {"free_bytes"}},
    {"filesystem",
     "available_bytes",
     "system.filesystem.usage",
     "By",
     kUpDown,
     {{{"system.filesystem.state", "free"}}}},
    {"filesystem",
     "free_bytes",
     "system.filesystem.usage",
     "By",
     kUpDown,
     {{{"system.filesystem.state", "reserved"}}},
     {"available_bytes"}},

    {"network", "rx_bytes", "system.network.io", "By", kCounter, {{kReceive}}},
    {"network", "tx_bytes", "system.network.io", "By", kCounter, {{kTransmit}}},
    {"network", "rx_packets", "system.network.packet.count", "{packet}", kCounter, {{kReceive}}},
    {"network", "tx_packets", "system.network.packet.count", "{packet}", kCounter, {{kTransmit}}},
    {"network", "rx_errors", "system.network.errors", "{error}", kCounter, {{kReceive}}},
    {"network", "tx_errors", "system.network.errors", "{error}", kCounter, {{kTransmit}}},
    {"network", "rx_drops", "system.network.packet.dropped", "{packet}", kCounter, {{kReceive}}},
    {"network", "tx_drops", "system.network.packet.dropped", "{packet}", kCounter, {{kTransmit}}},

    {"gpu", "utilization_ratio", "hw.gpu.utilization", "1", kGauge, {{{"hw.gpu.task", "general"}}}},
    {"gpu", "encoder_utilization_ratio", "hw.gpu.utilization", "1", kGauge, {{{"hw.gpu.task", "encoder"}}}},
    {"gpu", "decoder_utilization_ratio", "hw.gpu.utilization", "1", kGauge, {{{"hw.gpu.task", "decoder"}}}},
    {"gpu", "memory_total_bytes", "hw.gpu.memory.limit", "By", kUpDown},
    {"gpu", "memory_used_bytes", "hw.gpu.memory.usage", "By", kUpDown},
    {"gpu", "power_watts", "hw.power", "W", kGauge, {{kGpu}}},
    {"gpu", "energy_joules", "hw.energy", "J", kCounter, {{kGpu}}},
    {"gpu", "temperature_celsius", "hw.temperature", "Cel", kGauge, {{kGpu, {"hw.sensor_location", "gpu"}}}},
    {"gpu",
     "hotspot_temperature_celsius",
     "hw.temperature",
     "Cel",
     kGauge,
     {{kGpu, {"hw.sensor_location", "hotspot"}}}},
    {"gpu",
     "memory_temperature_celsius",
     "hw.temperature",
     "Cel",
     kGauge,
     {{kGpu, {"hw.sensor_location", "memory"}}}},
    {"gpu",
     "ecc_corrected_aggregate",
     "hw.errors",
     "{error}",
     kCounter,
     {{kGpu, {"error.type", "corrected"}}}},
    {"gpu",
     "ecc_uncorrected_aggregate",
     "hw.errors",
     "{error}",
     kCounter,
     {{kGpu, {"error.type", "uncorrected"}}}},
};

constexpr AttributeName kAttributes[] = {
    {"cpu_core", "cpu", "cpu.logical_number"},
    {"disk", "device", "system.device"},
    {"filesystem", "device", "system.device"},
    {"filesystem", "mount_point", "system.filesystem.mountpoint"},
    {"filesystem", "type", "system.filesystem.type"},
    {"network", "interface", "network.interface.name"},
    {"*", "uuid", "hw.id"},  // of a GPU, as DCGM and its exporters have it: series can be joined
    {"gpu", "name", "hw.name"},
    {"gpu", "vendor", "hw.vendor"},
    {"gpu", "driver", "hw.driver_version"},
    {"gpu", "serial", "hw.serial_number"},
    {"*", "job", "spotter.job", true},
    {"*", "rank", "spotter.rank", true},
    {"*", "user", "user.name", true},
    {"*", "container", "container.id", true},
    {"*", "container_name", "k8s.container.name", true},
    {"*", "pod", "k8s.pod.name", true},
    {"*", "pod_namespace", "k8s.namespace.name", true},
    {"*", "pid", "process.pid"},
};

}  // namespace

std::span<const SemanticName> semantic_names() { return kNames; }
std::span<const AttributeName> attribute_names() { return kAttributes; }

const AttributeName* find_attribute(std::string_view table, std::string_view column) {
  for (const std::string_view wanted : {table, std::string_view("*")}) {
    for (const AttributeName& name : kAttributes) {
      if (wanted == name.table && column == name.column) return &name;
    }
  }
  return nullptr;
}

}  // namespace spotter::sink

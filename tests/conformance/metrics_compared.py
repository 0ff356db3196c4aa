"""What node_exporter, Dynolog and Spotter measure: which metrics are the same, and what each has that the others lack.
test_node_exporter.py holds the pairs to be equal on the machine at hand, and finds what is in none of these lists.

python3 tests/conformance/metrics_compared.py --write writes docs/metrics_compared.md."""

import dataclasses
import re
import sys

import harness
import monitoring

DOCS = harness.ROOT / "docs" / "metrics_compared.md"


@dataclasses.dataclass(frozen=True)
class Pair:
    node: str  # of node_exporter
    ours: str
    labels: tuple = ()  # theirs and ours: what tells rows apart
    where: tuple = ()  # their labels that are fixed
    our_where: tuple = ()
    scale: float = 1  # ours is so many times theirs


def pairs(labels, *rows, our_where=(), **options):
    """Rows are "THEIRS OURS" or "THEIRS{label=value} OURS"."""
    made = []
    for row in rows:
        node, ours = row.split()
        name, _, where = node.partition("{")
        fixed = tuple(tuple(item.split("=")) for item in where.rstrip("}").split(",")) if where else ()
        made.append(Pair(name, ours, labels, fixed, our_where, **options))
    return made


CPU, DISK, NET, MOUNT = (("cpu", "cpu"),), (("device", "device"),), (("device", "interface"),), (("mountpoint", "mount_point"),)
SENSOR, ZONE, COOLING = (("chip", "chip"), ("sensor", "sensor")), (("zone", "zone"), ("type", "type")), (("name", "device"), ("type", "type"))
CONTROLLER, CSROW = (("controller", "controller"),), (("controller", "controller"), ("csrow", "csrow"))
IO, MEMORY, CPU_WAIT = (("resource", "io"),), (("resource", "memory"),), (("resource", "cpu"),)
KIB, SECTOR = 1024, 512

PAIRS = [
    *[pair for mode in ("idle", "iowait", "irq", "softirq", "steal", "system")
      for pair in pairs(CPU, f"node_cpu_seconds_total{{mode={mode}}} spotter_cpu_core_seconds_total", our_where=(("mode", mode),))],
    *pairs((), "node_context_switches_total spotter_cpu_context_switches_total", "node_forks_total spotter_cpu_forks_total",
           "node_intr_total spotter_interrupts_total", "node_procs_blocked spotter_cpu_blocked_threads",
           "node_procs_running spotter_cpu_running_threads"),
    *pairs((), "node_load1 spotter_load_1m", "node_load5 spotter_load_5m", "node_load15 spotter_load_15m"),
    *pairs((), "node_boot_time_seconds spotter_uptime_boot_time_seconds"),
    *pairs((), *[f"node_memory_{theirs}_bytes spotter_memory_{ours}_bytes" for theirs, ours in {
        "MemTotal": "total", "MemFree": "free", "MemAvailable": "available", "Buffers": "buffers", "Cached": "cached",
        "SwapCached": "swap_cached", "Active": "active", "Inactive": "inactive", "Active_anon": "active_anon",
        "Inactive_anon": "inactive_anon", "Active_file": "active_file", "Inactive_file": "inactive_file",
        "Unevictable": "unevictable", "Mlocked": "mlocked", "SwapTotal": "swap_total", "SwapFree": "swap_free", "Zswap": "zswap",
        "Zswapped": "zswapped", "Dirty": "dirty", "Writeback": "writeback", "AnonPages": "anon", "Mapped": "mapped",
        "Shmem": "shmem", "KReclaimable": "kernel_reclaimable", "Slab": "slab", "SReclaimable": "slab_reclaimable",
        "SUnreclaim": "slab_unreclaimable", "KernelStack": "kernel_stack", "PageTables": "page_tables",
        "SecPageTables": "secondary_page_tables", "Bounce": "bounce", "WritebackTmp": "writeback_tmp", "CommitLimit": "commit_limit",
        "Committed_AS": "committed", "VmallocUsed": "vmalloc_used", "Percpu": "percpu", "HardwareCorrupted": "hardware_corrupted",
        "AnonHugePages": "anon_huge_pages", "ShmemHugePages": "shmem_huge_pages", "FileHugePages": "file_huge_pages",
        "CmaTotal": "cma_total", "CmaFree": "cma_free", "Unaccepted": "unaccepted", "Balloon": "balloon", "Hugepagesize": "hugepage_size",
        "Hugetlb": "hugetlb", "DirectMap4k": "direct_map_4k", "DirectMap2M": "direct_map_2m", "DirectMap1G": "direct_map_1g"}.items()]),
    *pairs((), "node_memory_HugePages_Total spotter_memory_hugepages", "node_memory_HugePages_Free spotter_memory_hugepages_free",
           "node_memory_HugePages_Rsvd spotter_memory_hugepages_reserved", "node_memory_HugePages_Surp spotter_memory_hugepages_surplus"),
    *pairs((), "node_pressure_cpu_waiting_seconds_total spotter_pressure_some_seconds_total", our_where=CPU_WAIT),
    *pairs((), "node_pressure_io_waiting_seconds_total spotter_pressure_some_seconds_total",
           "node_pressure_io_stalled_seconds_total spotter_pressure_full_seconds_total", our_where=IO),
    *pairs((), "node_pressure_memory_waiting_seconds_total spotter_pressure_some_seconds_total",
           "node_pressure_memory_stalled_seconds_total spotter_pressure_full_seconds_total", our_where=MEMORY),
    *pairs((), "node_vmstat_pgfault spotter_vmstat_page_faults_total", "node_vmstat_pgmajfault spotter_vmstat_major_page_faults_total",
           "node_vmstat_pswpin spotter_vmstat_swapped_in_pages_total", "node_vmstat_pswpout spotter_vmstat_swapped_out_pages_total",
           "node_vmstat_oom_kill spotter_vmstat_oom_kills_total"),
    *pairs((), "node_vmstat_pgpgin spotter_vmstat_paged_in_bytes_total", "node_vmstat_pgpgout spotter_vmstat_paged_out_bytes_total",
           scale=KIB),
    *pairs(DISK, *[f"node_disk_{theirs} spotter_disk_{ours}" for theirs, ours in {
        "reads_completed_total": "reads_total", "reads_merged_total": "reads_merged_total", "read_bytes_total": "read_bytes_total",
        "read_time_seconds_total": "read_time_seconds_total", "writes_completed_total": "writes_total",
        "writes_merged_total": "writes_merged_total", "written_bytes_total": "write_bytes_total",
        "write_time_seconds_total": "write_time_seconds_total", "io_now": "in_flight", "io_time_seconds_total": "io_time_seconds_total",
        "io_time_weighted_seconds_total": "weighted_io_time_seconds_total", "discards_completed_total": "discards_total",
        "discards_merged_total": "discards_merged_total", "discard_time_seconds_total": "discard_time_seconds_total",
        "flush_requests_total": "flushes_total", "flush_requests_time_seconds_total": "flush_time_seconds_total"}.items()]),
    *pairs(DISK, "node_disk_discarded_sectors_total spotter_disk_discard_bytes_total", scale=SECTOR),
    *pairs(MOUNT, *[f"node_filesystem_{theirs} spotter_filesystem_{ours}" for theirs, ours in {
        "size_bytes": "size_bytes", "free_bytes": "free_bytes", "avail_bytes": "available_bytes", "files": "files",
        "files_free": "files_free", "readonly": "read_only"}.items()]),
    *pairs(NET, *[f"node_network_{theirs} spotter_network_{ours}" for theirs, ours in {
        "receive_bytes_total": "rx_bytes_total", "receive_packets_total": "rx_packets_total", "receive_errs_total": "rx_errors_total",
        "receive_drop_total": "rx_drops_total", "receive_fifo_total": "rx_fifo_errors_total", "receive_frame_total": "rx_frame_errors_total",
        "receive_compressed_total": "rx_compressed_total", "receive_multicast_total": "rx_multicast_total",
        "transmit_bytes_total": "tx_bytes_total", "transmit_packets_total": "tx_packets_total", "transmit_errs_total": "tx_errors_total",
        "transmit_drop_total": "tx_drops_total", "transmit_fifo_total": "tx_fifo_errors_total", "transmit_colls_total": "tx_collisions_total",
        "transmit_carrier_total": "tx_carrier_errors_total", "transmit_compressed_total": "tx_compressed_total",
        "carrier_changes_total": "carrier_changes_total", "mtu_bytes": "mtu_bytes"}.items()]),
    *pairs((), *[f"node_netstat_{theirs} spotter_network_stack_{ours}" for theirs, ours in {
        "Tcp_CurrEstab": "tcp_established", "Tcp_ActiveOpens": "tcp_active_opens_total", "Tcp_PassiveOpens": "tcp_passive_opens_total",
        "Tcp_InSegs": "tcp_in_segments_total", "Tcp_OutSegs": "tcp_out_segments_total",
        "Tcp_RetransSegs": "tcp_retransmitted_segments_total", "Tcp_InErrs": "tcp_in_errors_total", "Tcp_OutRsts": "tcp_out_resets_total",
        "TcpExt_TCPTimeouts": "tcp_timeouts_total", "TcpExt_TCPSynRetrans": "tcp_syn_retransmits_total",
        "TcpExt_ListenOverflows": "tcp_listen_overflows_total", "TcpExt_ListenDrops": "tcp_listen_drops_total",
        "Udp_InDatagrams": "udp_in_datagrams_total", "Udp_OutDatagrams": "udp_out_datagrams_total", "Udp_NoPorts": "udp_no_ports_total",
        "Udp_InErrors": "udp_in_errors_total", "Udp_RcvbufErrors": "udp_receive_buffer_errors_total",
        "Udp_SndbufErrors": "udp_send_buffer_errors_total", "IpExt_InOctets": "ip_in_bytes_total",
        "IpExt_OutOctets": "ip_out_bytes_total"}.items()]),
    *pairs((), *[f"node_sockstat_{theirs} spotter_network_stack_{ours}" for theirs, ours in {
        "sockets_used": "sockets", "TCP_inuse": "tcp_sockets", "TCP_orphan": "tcp_orphans", "TCP_tw": "tcp_time_wait_sockets",
        "TCP_mem_bytes": "tcp_memory_bytes", "UDP_inuse": "udp_sockets", "UDP_mem_bytes": "udp_memory_bytes"}.items()]),
    *pairs((), *[f"node_timex_{theirs} spotter_timex_{ours}" for theirs, ours in {
        "sync_status": "synchronized", "offset_seconds": "offset_seconds", "maxerror_seconds": "max_error_seconds",
        "estimated_error_seconds": "estimated_error_seconds", "frequency_adjustment_ratio": "frequency_adjustment_ratio",
        "tick_seconds": "tick_seconds", "tai_offset_seconds": "tai_offset_seconds", "status": "status"}.items()]),
    *pairs((), *[f"node_nf_conntrack_{theirs} spotter_conntrack_{ours}" for theirs, ours in {
        "entries": "entries", "entries_limit": "limit", "stat_drop": "drops_total", "stat_early_drop": "early_drops_total",
        "stat_insert_failed": "insert_failures_total", "stat_invalid": "invalid_total",
        "stat_search_restart": "search_restarts_total"}.items()]),
    *pairs(SENSOR, *[f"node_hwmon_{theirs} spotter_hwmon_{ours}" for theirs, ours in {
        "temp_celsius": "temperature_celsius", "temp_max_celsius": "temperature_max_celsius",
        "temp_crit_celsius": "temperature_critical_celsius", "fan_rpm": "fan_rpm", "fan_min_rpm": "fan_min_rpm",
        "in_volts": "voltage_volts", "in_min_volts": "voltage_min_volts", "in_max_volts": "voltage_max_volts",
        "curr_amps": "current_amperes", "power_watt": "power_watts", "power_average_watt": "power_watts",
        "power_cap_watt": "power_cap_watts", "energy_joule_total": "energy_joules_total", "temp_alarm": "alarm", "in_alarm": "alarm",
        "fan_alarm": "alarm", "temp_fault": "fault"}.items()]),
    *pairs(ZONE, "node_thermal_zone_temp spotter_thermal_zone_temperature_celsius"),
    *pairs(COOLING, "node_cooling_device_cur_state spotter_cooling_device_state",
           "node_cooling_device_max_state spotter_cooling_device_max_state"),
    *[pair for kind in ("correctable", "uncorrectable") for pair in (
        *pairs(CONTROLLER, f"node_edac_{kind}_errors_total spotter_edac_{kind}_errors_total",
               f"node_edac_csrow_{kind}_errors_total{{csrow=unknown}} spotter_edac_{kind}_errors_without_slot_total"),
        *pairs(CSROW, f"node_edac_csrow_{kind}_errors_total spotter_edac_csrow_{kind}_errors_total"))],
    *pairs((), "node_nfs_rpcs_total spotter_nfs_client_requests_total",
           "node_nfs_rpc_retransmissions_total spotter_nfs_client_retransmissions_total",
           "node_nfs_rpc_authentication_refreshes_total spotter_nfs_client_authentication_refreshes_total"),
]

# The same thing told in another way, which a query turns into theirs.
OTHERWISE = {
    "node_cpu_seconds_total{mode=user}":
        "spotter_cpu_core_seconds_total of the modes user and guest: guests are taken out of user",
    "node_cpu_seconds_total{mode=nice}": "spotter_cpu_core_seconds_total of the modes nice and guest_nice",
    "node_cpu_guest_seconds_total": "spotter_cpu_core_seconds_total of the modes guest and guest_nice",
    "node_disk_info": "spotter_disk_info, by other labels",
    "node_network_info": "spotter_network_info, by other labels",
    "node_network_up": "spotter_network_up, which is null where the driver does not say; theirs is 0 then",
    "node_network_speed_bytes": "spotter_network_speed_bytes_per_second, which is null where the driver says -1",
    "node_network_carrier": "spotter_network_up",
    "node_os_info, node_os_version, node_uname_info": "spotter_uptime_info",
    "node_sockstat_TCP_mem, node_sockstat_UDP_mem": "spotter_network_stack_{tcp,udp}_memory_bytes, in bytes",
    "node_filesystem_device_error": "spotter_filesystem_reachable",
    "node_scrape_collector_success": "spotter_agent_collector_failures_total",
    "node_scrape_collector_duration_seconds": "spotter_agent_collector_busy_seconds_total, processor time",
    "node_hwmon_chip_names, node_hwmon_sensor_label": "labels of spotter_hwmon_info",
    "node_hwmon_temp_crit_alarm_celsius, node_hwmon_curr_max_alarm_amps, node_hwmon_curr_crit_alarm_amps":
        "spotter_hwmon_alarm, which is 1 where any limit of the sensor is passed",
    "node_nvme_info": "spotter_nvme_info, with more labels",
    "node_nfs_requests_total": "spotter_nfs_operation_operations_total, by mount",
    "node_mountstats_nfs_age_seconds_total, node_mountstats_nfs_read_bytes_total, node_mountstats_nfs_write_bytes_total, "
    "node_mountstats_nfs_direct_read_bytes_total, node_mountstats_nfs_direct_write_bytes_total, "
    "node_mountstats_nfs_total_read_bytes_total, node_mountstats_nfs_total_write_bytes_total, "
    "node_mountstats_nfs_transport_connect_total":
        "spotter_nfs_mount_{age_seconds,read_bytes_total,write_bytes_total,direct_read_bytes_total,direct_write_bytes_total,"
        "server_read_bytes_total,server_write_bytes_total,connects_total}, by mount_point; the server is a label of spotter_nfs_mount_info",
    "node_mountstats_nfs_operations_requests_total, node_mountstats_nfs_operations_transmissions_total, "
    "node_mountstats_nfs_operations_major_timeouts_total, "
    "node_mountstats_nfs_operations_sent_bytes_total, node_mountstats_nfs_operations_received_bytes_total, "
    "node_mountstats_nfs_operations_queue_time_seconds_total, node_mountstats_nfs_operations_response_time_seconds_total, "
    "node_mountstats_nfs_operations_request_time_seconds_total":
        "spotter_nfs_operation_{operations,retransmissions,major_timeouts,sent_bytes,received_bytes,queue_time_seconds,"
        "response_time_seconds,execute_time_seconds}_total; retransmissions are transmissions - requests",
    "node_textfile_mtime_seconds": "spotter_textfile_mtime_seconds, where file is a name without its folder",
    "node_textfile_scrape_error": "spotter_textfile_failed, of each file",
    "node_time_seconds": "time() of Prometheus and spotter_sample_timestamp_seconds",
}

# What only node_exporter has: families (regular expressions) and why they are missing here.
ONLY_NODE = {
    r"node_arp_entries|node_udp_queues|node_network_(transmit_queue_length|receive_nohandler_total)": "queues and tables of the network",
    r"node_softnet_.*": "what the kernel's receive path did, by processor",
    r"node_nf_conntrack_stat_(found|ignore|insert)": "counters of found connections, and two that today's kernels hardly count",
    r"node_network_(address_assign_type|device_id|dormant|flags|iface_\w+|name_assign_type|net_dev_group|protocol_type"
    r"|carrier_(up|down)_changes_total)": "how interfaces are set up",
    r"node_netstat_(Icmp|Ip_Forwarding|Ip6|Udp6|UdpLite|TcpExt_Syncookies).*": "ICMP, IPv6 apart from IPv4, SYN cookies",
    r"node_sockstat_(TCP_alloc|FRAG|RAW|TCP6|UDP6|UDPLITE).*": "sockets of other kinds",
    r"node_entropy_.*|node_filefd_.*|node_selinux_.*|node_exporter_build_info|node_time_(zone|clocksource).*":
        "entropy, open files, SELinux, the clock's source",
    r"node_timex_(pps_.*|loop_time_constant)": "inputs of a pulse per second, the clock's control loop",
    r"node_hwmon_.*": "settings of the chips (PWM, beeps), limits that few chips have",
    r"node_nfs_(packets|connections)_total": "counters that the kernel's client does not count",
    r"node_mountstats_nfs_(event_.*|transport_.*|(read|write)_pages_total)": "events of the page cache, transports of each connection",
    r"node_memory_(NFS_Unstable|VmallocTotal|VmallocChunk|ShmemPmdMapped|FilePmdMapped)_bytes": "sizes that are constant or obsolete",
    r"node_(power_supply|rapl|bonding|bcache|btrfs|md|mdadm|nfsd|xfs|zfs|dmi|tape"
    r"|schedstat|infiniband|fibrechannel|ipvs|lnstat|cpu_(frequency|scaling|core|package)).*":
        "of hardware and file systems that the tests' machine has not got; of these RDMA (node_infiniband) is spotter_rdma_*",
}

# Dynolog's names (the kernel, PMU and GPU loops) and ours; for a percentage or a change per interval, a query.
DYNOLOG = {
    "uptime": "spotter_uptime_seconds",
    "cpu_u, cpu_s, cpu_i, cpu_guest, cpu_guest_nice":
        "rate(spotter_cpu_seconds_total{mode}) / spotter_cpu_cpus",
    "cpu_util": '1 - rate(spotter_cpu_seconds_total{mode="idle"}) / spotter_cpu_cpus',
    "cpu_{u,s,n,w,x,y,z,guest,guest_nice}_ms":
        "increase(spotter_cpu_seconds_total{mode}) × 1000",
    "{rx,tx}_{bytes,packets,errors,drops}.DEV": "increase(spotter_network_{rx,tx}_{bytes,packets,errors,drops}_total{interface})",
    "mips, mega_cycles_per_second": "rate(spotter_pmu_{instructions,cycles}_total) / 1e6: of the interval, not since the start",
    "gpu_frequency_mhz": "spotter_gpu_sm_clock_hertz",
    "gpu_power_draw": "spotter_gpu_power_watts",
    "gpu_device_utilization, gpu_memory_utilization": "spotter_gpu_{utilization,memory_utilization}_ratio",
    "graphics_engine_active_ratio, sm_active_ratio, sm_occupancy": "spotter_gpu_activity_{graphics_active,sm_active,sm_occupancy}_ratio",
    "tensorcore_active, fp64_active, fp32_active, fp16_active": "spotter_gpu_activity_{tensor,fp64,fp32,fp16}_active_ratio",
    "hbm_mem_bw_util": "spotter_gpu_activity_dram_active_ratio",
    "pcie_{tx,rx}_bytes, nvlink_{tx,rx}_bytes": "spotter_gpu_activity_{pcie,nvlink}_{tx,rx}_bytes_per_second",
    "gpu_name, gpu_uuid, device": "labels of spotter_gpu_info",
    "minor_id": "nothing: a GPU is told by its index and its UUID",
    "dcgm_error": "the label quality of spotter_gpu_info and spotter_gpu_activity_info: in words, for each kind of doubt",
    "slurm_job_id, username, ...": "labels of spotter_gpu_info and spotter_job_*",
}


def is_known_of_node(family):
    if any(pair.node == family for pair in PAIRS) or any(re.fullmatch(pattern, family) for pattern in ONLY_NODE):
        return True
    return any(family in re.findall(r"node_\w+", told) for told in OTHERWISE)


def only_ours():
    """{collector: names} of what is in no pair."""
    paired = {pair.ours for pair in PAIRS}
    found = {}
    for row in monitoring.metric_list():
        name = monitoring.exposed_name(row)
        if name and name not in paired and name not in found.setdefault(row["collector"], []):
            found[row["collector"]].append(name)
    return found


def shown(name, where):
    return name + ("{" + ", ".join(f'{k}="{v}"' for k, v in where) + "}" if where else "")


def text():
    lines = ["# Metrics: Spotter beside node_exporter and Dynolog", "",
             "Written by `python3 tests/conformance/metrics_compared.py --write`. Names are those of the page `/metrics`; `spotter metrics",
             "--list` says what each of ours means.", "",
             "## The same in node_exporter", "",
             "`tests/conformance/test_node_exporter.py` runs both on one machine and holds each pair to be equal: counters at equal times,",
             "rates within 2 %. Those of each processor need `per_core: true`. A file system or an interface that only one of the two",
             "shows is not compared: Spotter leaves out those of containers and tunnels. What that machine has not got (sensors, ECC, NVMe, NFS)",
             "is compared on a machine that is written from the kernel's documentation, by `test_documented_machine.py`.", "",
             "| node_exporter 1.5 | Spotter |", "|---|---|"]
    lines += [f"| `{shown(p.node, p.where)}` | `{shown(p.ours, p.our_where)}`" + (f" = {p.scale:g} × theirs |" if p.scale != 1 else " |")
              for p in PAIRS]
    lines += ["", "The same in another form:", "", "| node_exporter | Spotter |", "|---|---|"]
    lines += [f"| `{theirs}` | {ours} |" for theirs, ours in OTHERWISE.items()]
    lines += ["", "## What only node_exporter has", "", "| families | what they are |", "|---|---|"]
    lines += [f"| {', '.join(f'`{part}`' for part in split_alternatives(pattern))} | {words} |" for pattern, words in ONLY_NODE.items()]
    lines += ["", "## What only Spotter has", "",
              "All that is in no pair, by collector. For some of it node_exporter has collectors that need a flag or hardware which the",
              "tests' machine has not got: `infiniband`, `meminfo_numa`, `interrupts`, `softirqs`, `ethtool`, `processes`.", "",
              "| collector | metrics |", "|---|---|"]
    lines += [f"| {collector} | {len(names)}: {', '.join(f'`{n}`' for n in names)} |" for collector, names in only_ours().items()]
    lines += ["", "Beside these: `spotter metrics` has per-process tables (`process`, `gpu_process`) and events (`gpu_event`, `log_event`), which are no series.", "",
              "## Dynolog", "",
              "All that Dynolog's daemon publishes (its kernel, PMU and GPU loops; its Prometheus sink leaves out the GPUs):", "",
              "| Dynolog | Spotter |", "|---|---|"]
    lines += [f"| `{theirs}` | {ours if ours.startswith(('the ', 'labels', 'nothing')) else f'`{ours}`'} |" for theirs, ours in DYNOLOG.items()]
    lines += ["", "Dynolog has no metrics of memory, disks, file systems, pressure, RDMA, interrupts, control groups or jobs, and of GPUs neither",
              "memory, temperature, ECC, XID errors, throttling, nor errors of NVLink and PCIe.", ""]
    return "\n".join(lines)


def split_alternatives(pattern):
    """The alternatives of a regular expression, those in parentheses left as they are."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(pattern):
        depth += (c == "(") - (c == ")")
        if c == "|" and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
    return [p.replace("|", "\\|") for p in [*parts, pattern[start:]]]


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    DOCS.write_text(text(), encoding="utf-8")

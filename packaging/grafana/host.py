"""One host: everything that is sampled there. Rows that few look at are closed at first."""

from panels import counters, dashboard, gauges, panel, stat, table, variable

I = '{instance="$instance"}'
GPU, PORT, NIC, DISK, MOUNT, CORE = "gpu {{gpu}}", "{{device}}:{{port}}", "{{interface}}", "{{device}}", "{{mount_point}}", "cpu {{cpu}}"
NOT_LOOP = '{instance="$instance",interface!="lo"}'
TIME = "Processor time by what it goes for"
RESOURCES = ("cpu", "memory", "io")


def gpu(title, unit, help, names, suffix="", **more):
    return panel(title, unit, help, *gauges("gpu", names, I, GPU, suffix), **more)


def rates(title, unit, help, table, names, by="", where=I, **more):
    return panel(title, unit, help, *counters(table, names, where, by), **more)


def errors(title, help, table, names, by="", where=I, **more):
    """How many there were; no line of those that did not happen."""
    return panel(title, "short", f"{help} Only what happens is drawn.", *counters(table, names, where, by, "increase", " > 0"), **more)


def levels(title, unit, help, table, names, by="", suffix="", where=I, **more):
    return panel(title, unit, help, *gauges(table, names, where, by, suffix), **more)


def busy(table, by, cpus):
    return (f'1 - sum without (mode) (rate(spotter_{table}_seconds_total{{instance="$instance",mode=~"idle|iowait"}}[R])) / {cpus}', by)


def ratio(over, under, legend):
    return (f"rate(spotter_{over}_total{I}[R]) / (rate(spotter_{under}_total{I}[R]) > 0)", legend)


HERE = '{instance="$instance",job_id!=""}'
JOBS = f"count by (job_id, user) (group by (job_id, user, rank) (spotter_job_processes{HERE}))"


def of_jobs(expr):
    return f"sum by (job_id, user) ({expr})"


ROWS_OF_PANELS = {
    "Now": [
        stat("Runs since", "dtdurations", "Since the machine was started.", f"spotter_uptime_seconds{I}"),
        stat("Processors busy", "percentunit", "Of all processors.", busy("cpu", "", f"spotter_cpu_cpus{I}")[0], most=1),
        stat("Memory in use", "percentunit", "What new programs could not have.",
             f"1 - spotter_memory_available_bytes{I} / spotter_memory_total_bytes{I}", most=1),
        stat("GPUs", "short", "GPUs that the agent sees, lost ones among them.", f"count(group by (gpu) (spotter_gpu_info{I}))"),
        stat("GPUs lost", "short", "Their driver does not reach them any more.",
             'count(group by (gpu) (spotter_gpu_info{instance="$instance",quality=~".*lost.*"})) or vector(0)', alarm=True),
        stat("SM activity", "percentunit", "Mean over the GPUs.", f"avg(spotter_gpu_activity_sm_active_ratio{I})", most=1),
        stat("XID errors", "short", "Errors that the driver reported in the chosen time.",
             f"sum(increase(spotter_gpu_xid_errors_total{I}[$__range])) or vector(0)", alarm=True),
        stat("Power of the GPUs", "watt", "Of all boards together.", f"sum(spotter_gpu_power_watts{I})"),
        table("Jobs", "Training jobs that have processes here.", {"job_id": "Job", "user": "User"},
              [("Ranks", "short", JOBS), ("Processes", "short", of_jobs(f"spotter_job_processes{HERE}")),
               ("Processors", "short", of_jobs(f"rate(spotter_job_cpu_seconds_total{HERE}[5m])")),
               ("Memory", "bytes", of_jobs(f"spotter_job_resident_bytes{HERE}")),
               ("Read", "Bps", of_jobs(f"rate(spotter_job_read_bytes_total{HERE}[5m])"))]),
        table("What is known of the GPUs", "Whose they are, and why their numbers are missing or doubtful.",
              {"gpu": "GPU", "name": "Product", "job_id": "Job", "rank": "Rank", "user": "User", "quality": "Quality", "uuid": "UUID"},
              [("", "none", f"group by (gpu, name, job_id, rank, user, quality, uuid) (spotter_gpu_info{I})")], sort=("GPU", False)),
    ],
    "Who holds the GPUs": [
        table("Who holds the GPUs", "Ranks of jobs, and processes of none.", {"gpu": "GPU", "job_id": "Job", "rank": "Rank", "user": "User"},
              [("Processes", "short", f"sum by (gpu, job_id, rank, user) (spotter_gpu_job_processes{I})"),
               ("Device memory", "bytes", f"sum by (gpu, job_id, rank, user) (spotter_gpu_job_memory_bytes{I})")],
              width=8, height=8, sort=("GPU", False)),
        levels("Device memory of processes", "bytes", "Of each process on a GPU.", "gpu_process", "memory_bytes", "gpu {{gpu}} pid {{pid}}"),
        levels("Utilization by processes", "percentunit", "Part of the time in which a kernel of a process ran, or it used device memory.",
               "gpu_process", "sm_utilization memory_utilization", "gpu {{gpu}} pid {{pid}}", "_ratio", most=1),
    ],
    "GPU activity": [
        gpu("SM activity", "percentunit", "Part of the time in which an SM had a warp, averaged over SMs.", "activity_sm_active", "_ratio", most=1),
        gpu("Tensor pipes", "percentunit", "Part of the time in which the tensor pipes worked.", "activity_tensor_active", "_ratio", most=1),
        gpu("Device memory bandwidth", "percentunit", "Part of the time in which device memory sent or received.",
            "activity_dram_active", "_ratio", most=1),
        gpu("Utilization, as the driver says", "percentunit", "Part of the time in which any kernel ran, or any memory was read or written.",
            "utilization memory_utilization activity_graphics_active", "_ratio", most=1),
        gpu("SM occupancy", "percentunit", "Warps on an SM, of the most that it takes.", "activity_sm_occupancy", "_ratio", most=1),
        gpu("Device memory", "bytes", "In use, without what is reserved.", "memory_used memory_reserved", "_bytes"),
        gpu("Other pipes", "percentunit", "Part of the time in which they worked.",
            "activity_fp64_active activity_fp32_active activity_fp16_active activity_integer_active", "_ratio", most=1),
        gpu("Tensor pipes, by type", "percentunit", "Part of the time in which they worked on numbers of a type.",
            "activity_tensor_hmma_active activity_tensor_imma_active activity_tensor_dmma_active activity_tensor_dfma_active", "_ratio", most=1),
        gpu("Video engines", "percentunit", "Part of the time in which they were busy.", "encoder_utilization decoder_utilization", "_ratio", most=1),
        gpu("NVLink", "Bps", "Over all links, as the hardware measures.",
            "activity_nvlink_tx_bytes_per_second activity_nvlink_rx_bytes_per_second"),
        rates("NVLink, counted", "Bps", "Data over all links, as the links count.", "gpu", "nvlink_tx_bytes nvlink_rx_bytes", GPU),
        gpu("PCIe", "Bps", "As the driver samples it, and as the hardware measures it.",
            "pcie_tx_bytes_per_second pcie_rx_bytes_per_second activity_pcie_tx_bytes_per_second activity_pcie_rx_bytes_per_second"),
    ],
    "GPU health": [
        gpu("Power", "watt", "Drawn by the board, and what it may draw.", "power_watts power_limit_watts"),
        gpu("Temperature", "celsius", "Of the processor, its hottest place, the memory.",
            "temperature_celsius hotspot_temperature_celsius memory_temperature_celsius"),
        gpu("Clocks", "hertz", "Of the processors, the memory and the video engines.", "sm_clock memory_clock video_clock", "_hertz"),
        panel("Clocks lowered now", "bool", "Why, as the driver says; only what holds is drawn.",
              *[(f"spotter_gpu_throttle_{why}{I} == 1", f"{GPU} {why.replace('_', ' ')}") for why in
                ("power_cap", "hw_slowdown", "thermal_hw", "thermal_sw", "power_brake", "sync_boost", "board_limit", "reliability",
                 "application_clocks", "display_clock", "idle")]),
        rates("Part of the time with lowered clocks", "percentunit", "Why, as the driver counts.", "gpu",
              " ".join(f"violation_{why}_seconds" for why in ("power", "thermal", "sync_boost", "board_limit", "low_utilization", "reliability",
                                                              "thermal_sw", "thermal_hw", "power_brake")), GPU),
        rates("Power, from energy", "watt", "The rate of the counter of energy, which has what falls between two samples.",
              "gpu", "energy_joules", GPU),
        errors("XID and memory errors", "As the driver counts.", "gpu", "xid_errors ecc_uncorrected_volatile ecc_corrected_volatile", GPU),
        panel("Memory rows and pages replaced", "short", "In the GPU's life, and what waits for a reset.",
              *counters("gpu", "remapped_rows_correctable remapped_rows_uncorrectable retired_pages_corrected retired_pages_uncorrected",
                        I, GPU, "increase", " > 0"),
              *[(f"spotter_gpu_remap_{what}{I} == 1", f"{GPU} remapping {what}") for what in ("pending", "failed")]),
        errors("Errors of the links", "Checksums, packets sent again, links trained anew.", "gpu",
               "nvlink_crc_errors nvlink_replays nvlink_recoveries pcie_replays", GPU),
        gpu("Links", "short", "NVLink links that are up; generation and lanes of PCIe.", "nvlink_links_active pcie_link_generation pcie_link_width"),
        gpu("Performance state", "none", "0 is the fastest, 15 the slowest.", "performance_state"),
        gpu("Fans", "percentunit", "Speed, of the highest.", "fan", "_ratio", most=1),
    ],
    "+GPU instances (MIG)": [
        levels("Activity", "percentunit", "Of the GPU instance.", "gpu_mig", "sm_active sm_occupancy tensor_active dram_active graphics_active",
               "gpu {{gpu}} {{instance_id}}/{{compute_instance}}", "_ratio", most=1, width=12),
        levels("Memory", "bytes", "Device memory of the GPU instance.", "gpu_mig", "memory_used memory_total",
               "gpu {{gpu}} {{instance_id}}/{{compute_instance}}", "_bytes", width=12),
    ],
    "Jobs and control groups": [
        rates("Processors of ranks", "short", "Processor time of a rank with its workers.", "job", "cpu_seconds",
              "{{job_id}} rank {{rank}} {{mode}}"),
        levels("Memory of ranks", "bytes", "What processes share counts for each.", "job", "resident_bytes", "{{job_id}} rank {{rank}}"),
        rates("Read and written by ranks", "Bps", "From and to disks and network file systems.", "job", "read_bytes write_bytes",
              "{{job_id}} rank {{rank}}"),
        rates("Page faults of ranks", "cps", "Those that a disk was read for, and others.", "job", "major_faults minor_faults",
              "{{job_id}} rank {{rank}}"),
        levels("Processes and threads", "short", "Of a rank, workers among them.", "job", "processes threads", "{{job_id}} rank {{rank}}"),
        panel("Control groups: throttled", "percentunit", "Part of the periods in which it had to stop, having used its time.",
              ratio("cgroup_cpu_throttled_periods", "cgroup_cpu_periods", "{{cgroup}}"), most=1),
        panel("Control groups: memory", "percentunit", "Of the limit.",
              (f"spotter_cgroup_memory_bytes{I} / spotter_cgroup_memory_limit_bytes{I}", "{{cgroup}}"), most=1),
        rates("Control groups: standing still", "percentunit", "Time in which some of it waited.", "cgroup",
              "cpu_stalled_seconds memory_stalled_seconds io_stalled_seconds", "{{cgroup}}", most=1),
        errors("Control groups: short of memory", "Times at the limit, and processes killed.", "cgroup", "memory_limit_hits oom_kills", "{{cgroup}}"),
        rates("Control groups: processors", "short", "Processor time, and what was taken away by the limit.", "cgroup",
              "cpu_seconds cpu_throttled_seconds", "{{cgroup}}"),
        rates("Control groups: disks", "Bps", "Read from and written to block devices.", "cgroup", "read_bytes write_bytes", "{{cgroup}}"),
        levels("Control groups: processes", "short", "Processes and threads.", "cgroup", "processes", "{{cgroup}}"),
    ],
    "Processors": [
        panel(TIME, "short", "In processors' worth.",
              ('rate(spotter_cpu_seconds_total{instance="$instance",mode!="idle"}[R])', "{{mode}}"), stack=True),
        panel("Busy", "percentunit", "All together, and by NUMA node.", busy("cpu", "all", f"spotter_cpu_cpus{I}"),
              busy("cpu_node", "node {{node}}", f"spotter_cpu_node_cpus{I}"), most=1),
        levels("Load", "short", "Threads that run, could run or wait for a disk.", "load", "1m 5m 15m"),
        levels("Threads that run or wait", "short", "Now.", "cpu", "running_threads blocked_threads"),
        rates("Context switches and forks", "cps", "Of all processors.", "cpu", "context_switches forks"),
        rates("Interrupts", "cps", "By their kind.", "interrupts",
              "device local_timer reschedule function_call tlb_shootdowns irq_work nmi performance"),
    ],
    "+Processors, more": [
        panel("Busy, by core", "percentunit", "Where the agent is told to sample each (per_core).", busy("cpu_core", CORE, "1"), most=1, width=12),
        rates("Interrupts by device", "cps", "Of these devices.", "interrupt_device", "count", "{{device_class}}"),
        rates("Soft interrupts", "cps", "By type.", "softirq", "count", "{{type}}"),
        errors("Machine checks and thermal events", "Errors of the hardware, and throttled processors.", "interrupts",
               "machine_checks thermal threshold deferred_error spurious errors"),
        levels("Threads", "short", "Of all processes.", "load", "threads runnable_threads"),
    ],
    "+Performance counters of the processors": [
        panel("Instructions per cycle", "short", "Of all processors, while they do not sleep.",
              ratio("pmu_instructions", "pmu_cycles", "all processors")),
        panel("Where slots go", "percentunit", "Slots in which an operation could have been issued.",
              *[ratio(f"pmu_{kind}_slots", "pmu_slots", kind.replace("_", " ")) for kind in
                ("retiring", "bad_speculation", "frontend_bound", "backend_bound", "smt_contention")], most=1, stack=True),
        panel("Misses for a thousand instructions", "short", "Of caches, of translations of addresses, of predicted branches.",
              *[(f"1000 * {expr}", legend) for expr, legend in
                [ratio(f"pmu_{kind}_misses", "pmu_instructions", kind) for kind in ("l1d", "l2", "llc", "dtlb", "itlb", "branch")]]),
        rates("Memory bandwidth", "Bps", "As the memory controllers count.", "pmu", "memory_read_bytes memory_write_bytes"),
        rates("Memory bandwidth by socket", "Bps", "As the memory controllers count.", "pmu_socket", "memory_read_bytes memory_write_bytes",
              "socket {{socket}}"),
        rates("Switches, migrations, faults", "cps", "As the kernel's software events count.", "pmu",
              "context_switches cpu_migrations page_faults minor_faults major_faults"),
        panel("Clock, of the nominal one", "percentunit", "Cycles, divided by those at a constant frequency.",
              ratio("pmu_cycles", "pmu_ref_cycles", "all processors")),
        levels("Time that the counters ran", "percentunit", "The rest is extrapolated.", "pmu", "running_ratio", most=1),
        panel("Instructions per cycle, by core", "short", "Where the agent is told to sample each (per_core).",
              ratio("pmu_core_instructions", "pmu_core_cycles", CORE)),
    ],
    "Memory": [
        levels("What memory is used for", "bytes", "Parts that do not overlap.", "memory",
               "anon cached buffers slab page_tables kernel_stack percpu hugetlb free", "", "_bytes", stack=True),
        levels("Left for programs", "bytes", "Without swapping, as the kernel estimates.", "memory", "available total", "", "_bytes"),
        levels("Shared, mapped, dirty", "bytes", "And what waits to be written.", "memory", "shmem mapped dirty writeback mlocked", "", "_bytes"),
        levels("Swap and promises", "bytes", "Swap space, and memory that was promised to programs.", "memory",
               "swap_total swap_free committed commit_limit", "", "_bytes"),
        rates("Page faults", "cps", "All, and those that a disk was read for.", "vmstat", "page_faults major_page_faults"),
        errors("Waits and kills", "Threads that had to reclaim or compact memory themselves; processes killed.", "vmstat",
               "allocation_stalls compaction_stalls direct_reclaim_throttles oom_kills"),
    ],
    "+Memory, more": [
        rates("Read and written for memory", "Bps", "Between memory and disks.", "vmstat", "paged_in_bytes paged_out_bytes"),
        rates("Swapped, and read again", "cps", "Pages.", "vmstat", "swapped_in_pages swapped_out_pages file_refaults anon_refaults"),
        rates("Reclaim", "cps", "Pages looked at and reclaimed, by whom.", "vmstat",
              "kswapd_scanned_pages kswapd_reclaimed_pages direct_scanned_pages direct_reclaimed_pages"),
        rates("Huge pages", "cps", "Given, refused, made, split.", "vmstat",
              "thp_fault_allocations thp_fault_fallbacks thp_collapse_allocations thp_collapse_failures thp_splits"),
        rates("Moved between NUMA nodes", "cps", "Pages, and the faults by which the kernel learns who uses them.", "vmstat",
              "numa_migrated_pages numa_hint_faults numa_hint_faults_local migrated_pages migration_failures"),
        rates("Compaction", "cps", "Its outcomes.", "vmstat", "compaction_successes compaction_failures kswapd_wakeups kswapd_low_watermark_hits"),
        levels("Huge pages in use", "bytes", "Transparent ones.", "memory", "anon_huge_pages shmem_huge_pages file_huge_pages", "", "_bytes"),
        levels("Pool of huge pages", "short", "Of the default size.", "memory", "hugepages hugepages_free hugepages_reserved hugepages_surplus"),
        levels("Damaged memory", "bytes", "Taken out of use for its errors.", "memory", "hardware_corrupted", "", "_bytes"),
        levels("NUMA nodes: memory", "bytes", "In use and free.", "memory_node", "used free file anon", "node {{node}}", "_bytes"),
        rates("NUMA nodes: misses", "cps", "Pages that came from another node than was wanted.", "memory_node",
              "numa_misses numa_foreign numa_other", "node {{node}}"),
        levels("NUMA nodes: kernel", "bytes", "Its data structures.", "memory_node", "slab kernel_stack page_tables", "node {{node}}", "_bytes"),
    ],
    "Pressure": [
        panel(f"Standing still for {resource}", "percentunit", "Part of the time in which some or all tasks did.",
              *[(f'rate(spotter_pressure_{who}_seconds_total{{instance="$instance",resource="{resource}"}}[R])', who) for who in ("some", "full")],
              most=1) for resource in RESOURCES],
    "Disks and file systems": [
        rates("Read", "Bps", "From each disk.", "disk", "read_bytes", DISK), rates("Written", "Bps", "To each disk.", "disk", "write_bytes", DISK),
        rates("Busy", "percentunit", "Time in which there was any request.", "disk", "io_time_seconds", DISK, most=1),
        panel("Time of a read or a write", "s", "Means.", ratio("disk_read_time_seconds", "disk_reads", f"{DISK} read"),
              ratio("disk_write_time_seconds", "disk_writes", f"{DISK} write")),
        rates("Requests", "ops", "That were done.", "disk", "reads writes discards flushes", DISK),
        panel("Length of the queue", "short", "Requests in work: the mean, and now.",
              *counters("disk", "weighted_io_time_seconds", I, f"{DISK} mean"), *gauges("disk", "in_flight", I, f"{DISK} now")),
        panel("File systems", "percentunit", "Filled.",
              (f"1 - spotter_filesystem_available_bytes{I} / spotter_filesystem_size_bytes{I}", MOUNT), most=1),
        panel("Files", "percentunit", "Of those that a file system can hold.",
              (f"1 - spotter_filesystem_files_free{I} / spotter_filesystem_files{I}", MOUNT), most=1),
        panel("File systems that hang or are read only", "bool", "Only what holds is drawn.",
              (f"spotter_filesystem_reachable{I} == 0", f"{MOUNT} hangs"), (f"spotter_filesystem_read_only{I} == 1", f"{MOUNT} read only")),
    ],
    "Network": [
        rates("Received", "Bps", "By each interface.", "network", "rx_bytes", NIC, NOT_LOOP),
        rates("Sent", "Bps", "By each interface.", "network", "tx_bytes", NIC, NOT_LOOP),
        rates("Packets", "pps", "Received and sent.", "network", "rx_packets tx_packets rx_multicast", NIC, NOT_LOOP),
        errors("Packets dropped or bad", "Counted by the kernel.", "network",
               "rx_drops tx_drops rx_errors tx_errors rx_fifo_errors tx_fifo_errors rx_frame_errors tx_carrier_errors tx_collisions"
               " carrier_changes", NIC),
        errors("Network cards: pauses and losses", "Counted by the card.", "network_hardware",
               "rx_pause tx_pause rx_priority_pause tx_priority_pause pause_storms rx_discards tx_discards rx_out_of_buffer rx_crc_errors"
               " rx_symbol_errors link_downs pci_stalls allowance_exceeded", NIC),
        rates("Network cards: paused", "percentunit", "Time that this card was kept from sending, or kept others from it.", "network_hardware",
              "rx_pause_seconds tx_pause_seconds", NIC),
        errors("TCP: losses", "Segments sent again, time-outs, full queues.", "network_stack",
               "tcp_retransmitted_segments tcp_timeouts tcp_lost_retransmits tcp_listen_overflows tcp_listen_drops tcp_backlog_drops"
               " tcp_receive_queue_drops tcp_zero_window_drops tcp_prunes tcp_timeout_aborts tcp_memory_aborts"),
        rates("TCP and UDP", "pps", "Segments and datagrams.", "network_stack",
              "tcp_in_segments tcp_out_segments udp_in_datagrams udp_out_datagrams"),
        errors("UDP and IP: losses", "No room, no route, bad checksums.", "network_stack",
               "udp_receive_buffer_errors udp_send_buffer_errors udp_in_errors udp_no_ports ip_in_discards ip_out_discards ip_no_routes"
               " ip_reassembly_failures ip_congested_packets"),
        levels("Sockets", "short", "Open connections and sockets in use.", "network_stack",
               "tcp_established tcp_time_wait_sockets tcp_orphans udp_sockets sockets"),
        rates("Connections", "cps", "Begun, failed, reset.", "network_stack",
              "tcp_active_opens tcp_passive_opens tcp_failed_attempts tcp_established_resets"),
        levels("Links", "Bps", "What each can carry.", "network", "speed_bytes_per_second", NIC),
        levels("Interfaces that are up", "bool", "Where their driver says it.", "network", "up", NIC),
    ],
    "RDMA": [
        rates("Received", "Bps", "By each port.", "rdma", "rx_bytes", PORT), rates("Sent", "Bps", "By each port.", "rdma", "tx_bytes", PORT),
        levels("Ports that are up", "bool", "Their state is ACTIVE.", "rdma", "up", PORT),
        errors("Errors of the link", "A cable or a transceiver, mostly.", "rdma",
               "symbol_errors link_error_recovery link_downed local_link_integrity_errors rx_errors tx_errors rx_remote_physical_errors"
               " excessive_buffer_overrun_errors", PORT),
        errors("Packets lost", "Discarded, out of sequence, not acknowledged.", "rdma",
               "tx_discards rx_discards out_of_sequence out_of_buffer packet_seq_err local_ack_timeout_err rnr_nak_retry_err max_retry_exceeded"
               " implied_nak_seq_err duplicate_request", PORT),
        errors("Congestion", "Notifications, marks, waiting for credit.", "rdma",
               "tx_wait np_cnp_sent np_ecn_marked_roce_packets rp_cnp_handled rp_cnp_ignored roce_adp_retrans roce_slow_restart", PORT),
        errors("Requests that failed", "Completed with an error, refused or flushed.", "rdma",
               "req_cqe_error resp_cqe_error req_cqe_flush_error resp_cqe_flush_error req_remote_access_errors resp_remote_access_errors"
               " req_remote_invalid_request resp_local_length_error", PORT),
        rates("Packets and requests", "pps", "Packets; requests that came.", "rdma",
              "rx_packets tx_packets rx_write_requests rx_read_requests rx_atomic_requests", PORT),
        rates("EFA", "Bps", "What Amazon's adapters count.", "rdma",
              "send_bytes recv_bytes read_bytes read_resp_bytes write_bytes write_recv_bytes retrans_bytes", PORT),
    ],
    "The agent": [
        rates("Processor time", "percentunit", "Of one processor.", "agent", "cpu_seconds", width=6),
        rates("Processor time of collectors", "percentunit", "Of one processor.", "agent_collector", "busy_seconds", "{{collector}}", width=6),
        levels("Memory", "bytes", "That the agent holds.", "agent", "resident_bytes", width=6),
        panel("Age of the samples", "s", "Since the numbers of a table were looked at.",
              (f"time() - spotter_sample_timestamp_seconds{I}", "{{table}}"), width=6),
        errors("Samples that failed, were late or skipped", "By collector.", "agent_collector", "failures late skipped", "{{collector}}", width=6),
        panel("Collectors that are off or leave out things", "short", "Off where there is nothing for them here.",
              (f"spotter_agent_collector_up{I} == 0", "{{collector}} is off"),
              (f"spotter_agent_collector_left_out{I} > 0", "{{collector}} leaves out"), width=6),
        errors("What sinks lose", "Batches dropped, attempts that failed, values that were refused.", "agent_sink", "dropped failures rejected",
               "{{sink}}", width=6),
        panel("Rows that are not exposed", "short", "Too many, or with the keys of another.",
              (f"spotter_exposition_rows_left_out{I} > 0", "{{table}}"), width=6),
    ],
    "Any metric": [
        panel("As it is", "none", "Each of its series, as it is sampled, in the unit that its name ends with.",
              ('{__name__="$metric",instance="$instance"}', "__auto"),
              width=12),
        panel("Its rate", "none", "Of counters: how much in a second.",
              ('rate({__name__="$metric",instance="$instance"}[R])', "__auto"),
              width=12),
    ],
}

HOST = dashboard(
    "host", "Spotter: host", "One host: everything that the agent samples there.",
    [variable("instance", "Host", "label_values(spotter_agent_threads, instance)"),
     variable("metric", "Any metric", 'label_values({__name__=~"spotter_.+",instance="$instance"}, __name__)')], ROWS_OF_PANELS)

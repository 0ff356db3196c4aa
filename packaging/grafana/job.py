"""One training job: how its ranks differ, which of them are the slowest, and what their hosts do meanwhile. At most some forty
lines a panel, however many ranks there are."""

from panels import dashboard, panel, spread, stat, table, variable, worst

TOP, ROWS = 10, 40
HOSTS = '{instance=~"$host"}'
OF_JOB = '{job_id="$job",instance=~"$host"}'
MINE = f"and on (instance, gpu) spotter_gpu_job_info{OF_JOB}"
# A row for each GPU and rank of the job, to be put to the left of a number of GPUs.
RANKS = f"spotter_gpu_job_info{OF_JOB} * on (job, instance, gpu) group_left ()"
GPU, RANK, PORT = "rank {{rank}} {{instance}} gpu {{gpu}}", "rank {{rank}} {{instance}}", "{{instance}} {{device}}:{{port}}"
SM = f"spotter_gpu_activity_sm_active_ratio{HOSTS}"
CPU = f"sum by (instance, rank) (rate(spotter_job_cpu_seconds_total{OF_JOB}[R]))"
RESIDENT = f"sum by (instance, rank) (spotter_job_resident_bytes{OF_JOB})"
BUSY = f'1 - sum without (mode) (rate(spotter_cpu_seconds_total{{instance=~"$host",mode=~"idle|iowait"}}[R])) / spotter_cpu_cpus{HOSTS}'
OF_GROUPS = f"and on (instance, cgroup) spotter_cgroup_info{OF_JOB}"
HOSTS_HELP = "Of the hosts of the job, whatever else runs there"


def worst_of(expr, by, low=False, only=""):
    return worst(TOP, expr, by, low, only, also_gone=True)


def of(metric):
    return f"spotter_gpu_{metric}{HOSTS}"


def held(expr):
    return f"({expr} {MINE})"


def over_ranks(title, unit, help, expr, **more):
    return panel(title, unit, f"{help} How the GPUs of the job differ.", *spread(held(expr)), **more)


def worst_ranks(title, unit, help, expr, low=False, only="", **more):
    return panel(title, unit, f"{help} The {TOP} {'lowest' if low else 'highest'} of the job's GPUs.",
                 (worst_of(f"{RANKS} ({expr})", "instance, gpu, rank", low, only), GPU), link="host", **more)


def over_hosts(title, unit, help, expr, **more):
    return panel(title, unit, f"{help} {HOSTS_HELP}.", *spread(f"({expr})"), **more)


def worst_hosts(title, unit, help, expr, by="instance", legend="{{instance}}", only="", low=False, **more):
    return panel(title, unit, f"{help} {HOSTS_HELP}; the {TOP} {'lowest' if low else 'highest'}.",
                 (worst_of(expr, by, low, only), legend), link="host", **more)


def worst_processes(title, unit, help, expr, low=False, **more):
    return panel(title, unit, f"{help} The {TOP} {'lowest' if low else 'highest'} ranks.",
                 (worst_of(expr, "instance, rank", low), RANK), link="host", **more)


def summed(table, *names):
    """Rates of counters by host."""
    return "sum by (instance) (" + " + ".join(f"rate(spotter_{table}_{name}_total{HOSTS}[R])" for name in names) + ")"


def summed_ports(*names):
    return "sum by (instance, device, port) (" + " + ".join(f"increase(spotter_rdma_{name}_total{HOSTS}[R])" for name in names) + ")"


LOWEST = f"bottomk({ROWS}, max by (instance, gpu, rank) ({RANKS} {SM}))"


def beside(expr):
    return f"max by (instance, gpu, rank) ({RANKS} ({expr})) and on (instance, gpu, rank) {LOWEST}"


ROWS_OF_PANELS = {
    "The job": [
        stat("GPUs", "short", "GPUs that processes of the job hold.", f"count(group by (instance, gpu) (spotter_gpu_job_info{OF_JOB}))"),
        stat("Hosts", "short", "Hosts that have processes of the job.", f"count(group by (instance) (spotter_job_processes{OF_JOB}))"),
        stat("Ranks seen", "percentunit", "Ranks that an agent sees, of those that the job says it has.",
             f"count(group by (rank) (spotter_job_processes{OF_JOB})) / max(spotter_job_world_size{OF_JOB})", most=1),
        stat("SM activity", "percentunit", "Mean over the job's GPUs.", f"avg{held(SM)}", most=1),
        stat("Slowest beside the mean", "percentunit", "SM activity of the slowest GPU, divided by that of the mean.",
             f"min{held(SM)} / avg{held(SM)}"),
        stat("Power", "watt", "Of the job's GPUs together.", f"sum{held(of('power_watts'))}"),
        stat("XID errors", "short", "Errors of its GPUs that drivers reported in the chosen time.",
             f"sum(increase(spotter_gpu_xid_errors_total{HOSTS}[$__range]) {MINE})", alarm=True),
        stat("GPUs slowed down", "short", "By heat or the power supply, now.",
             "count(({}) {}) or vector(0)".format(" or ".join(
                 of(f"throttle_{why}") + " == 1" for why in ("hw_slowdown", "thermal_hw", "thermal_sw", "power_brake")), MINE), alarm=True),
        table("What the scheduler calls it", "Name, account, partition, and which of an array it is.",
              {"name": "Name", "account": "Account", "partition": "Partition", "array_job": "Array", "array_task": "Task"},
              [("", "none", 'group by (name, account, partition, array_job, array_task) (spotter_job_allocation_info{job_id="$job"})')],
              width=24, height=4),
    ],
    "How the ranks differ": [
        over_ranks("SM activity", "percentunit", "Part of the time in which an SM had a warp, averaged over SMs.", SM, most=1),
        over_ranks("Utilization", "percentunit", "Part of the time in which any kernel ran, however small.", of("utilization_ratio"), most=1),
        over_ranks("Tensor pipes", "percentunit", "Part of the time in which the tensor pipes worked.",
                   of("activity_tensor_active_ratio"), most=1),
        over_ranks("Power", "watt", "Power drawn by the board.", of("power_watts")),
        over_ranks("Device memory in use", "percentunit", "Of all that the GPU has.",
                   f"{of('memory_used_bytes')} / {of('memory_total_bytes')}", most=1),
        over_ranks("Device memory bandwidth", "percentunit", "Part of the time in which device memory sent or received.",
                   of("activity_dram_active_ratio"), most=1),
        over_ranks("Clock of the SMs", "hertz", "Lowered clocks make all others wait.", of("sm_clock_hertz")),
        over_ranks("NVLink", "Bps", "Sent over all links.", of("activity_nvlink_tx_bytes_per_second")),
        over_ranks("PCIe", "Bps", "Received by the GPU.", of("pcie_rx_bytes_per_second")),
    ],
    "The worst ranks": [
        worst_ranks("Lowest SM activity", "percentunit", "Part of the time in which an SM had a warp.", SM, low=True, most=1),
        worst_ranks("Lowest power", "watt", "A rank that waits draws little.", of("power_watts"), low=True),
        worst_ranks("Lowest clocks", "percentunit", "Clock of the SMs, of its highest.",
                    f"{of('sm_clock_hertz')} / {of('sm_clock_max_hertz')}", low=True, most=1),
        worst_ranks("Hottest", "celsius", "Temperature of the processor.", of("temperature_celsius")),
        worst_ranks("Most device memory", "percentunit", "Of all that the GPU has.",
                    f"{of('memory_used_bytes')} / {of('memory_total_bytes')}", most=1),
        worst_ranks("Errors", "short", "XID errors, and memory errors that were not corrected.",
                    f"increase(spotter_gpu_xid_errors_total{HOSTS}[R]) + increase(spotter_gpu_ecc_uncorrected_volatile_total{HOSTS}[R])",
                    only=" > 0"),
        table("The slowest ranks", f"The {ROWS} GPUs with the lowest SM activity.", {"rank": "Rank", "instance": "Host", "gpu": "GPU"},
              [("SM activity", "percentunit", LOWEST), ("Utilization", "percentunit", beside(of("utilization_ratio"))),
               ("Power", "watt", beside(of("power_watts"))), ("Clock", "hertz", beside(of("sm_clock_hertz"))),
               ("Temperature", "celsius", beside(of("temperature_celsius"))), ("Device memory", "bytes", beside(of("memory_used_bytes")))],
              width=24, sort=("SM activity", False)),
    ],
    "Processors": [
        panel("Processors in use", "short", "By a rank with its workers. How the ranks differ.", *spread(CPU)),
        worst_processes("Most processors", "short", "Processor time of a rank with its workers.", CPU),
        over_hosts("Hosts busy", "percentunit", "Part of the processors that work.", BUSY, most=1),
        worst_hosts("Throttled by the control group", "percentunit", "Part of the periods in which the job had to stop, having used its time.",
                    f"rate(spotter_cgroup_cpu_throttled_periods_total{HOSTS}[R]) / (rate(spotter_cgroup_cpu_periods_total{HOSTS}[R]) > 0)"
                    f" {OF_GROUPS}", "instance, cgroup", "{{instance}} {{cgroup}}", most=1),
        worst_hosts("Waiting for a processor", "percentunit", "Time in which some task stood still for one.",
                    f'rate(spotter_pressure_some_seconds_total{{resource="cpu",instance=~"$host"}}[R])', most=1),
        panel("Threads and processes", "short", "Of the job, workers among them.", (f"sum(spotter_job_processes{OF_JOB})", "processes"),
              (f"sum(spotter_job_threads{OF_JOB})", "threads")),
    ],
    "Data stalls": [
        panel("Read by ranks", "Bps", "From disks and network file systems, a rank with its workers. How the ranks differ.",
              *spread(f"sum by (instance, rank) (rate(spotter_job_read_bytes_total{OF_JOB}[R]))")),
        panel("Read and written", "Bps", "By all ranks together.", (f"sum(rate(spotter_job_read_bytes_total{OF_JOB}[R]))", "read"),
              (f"-sum(rate(spotter_job_write_bytes_total{OF_JOB}[R]))", "written")),
        worst_processes("Page faults that read a disk", "cps", "Data or code that is not in memory any more.",
                        f"sum by (instance, rank) (rate(spotter_job_major_faults_total{OF_JOB}[R]))"),
        worst_hosts("Waiting for disks", "percentunit", "Time in which some task stood still for a disk.",
                    f'rate(spotter_pressure_some_seconds_total{{resource="io",instance=~"$host"}}[R])', most=1),
        worst_hosts("Job waiting for disks", "percentunit", "Time in which some of the job's control group stood still for disks.",
                    f"rate(spotter_cgroup_io_stalled_seconds_total{HOSTS}[R]) {OF_GROUPS}", "instance, cgroup", "{{instance}} {{cgroup}}", most=1),
        worst_hosts("Busiest disks", "percentunit", "Time in which a disk had any request.",
                    f"rate(spotter_disk_io_time_seconds_total{HOSTS}[R])", "instance, device", "{{instance}} {{device}}", most=1),
        worst_hosts("Slowest reads", "s", "Mean time of a read.", f"rate(spotter_disk_read_time_seconds_total{HOSTS}[R])"
                    f" / (rate(spotter_disk_reads_total{HOSTS}[R]) > 0)", "instance, device", "{{instance}} {{device}}"),
        worst_hosts("Files read again", "cps", "Pages of files that were read again soon after they were reclaimed: the data does not fit.",
                    f"rate(spotter_vmstat_file_refaults_total{HOSTS}[R])"),
        worst_hosts("File systems that hang", "short", "They do not answer within a second.",
                    f"spotter_filesystem_reachable{HOSTS} == 0", "instance, mount_point", "{{instance}} {{mount_point}}"),
    ],
    "Memory": [
        panel("Memory of ranks", "bytes", "Held by a rank with its workers; what they share counts for each. How the ranks differ.",
              *spread(RESIDENT)),
        worst_processes("Most memory", "bytes", "Held by a rank with its workers; what they share counts for each.", RESIDENT),
        worst_hosts("Memory of the control group", "percentunit", "Of the job's limit.",
                    f"spotter_cgroup_memory_bytes{HOSTS} / spotter_cgroup_memory_limit_bytes{HOSTS} {OF_GROUPS}",
                    "instance, cgroup", "{{instance}} {{cgroup}}", most=1),
        worst_hosts("Least memory left", "percentunit", "Memory that new programs could have.",
                    f"spotter_memory_available_bytes{HOSTS} / spotter_memory_total_bytes{HOSTS}", low=True, most=1),
        worst_hosts("Waiting for memory", "percentunit", "Time in which all tasks stood still for it.",
                    f'rate(spotter_pressure_full_seconds_total{{resource="memory",instance=~"$host"}}[R])', most=1),
        worst_hosts("Killed for want of memory", "short", "Processes.", f"increase(spotter_vmstat_oom_kills_total{HOSTS}[R])", only=" > 0"),
    ],
    "Network": [
        over_hosts("Received", "Bps", "Over network interfaces, without those on top of others.",
                   'sum by (instance) (rate(spotter_network_rx_bytes_total{instance=~"$host",'
                   'interface!~"lo|(bond|team|br|vlan|macvlan|macvtap|ipvlan|tun|wg|docker|veth).*|.*[.].*"}[R]))'),
        worst_hosts("Packets dropped", "pps", "Received and sent.", summed("network", "rx_drops", "tx_drops"), only=" > 0"),
        worst_hosts("TCP segments sent again", "pps", "Losses on the way.", summed("network_stack", "tcp_retransmitted_segments")),
    ],
    "RDMA": [
        over_hosts("Received by a port", "Bps", "How the ports differ.", f"rate(spotter_rdma_rx_bytes_total{HOSTS}[R])"),
        over_hosts("Sent by a port", "Bps", "How the ports differ.", f"rate(spotter_rdma_tx_bytes_total{HOSTS}[R])"),
        worst_hosts("Ports that are down", "short", "Or that nobody ever connected.", f"spotter_rdma_up{HOSTS} == 0", "instance, device, port", PORT),
        worst_hosts("Errors of links", "short", "Symbol errors, recoveries, losses of the link.",
                    summed_ports("symbol_errors", "link_error_recovery", "link_downed", "local_link_integrity_errors"),
                    "instance, device, port", PORT, only=" > 0"),
        worst_hosts("Packets lost", "short", "Out of sequence, or not acknowledged in time.",
                    summed_ports("out_of_sequence", "packet_seq_err", "local_ack_timeout_err"), "instance, device, port", PORT, only=" > 0"),
        worst_hosts("Waiting for credit", "cps", "Ticks of the port's clock in which there was something to send and no credit.",
                    f"rate(spotter_rdma_tx_wait_total{HOSTS}[R])", "instance, device, port", PORT, only=" > 0"),
        worst_hosts("Congestion", "short", "Notifications sent as receiver and obeyed as sender.",
                    summed_ports("np_cnp_sent", "rp_cnp_handled"), "instance, device, port", PORT, only=" > 0"),
    ],
}

JOB = dashboard(
    "job", "Spotter: job", "One training job: its ranks beside each other, the worst of them by name, and their hosts.",
    [variable("job", "Training job", 'label_values({__name__=~"spotter_gpu_job_info|spotter_job_processes",job_id!=""}, job_id)'),
     variable("host", "Host", 'label_values({__name__=~"spotter_gpu_job_info|spotter_job_processes",job_id="$job"}, instance)', many=True)],
    ROWS_OF_PANELS, interval="30s")

"""All hosts at once: what needs attention. No panel has more than some forty lines or rows, however many hosts there are."""

import pathlib
import re

from panels import dashboard, panel, stat, table, variable, worst

RULES = pathlib.Path(__file__).resolve().parent.parent / "prometheus-rules.yml"
TOP, ROWS = 10, 40  # curves of a panel that names some, rows of a table
WEIGHT = {"critical": 3, "warning": 2, "info": 1}
# What the alerts are called in a few words.
WORDS = {
    "SpotterGpuLost": "GPU lost", "SpotterGpuXid": "XID errors", "SpotterGpuEccUncorrected": "GPU memory errors",
    "SpotterGpuRowRemapping": "GPU needs a reset", "SpotterGpuSlowedDown": "GPU slowed down", "SpotterGpuHeldIdle": "GPU of a job idle",
    "SpotterNvlinkErrors": "NVLink errors", "SpotterMemoryPressure": "Short of memory", "SpotterOutOfMemoryKill": "Killed for memory",
    "SpotterFilesystemFullSoon": "File system full within a day", "SpotterFilesystemFull": "File system full",
    "SpotterFilesystemHangs": "File system hangs", "SpotterRdmaPortDown": "RDMA port down", "SpotterRdmaLinkErrors": "RDMA link errors",
    "SpotterPacketDrops": "Packets dropped", "SpotterAgentDown": "Agent does not answer", "SpotterCollectorHangs": "Collector hangs",
    "SpotterSamplesLost": "Samples lost", "SpotterCollectorLeavesOut": "Collector leaves out things",
    "SpotterBatchesDropped": "Sink drops batches", "SpotterSinkFails": "Sink fails", "SpotterValuesLost": "Sink rejects values",
    "SpotterRowsLeftOut": "Rows not exposed",
}
# What the alerts take from recording rules, where Prometheus may not have loaded them.
UNRECORDED = {"instance_device_port:spotter_rdma_was_up:max": "(max_over_time(spotter_rdma_up[1h]))"}


def alerts():
    """(words, severity, expression) of each alert of the rules, which are the one place where trouble is defined."""
    found = []
    for block in RULES.read_text(encoding="utf-8").split("- alert: ")[1:]:
        name = block.split()[0]
        expr = re.search(r"^ +expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)", block, re.MULTILINE)
        severity = re.search(r"severity: (\w+)", block)[1]
        text = " ".join((expr[1] or expr[2]).split())
        for recorded, meant in UNRECORDED.items():
            text = text.replace(recorded, meant)
        found.append((WORDS[name], severity, text))
    return found


TROUBLE = alerts()
HAVE_TABLES = ("GPU lost", "XID errors", "Agent does not answer", "Samples lost")
# A row for each GPU and job that holds it: put to the left of a number of GPUs, it gives the number to each of these jobs. (What
# docs/prometheus.md has around it, `group by`, would double what this costs, and all here goes through another aggregation. `job`
# keeps those apart that scrape the same host.)
HELD = 'spotter_gpu_job_info{job_id!=""} * on (job, instance, gpu) group_left ()'
IN_JOBS = 'and on (instance, gpu) spotter_gpu_job_info{job_id!=""}'
SM = "spotter_gpu_activity_sm_active_ratio"
JOB_SM = f"avg by (job_id) ({HELD} {SM})"
LARGEST = f'topk({ROWS}, count by (job_id) (group by (instance, gpu, job_id) (spotter_gpu_job_info{{job_id!=""}})))'
CPU = '1 - sum without (mode) (rate(spotter_cpu_seconds_total{mode=~"idle|iowait"}[R])) / spotter_cpu_cpus'
MEMORY = "1 - spotter_memory_available_bytes / spotter_memory_total_bytes"
FILLED = "1 - spotter_filesystem_available_bytes / spotter_filesystem_size_bytes"
IO = 'rate(spotter_pressure_some_seconds_total{resource="io"}[R])'
RDMA = "sum by (instance) (rate(spotter_rdma_rx_bytes_total[R]) + rate(spotter_rdma_tx_bytes_total[R]))"


def quantiles(expr):
    return [(f"quantile({q}, {expr})", legend) for q, legend in ((0.05, "5 %"), (0.5, "median"), (0.95, "95 %"))]


def of_jobs(expr):
    return f"{expr} and on (job_id) {LARGEST}"


def count(expr):
    return f"count({expr}) or vector(0)"


def lost(what):
    return (f"sum by (instance, collector) (rate(spotter_agent_collector_{what}_total[10m]))"
            " / sum by (instance, collector) (rate(spotter_agent_collector_samples_total[10m]) > 0)")


JOB_COLUMNS = [
    ("GPUs", "short", LARGEST),
    ("Hosts", "short", of_jobs('count by (job_id) (group by (instance, job_id) (spotter_gpu_job_info{job_id!=""}))')),
    ("SM activity", "percentunit", of_jobs(JOB_SM)),
    ("Lowest SM activity", "percentunit", of_jobs(f"min by (job_id) ({HELD} {SM})")),
    ("Utilization", "percentunit", of_jobs(f"avg by (job_id) ({HELD} spotter_gpu_utilization_ratio)")),
    ("Device memory", "percentunit",
     of_jobs(f"avg by (job_id) ({HELD} (spotter_gpu_memory_used_bytes / spotter_gpu_memory_total_bytes))")),
    ("Power", "watt", of_jobs(f"sum by (job_id) ({HELD} spotter_gpu_power_watts)")),
    ("XID errors", "short", of_jobs(f"sum by (job_id) ({HELD} increase(spotter_gpu_xid_errors_total[$__range]))")),
    ("", "none", of_jobs("group by (job_id, name, account, partition) (spotter_job_allocation_info)")),
]

ROWS_OF_PANELS = {
    "Now": [
        stat("Hosts that answer", "short", "Agents that Prometheus reaches.", count('up{job=~"$scrape"} == 1')),
        stat("Hosts that do not", "short", "Agents that Prometheus does not reach.", count('up{job=~"$scrape"} == 0'), alarm=True),
        stat("GPUs", "short", "GPUs that the agents see, lost ones among them.", "count(group by (instance, gpu) (spotter_gpu_info))"),
        stat("GPUs lost", "short", "GPUs that their driver does not reach any more.",
             count('group by (instance, gpu) (spotter_gpu_info{quality=~".*lost.*"})'), alarm=True),
        stat("GPUs in jobs", "percentunit", "Part of the GPUs that a training job holds.",
             'count(group by (instance, gpu) (spotter_gpu_job_info{job_id!=""})) / count(group by (instance, gpu) (spotter_gpu_info))', most=1),
        stat("SM activity in jobs", "percentunit", "Mean over the GPUs that a job holds.", f"avg({SM} {IN_JOBS})", most=1),
        stat("XID errors", "short", "Errors that drivers reported in the chosen time.",
             "sum(increase(spotter_gpu_xid_errors_total[$__range]))", alarm=True),
        stat("Power of the GPUs", "watt", "Of all boards together.", "sum(spotter_gpu_power_watts)"),
    ],
    "What needs attention": [
        table("Hosts that need attention", f"What the alert rules see now, the worst {ROWS} of it. Whether it lasts long enough "
              f"for an alert is not asked. There are tables of their own further down: {', '.join(HAVE_TABLES)}.",
              {"instance": "Host", "what": "What"},
              [("Severity", "severity", f"topk({ROWS}, " + " or ".join(
                  f'label_replace({WEIGHT[severity]} * group by (instance) ({expr}), "what", "{words}", "", "")'
                  for words, severity, expr in TROUBLE if words not in HAVE_TABLES) + ")")]),
        panel("Hosts by state", "short", "On how many hosts each alert rule sees something now.",
              *[(f"count(group by (instance) ({expr}))", words) for words, _, expr in TROUBLE], kind="bargauge", width=6),
        panel("Alerts that fire", "short", "By the rules of packaging/prometheus-rules.yml; empty where Prometheus has not loaded them.",
              ('count by (alertname) (ALERTS{alertname=~"Spotter.+",alertstate="firing"})', "{{alertname}}"), width=6),
    ],
    "Jobs": [
        table("Jobs", f"The {ROWS} that hold the most GPUs. A GPU that jobs share counts for each of them.",
              {"job_id": "Job", "name": "Name", "account": "Account", "partition": "Partition"}, JOB_COLUMNS, width=24),
        panel("Lowest SM activity", "percentunit", f"Mean over a job's GPUs; the {TOP} jobs with the lowest at the end of the time.",
              (worst(TOP, JOB_SM, "job_id", low=True), "{{job_id}}"), link="job", most=1),
        panel("Most GPUs' worth of time unused", "short", "How many GPUs a job holds in vain: each counts as 1 less its SM activity.",
              (worst(TOP, f"sum by (job_id) ({HELD} (1 - {SM}))", "job_id"), "{{job_id}}"), link="job"),
        panel("Slowest GPU beside the job's mean", "percentunit",
              "SM activity of a job's slowest GPU, divided by that of the mean; low where one rank does something else than the others.",
              (worst(TOP, f"min by (job_id) ({HELD} {SM}) / {JOB_SM}", "job_id", low=True), "{{job_id}}"), link="job"),
        panel("SM activity of jobs", "percentunit", "Quantiles over jobs of the mean over a job's GPUs.", *quantiles(JOB_SM), most=1),
        panel("Most power", "watt", f"Of a job's GPUs together; the {TOP} jobs with the most at the end of the time.",
              (worst(TOP, f"sum by (job_id) ({HELD} spotter_gpu_power_watts)", "job_id"), "{{job_id}}"), link="job"),
        panel("Jobs", "short", "How many jobs hold GPUs.", ('count(group by (job_id) (spotter_gpu_job_info{job_id!=""}))', "jobs")),
    ],
    "GPUs": [
        panel("SM activity in jobs", "percentunit", "Quantiles over the GPUs that a job holds: the part of the time in which an SM had a warp.",
              *quantiles(f"({SM} {IN_JOBS})"), most=1),
        panel("Utilization in jobs", "percentunit", "As the driver says: the part of the time in which any kernel ran, however small.",
              *quantiles(f"(spotter_gpu_utilization_ratio {IN_JOBS})"), most=1),
        panel("Power", "watt", "Quantiles over all GPUs.", *quantiles("spotter_gpu_power_watts")),
        panel("Hottest", "celsius", f"The {TOP} GPUs that are hottest at the end of the time.",
              (worst(TOP, "spotter_gpu_temperature_celsius", "instance, gpu"), "{{instance}} gpu {{gpu}}"), link="host"),
        panel("Lowest clocks in jobs", "percentunit", f"Clock of the SMs, of its highest; the {TOP} lowest of GPUs that a job holds.",
              (worst(TOP, f"spotter_gpu_sm_clock_hertz / spotter_gpu_sm_clock_max_hertz {IN_JOBS}", "instance, gpu", low=True),
               "{{instance}} gpu {{gpu}}"), link="host", most=1),
        panel("GPUs with lowered clocks", "short", "How many, by the reason that the driver gives.",
              *[(f"count(spotter_gpu_throttle_{why} == 1)", why.replace("_", " ")) for why in
                ("power_cap", "hw_slowdown", "thermal_hw", "thermal_sw", "power_brake", "sync_boost", "board_limit", "reliability")]),
        table("Lost GPUs", "Their driver does not reach them any more; the machine has to be restarted.",
              {"instance": "Host", "gpu": "GPU", "uuid": "UUID"},
              [("", "none", f'topk({ROWS}, group by (instance, gpu, uuid) (spotter_gpu_info{{quality=~".*lost.*"}}))')]),
        table("XID errors", "What the drivers reported in the chosen time, and the number of the last.", {"instance": "Host", "gpu": "GPU"},
              [("Errors", "short", f"topk({ROWS}, max by (instance, gpu) (increase(spotter_gpu_xid_errors_total[$__range])) > 0)"),
               ("Last", "none", f"max by (instance, gpu) (spotter_gpu_last_xid) and on (instance, gpu)"
                f" topk({ROWS}, max by (instance, gpu) (increase(spotter_gpu_xid_errors_total[$__range])) > 0)")]),
    ],
    "Network": [
        panel("RDMA", "Bps", "Of all ports together.", ("sum(rate(spotter_rdma_rx_bytes_total[R]))", "received"),
              ("-sum(rate(spotter_rdma_tx_bytes_total[R]))", "sent")),
        panel("RDMA by host", "Bps", "Both ways; quantiles over hosts.", *quantiles(RDMA)),
        panel("RDMA link errors", "short", f"Symbol errors, recoveries and losses of a link; the {TOP} ports with the most in the chosen time.",
              (worst(TOP, "increase(spotter_rdma_symbol_errors_total[R]) + increase(spotter_rdma_link_error_recovery_total[R])"
                     " + increase(spotter_rdma_link_downed_total[R])", "instance, device, port", only=" > 0"), "{{instance}} {{device}}:{{port}}"),
              link="host"),
        panel("Network", "Bps", "Without interfaces on top of others; quantiles over hosts of what is received.",
              *quantiles('sum by (instance) (rate(spotter_network_rx_bytes_total'
                         '{interface!~"lo|(bond|team|br|vlan|macvlan|macvtap|ipvlan|tun|wg|docker|veth).*|.*[.].*"}[R]))')),
        panel("Packets dropped", "pps", f"Received and sent; the {TOP} hosts with the most in the chosen time.",
              (worst(TOP, "sum by (instance) (rate(spotter_network_rx_drops_total[R]) + rate(spotter_network_tx_drops_total[R]))",
                     "instance", only=" > 0"), "{{instance}}"), link="host"),
        panel("TCP segments sent again", "percentunit", f"Of all that are sent; the {TOP} hosts with the most in the chosen time.",
              (worst(TOP, "rate(spotter_network_stack_tcp_retransmitted_segments_total[R])"
                     " / (rate(spotter_network_stack_tcp_out_segments_total[R]) > 0)", "instance"), "{{instance}}"), link="host"),
    ],
    "Hosts": [
        panel("Processors busy", "percentunit", "Quantiles over hosts.", *quantiles(f"({CPU})"), most=1),
        panel("Busiest processors", "percentunit", f"The {TOP} hosts that are busiest at the end of the time.",
              (worst(TOP, CPU, "instance"), "{{instance}}"), link="host", most=1),
        panel("Most memory in use", "percentunit", f"The {TOP} hosts with the least memory left at the end of the time.",
              (worst(TOP, MEMORY, "instance"), "{{instance}}"), link="host", most=1),
        panel("Waiting for disks", "percentunit", f"Time in which some task stood still for a disk; the {TOP} hosts with the most.",
              (worst(TOP, IO, "instance"), "{{instance}}"), link="host", most=1),
        table("Fullest file systems", f"The {ROWS} with the least room.", {"instance": "Host", "mount_point": "Mount point"},
              [("Filled", "percentunit", f"topk({ROWS}, {FILLED})")], width=16),
    ],
    "Agents": [
        table("Agents that do not answer", f"At most {ROWS} of them.", {"instance": "Host"},
              [("", "none", f'topk({ROWS}, 1 - (up{{job=~"$scrape"}} == 0))')], width=8),
        table("Samples lost", "Part of a collector's samples that failed or were skipped in ten minutes.",
              {"instance": "Host", "collector": "Collector"},
              [("Lost", "percentunit", f"topk({ROWS}, ({lost('failures')}) + ({lost('skipped')}) > 0)")], width=8),
        table("Tables that stand still", "Numbers that are older than two minutes: a driver or a file system hangs, mostly.",
              {"instance": "Host", "table": "Table"},
              [("Age", "s", f"topk({ROWS}, time() - spotter_sample_timestamp_seconds > 120)")], width=8),
        panel("Versions", "short", "How many agents there are of each version.",
              ("topk(20, count by (version) (spotter_build_info))", "{{version}}"), kind="bargauge", width=6),
        panel("Batches dropped", "cps", f"What sinks lose; the {TOP} with the most in the chosen time.",
              (worst(TOP, "sum by (instance, sink) (rate(spotter_agent_sink_dropped_total[R]))", "instance, sink", only=" > 0"),
               "{{instance}} {{sink}}"), link="host", width=6),
        panel("Processor time of an agent", "percentunit", "Of one processor; quantiles over hosts.",
              *quantiles("rate(spotter_agent_cpu_seconds_total[R])"), width=6),
        panel("Memory of an agent", "bytes", "Quantiles over hosts.", *quantiles("spotter_agent_resident_bytes"), width=6),
    ],
}

FLEET = dashboard(
    "fleet", "Spotter: fleet", "All hosts, GPUs and training jobs that agents watch: what needs attention.",
    [variable("scrape", "Scrape job", "label_values(spotter_agent_threads, job)", many=True)], ROWS_OF_PANELS,
    interval="1m")

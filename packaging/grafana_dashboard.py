#!/usr/bin/env python3
"""Writes grafana-dashboard.json, which Grafana (9.4 and newer) imports as it is: python3 packaging/grafana_dashboard.py

ROWS is the dashboard: rows of panels, a panel of queries with their legends. In queries, I stands for the chosen instances,
G for instances and GPUs, R for rate's interval; JOB joins the training job that a GPU is held by, of those that are chosen,
and HELD leaves out GPUs without one.
"""

import json
import pathlib

OUTPUT = pathlib.Path(__file__).with_name("grafana-dashboard.json")
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT = 24, 8

SHORT = {
    "JOB": 'on (instance, gpu) group_left (job_id) spotter_gpu_info{instance=~"$instance",gpu=~"$gpu",job_id=~"$job"}',
    "HELD": 'on (instance, gpu) group_left (job_id) spotter_gpu_info{instance=~"$instance",gpu=~"$gpu",job_id=~"$job",job_id!=""}',
    "[R]": "[$__rate_interval]",
    "{I": '{instance=~"$instance"',
    "{G": '{instance=~"$instance",gpu=~"$gpu"',
}


def query(text):
    for short, whole in SHORT.items():
        text = text.replace(short, whole)
    return text


def panel(title, unit, *queries, width=8, kind="timeseries", most=None, stack=False, help=None):
    """`queries`: pairs of an expression and a legend."""
    defaults = {"unit": unit}
    if most is not None:
        defaults |= {"min": 0, "max": most}
    if kind == "timeseries":
        defaults["custom"] = {"fillOpacity": 40 if stack else 8, "lineWidth": 1, "showPoints": "never",
                              "stacking": {"mode": "normal" if stack else "none"}}
    made = {"title": title, "type": kind, "datasource": DATASOURCE,
            "fieldConfig": {"defaults": defaults, "overrides": []},
            "targets": [{"refId": chr(ord("A") + n), "datasource": DATASOURCE, "expr": query(expr),
                         "legendFormat": legend} | ({"instant": True, "format": "table"} if kind == "table" else {})
                        for n, (expr, legend) in enumerate(queries)],
            "width": width}
    if kind == "timeseries":
        made["options"] = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}}
    if kind == "stat":
        made["options"] = {"colorMode": "value", "reduceOptions": {"calcs": ["lastNotNull"]}}
    if help:
        made["description"] = help
    return made


def counts(table, names, where="{I}", by=""):
    """Rates of counters, one query for each."""
    return [(f"rate(spotter_{table}_{name}_total{where}[R])", (by + " " + name.replace("_", " ")).strip()) for name in names]


ROWS = {
    "Overview": [
        panel("Hosts", "short", ("count(spotter_agent_threads{I})", ""), kind="stat", width=3),
        panel("GPUs", "short", ("count(spotter_gpu_memory_total_bytes{G})", ""), kind="stat", width=3),
        panel("GPUs in jobs", "short", ('count(spotter_gpu_info{G,job_id=~".+"})', ""), kind="stat", width=3),
        panel("SM activity in jobs", "percentunit",
              ('avg(spotter_gpu_activity_sm_active_ratio{G} * on (instance, gpu) group_left () spotter_gpu_info{job_id=~".+"})', ""),
              kind="stat", width=3, most=1),
        panel("Power of the GPUs", "watt", ("sum(spotter_gpu_power_watts{G})", ""), kind="stat", width=3),
        panel("GPUs throttled", "short",
              ("count(spotter_gpu_throttle_hw_slowdown{G} == 1 or spotter_gpu_throttle_thermal_hw{G} == 1"
               " or spotter_gpu_throttle_thermal_sw{G} == 1 or spotter_gpu_throttle_power_brake{G} == 1) or vector(0)", ""),
              kind="stat", width=3),
        panel("XID errors in the range", "short", ("sum(increase(spotter_gpu_xid_errors_total{G}[$__range]))", ""), kind="stat", width=3),
        panel("Memory in use", "percentunit",
              ("1 - sum(spotter_memory_available_bytes{I}) / sum(spotter_memory_total_bytes{I})", ""), kind="stat", width=3, most=1),
    ],
    "GPU activity": [
        panel("SM activity", "percentunit", ("spotter_gpu_activity_sm_active_ratio{G} * JOB", "{{instance}} gpu {{gpu}} {{job_id}}"),
              most=1, help="Part of the time in which an SM had a warp, averaged over SMs."),
        panel("Tensor pipes", "percentunit", ("spotter_gpu_activity_tensor_active_ratio{G} * JOB", "{{instance}} gpu {{gpu}} {{job_id}}"),
              most=1),
        panel("Device memory bandwidth", "percentunit",
              ("spotter_gpu_activity_dram_active_ratio{G} * JOB", "{{instance}} gpu {{gpu}} {{job_id}}"), most=1),
        panel("Utilization, as the driver says", "percentunit",
              ("spotter_gpu_utilization_ratio{G} * JOB", "{{instance}} gpu {{gpu}} {{job_id}}"), most=1,
              help="Part of the time in which any kernel ran, however small."),
        panel("SM occupancy", "percentunit", ("spotter_gpu_activity_sm_occupancy_ratio{G} * JOB", "{{instance}} gpu {{gpu}} {{job_id}}"),
              most=1),
        panel("Device memory in use", "bytes", ("spotter_gpu_memory_used_bytes{G} * JOB", "{{instance}} gpu {{gpu}} {{job_id}}")),
        panel("NVLink", "Bps", ("spotter_gpu_activity_nvlink_tx_bytes_per_second{G}", "{{instance}} gpu {{gpu}} sent"),
              ("spotter_gpu_activity_nvlink_rx_bytes_per_second{G}", "{{instance}} gpu {{gpu}} received"), width=12),
        panel("PCIe", "Bps", ("spotter_gpu_pcie_tx_bytes_per_second{G}", "{{instance}} gpu {{gpu}} sent"),
              ("spotter_gpu_pcie_rx_bytes_per_second{G}", "{{instance}} gpu {{gpu}} received"), width=12),
    ],
    "GPU health": [
        panel("Power", "watt", ("spotter_gpu_power_watts{G}", "{{instance}} gpu {{gpu}}")),
        panel("Temperature", "celsius", ("spotter_gpu_temperature_celsius{G}", "{{instance}} gpu {{gpu}}"),
              ("spotter_gpu_memory_temperature_celsius{G}", "{{instance}} gpu {{gpu}} memory")),
        panel("Clock of the SMs", "hertz", ("spotter_gpu_sm_clock_hertz{G}", "{{instance}} gpu {{gpu}}")),
        panel("Part of the time with lowered clocks", "percentunit",
              *[(f"rate(spotter_gpu_violation_{why}_seconds_total{{G}}[R])", "{{instance}} gpu {{gpu}} " + why.replace("_", " "))
                for why in ("power", "thermal", "board_limit", "reliability", "sync_boost")], width=12),
        panel("Clocks lowered now", "bool",
              *[(f"spotter_gpu_throttle_{why}{{G}} == 1", "{{instance}} gpu {{gpu}} " + why.replace("_", " "))
                for why in ("hw_slowdown", "thermal_hw", "thermal_sw", "power_brake", "power_cap", "sync_boost")], width=12),
        panel("Errors of the GPUs", "short",
              ("increase(spotter_gpu_xid_errors_total{G}[R])", "{{instance}} gpu {{gpu}} XID"),
              ("increase(spotter_gpu_ecc_uncorrected_volatile_total{G}[R])", "{{instance}} gpu {{gpu}} ECC, not corrected"),
              ("increase(spotter_gpu_ecc_corrected_volatile_total{G}[R])", "{{instance}} gpu {{gpu}} ECC, corrected")),
        panel("Errors of the links", "short",
              ("increase(spotter_gpu_nvlink_crc_errors_total{G}[R])", "{{instance}} gpu {{gpu}} NVLink checksums"),
              ("increase(spotter_gpu_nvlink_replays_total{G}[R])", "{{instance}} gpu {{gpu}} NVLink replays"),
              ("increase(spotter_gpu_pcie_replays_total{G}[R])", "{{instance}} gpu {{gpu}} PCIe replays")),
        panel("What is known of the GPUs", "none", ("spotter_gpu_info{G}", ""), kind="table"),
    ],
    "Jobs": [
        panel("SM activity", "percentunit", ("avg by (job_id) (spotter_gpu_activity_sm_active_ratio{G} * HELD)", "{{job_id}}"), most=1),
        panel("Power", "watt", ("sum by (job_id) (spotter_gpu_power_watts{G} * HELD)", "{{job_id}}")),
        panel("Slowest GPU beside the mean", "percentunit",
              ("min by (job_id) (spotter_gpu_activity_sm_active_ratio{G} * HELD) / avg by (job_id) (spotter_gpu_activity_sm_active_ratio{G} * HELD)",
               "{{job_id}}"), most=1),
        panel("Processors", "short",
              ('sum by (job_id, rank) (rate(spotter_job_cpu_user_seconds_total{I,job_id=~"$job"}[R])'
               ' + rate(spotter_job_cpu_system_seconds_total{I,job_id=~"$job"}[R]))', "{{job_id}} rank {{rank}}")),
        panel("Memory", "bytes", ('sum by (job_id, rank) (spotter_job_resident_bytes{I,job_id=~"$job"})', "{{job_id}} rank {{rank}}")),
        panel("Read from disks", "Bps", ('sum by (job_id, rank) (rate(spotter_job_read_bytes_total{I,job_id=~"$job"}[R]))',
                                         "{{job_id}} rank {{rank}}")),
        panel("Throttled by the control group", "percentunit",
              ("rate(spotter_cgroup_cpu_throttled_periods_total{I}[R]) / rate(spotter_cgroup_cpu_periods_total{I}[R])", "{{instance}} {{cgroup}}"),
              width=12, most=1),
        panel("Memory, of the control group's limit", "percentunit",
              ("spotter_cgroup_memory_bytes{I} / spotter_cgroup_memory_limit_bytes{I}", "{{instance}} {{cgroup}}"), width=12, most=1),
    ],
    "CPU": [
        panel("Where the time goes, in processors", "short",
              *[(f"sum(rate(spotter_cpu_{mode}_seconds_total{{I}}[R]))", mode)
                for mode in ("user", "nice", "system", "irq", "softirq", "steal", "guest", "iowait")], stack=True),
        panel("Busy", "percentunit",
              ("1 - (rate(spotter_cpu_idle_seconds_total{I}[R]) + rate(spotter_cpu_iowait_seconds_total{I}[R])) / spotter_cpu_cpus{I}",
               "{{instance}}"), most=1),
        panel("Load", "short", ("spotter_load_1m{I}", "{{instance}} 1 min"), ("spotter_load_15m{I}", "{{instance}} 15 min")),
        panel("Context switches and forks", "cps", ("rate(spotter_cpu_context_switches_total{I}[R])", "{{instance}} switches"),
              ("rate(spotter_cpu_forks_total{I}[R])", "{{instance}} forks")),
        panel("Interrupts", "cps", ("rate(spotter_interrupts_device_total{I}[R])", "{{instance}} devices"),
              ("rate(spotter_interrupts_tlb_shootdowns_total{I}[R])", "{{instance}} TLB shootdowns"),
              ("rate(spotter_interrupts_reschedule_total{I}[R])", "{{instance}} rescheduling")),
        panel("Instructions per cycle", "short",
              ("rate(spotter_pmu_instructions_total{I}[R]) / rate(spotter_pmu_cycles_total{I}[R])", "{{instance}}")),
    ],
    "Memory and pressure": [
        panel("Memory in use", "percentunit", ("1 - spotter_memory_available_bytes{I} / spotter_memory_total_bytes{I}", "{{instance}}"),
              most=1),
        panel("What memory is used for", "bytes",
              *[(f"sum(spotter_memory_{what}_bytes{{I}})", what) for what in ("anon", "cached", "slab", "buffers", "page_tables", "free")],
              stack=True),
        panel("Time that tasks stand still for", "percentunit",
              ("rate(spotter_pressure_some_seconds_total{I}[R])", "{{instance}} {{resource}}, some"),
              ("rate(spotter_pressure_full_seconds_total{I}[R])", "{{instance}} {{resource}}, all"), most=1),
        panel("Page faults that a disk was read for", "cps", ("rate(spotter_vmstat_major_page_faults_total{I}[R])", "{{instance}}")),
        panel("Waits for memory", "cps", *counts("vmstat", ("allocation_stalls", "compaction_stalls"), by="{{instance}}")),
        panel("Swap, and killed processes", "short", ("spotter_memory_swap_total_bytes{I} - spotter_memory_swap_free_bytes{I}", "{{instance}} swap"),
              ("increase(spotter_vmstat_oom_kills_total{I}[R])", "{{instance}} killed")),
    ],
    "Disks": [
        panel("Read and written", "Bps", ("rate(spotter_disk_read_bytes_total{I}[R])", "{{instance}} {{device}} read"),
              ("-rate(spotter_disk_write_bytes_total{I}[R])", "{{instance}} {{device}} written")),
        panel("Busy", "percentunit", ("rate(spotter_disk_io_time_seconds_total{I}[R])", "{{instance}} {{device}}"), most=1),
        panel("Time of a read or a write", "s",
              ("rate(spotter_disk_read_time_seconds_total{I}[R]) / rate(spotter_disk_reads_total{I}[R])", "{{instance}} {{device}} read"),
              ("rate(spotter_disk_write_time_seconds_total{I}[R]) / rate(spotter_disk_writes_total{I}[R])", "{{instance}} {{device}} write")),
        panel("File systems", "percentunit",
              ("1 - spotter_filesystem_available_bytes{I} / spotter_filesystem_size_bytes{I}", "{{instance}} {{mount_point}}"), width=16, most=1),
        panel("File systems that do not answer", "short", ("spotter_filesystem_reachable{I} == 0", "{{instance}} {{mount_point}}")),
    ],
    "Network and RDMA": [
        panel("Network", "Bps", ('rate(spotter_network_rx_bytes_total{I,interface!="lo"}[R])', "{{instance}} {{interface}} received"),
              ('-rate(spotter_network_tx_bytes_total{I,interface!="lo"}[R])', "{{instance}} {{interface}} sent")),
        panel("Packets dropped or bad", "pps", *counts("network", ("rx_drops", "tx_drops", "rx_errors", "tx_errors"), by="{{instance}} {{interface}}")),
        panel("TCP", "pps", *counts("network_stack", ("tcp_retransmitted_segments", "tcp_listen_drops"), by="{{instance}}")),
        panel("RDMA", "Bps", ("rate(spotter_rdma_rx_bytes_total{I}[R])", "{{instance}} {{device}}:{{port}} received"),
              ("-rate(spotter_rdma_tx_bytes_total{I}[R])", "{{instance}} {{device}}:{{port}} sent")),
        panel("RDMA: errors", "cps",
              *counts("rdma", ("symbol_errors", "link_error_recovery", "link_downed", "local_link_integrity_errors", "rx_errors"),
                      by="{{instance}} {{device}}:{{port}}")),
        panel("RDMA: congestion and losses", "cps",
              *counts("rdma", ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "np_cnp_sent", "rp_cnp_handled", "tx_wait"),
                      by="{{instance}} {{device}}:{{port}}")),
    ],
    "The agent itself": [
        panel("Processor time", "percentunit", ("rate(spotter_agent_cpu_seconds_total{I}[R])", "{{instance}}"), help="Of one processor."),
        panel("Memory", "bytes", ("spotter_agent_resident_bytes{I}", "{{instance}}")),
        panel("Age of the samples", "s", ("time() - spotter_sample_timestamp_seconds{I}", "{{instance}} {{table}}")),
        panel("Samples that failed, were late or skipped", "cps",
              *counts("agent_collector", ("failures", "late", "skipped"), by="{{instance}} {{collector}}")),
        panel("Things that a collector leaves out", "short",
              ("spotter_agent_collector_left_out{I} > 0", "{{instance}} {{collector}}")),
        panel("Batches dropped, and attempts that failed", "cps", *counts("agent_sink", ("dropped", "failures"), by="{{instance}} {{sink}}")),
        panel("Rows that are not exposed", "short", ("spotter_exposition_rows_left_out{I} > 0", "{{instance}} {{table}}")),
    ],
}


def variable(name, label, values):
    return {"name": name, "label": label, "type": "query", "datasource": DATASOURCE, "query": {"query": values, "refId": name},
            "definition": values, "includeAll": True, "allValue": ".*", "multi": True, "refresh": 2, "sort": 3,
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]}}


def dashboard():
    panels, y = [], 0
    for title, row in ROWS.items():
        panels.append({"type": "row", "title": title, "collapsed": False, "panels": [],
                       "gridPos": {"h": 1, "w": WIDTH, "x": 0, "y": y}})
        y, x = y + 1, 0
        for made in row:
            width = made.pop("width")
            height = HEIGHT // 2 if made["type"] == "stat" else HEIGHT
            if x + width > WIDTH:
                x, y = 0, y + height
            panels.append(made | {"gridPos": {"h": height, "w": width, "x": x, "y": y}})
            x += width
        y += height
    for n, made in enumerate(panels, 1):
        made["id"] = n
    return {
        "title": "Spotter", "uid": "spotter", "tags": ["spotter", "gpu", "pytorch"], "schemaVersion": 38, "version": 1,
        "editable": True, "graphTooltip": 1, "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "timezone": "browser",
        "description": "Hosts, GPUs and training jobs, as `spotter agent --prometheus` exposes them.",
        "annotations": {"list": []}, "links": [],
        "templating": {"list": [
            {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "refresh": 1,
             "includeAll": False, "multi": False, "current": {}},
            variable("instance", "Host", "label_values(spotter_agent_threads, instance)"),
            variable("gpu", "GPU", 'label_values(spotter_gpu_info{instance=~"$instance"}, gpu)'),
            variable("job", "Training job", 'label_values({__name__=~"spotter_gpu_info|spotter_job_processes",instance=~"$instance"}, job_id)'),
        ]},
        "panels": panels,
    }


def text():
    return json.dumps(dashboard(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    OUTPUT.write_text(text(), encoding="utf-8")

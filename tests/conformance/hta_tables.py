"""HTA's tables: for each the rows of HTA and ours with --compat hta, both as {key: numbers}, times in us, and what
hta_model.py makes of the trace by HTA's rules."""

import dataclasses
import functools
import math
import typing

import harness
import hta_calls
import hta_model
import references
from hta_answers import all_us, answer, columns, number, parameters, ranks, us, zero_if_none

KINDS = {"compute": "COMPUTATION", "communication": "COMMUNICATION", "memory": "MEMORY"}
LENGTHS = (1, 10, 100, 1000, 1024)  # of full queues


def numbered(pairs):
    """{key and a count: values}, for keys that occur again."""
    found, counts = {}, {}
    for key, values in sorted(pairs):
        found[(*key, counts.get(key, 0))] = values
        counts[key] = counts.get(key, 0) + 1
    return found


def stats(row):
    return tuple(map(us, (row["sum_ns"], row["max_ns"], row["min_ns"], row["std_ns"], row["mean_ns"])))


STATS = ("sum (us)", "max (us)", "min (us)", "stddev", "mean (us)")
OUR_POINTS = ("mean", "std", "min", "p25", "median", "p75", "max")
POINTS = ("count", "mean", "std", "min", "25%", "50%", "75%", "max")


@dataclasses.dataclass(frozen=True)
class Table:
    name: str  # HTA's file
    ours: typing.Callable  # of the trace
    theirs: typing.Callable  # of HTA's rows
    model: typing.Callable  # of a hta_rank.Rank and the rules; without the rank in its keys, and in ns
    in_us: typing.Callable  # the model's values as the table has them
    within: typing.Any = 0  # HTA's rounding; a tuple: of each column
    parameters: typing.Callable = lambda trace: {}  # of the model


PARTS = ("idle", "compute", "non_compute")


def temporal_ours(trace):
    return {(r["rank"],): (*all_us(r[f"{part}_ns"] for part in (*PARTS, "kernel_time")),
                           *(100 * r[f"{part}_ratio"] for part in PARTS)) for r in answer(trace)["temporal_breakdown"]}


def temporal_in_us(values):
    return (*all_us(values), *(100 * part / values[3] for part in values[:3]))


def temporal_theirs(rows):
    names = [*(f"{part}_time(us)" for part in (*PARTS, "kernel")), *(f"{part}_time_pctg" for part in PARTS)]
    return {(int(r["rank"]),): columns(r, *names) for r in rows}


def overlap_ours(trace):
    return {(r["rank"],): (None if r["ratio"] is None else 100 * r["ratio"],)
            for r in answer(trace)["comm_comp_overlap"]}


def overlap_theirs(rows):
    return {(int(r["rank"]),): columns(r, "comp_comm_overlap_pctg") for r in rows}


def overlap_in_percent(values):
    return tuple(None if ratio is None else 100 * ratio for ratio in values)


def with_shares(times, group):
    """{key: (time, its share of the times of its group)}"""
    totals = {}
    for key, time in times.items():
        totals[group(key)] = totals.get(group(key), 0) + time
    return {key: (time, time / totals[group(key)] if totals[group(key)] else None) for key, time in times.items()}


def types_ours(trace):
    sums = {}
    for row in answer(trace)["kernel_type_breakdown"]:
        key = (" overlapping ".join(KINDS[kind] for kind in row["kernel_type"].split("+")),)
        sums[key] = sums.get(key, 0) + us(row["time_ns"])
    return of_all({key: time for key, time in sums.items() if time})


def of_all(sums):
    return {key: (time, 100 * share) for key, (time, share) in with_shares(sums, lambda key: None).items()}


def types_theirs(rows):  # which kinds are listed with 0 depends on the order of ties
    return {(r["kernel_type"],): columns(r, "sum", "percentage") for r in rows if number(r["sum"])}


def kernels_ours(trace):
    return {(r["rank"], r["name"], KINDS[r["kind"]]): stats(r) for r in answer(trace)["kernel_breakdown"]}


def kernels_theirs(rows):
    return {(int(r["rank"]), r["name"], r["kernel_type"]): columns(r, *STATS) for r in rows}


def annotations_ours(side, trace):
    return {(r["rank"], r["name"]): stats(r) for r in answer(trace)["user_annotation_breakdown"] if r["side"] == side}


def annotations_theirs(rows):
    return {(int(r["rank"]), r["name"]): columns(r, *STATS) for r in rows}


WAITS = ("host_wait", "kernel_wait", "other")


def idle_ours(trace):
    return {(r["rank"], r["stream"], wait): (us(r[f"{wait}_ns"]), r[f"{wait}_ratio"])
            for r in answer(trace)["idle_time_breakdown"] for wait in WAITS if r[f"{wait}_count"]}


def idle_theirs(rows):  # a stream's first row, which follows none, counts as other, with no time
    return {(int(r["rank"]), int(r["stream"]), r["idle_category"]): columns(r, "idle_time", "idle_time_ratio") for r in rows
            if r["idle_category"] != "other" or number(r["idle_time"])}


def idle_statistics_ours(trace):
    return {(r["rank"], r["stream"], r["idle_category"]): (r["count"], *all_us(r[f"{name}_ns"] for name in OUR_POINTS))
            for r in answer(trace)["idle_interval_statistics"]}


def idle_statistics_theirs(rows):
    return {(int(r["rank"]), int(r["stream"]), r["idle_category"]): tuple(map(zero_if_none, columns(r, *POINTS)))
            for r in rows if number(r["count"])}


def launches_ours(trace):
    return numbered(((r["rank"], r["correlation"]), all_us((r["host_ns"], r["device_ns"], r["launch_delay_ns"])))
                    for r in answer(trace)["kernel_launches"])


def launches_theirs(rows):
    return numbered(((int(r["rank"]), int(float(r["correlation"]))),
                     columns(r, "cpu_duration", "gpu_duration", "launch_delay")) for r in rows)


def queues_ours(trace):
    return {(r["rank"], r["stream"]): tuple(r[name] for name in ("count", *OUR_POINTS)) for r in answer(trace)["queue_length"]}


def queues_theirs(rows):
    return {(int(r["rank"]), int(float(r["stream"]))): tuple(map(zero_if_none, columns(r, *POINTS))) for r in rows}


@functools.cache
def blocked_ours(trace):
    found = {}
    for limit in LENGTHS:
        rows = harness.analyze(*references.paths(trace), tables=["queue_blocked"], top=None,
                               options=("--compat", "hta", "--max-queue-length", limit))["queue_blocked"]
        found |= {(r["rank"], limit, r["stream"]): (us(r["blocked_ns"]),) for r in rows}
    return found


def blocked_theirs(rows):
    return {(int(r["rank"]), int(r["max_queue_length"]), int(float(r["stream"]))):
            columns(r, "duration_at_max_queue_length") for r in rows}


def bandwidths_ours(trace):
    return {(r["rank"], r["type"]): (r["points"], *(r[f"point_{name}_bytes_per_s"] / 1e9 for name in OUR_POINTS))
            for r in answer(trace)["memory_bandwidth"] if r["points"]}


def bandwidths_theirs(rows):
    return {(int(r["rank"]), r["name"]): tuple(map(zero_if_none, columns(r, *POINTS))) for r in rows}


def operator_kernels_ours(trace):
    return {(r["rank"], r["operator"], r["kernels"]): (r["calls"], us(r["mean_operator_delay_ns"]),
                                                     us(r["mean_call_to_start_ns"]))
            for r in answer(trace)["operator_kernels"] if r["operator"].startswith("aten::")}


def operator_kernels_theirs(rows):
    return {(int(r["rank"]), r["aten_op_name"], r["kernel_sequence"]):
            columns(r, "occurrence_count", "avg_aten_op_launch_delay", "avg_runtime_delay") for r in rows}


def kernel_launches_ours(trace):
    sums = {}
    for r in answer(trace)["kernel_launches"]:
        if not hta_calls.MEMORY_CALL.search(r["api"]):
            for at, value in enumerate((1, *all_us((r["host_ns"], r["device_ns"], r["launch_delay_ns"])))):
                sums.setdefault((r["rank"],), [0, 0, 0, 0])[at] += value
    return {key: tuple(values) for key, values in sums.items()}


def kernel_launches_theirs(rows):
    return {(int(rank),): tuple(r[name] for name in ("rows", "cpu_duration", "gpu_duration", "launch_delay"))
            for rank, r in rows.items() if r["rows"]}


def sequences_asked(trace):
    asked = parameters(trace)["frequent_cuda_kernel_sequences"]
    return {"text": asked["operator_name"], "least": asked["min_pattern_len"]}


@functools.cache
def sequences_ours(trace):
    asked = sequences_asked(trace)
    options = ("--compat", "hta", "--operator", asked["text"], "--min-pattern-length", asked["least"])
    table = "frequent_kernel_sequences"
    return {(r["rank"], f"{r['operator']} -> {r['kernels']}".replace("|", " -> ")):
            (r["count"], us(r["device_ns"]), us(r["operator_ns"]))
            for r in harness.analyze(*references.paths(trace), tables=[table], options=options)[table]}


def sequences_theirs(rows):
    names = ("count", "GPU kernel duration (us)", "CPU op duration (us)")
    return {(int(r["rank"]), r["pattern"].replace("|", " -> ")): columns(r, *names) for r in rows}


def all_but_first_us(values):
    return (values[0], *map(us, values[1:]))


TABLES = {table.name: table for table in (
    Table("temporal_breakdown", temporal_ours, temporal_theirs, hta_model.temporal, temporal_in_us, (0, 0, 0, 0, *3 * [0.005])),
    Table("comm_comp_overlap", overlap_ours, overlap_theirs, hta_model.overlap, overlap_in_percent, 0.005),
    Table("gpu_kernel_breakdown.type_df", types_ours, types_theirs, hta_model.types, all_us, (0, 0.05)),
    Table("gpu_kernel_breakdown.kernel_df_full", kernels_ours, kernels_theirs, hta_model.kernels, all_us),
    Table("gpu_kernel_breakdown.kernel_df", kernels_ours, kernels_theirs, hta_model.kernels_cut, all_us),
    Table("gpu_user_annotation_breakdown.cpu", functools.partial(annotations_ours, "host"), annotations_theirs, None, None),
    Table("gpu_user_annotation_breakdown.gpu", functools.partial(annotations_ours, "device"), annotations_theirs, None, None),
    Table("idle_time_breakdown", idle_ours, idle_theirs, hta_model.idle, all_us, 0.005),
    Table("idle_time_breakdown.interval_stats", idle_statistics_ours, idle_statistics_theirs, hta_model.idle_statistics,
          all_but_first_us, 0.005),
    Table("cuda_kernel_launch_stats", launches_ours, launches_theirs, hta_calls.launches, all_us),
    Table("cuda_kernel_launch_stats.no_memory_events", kernel_launches_ours, kernel_launches_theirs,
          hta_calls.kernel_launches, all_but_first_us),
    Table("queue_length_summary.stable", queues_ours, queues_theirs, hta_calls.queues, tuple),
    Table("time_spent_blocked_on_full_queue", blocked_ours, blocked_theirs,
          functools.partial(hta_calls.blocked, lengths=LENGTHS), all_us),
    Table("memory_bw_summary.stable", bandwidths_ours, bandwidths_theirs, hta_model.bandwidths, tuple),
    Table("aten_op_kernels_and_delay", operator_kernels_ours, operator_kernels_theirs, hta_calls.operator_kernels,
          all_but_first_us, 0.0005),
    Table("frequent_cuda_kernel_sequences", sequences_ours, sequences_theirs, hta_calls.sequences, all_but_first_us, 0,
          sequences_asked),
)}


def same(a, b, within=0):
    if a is None or b is None:
        return a is b
    each = within if isinstance(within, tuple) else len(a) * [within]
    return all(x is y if x is None or y is None else math.isclose(x, y, rel_tol=1e-9, abs_tol=limit * 1.0001 + 1e-9)
               for x, y, limit in zip(a, b, each, strict=True))


def differing(ours, theirs, within=0):
    """Keys of rows that only one side has, or with other numbers."""
    return [key for key in sorted({*ours, *theirs}, key=str) if not same(ours.get(key), theirs.get(key), within)]


def modelled(table, trace, rules):
    """The table that HTA's rules give; without rules, ours."""
    found, earlier = {}, []
    for rank, rows in ranks(trace).items():
        more = {"earlier": tuple(earlier)} if table.name.startswith("aten") else table.parameters(trace)
        earlier.append(rows)
        if "B19" not in rules and not any(row.is_work() for row in rows.rows):
            continue
        for key, values in table.model(rows, rules, **more).items():
            if table.name.endswith("type_df"):
                key = (" overlapping ".join(KINDS[kind] for kind in key[0].split("+")),)
                found[key] = found.get(key, 0) + us(values[0])
            else:
                key = (key[0], KINDS[key[1]]) if "kernel_df" in table.name else key
                found[(rank, *key)] = table.in_us(values)
    if table.name.endswith("type_df"):
        return of_all(found)
    if table.name == "idle_time_breakdown":
        return with_shares({key: time for key, (time,) in found.items()}, lambda key: key[:2])
    return found

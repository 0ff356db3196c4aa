"""The program against the exact reference results, number by number, on every trace that has them.

Integers must be equal; means, deviations and ratios agree to 1e-9 of their size.
"""

import json
import re

import pytest

import harness
import oracle
import references

pytestmark = harness.needs_shared()

KINDS = ("host_wait", "kernel_wait", "other")


def ratio(part, whole):
    return part / whole if whole else None


def base_ns(path):
    found = re.search(rb'"baseTimeNanoseconds"\s*:\s*(\d+)', harness.text_of(path))
    return int(found[1]) if found else 0


def expected_summary(numbers, path):
    steps = {"steps": len(numbers["steps"]), "step_mark": "ProfilerStep"} if numbers["steps"] else {}
    assert not numbers["sub_ns_values"], "the reference rounded times"
    return {"file": path.name, "events": numbers["n_events"], "spans": numbers["n_spans"],
            "device_events": numbers["n_device_events"], "host_events": numbers["n_host_events"],
            "start_ns": base_ns(path) + numbers["min_ts_all"], "losses": 0, **steps}


def expected_device_tables(numbers):
    """{table: {key of a row: {column: value}}} for a rank with device work."""
    time, overlap = numbers["temporal_breakdown"], numbers["comm_comp_overlap"]
    window = time["kernel_time"]
    temporal = {"kernel_time_ns": window}
    for part in ("idle", "compute", "non_compute"):
        temporal |= {f"{part}_ns": time[part], f"{part}_ratio": ratio(time[part], window)}

    busy = sum(numbers["type_overlap"].values())
    total = sum(kernel["sum"] for kernel in numbers["kernels"])
    idle = {}
    for stream, gaps in numbers["idle_by_stream"].items():
        row = {"rows": gaps["rows"], "busy_ns": gaps["busy"], "span_ns": gaps["span"], "idle_ns": gaps["idle"],
               "overlapping_rows": gaps["overlapping_rows"], "unlaunched_rows": gaps["unlaunched_rows"]}
        for kind in KINDS:
            row |= {f"{kind}_ns": gaps[kind]["time"], f"{kind}_count": gaps[kind]["count"],
                    f"{kind}_ratio": gaps[kind]["ratio"]}
        idle[tuple(map(int, stream.split("/")))] = row
    return {
        "temporal_breakdown": {(): temporal},
        "comm_comp_overlap": {(): {"communication_ns": overlap["communication"],
                                   "compute_and_communication_ns": overlap["compute_and_communication"],
                                   "ratio": overlap["ratio"]}},
        "kernel_type_breakdown": {(kinds,): {"time_ns": ns, "ratio": ratio(ns, busy)}
                                  for kinds, ns in numbers["type_overlap"].items()},
        "kernel_breakdown": {(k["kind"], k["name"]): {"count": k["count"], "sum_ns": k["sum"], "min_ns": k["min"],
                                                      "max_ns": k["max"], "mean_ns": k["mean"], "std_ns": k["std"],
                                                      "ratio": ratio(k["sum"], total)}
                             for k in numbers["kernels"]},
        "idle_time_breakdown": idle,
        "kernel_launch_stats": expected_launches(numbers["launch"]),
        "queue_length": expected_queues(numbers["queue_length"]),
        "queue_blocked": expected_blocked(numbers["queue_length"], BLOCKED_AT),
        "memory_bandwidth": expected_bandwidth(numbers["memory_bandwidth"]),
    }


def expected_launches(launch):
    """By host call. The reference counts the host time once per row that a call starts."""
    rows = {}
    for api, n in launch["by_api"].items():
        rows[(api,)] = {"launches": n["launches"], "rows": n["rows"], "device_ns": n["gpu_duration"],
                        "launch_delay_ns": n["launch_delay"], "max_launch_delay_ns": n["max_launch_delay"],
                        "mean_launch_delay_ns": n["launch_delay"] / n["rows"], "short_rows": n["short_kernels"],
                        "runtime_outliers": n["runtime_outliers"], "launch_delay_outliers": n["launch_delay_outliers"]}
        if n["launches"] == n["rows"]:
            rows[(api,)]["host_ns"] = n["cpu_duration"]
    return rows


def expected_queues(queues):
    rows = {}
    for stream, queue in queues.items():
        points, weighted = queue["events"], queue["time_weighted"]
        if points["count"]:
            rows[tuple(map(int, stream.split("/")))] = {
                "count": points["count"], "mean": points["mean"], "std": points["std"], "min": points["min"],
                "p25": points["25%"], "median": points["50%"], "p75": points["75%"], "max": points["max"],
                "span_ns": weighted["span"], "time_mean": weighted["mean"]}
    return rows


def expected_blocked(queues, length):
    return {tuple(map(int, stream.split("/"))): {"blocked_ns": queue["time_weighted"]["time_at_or_above"][str(length)]}
            for stream, queue in queues.items()
            if queue["events"]["count"] and queue["time_weighted"]["time_at_or_above"][str(length)]}


def expected_bandwidth(types):
    """By type; where bandwidths are GB/s, the program has bytes per second."""
    rows = {}
    for name, n in types.items():
        points = {f"point_{ours}_bytes_per_s": n["points"][theirs] * 1e9 if n["points"]["count"] else None
                  for ours, theirs in (("mean", "mean"), ("std", "std"), ("min", "min"), ("p25", "25%"),
                                       ("median", "50%"), ("p75", "75%"), ("max", "max")) if theirs in n["points"]}
        # MTIA calls them "size", which the reference does not know; then it has none.
        moved = {"bytes": n["bytes"], "achieved_bytes_per_s": n["bytes_per_ns"] * 1e9} if n["bytes"] else {}
        rows[(name,)] = {"count": n["rows"], "sum_ns": n["dur"], "busy_ns": n["busy"], **moved,
                         "busy_bytes_per_s": n["time_weighted"]["mean_while_busy"] * 1e9,
                         "max_bytes_per_s": n["time_weighted"]["max"] * 1e9,
                         "without_bandwidth": n["rows_without_bandwidth"], "points": n["points"]["count"], **points}
    return rows


BLOCKED_AT = 10
EVENT_CALLS = ("recordEvent", "enqueueCommand waitOnEvent")  # that start nothing else on MTIA
KEYS = {"temporal_breakdown": (), "comm_comp_overlap": (), "kernel_type_breakdown": ("kernel_type",),
        "kernel_breakdown": ("kind", "name"), "idle_time_breakdown": ("device", "stream"), "kernel_launch_stats": ("api",),
        "queue_length": ("device", "stream"), "queue_blocked": ("device", "stream"), "memory_bandwidth": ("type",)}
TABLES = ("summary", *KEYS)


def same(got, expected):
    if isinstance(expected, float):
        return isinstance(got, (int, float)) and got == pytest.approx(expected, rel=1e-9, abs=0)
    return type(got) is type(expected) and got == expected


def differences(got, expected, where):
    """One line per value of `expected` that `got`, a row of the program, does not have."""
    return [f"{where} {column}: got {got.get(column)!r}, expected {value!r}"
            for column, value in expected.items() if not same(got.get(column), value)]


def without_event_rows(numbers):
    """The reference counts what MTIA does for events as device work. What it sums up by name and by call is told without;
    the tables that cannot be are in the second set, and have a model in test_hta.py."""
    kernels = [k for k in numbers.get("kernels", []) if k["name"] not in oracle.EVENT_ROWS]
    events = sum(k["count"] for k in numbers.get("kernels", []) if k["name"] in oracle.EVENT_ROWS)
    if not events:
        return numbers, set()
    launch = {"by_api": {api: n for api, n in numbers["launch"]["by_api"].items() if api not in EVENT_CALLS}}
    fewer = {"kernels": kernels, "launch": launch, "n_device_events": numbers["n_device_events"] - events,
             "n_host_events": numbers["n_host_events"] + events}
    return numbers | fewer, set(KEYS) - {"kernel_breakdown", "kernel_launch_stats", "memory_bandwidth"}


def different_tables(answer, rank, numbers, left_out=()):
    """One line per value that the tables of KEYS do not have."""
    wrong = []
    device_tables = expected_device_tables(numbers) if numbers["n_device_events"] else {}
    for table, key_columns in KEYS.items():
        if table in left_out:
            continue
        rows = [row for row in answer[table] if row["rank"] == rank]
        expected = device_tables.get(table, {})
        got = {tuple(row[column] for column in key_columns): row for row in rows}
        assert len(got) == len(rows), f"{table}: rows with equal keys"
        wrong += [f"rank {rank} {table}: missing row {key}" for key in expected.keys() - got.keys()]
        wrong += [f"rank {rank} {table}: row {key} too much" for key in got.keys() - expected.keys()]
        for key in expected.keys() & got.keys():
            wrong += differences(got[key], expected[key], f"rank {rank} {table} {key}")
    return wrong


@pytest.mark.parametrize("name", references.names())
def test_every_number(name):
    paths, ranks = references.paths(name), references.ranks(name)
    answer = harness.analyze(*paths, tables=TABLES, options=("--max-queue-length", BLOCKED_AT))
    wrong = []
    for (rank, numbers), path in zip(sorted(ranks.items()), paths, strict=True):
        numbers, left_out = without_event_rows(numbers)
        summary = [row for row in answer["summary"] if row["rank"] == rank]
        assert len(summary) == 1, f"rank {rank}: {answer['summary']}"
        wrong += differences(summary[0], expected_summary(numbers, path), f"rank {rank} summary")
        wrong += different_tables(answer, rank, numbers, left_out)
    assert {row["rank"] for row in answer["summary"]} == set(ranks)
    assert not wrong, "\n".join([f"{len(wrong)} differences:", *wrong[:30]])


def is_in_microseconds(name):
    return not any(ns % 1000 for path in references.paths(name)
                   for span in oracle.Trace(harness.text_of(path)).spans for ns in (span.start, span.end))


@pytest.mark.parametrize("name", references.hta_rows())
def test_rows_that_hta_selects(name):
    """--compat hta leaves the same rows; where times are whole microseconds it rounds nothing."""
    if not is_in_microseconds(name):
        pytest.skip("rounded: test_hta.py")
    document = json.loads((harness.SHARED / "golden" / "exact" / f"{name}{references.HTA_ROWS}").read_text())
    options = ("--compat", "hta", "--max-queue-length", BLOCKED_AT)
    answer = harness.analyze(*references.paths(name), tables=KEYS, options=options)
    wrong = [line for rank, numbers in document["ranks"].items() for line in different_tables(answer, int(rank), numbers)]
    assert not wrong, "\n".join([f"{len(wrong)} differences:", *wrong[:30]])


def test_every_reference_has_its_trace():
    assert set(references.names()) == set(references.TRACES)

"""call_tree against a plain second reading of the traces, and against what HTA's call graph says of three of them."""

import json

import pytest

import harness
import oracle

HOST = {"user_annotation": 0, "python_function": 1, "cpu_op": 2, "operator": 2}


def rows_of(path, *options):
    done = harness.run("analyze", path, "--table", "call_tree", "--format", "json", *options)
    if not harness.is_trace(path):
        pytest.skip("no trace")
    assert done.returncode == 0, done.stderr
    return harness.Answer(json.loads(done.stdout))["call_tree"]


def order_of(category):
    """Where equal intervals nest; None: no span of the host."""
    if category in HOST:
        return HOST[category]
    return 3 if category.endswith(("runtime", "driver")) or category == "hpu_op" else None


def read(path):
    """Host spans by thread as (start, -end, order, position), and device work as (launch's position, start, end)."""
    document = oracle.read(harness.text_of(path))
    events = document["traceEvents"] if isinstance(document, dict) else document
    threads, launches, work = {}, {}, []
    for position, event in enumerate(events):
        if not isinstance(event, dict) or event.get("ph", "X") != "X" or not isinstance(event.get("cat"), str):
            continue
        start, dur = oracle.ns(event.get("ts")), oracle.ns(event.get("dur"))
        if start is None or dur is None:
            continue
        category, end = event["cat"].lower(), start + max(dur, 0)
        order = order_of(category)
        correlation = event.get("args", {}).get("correlation", 0)
        if order is not None:
            threads.setdefault((event["pid"], event["tid"]), []).append((start, -end, order, position))
            if order == 3 and correlation:
                if correlation not in launches or (start, position) < launches[correlation]:
                    launches[correlation] = (start, position)
        elif oracle.is_device_work(event):
            work.append((correlation, start, end))
    return threads, [(launches[c][1], start, end) for c, start, end in work if c in launches]


@pytest.mark.parametrize("path", harness.traces(most=400_000))
def test_tree(path):
    rows = {row["event"]: row for row in rows_of(path)}
    threads, work = read(path)
    assert len(rows) == sum(map(len, threads.values()))
    parents = {}
    for spans in threads.values():
        open_spans = []
        for start, end, _, position in sorted(spans):
            while open_spans and -open_spans[-1][0] > end:  # it ends before this one does
                open_spans.pop()
            parents[position] = open_spans[-1][1] if open_spans else None
            open_spans.append((-end, position))
    for position, parent in parents.items():
        if parent is not None:
            assert rows[position]["parent"] == parent
    # Below each span, also that of another thread that it waits for, is what its calls launched.
    kernels, times = dict.fromkeys(rows, 0), dict.fromkeys(rows, 0)
    for launch, start, end in work:
        at = launch
        while at is not None:
            kernels[at] += 1
            times[at] += end - start
            at = rows[at]["parent"]
    for position, row in rows.items():
        assert (row["kernels"], row["device_ns"]) == (kernels[position], times[position])
        assert row["depth"] == (0 if row["parent"] is None else rows[row["parent"]]["depth"] + 1)
        if row["parent"] is not None:
            caller = rows[row["parent"]]
            assert caller["start_ns"] <= row["start_ns"]
            assert row["start_ns"] + row["dur_ns"] <= caller["start_ns"] + caller["dur_ns"]


@harness.needs_shared()
def test_backward_thread_as_hta():
    rows = {row["event"]: row for row in rows_of(harness.SHARED / "traces/hta/call_stack")}
    assert {event: row["parent"] for event, row in rows.items()} == {0: None, 1: 0, 2: 1, 3: 2, 4: 3, 6: 4}
    assert [rows[event]["depth"] for event in (0, 1, 2, 3, 4, 6)] == [0, 1, 2, 3, 4, 5]
    assert all((row["kernels"], row["device_ns"]) == (1, 45_000) for row in rows.values())


@harness.needs_shared()
@pytest.mark.parametrize("trace, threads, depth", [("trace_diff/control", 3, 10), ("df_index_resolver", 2, 7)])
def test_size_as_hta(trace, threads, depth):
    """HTA's trees have device work as leaves: it is one deeper than its launch."""
    rows = rows_of(harness.SHARED / "traces/hta" / trace, "--compat", "hta")
    assert len({row["thread"] for row in rows}) == threads
    launching = {row["parent"] for row in rows if row["parent"] is not None}
    leaves = [row["depth"] + (1 if row["kernels"] else 0) for row in rows if row["event"] not in launching]
    assert max(leaves) == depth


@harness.needs_shared()
@pytest.mark.parametrize("trace", ["hta/nccl_parser_config", "tracelens/mi300", "pytorch_2_13_cpu/dataloader_shapes"])
def test_forward_as_kineto_draws_it(trace):
    """Its flows fwdbwd, matched to the operators that begin where their ends are."""
    for path in sorted(p for p in (harness.SHARED / "traces" / trace).iterdir() if p.suffix == ".gz"):
        events = oracle.read(harness.text_of(path))["traceEvents"]
        ops, flows = {}, {}
        for position, event in enumerate(events):
            if event.get("cat") == "cpu_op":
                ops.setdefault((event["tid"], event["ts"]), []).append(position)
            elif event.get("cat") in ("fwdbwd", "forward_backward"):
                flows.setdefault(event["id"], {})[event["ph"]] = (event["tid"], event["ts"])
        forward = {row["event"]: row["forward_event"] for row in rows_of(path)}
        assert flows
        for ends in flows.values():
            assert {forward[back] for back in ops[ends["f"]]} & set(ops[ends["s"]])

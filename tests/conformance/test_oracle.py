"""The program against a plain Python reading (oracle.py) of every trace: counts, kernel and operator sums, exactly."""

import json

import pytest

import harness
import oracle
import references


@harness.needs_shared()
@pytest.mark.parametrize("name", references.names() if (harness.SHARED / "golden").is_dir() else [])
def test_the_oracle_itself(name):
    """It has to give the reference results' counts and kernel sums, without the program."""
    for (_, numbers), path in zip(sorted(references.ranks(name).items()), references.paths(name), strict=True):
        trace = oracle.Trace(harness.text_of(path))
        assert trace.events == numbers["n_events"]
        assert len(trace.spans) == numbers["n_spans"]
        kernels = {k["name"]: (k["count"], k["sum"], k["min"], k["max"]) for k in numbers.get("kernels", [])}
        events = [kernels.pop(name) for name in oracle.EVENT_ROWS & kernels.keys()]  # they count as work there
        assert len(trace.device) == numbers["n_device_events"] - sum(count for count, *_ in events)
        assert trace.kernels() == kernels


def check_trace(path, trace):
    answer = harness.analyze(path, tables=("summary", "kernel_breakdown", "operators", "device_idle_breakdown"))
    (summary,) = answer["summary"]
    start = min((span.start for span in trace.spans), default=None)
    expected = {
        "events": trace.events,
        "spans": len(trace.spans),
        "device_events": len(trace.device),
        "host_events": len(trace.spans) - len(trace.device),
        "start_ns": None if start is None else trace.base_ns + start,
        "span_ns": None if start is None else max(span.end for span in trace.spans) - start,
        "world_size": trace.world_size,
        "host": trace.host,
    }
    assert {column: summary[column] for column in expected} == expected
    if trace.rank is not None:
        assert summary["rank"] == trace.rank

    kernels = {}
    for row in answer["kernel_breakdown"]:  # one name can have rows of several kinds
        kernels.setdefault(row["name"], []).append((row["count"], row["sum_ns"], row["min_ns"], row["max_ns"]))
    got = {name: (sum(r[0] for r in rows), sum(r[1] for r in rows), min(r[2] for r in rows), max(r[3] for r in rows))
           for name, rows in kernels.items()}
    assert got == trace.kernels()
    idle = [(row["rows"], row["idle_ns"], row["host_wait_ns"] + row["kernel_wait_ns"] + row["other_ns"] + row["unknown_ns"])
            for row in answer["device_idle_breakdown"]]
    assert idle == ([] if trace.idle() is None else [(len(trace.device), trace.idle(), trace.idle())])
    assert {row["name"]: (row["calls"], row["host_total_ns"]) for row in answer["operators"]} == trace.operators()


def check_no_trace(path):
    """Text that is no JSON, or JSON of something else: an answer with notes, or one line that says why not."""
    done = harness.run("analyze", path, "--format", "json", "--table", "summary")
    if done.returncode == 0:
        assert json.loads(done.stdout)["notes"], "nothing says that the file is damaged"
    else:
        assert done.returncode == 1
        assert len(done.stderr.decode().splitlines()) == 1, done.stderr


@pytest.mark.parametrize("path", harness.traces())
def test_file(path):
    try:
        trace = oracle.Trace(harness.text_of(path))
    except (ValueError, KeyError, RecursionError):  # Python's parser does not take it, or it has no events
        check_no_trace(path)
    else:
        check_trace(path, trace)

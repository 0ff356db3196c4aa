"""spotter.load: events as they are in the file."""

import gzip
import json
import pathlib
import pickle

import pytest

import spotter


@pytest.fixture(scope="module")
def path(training):
    return sorted(pathlib.Path(training).glob("*.json*"))[0]


def test_events_are_those_of_the_file(path):
    text = path.read_bytes()
    document = json.loads(gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text)
    events = document["traceEvents"]
    trace = spotter.load(path, progress=False)
    table = trace.events(["stream", "External id", "Input Dims", "correlation"])
    assert len(trace) == len(table) == len(events)
    base = document.get("baseTimeNanoseconds", 0)
    for row, event in zip(table, events):
        assert row["phase"] == event["ph"] and row["category"] == event.get("cat") and row["name"] == event["name"]
        assert (row["pid"], row["tid"]) == (str(event["pid"]) or "0", str(event.get("tid", 0)) or "0")
        if event["ph"] == "X":
            assert abs(row["start_ns"] - base - event["ts"] * 1000) <= 1 + abs(event["ts"]) * 1e-12
            assert abs(row["dur_ns"] - event.get("dur", 0) * 1000) <= 1
        args = event.get("args", {})
        for name in ("stream", "External id", "correlation"):
            assert row[name] == args.get(name) or row[name] is None and args.get(name) is None
        if "Input Dims" in args:
            assert json.loads(row["Input Dims"]) == args["Input Dims"]
    members = {".bp", ".s", "id"}  # of the events themselves
    assert set(trace.args) - members == {name for event in events for name in event.get("args", {})}


def test_what_the_file_says_of_itself(path):
    text = path.read_bytes()
    document = json.loads(gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text)
    trace = spotter.load(path, progress=False)
    del document["traceEvents"]
    assert trace.metadata == document


def test_one_of_a_job(job):
    assert spotter.load(job, rank=3, progress=False).rank == 3
    with pytest.raises(spotter.NotFound, match="rank 77"):
        spotter.load(job, rank=77)
    with pytest.raises(spotter.Invalid, match="6 traces"):
        spotter.load(job)
    with pytest.raises(spotter.Invalid, match="no event has the argument x"):
        spotter.load(job, rank=0, progress=False).events(["x"])


def test_a_pickle_is_its_path(job):
    trace = spotter.load(job, rank=1, progress=False)
    assert len(pickle.dumps(trace)) < 500
    assert pickle.loads(pickle.dumps(trace)).events() == trace.events()


def test_arrow(job):
    pyarrow = pytest.importorskip("pyarrow")
    trace = spotter.load(job, rank=1, progress=False)
    assert pyarrow.table(trace).num_rows == len(trace)

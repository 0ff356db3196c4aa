"""spotter.load: events as they are in the file."""

import gzip
import json
import os
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


def write(path, args):
    """A trace of one event for each of these arguments."""
    events = [
        {"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5, "args": a} for i, a in enumerate(args)
    ]  # fmt: skip
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def test_arguments_that_are_called_as_columns_are(tmp_path):
    path = write(tmp_path / "a.json", [{"name": "mine", "dur_ns": 7, "args.name": 3, "x": 1}, {"name": "too"}])
    table = spotter.load(path, progress=False).events(["name", "x", "dur_ns", "args.name"])
    own = len(spotter.load(path, progress=False).events().columns)
    assert table.columns[own:] == ["args.name", "x", "args.dur_ns", "args.args.name"]
    assert table["name"] == ["op0", "op1"] and table["args.name"] == ["mine", "too"] and table["args.dur_ns"] == [7, None]
    assert table["dur_ns"] == [5000, 5000] and table["args.args.name"] == [3, None]
    assert len(set(table.columns)) == len(table.columns) == len(table.to_dict())
    with pytest.raises(spotter.Invalid, match="x is named twice"):
        spotter.load(path, progress=False).events(["x", "name", "x"])


def test_a_relative_path_stays_that_of_its_file(tmp_path, monkeypatch):
    for folder, count in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "t.json", [{}] * count)
    monkeypatch.chdir(tmp_path / "a")
    trace, named = spotter.load("t.json", progress=False), spotter.Trace("t.json", False)
    monkeypatch.chdir(tmp_path / "b")
    assert trace.path == str(tmp_path / "a" / "t.json")
    assert len(pickle.loads(pickle.dumps(trace))) == len(trace) == len(named) == 1
    assert spotter.Trace("s3://bucket/t.json").path == "s3://bucket/t.json"


def test_names_that_are_no_utf8(tmp_path):
    name = os.fsencode(tmp_path) + b"/t\xff\xe9.json"
    try:
        os.link(write(tmp_path / "a.json", [{}, {}]), name)
    except OSError:
        pytest.skip("names are UTF-8 here")
    os.unlink(tmp_path / "a.json")
    for path in (name, os.fsdecode(name), [name], pathlib.Path(os.fsdecode(name)), tmp_path):
        trace = spotter.load(path, progress=False)
        assert len(trace) == 2 and os.fsencode(trace.path) == name
        assert len(spotter.summary(path, progress=False)) == 1
    page, timeline = name.replace(b".json", b".html"), name.replace(b".json", b"-timeline.json")
    spotter.report(name, progress=False).save(page)
    spotter.export(name, timeline, progress=False)
    assert os.path.getsize(page) > 1000 and json.loads(pathlib.Path(os.fsdecode(timeline)).read_bytes())
    with pytest.raises(spotter.Invalid, match="one of the traces"):
        spotter.export(tmp_path / os.fsdecode(name), name, progress=False)


def test_a_pickle_is_its_path(job):
    trace = spotter.load(job, rank=1, progress=False)
    assert len(pickle.dumps(trace)) < 500
    assert pickle.loads(pickle.dumps(trace)).events() == trace.events()


def test_arrow(job):
    pyarrow = pytest.importorskip("pyarrow")
    trace = spotter.load(job, rank=1, progress=False)
    assert pyarrow.table(trace).num_rows == len(trace)

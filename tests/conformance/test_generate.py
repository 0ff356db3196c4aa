"""bench/generate.py: copies are whole traces side by side, moved apart in time and ids."""

import gzip
import importlib.util
import json

import pytest

import harness
import oracle

spec = importlib.util.spec_from_file_location("generate", harness.ROOT / "bench" / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

TRACES = harness.traces([name for name, _ in harness.trace_files() if any(part in name for part in (
    "/gpu_training/", "/cpu_stacks/", "/gpu_causes/ddp/", "/trace_filter/", "/amd_trace/", "/h100/"))])
IDS = ("correlation", "External id", "Ev Idx", "Record function id", "Python id", "Python parent id")


def events_of(path):
    return oracle.read(gzip.decompress(path.read_bytes()))["traceEvents"]


@pytest.mark.parametrize("trace", TRACES)
def test_copies(trace, tmp_path):
    source = oracle.Trace(harness.text_of(trace))
    (path,) = generate.generate(trace, tmp_path / "three.json.gz", copies=3)
    copies = oracle.Trace(harness.text_of(path))
    assert copies.events == 3 * source.events
    assert copies.kernels() == {n: (3 * c, 3 * s, low, high) for n, (c, s, low, high) in source.kernels().items()}
    assert copies.operators() == {n: (3 * calls, 3 * total) for n, (calls, total) in source.operators().items()}

    made = events_of(path)
    count = len(made) // 3
    assert made[:count] == events_of(trace)
    ids = [{(key, event["args"][key]) for event in made[copy * count:(copy + 1) * count] for key in IDS
            if isinstance(event.get("args"), dict) and isinstance(event["args"].get(key), int)
            and event["args"][key] >= generate.SPACE_OF[key][1]} for copy in range(3)]
    assert len(ids[0]) == len(ids[1]) == len(ids[2])
    assert not ids[0] & ids[1] and not ids[1] & ids[2] and not ids[0] & ids[2]
    ends = [max(span.end for span in copies.spans if span.order // count == copy) for copy in range(3)]
    starts = [min(span.start for span in copies.spans if span.order // count == copy) for copy in range(3)]
    assert ends[0] < starts[1] and ends[1] < starts[2]


@pytest.mark.parametrize("trace", TRACES)
def test_ranks(trace, tmp_path):
    paths = generate.generate(trace, tmp_path / "job", ranks=3)
    assert [path.name for path in paths] == ["rank0.json.gz", "rank1.json.gz", "rank2.json.gz"]
    source = oracle.read(harness.text_of(trace))
    for rank, path in enumerate(paths):
        made = oracle.read(gzip.decompress(path.read_bytes()))
        assert made["traceEvents"] == source["traceEvents"]
        assert made["distributedInfo"] == {**source.get("distributedInfo", {}), "rank": rank, "world_size": 3}
        assert made.keys() == source.keys() | {"distributedInfo"}


def test_plain_output_and_percent_signs(tmp_path):
    """The text is a %-format in between; a % of the trace's own must come through."""
    event = {"ph": "X", "cat": "kernel", "name": "a %d 100% %s", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2.25,
             "args": {"correlation": 3, "est. achieved occupancy %": 50, "none": "\"ts\": 5", "External id": 0}}
    source = tmp_path / "source.json"
    source.write_text(json.dumps({"traceEvents": [event]}))
    (path,) = generate.generate(source, tmp_path / "made.json", copies=2)
    first, second = json.loads(path.read_text())["traceEvents"]
    assert first == event
    assert second == {**event, "ts": second["ts"], "args": {**event["args"], "correlation": 6}}
    assert second["ts"] % 1 == 0.5 and second["ts"] > 1000

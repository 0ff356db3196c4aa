"""Critical paths of every trace: as long as their windows, made of pieces that follow each other and lie where the trace
has what they name. Windows are worked out here by plain Python (oracle.py)."""

import harness
import oracle
import pytest

TIMES = ["compute_ns", "communication_ns", "host_operators_ns", "host_gaps_ns", "data_loading_ns", "memory_ns",
         "kernel_gaps_ns", "launches_ns", "synchronization_ns", "unknown_ns"]
WAITS = {"kernel gaps", "launches", "synchronization", "unknown"}
TABLES = ["critical_path", "critical_path_edges", "critical_path_names", "steps", "summary"]


def answer_of(path, *options):
    done = harness.run("analyze", path, "--format", "json", *[w for t in TABLES for w in ("--table", t)], *options)
    if not harness.is_trace(path):
        pytest.skip("no trace")
    assert done.returncode == 0, done.stderr
    return harness.Answer(harness.json.loads(done.stdout))


@pytest.mark.parametrize("path", harness.traces())
def test_pieces_fill_the_window(path):
    answer = answer_of(path)
    paths, steps = answer["critical_path"], answer["steps"]
    if steps:
        assert len(paths) == len([step for step in steps if step["dur_ns"] > 0])
    else:
        assert len(paths) <= 1
    pieces = {}
    for piece in answer["critical_path_edges"]:
        pieces.setdefault(piece["step"], []).append(piece)
    by_name = sum(row["dur_ns"] for row in answer["critical_path_names"])
    assert by_name == sum(row["length_ns"] - row["overlap_ns"] for row in paths)
    covered_until = float("-inf")
    for row in paths:
        assert sum(row[time] for time in TIMES) == row["length_ns"]
        at = pieces[row["step"]][0]["start_ns"]
        assert row["overlap_ns"] == min(max(0, covered_until - at), row["length_ns"])
        covered_until = max(covered_until, at + row["length_ns"])
        for piece in pieces[row["step"]]:
            assert piece["start_ns"] == at
            assert piece["dur_ns"] > 0
            at += piece["dur_ns"]
        assert at - pieces[row["step"]][0]["start_ns"] == row["length_ns"]
        step = [s for s in steps if s["number"] == row["step"]]
        if step:
            assert pieces[row["step"]][0]["start_ns"] == step[0]["start_ns"]
            assert row["length_ns"] >= step[0]["dur_ns"]


@pytest.mark.parametrize("path", harness.traces())
def test_windows_and_what_pieces_name(path):
    answer = answer_of(path)
    if not answer["steps"]:
        pytest.skip("no steps")
    document = oracle.read(harness.text_of(path))
    events = document["traceEvents"] if isinstance(document, dict) else document
    base = document.get("baseTimeNanoseconds", 0) if isinstance(document, dict) else 0

    def start(event):
        return base + oracle.ns(event["ts"])

    def end(event):
        return start(event) + max(0, oracle.ns(event["dur"]))

    def category(event):
        return event.get("cat", "").lower()

    spans = [e for e in events if e.get("ph", "X") == "X" and oracle.ns(e.get("dur")) is not None and "cat" in e]
    launches = {}
    for event in spans:
        correlation = event.get("args", {}).get("correlation", 0)
        if category(event).endswith(("runtime", "driver")) and correlation:
            launches.setdefault(correlation, event)
    # What has no launch was launched before what comes after it on its stream.
    work = [event for event in spans if oracle.is_device_work(event)]
    launched, earliest = {}, {}
    for event in reversed(sorted(work, key=lambda event: (start(event), end(event)))):
        args = event.get("args", {})
        stream = (args.get("device", event["pid"]), args.get("stream", event["tid"]))
        launch = launches.get(args.get("correlation", 0))
        bound = earliest.get(stream, start(event))
        launched[id(event)] = start(launch) if launch else min(start(event), bound)
        if launch:
            earliest[stream] = min(earliest.get(stream, start(launch)), start(launch))
    lengths = {row["step"]: row["length_ns"] for row in answer["critical_path"]}
    for step in answer["steps"]:
        if step["dur_ns"] == 0:
            continue
        begin, finish = step["start_ns"], step["start_ns"] + step["dur_ns"]
        last = finish
        for event in work:
            if begin <= launched[id(event)] < finish:
                last = max(last, end(event))
        assert lengths[step["number"]] == last - begin

    for piece in answer["critical_path_edges"]:
        if piece["event"] is None:
            continue
        event = events[piece["event"]]
        assert event["name"] == piece["name"]
        if piece["bound_by"] in WAITS or piece["to_event"] is not None:
            assert piece["to_event"] is not None
            continue
        assert start(event) <= piece["start_ns"]
        assert piece["start_ns"] + piece["dur_ns"] <= end(event)


@pytest.mark.parametrize("path", harness.traces())
def test_what_if_nothing_changes(path):
    for row in answer_of(path, "--what-if", "a=1")["critical_path"]:
        assert row["what_if_ns"] == row["length_ns"]
    before = {row["step"]: row for row in answer_of(path)["critical_path"]}
    for row in answer_of(path, "--what-if", "e=0.5")["critical_path"]:
        assert row["length_ns"] == before[row["step"]]["length_ns"]
        assert row["what_if_ns"] <= row["length_ns"]
        assert sum(row[time] for time in TIMES) == row["what_if_ns"]

"""What `spotter export` writes, read back by another reader of JSON: all events are as they were, counters are the tables'
rows, nothing overlaps in part on a track, arrows have both ends, and windows and merged clocks are right."""

import collections
import decimal
import gzip
import json

import pytest

import harness

COUNTERS = {"device_busy_series": ("busy_ratio", "device busy"),
            "sm_efficiency_series": ("sm_efficiency_ratio", "SM efficiency (estimated)"),
            "queue_length_series": ("queue_length", "queue length"),
            "memory_bandwidth_series": ("bytes_per_s", "memory bandwidth")}


def export(tmp_path, *arguments, name="out.json"):
    out = tmp_path / name
    done = harness.run("export", *arguments, "-o", out)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return out


def document(path):
    """Strictly: no NaN, no double keys at the top; numbers keep their digits."""
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")
    return json.loads(harness.text_of(path), parse_float=decimal.Decimal, parse_constant=refuse)


def lenient(path):
    text = harness.text_of(path).decode("utf-8", errors="replace")
    return json.loads(text, parse_float=decimal.Decimal, strict=False)


def events_of(trace):
    return trace if isinstance(trace, list) else trace["traceEvents"]


def ns(value):
    return int((decimal.Decimal(str(value)) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def is_ours(event):
    return event.get("ph") == "C" and event["name"].split(",")[0] in [name for _, name in COUNTERS.values()]


def without_tid(event):
    return {key: value for key, value in event.items() if key != "tid"}


def check_tracks(events):
    """Spans on one track nest or are disjoint."""
    tracks = collections.defaultdict(list)
    for event in events:
        if event.get("ph") == "X" and "ts" in event:
            tracks[str(event.get("pid")), str(event.get("tid"))].append(
                (ns(event["ts"]), -max(0, ns(event.get("dur") or 0))))
    for track, spans in tracks.items():
        open_ends = []
        for start, negative in sorted(spans):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or open_ends[-1] >= start - negative, f"{track}: a span at {start} overlaps"
            open_ends.append(start - negative)


def correlated(events):
    """(track, time, id) of each arrow's end that lies at the start of a span with that correlation, by its place."""
    place = lambda event: (str(event.get("pid")), str(event.get("tid")), ns(event["ts"]))
    starts = {(*place(event), event["args"].get("correlation")) for event in events
              if event.get("ph") == "X" and "ts" in event and isinstance(event.get("args"), dict)}
    return [(index, event["ph"]) for index, event in enumerate(events)
            if event.get("ph") in ("s", "f") and (*place(event), event.get("id")) in starts]


def check_counters(events, path, zero, options=()):
    """The curves are the rows of the tables, in their order."""
    answer = harness.analyze(path, tables=COUNTERS, options=options, top=None)
    drawn = collections.defaultdict(list)
    for event in filter(is_ours, events):
        (value,) = event["args"].values()
        drawn[event["name"]].append((ns(event["ts"]), value))
    expected = collections.defaultdict(list)
    for table, (column, name) in COUNTERS.items():
        for row in answer[table]:
            which = f", stream {row['stream']}" if "stream" in row else f", {row['type']}" if "type" in row else ""
            expected[name + which].append((row["time_ns"] - zero, row[column] * (100 if "ratio" in column else 1)))
    assert drawn.keys() == expected.keys()
    for name, points in expected.items():
        assert [time for time, _ in drawn[name]] == [time for time, _ in points], name
        assert [float(value) for _, value in drawn[name]] == pytest.approx([value for _, value in points]), name


@pytest.mark.parametrize("path", harness.traces())
def test_every_trace(path, tmp_path):
    if harness.run("analyze", path, "--table", "summary").returncode != 0:
        pytest.skip("no trace")
    before, out = lenient(path), export(tmp_path, path)
    after = document(out)
    old, new = events_of(before), events_of(after)
    moved = 0
    for was, event in zip(old, new):
        if was != event:
            assert without_tid(was) == without_tid(event)
            moved += 1
    if isinstance(before, dict):
        assert {key: value for key, value in after.items() if key != "traceEvents"} == \
               {key: value for key, value in before.items() if key != "traceEvents"}
    assert {event["ph"] for event in new[len(old):]} <= {"C", "M"}
    tids = {(event["pid"], event["tid"]) for event in new[len(old):] if event.get("name") == "thread_name"}
    assert moved == 0 or tids
    check_tracks(new)
    assert correlated(new) == correlated(old)
    if any(is_ours(event) for event in new):
        check_counters(new, path, int(after.get("baseTimeNanoseconds", 0)))
    again = harness.analyze(out, tables=["summary"], top=None)["summary"]
    assert [row["events"] for row in again] == [len(new)]


def test_bytes_are_the_files(tmp_path):
    """With nothing to change each event's text is that of the file."""
    path = harness.FIXTURES / "traces" / "gpu_training" / "rank0.json.gz"
    text, written = harness.text_of(path), harness.text_of(export(tmp_path, path))
    scan, place, at = json.JSONDecoder().raw_decode, text.index(b"[", text.index(b'"traceEvents"')) + 1, 0
    latin = text.decode("latin-1")
    out = written.decode("latin-1")
    count = 0
    while True:
        while latin[place] in " ,\r\n\t":
            place += 1
        if latin[place] == "]":
            break
        _, end = scan(latin, place)
        at = out.index(latin[place:end], at) + end - place
        place, count = end, count + 1
    assert count > 200


@pytest.fixture(scope="module")
def gpu():
    return harness.FIXTURES / "traces" / "gpu_training"


def test_compressed_and_standard_output(gpu, tmp_path):
    path = gpu / "rank0.json.gz"
    plain = export(tmp_path, path).read_bytes()
    packed = export(tmp_path, path, name="out.json.gz").read_bytes()
    assert gzip.decompress(packed) == plain and len(packed) < len(plain) / 4
    assert harness.run("export", path, "-o", "-").stdout == plain


def spans_by_rank(path):
    trace = document(path)
    names = {event["pid"]: event["args"]["name"] for event in trace["traceEvents"]
             if event.get("name") == "process_name"}
    spans = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("ph") == "X":
            rank = int(names[event["pid"]].split()[1].rstrip(":"))
            absolute = ns(event["ts"]) + int(trace.get("baseTimeNanoseconds", 0))
            spans[rank].append((absolute, ns(event["dur"]), event["name"], json.dumps(event.get("args"), default=str)))
    return trace, names, spans


def arrows(events):
    """The phases of each flow's ends."""
    flows = collections.defaultdict(str)
    for event in events:
        if event.get("ph") in ("s", "t", "f"):
            flows[event["cat"], event["id"]] += event["ph"]
    return flows


def test_two_ranks_on_one_clock(gpu, tmp_path):
    out = export(tmp_path, gpu)
    trace, names, spans = spans_by_rank(out)
    assert all(name.startswith(("rank 0 host node0: ", "rank 1 host node0: ")) for name in names.values())
    assert len(set(names)) == len(names)
    separate = []
    for rank in (0, 1):
        single = document(gpu / f"rank{rank}.json.gz")
        base = int(single["baseTimeNanoseconds"])
        expected = [(ns(event["ts"]) + base, ns(event["dur"]), event["name"], json.dumps(event.get("args"), default=str))
                    for event in single["traceEvents"] if event.get("ph") == "X"]
        assert spans[rank] == expected
        separate += arrows(single["traceEvents"]).values()
    assert sorted(arrows(trace["traceEvents"]).values()) == sorted(separate)
    check_tracks(trace["traceEvents"])
    order = [event["args"]["sort_index"] for event in trace["traceEvents"] if event["name"] == "process_sort_index"]
    assert order == sorted(set(order))


def test_clocks_with_different_bases(gpu, tmp_path):
    """A base that is an odd number of ns later moves each time by exactly that."""
    trace = json.loads(harness.text_of(gpu / "rank1.json.gz"))
    trace["baseTimeNanoseconds"] += 1_234_567_891
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "rank0.json").write_bytes(harness.text_of(gpu / "rank0.json.gz"))
    (folder / "rank1.json").write_text(json.dumps(trace))
    _, _, spans = spans_by_rank(export(tmp_path, folder))
    _, _, before = spans_by_rank(export(tmp_path, gpu))
    assert spans[0] == before[0]
    assert [s[0] for s in spans[1]] == [s[0] + 1_234_567_891 for s in before[1]]


def first_ns(events):
    return min(ns(event["ts"]) for event in events if event.get("ph") == "X" and event.get("cat") != "Trace")


def test_window(gpu, tmp_path):
    path = gpu / "rank0.json.gz"
    original = document(path)["traceEvents"]
    zero = first_ns(original)
    start, end = zero + 300_000, zero + 1_100_000
    kept = document(export(tmp_path, path, "--from", "300us", "--to", "1.1ms"))["traceEvents"]
    launches = {event["args"]["correlation"]: ns(event["ts"]) for event in original
                if event.get("ph") == "X" and event["cat"] in ("cuda_runtime", "cuda_driver")}
    expected = []
    for event in original:
        if event.get("ph") == "M":
            expected.append(event)
        elif event.get("ph") in ("X", "i"):
            time = ns(event["ts"])
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                time = launches.get(event["args"]["correlation"], time)
            if start <= time < end:
                expected.append(event)
    got = [event for event in kept if event["ph"] in ("X", "i", "M") and event in original]
    assert got == expected
    flows, whole = arrows(kept), arrows(original)
    assert flows and all({"s", "f"} <= set(ends) and ends == whole[flow] for flow, ends in flows.items())
    assert {e["args"]["correlation"] for e in kept if e.get("cat") == "kernel" and e["args"]["correlation"] in launches} \
        <= {flow for _, flow in flows}


def test_steps_keep_what_analyze_counts(gpu, tmp_path):
    path = gpu / "rank0.json.gz"
    (step,) = harness.analyze(path, tables=["steps"], top=None)["steps"][1:2]
    out = export(tmp_path, path, "--steps", step["number"])
    options = ["--steps", step["number"]]
    for table in ("kernel_type_breakdown", "temporal_breakdown"):
        assert harness.analyze(out, tables=[table], top=None)[table] == \
               harness.analyze(path, tables=[table], options=options, top=None)[table]
    trace = document(out)
    check_counters(trace["traceEvents"], path, int(trace["baseTimeNanoseconds"]), options)


def test_bucket(gpu, tmp_path):
    path = gpu / "rank0.json.gz"
    trace = document(export(tmp_path, path, "--bucket", "50us"))
    check_counters(trace["traceEvents"], path, int(trace["baseTimeNanoseconds"]), ["--bucket-ns", 50_000])


DAMAGED = rb"""{"schemaVersion": 1, "odd": NaN, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "C:\dir", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {"a": NaN, "b": [Infinity, 1,]}},
{"ph": "X", "cat": "cpu_op", "name": "broken", "pid": 1, "tid": 1, "ts": 2, "dur": {{,
{"ph": "X", "cat": "cpu_op", "name": "a	tab", "pid": 1, "tid": 1, "ts": 3, "dur": 1, "args": {"x": ,}},
{"ph": "X", "cat": "cpu_op", "name": "bad BYTE byte", "pid": 1, "tid": 1, "ts": 5, "dur": 1,},
{"ph": "X", "cat": "cpu_op", "name": "overlaps", "pid": 1, "tid": 1, "ts": 8, "dur": 5.5},
{"ph": "X", "cat": "cpu_op", "name": "cut off", "pid": 1, "tid": 1, "ts": 9, """.replace(b"BYTE", b"\xff")


def test_damage_comes_out_as_json(tmp_path):
    path = tmp_path / "damaged.json"
    path.write_bytes(DAMAGED)
    done = harness.run("export", path, "-o", tmp_path / "out.json")
    assert done.returncode == 0
    trace = document(tmp_path / "out.json")
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [event["name"] for event in spans] == ["C:\\dir", "a\ttab", "bad \ufffd byte", "overlaps"]
    assert spans[0]["args"] == {"a": "NaN", "b": ["Infinity", 1]}
    assert spans[1]["args"] == {"x": None}
    assert trace["odd"] == "NaN"
    assert spans[3]["tid"] != 1
    assert b"written anew" in done.stderr and b"overlap" in done.stderr and b"damaged" in done.stderr


def test_damaged_variants(gpu, tmp_path):
    """Whatever a changed byte does, the output is JSON with the events that the reader sees."""
    import random
    generator, text = random.Random("export"), harness.text_of(gpu / "rank0.json.gz")
    path = tmp_path / "damaged.json"
    exported = 0
    for _ in range(60):
        data = bytearray(text)
        for place in generator.sample(range(text.index(b"traceEvents"), len(text)), 5):
            data[place] = generator.randrange(256)
        path.write_bytes(data)
        seen = harness.run("analyze", path, "--table", "summary", "--format", "json")
        if seen.returncode != 0:
            continue
        done = harness.run("export", path, "-o", tmp_path / "out.json")
        assert done.returncode == 0, done.stderr
        events = document(tmp_path / "out.json")["traceEvents"]
        (summary,) = harness.Answer(json.loads(seen.stdout))["summary"]
        added = [event for event in events if is_ours(event) or event.get("tid") == 0 or "(overlapping" in str(event)]
        assert summary["events"] <= len(events) <= summary["events"] + len(added)
        check_tracks(events)
        exported += 1
    assert exported > 30, "most are refused"


def test_critical_path(gpu, tmp_path):
    for path in [gpu, *[p for name, p in harness.trace_files() if "h100" in name or "alexnet" in name]]:
        plain = events_of(document(export(tmp_path, path, name="plain.json")))
        events = events_of(document(export(tmp_path, path, "--critical-path")))
        flows = [event for event in events if event.get("cat") == "critical path"]
        others = [event for event in events if event.get("cat") != "critical path"]
        if path == gpu:  # merged ranks: process ids are given in the order of their use, all else is equal
            others, plain = ([{k: v for k, v in e.items() if k != "pid"} for e in part] for part in (others, plain))
            others, plain = (collections.Counter(map(str, part)) for part in (others, plain))
        assert others == plain
        spans = collections.defaultdict(list)
        for event in events:
            if event.get("ph") == "X" and "ts" in event:
                spans[event["pid"], event["tid"]].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])))
        ends = collections.defaultdict(dict)
        for event in flows:
            ends[event["id"]][event["ph"]] = event
            track = spans[event["pid"], event["tid"]]
            assert any(start <= ns(event["ts"]) <= end for start, end in track)
        assert len(ends) > 20
        for both in ends.values():
            assert both.keys() == {"s", "f"}
            # The end of a span is drawn a nanosecond early, so that the arrow finds it.
            assert ns(both["s"]["ts"]) <= ns(both["f"]["ts"]) + 1

"""The verdict of recordings that show a part of a job: some of its ranks, an end in the midst of a step, no marks of steps; and of causes
that are not the same in each step."""

import gzip
import json

import pytest

import harness
from test_simulate import simulate

EIGHT = ["--ranks", 8, "--steps", 8, "--layers", 4]  # of which the numbers are 3 to 10


def simulated(folder, *options, faults=()):
    return simulate(folder, *options, *(word for fault in faults for word in ("--fault", fault)))


def findings_of(folder, *options):
    return harness.analyze(folder, *options, tables=["findings"], top=None)["findings"]


def faults_of(folder, *options):
    return [f for f in findings_of(folder, *options) if f["kind"] == "fault"]


def test_some_of_the_ranks_are_named_as_such(tmp_path):
    simulated(tmp_path, *EIGHT, "--gpus-per-node", 2, faults=["throttle:rank=6-7,step=6-,factor=1.3"])
    one, *_ = faults_of(tmp_path, "--ranks", "7")
    assert one["ranks"] == "7" and one["finding"].startswith("Rank 7 (host node003) computes 30 % longer"), one
    two, *_ = faults_of(tmp_path, "--ranks", "6-7")
    assert two["ranks"] == "6-7" and two["finding"].startswith("Every traced rank (6-7, host node003) computes 30 % longer"), two


def test_what_joins_a_part_of_a_group_is_not_known(tmp_path):
    simulated(tmp_path, *EIGHT, "--gpus-per-node", 2)
    assert "slow_link" not in {f["mechanism"] for f in findings_of(tmp_path, "--ranks", "6-7")}


def test_a_collection_of_garbage_on_each_rank_is_one_finding(tmp_path):
    simulated(tmp_path, *EIGHT, faults=[f"gc-pause:rank={rank},step={3 + (rank + 1) % 8},ms=120" for rank in range(8)])
    (fault,) = [f for f in faults_of(tmp_path) if f["mechanism"] == "host_pause"]
    assert fault["ranks"] is None and "at other steps on each" in fault["finding"], fault


def test_a_long_pause_is_told_with_its_own_length_and_step(tmp_path):
    simulated(tmp_path, *EIGHT, faults=["gc-pause:rank=3,ms=3", "gc-pause:rank=3,step=6,ms=300"])
    first, *_ = faults_of(tmp_path)
    assert (first["mechanism"], first["ranks"], first["steps"]) == ("host_pause", "3", "6"), first
    assert "pauses for 303 ms" in first["finding"] and "up to" not in first["finding"], first


def test_what_is_taken_in_the_first_step_is_the_warm_up(tmp_path):
    simulated(tmp_path, *EIGHT, faults=["allocator-retries:step=3,ms=2", "allocator-retries:rank=2,step=7,count=1,ms=0.3"])
    assert "allocator" not in {f["mechanism"] for f in faults_of(tmp_path)}


def test_calls_of_the_allocator_in_one_step_are_told_with_it(tmp_path):
    simulated(tmp_path, *EIGHT, faults=["allocator-retries:rank=2,step=7,count=40"])
    (fault,) = [f for f in faults_of(tmp_path) if f["mechanism"] == "allocator"]
    assert (fault["ranks"], fault["steps"]) == ("2", "7") and "calls in step 7" in fault["finding"], fault


def read(path):
    with gzip.open(path, "rt") as file:
        return json.load(file)


def rewrite(folder, change):
    """Each trace of a folder with what `change` makes of its events."""
    for path in sorted(folder.glob("*.json.gz")):
        trace = read(path)
        trace["traceEvents"] = change(trace["traceEvents"])
        with gzip.open(path, "wt", compresslevel=1) as file:
            json.dump(trace, file)


def cut(events, at):
    """As a profiler leaves them that stops then: what the host is in ends, of the device's work what had not ended is missing."""
    kept = []
    for event in events:
        if event.get("ph") != "M" and event.get("ts", 0) >= at:
            continue
        if event.get("ph") == "X" and event["ts"] + event["dur"] > at:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                continue
            event = event | {"dur": at - event["ts"]}
        kept.append(event)
    return kept


def longest_silence(events):
    """When the last operator before it ended."""
    operators = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e.get("cat") == "cpu_op")
    until, longest = operators[0][1], (0, 0)
    for begin, end in operators:
        longest = max(longest, (begin - until, until))
        until = max(until, end)
    return longest[1]


@pytest.mark.parametrize("fault, hangs", [("gc-pause:rank=3,step=10,ms=300", False), ("hang:rank=3", True)])
def test_a_rank_that_is_late_when_recordings_end_is_no_hang(tmp_path, fault, hangs):
    simulated(tmp_path, *EIGHT, faults=[fault])
    if not hangs:
        (path,) = tmp_path.glob("rank_0003.*")
        at = longest_silence(read(path)["traceEvents"]) + 40_000
        rewrite(tmp_path, lambda events: cut(events, at))
    assert ("hang" in {f["mechanism"] for f in findings_of(tmp_path)}) == hangs


def test_the_loss_that_a_loop_reads_is_no_fault_where_an_annotation_is_the_step(tmp_path):
    simulated(tmp_path, *EIGHT, faults=[f"gc-pause:rank={rank},step={3 + (rank + 1) % 8},ms=120" for rank in range(8)])
    marks = ("ProfilerStep", "Optimizer.step", "Optimizer.zero_grad")
    rewrite(tmp_path, lambda events: [e for e in events if not str(e.get("name", "")).startswith(marks)])
    assert "host_sync" not in {f["mechanism"] for f in faults_of(tmp_path)}


def test_a_device_that_is_slow_before_and_after_all_become_slow_is_slow_all_the_time(tmp_path):
    simulated(tmp_path, *EIGHT, faults=["throttle:rank=all,step=6-,factor=1.5", "slow-rank:rank=3,factor=1.15"])
    (fault,) = [f for f in faults_of(tmp_path) if f["mechanism"] == "slow_device"]
    assert (fault["ranks"], fault["steps"], fault["against"]) == ("3", None, None) and "15 % longer" in fault["finding"], fault


def test_clocks_that_drop_in_most_stages_of_one_rank_are_told(tmp_path):
    simulated(tmp_path, "--ranks", 4, "--pp", 4, "--steps", 8, "--layers", 8, "--micro-batches", 8,
              faults=["throttle:rank=0-2,step=5-,factor=1.5"])
    drops = {f["ranks"] for f in faults_of(tmp_path) if f["mechanism"] == "clock_drop"}
    assert drops and drops <= {"0", "1", "2", "0-1", "1-2", "0-2"}, drops


@pytest.mark.parametrize("pp", [4, 8])
def test_a_host_whose_stages_have_no_peers_elsewhere(tmp_path, pp):
    """A cap on its power: each of its stages shows it by its own past alone, and it is one thing."""
    simulated(tmp_path, "--ranks", 8, "--steps", 10, "--layers", 8, "--pp", pp, "--gpus-per-node", 4, faults=["throttle:rank=4-7,step=7-,factor=1.3"])
    (fault,) = faults_of(tmp_path)
    assert (fault["mechanism"], fault["ranks"], fault["steps"]) == ("clock_drop", "4-7", "7-12"), fault
    assert fault["finding"].startswith("Ranks 4-7 (host node001) compute 30 % longer from step 7 ("), fault
    assert "on than before, for the same work" in fault["finding"], fault


def test_hosts_that_pause_at_different_times_are_not_one_thing(tmp_path):
    simulated(tmp_path, "--ranks", 12, "--gpus-per-node", 4, "--steps", 8, "--layers", 4,
              faults=[*(f"gc-pause:rank={rank},step=4,ms=120" for rank in range(4)), *(f"gc-pause:rank={rank},step=6,ms=120" for rank in range(4, 8))])
    pauses = [f for f in faults_of(tmp_path) if f["mechanism"] == "host_pause"]
    assert pauses and not [f for f in pauses if "at other steps" in f["finding"]], pauses


def recording(path, *spans, devices=()):
    """Of 1.5 s, on a CPU: (name, from ms, until ms, or None for what had not ended)."""
    end = 1500
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": 1000 * begin, "dur": 1000 * ((until or end) - begin),
               "args": {} if until else {"finished": False}} for name, begin, until in spans]
    if spans:  # libkineto leaves it out where there is nothing
        events.append({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": 1000 * end})
    events.append({"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 1000 * end})
    path.write_text(json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": 10**18, "deviceProperties": list(devices), "traceEvents": events}))


STUCK = [("aten::linear", 286, 287), ("aten::to", 287, None), ("aten::_to_copy", 288, None)]


def test_a_job_that_stands_still_as_long_as_it_is_recorded(tmp_path):
    """A step takes longer than the recording: of those that wait since before it began nothing is recorded."""
    recording(tmp_path / "job_rank0.pt.trace.json", *STUCK)
    for rank in (1, 2, 3):
        recording(tmp_path / f"job_rank{rank}.pt.trace.json")
    (fault,) = faults_of(tmp_path)
    assert (fault["mechanism"], fault["ranks"], fault["confidence"]) == ("host_pause", "0", "medium"), fault
    assert fault["finding"] == ("The host of rank 0 was inside aten::_to_copy for the last 1.21 s of its recording, "
                                "while ranks 1-3 began nothing."), fault


@pytest.mark.parametrize("how", ["devices", "short", "waits", "others", "few"])
def test_what_is_no_standstill(tmp_path, how):
    spans = {"short": [("aten::linear", 286, 287), ("aten::_to_copy", 1300, None)],
             "waits": [("aten::linear", 286, 287), ("c10d::barrier", 288, None)]}.get(how, STUCK)
    device = {"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 8 * 10**10, "computeMajor": 9, "computeMinor": 0, "numSms": 132}
    devices = [device] if how == "devices" else []
    recording(tmp_path / "job_rank0.pt.trace.json", *spans, devices=devices)
    others = {"others": [("aten::linear", i, i + 1) for i in range(0, 1499, 2)], "few": STUCK}.get(how, [])
    recording(tmp_path / "job_rank1.pt.trace.json", *others, devices=devices)
    for rank in (2, 3):
        recording(tmp_path / f"job_rank{rank}.pt.trace.json", *(STUCK if how == "few" and rank == 2 else []), devices=devices)
    assert not [f for f in faults_of(tmp_path) if "began nothing" in f["finding"]]


@pytest.mark.parametrize("parts, words", [(1, "of 4 stages is filled and drained in each step: with 8 micro-batches that is 27 % of it. Two chunks a stage"),
                                          (2, "of 4 stages, each with 2 parts that take turns, is filled and drained in each step: with 8 micro-batches that is 16 %"),
                                          (4, "each with 4 parts that take turns, is filled and drained in each step: with 8 micro-batches that is 8.6 %")])
def test_stages_that_take_turns_with_their_parts(tmp_path, parts, words):
    """(p - 1) / (v m + p - 1), of p = 4 stages, m = 8 micro-batches and v parts."""
    simulated(tmp_path, "--ranks", 4, "--pp", 4, "--layers", 16, "--micro-batches", 8, "--virtual-stages", parts)
    (bubble,) = [f["finding"] for f in findings_of(tmp_path) if f["mechanism"] == "pipeline_bubble"]
    assert words in bubble, bubble


def test_what_goes_from_rank_to_rank_is_one_thing(tmp_path):
    simulated(tmp_path, *EIGHT, faults=[f"slow-rank:rank={rank},step={rank + 3},factor=1.5" for rank in range(8)])
    (fault,) = faults_of(tmp_path)
    assert fault["mechanism"] == "long_step" and fault["share"] > 0.25, fault
    assert fault["finding"].startswith("One rank after another (0-7) takes 1.5 times what the same work takes on the others, in steps 3-10;"), fault


def test_both_directions_of_a_link_are_one_thing(tmp_path):
    simulated(tmp_path, "--ranks", 4, "--pp", 4, "--layers", 8, "--steps", 6, faults=["slow-link:ranks=1-2,factor=50"])
    (fault,) = faults_of(tmp_path)
    assert (fault["mechanism"], fault["ranks"], fault["group"]) == ("slow_link", "1-2", "1 -> 2, 2 -> 1"), fault
    assert fault["finding"].startswith("The link of ranks 1-2 (1 host) moves 6.2 GB/s, where "), fault


def test_a_link_that_is_slow_in_some_steps_is_told_with_them(tmp_path):
    simulated(tmp_path, *EIGHT, "--tp", 2, faults=["slow-link:group=tensor,index=2,step=7-,factor=10"])
    (fault,) = faults_of(tmp_path)
    assert (fault["mechanism"], fault["ranks"], fault["steps"]) == ("slow_link", "4-5", "7-10"), fault
    bandwidth = float(fault["finding"].split(" moves ")[1].split()[0])
    assert 25 < bandwidth < 32 and " GB/s in steps 7-10, where " in fault["finding"], fault


def moved(path, by_us):
    """The recording was made so much later."""
    trace = json.loads(gzip.decompress(path.read_bytes()))
    for event in trace["traceEvents"]:
        if "ts" in event:
            event["ts"] += by_us
    path.write_bytes(gzip.compress(json.dumps(trace).encode()))


@pytest.mark.parametrize("later", ["0001", "0004", "0004 0005 0006"])
def test_what_was_recorded_at_another_time_is_no_part_of_the_job(tmp_path, later):
    """A file of yesterday, a second capture: nobody waits for it, and the job is no longer for it."""
    simulated(tmp_path, *EIGHT, faults=["slow-rank:rank=3,factor=1.5"])
    for rank in later.split():
        moved(next(tmp_path.glob(f"rank_{rank}.*")), 3600e6)
    document = json.loads(harness.analyze_raw(tmp_path, tables=["findings"], top=None))
    faults = [f for f in faults_of(tmp_path) if f["mechanism"] == "slow_device"]
    assert [(f["ranks"], 0.05 < f["share"] < 0.35) for f in faults] == [("3", True)], faults
    (note,) = [n for n in document["notes"] if n["kind"] == "recorded_apart"]
    ranks = "ranks 4-6 were" if " " in later else f"rank {int(later)} was"
    assert note["sentence"].startswith(f"{ranks} recorded at another time than the others"), note


@pytest.mark.parametrize("per_host, later", [(8, "0000"), (8, "0008 0009 0010 0011 0012"), (8, "0009"), (2, "0005"), (2, "0004")])
def test_of_several_hosts_what_was_recorded_at_another_time_is_named(tmp_path, per_host, later):
    """Clocks of hosts are told by calls of their ranks: those of a file of another time tell nothing."""
    simulated(tmp_path, "--ranks", 16, "--steps", 5, "--layers", 4, "--gpus-per-node", per_host, faults=["slow-rank:rank=3,factor=1.5"])
    for rank in later.split():
        moved(next(tmp_path.glob(f"rank_{rank}.*")), 3600e6)
    document = json.loads(harness.analyze_raw(tmp_path, tables=["findings"], top=None))
    (note,) = [n for n in document["notes"] if n["kind"] == "recorded_apart"]
    ranks = "ranks 8-12 were" if " " in later else f"rank {int(later)} was"
    assert note["sentence"].startswith(f"{ranks} recorded at another time than the others"), note
    assert [f["ranks"] for f in faults_of(tmp_path) if f["mechanism"] == "slow_device"] == ["3"]


@pytest.mark.parametrize("clocks, per_host, more", [("1s", 4, []), ("500ms", 1, []), ("5s", 1, ["--inference"]), ("5s", 8, ["--tp", 2, "--era", "2022"])])
def test_hosts_with_other_clocks_are_no_recordings_of_another_time(tmp_path, clocks, per_host, more):
    sharding = [] if more else ["--sharding", "none"]
    simulated(tmp_path, "--ranks", 16, "--steps", 4, "--layers", 4, "--gpus-per-node", per_host, "--clock-offset", clocks, *sharding, *more)
    document = json.loads(harness.analyze_raw(tmp_path, tables=["findings"], top=None))
    assert not [n for n in document["notes"] if n["kind"] == "recorded_apart"], document["notes"]


def test_who_is_waited_for_and_was_recorded_at_another_time(tmp_path):
    simulated(tmp_path, *EIGHT, faults=["slow-rank:rank=3,factor=1.5"])
    moved(next(tmp_path.glob("rank_0003.*")), 3600e6)
    (absent,) = [f for f in findings_of(tmp_path) if f["mechanism"] == "absent_ranks"]
    assert absent["finding"].startswith("Rank 3 was recorded at another time, and the others wait for it in "), absent


@pytest.mark.parametrize("odd", ["other numbers", "other marks", "a launcher"])
def test_steps_that_one_file_counts_otherwise_are_no_more_steps(tmp_path, odd):
    """What is told of a step is of one step of the job."""
    simulated(tmp_path, *EIGHT, faults=["slow-rank:rank=3,factor=1.5"])
    (before,) = [f for f in faults_of(tmp_path) if f["mechanism"] == "slow_device"]
    path = next(tmp_path.glob("rank_0003.*"))
    trace = json.loads(gzip.decompress(path.read_bytes()))
    if odd == "other numbers":
        for event in trace["traceEvents"]:
            if event["name"].startswith("ProfilerStep#"):
                event["name"] = f"ProfilerStep#{int(event['name'][13:]) + 100}"
    elif odd == "other marks":
        trace["traceEvents"] = [e for e in trace["traceEvents"] if not e["name"].startswith("ProfilerStep#")]
    else:
        start = min(e["ts"] for e in trace["traceEvents"] if e.get("ph") == "X")
        launcher = {"schemaVersion": 1, "baseTimeNanoseconds": trace.get("baseTimeNanoseconds", 0),
                    "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": start + 50, "dur": 2}]}
        (tmp_path / "launcher.pt.trace.json").write_text(json.dumps(launcher))
    path.write_bytes(gzip.compress(json.dumps(trace).encode()))
    (after,) = [f for f in faults_of(tmp_path) if f["mechanism"] == "slow_device"]
    assert after["ranks"] == "3" and after["time_ns"] == pytest.approx(before["time_ns"], rel=0.03), (before, after)

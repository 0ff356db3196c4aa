"""Simulated jobs: what the analyses measure against what truth.json says was put in."""

import json
import os
import subprocess

import pytest

import harness
import oracle
from test_oracle import check_trace

SMALL = {"--ranks": 4, "--steps": 3, "--layers": 4}
# A fault, and what the job needs so that it can be had.
FAULTS = {
    "slow-rank:rank=3,factor=1.4": [],
    "slow-link:factor=20": [],
    "slow-link:group=tensor,index=1,factor=20": ["--tp", 2],
    "slow-link:group=pipeline,factor=30": ["--pp", 2],
    "data-loader-stall:ms=20": [],
    "data-loader-stall:rank=2,step=4,ms=20": [],
    "launch-bound": [],
    "host-sync": [],
    "gc-pause:rank=1": [],
    "throttle:rank=1,from_ms=30": [],
    "imbalance": ["--sharding", "fsdp"],
    "allocator-retries": [],
    "unoverlapped-communication": [],
    "unoverlapped-communication:rank=all,step=4": ["--sharding", "fsdp"],
    "straggling-step": [],
    "data-loader-stall:ms=20,every=2": [],
    "extra-calls:rank=2": [],
    "copies": [],
    "compilation:rank=1": [],
    "memory-pressure": ["--memory-events"],
    "low-efficiency": [],
    "slow-link:ranks=0-2,factor=20": ["--tp", 2],
    "slow-link:ranks=1-3,factor=50": ["--pp", 2],
}
JOBS = {
    "ddp": [],
    "fsdp": ["--sharding", "fsdp", "--memory-events", "--python-stacks"],
    "none": ["--sharding", "none"],
    "tensor": ["--tp", 2],
    "pipeline": ["--pp", 2, "--micro-batches", 6],
    "all three": ["--ranks", 16, "--tp", 2, "--pp", 4, "--gpus-per-node", 4, "--steps", 2],
    "interleaved": ["--pp", 4, "--virtual-stages", 2, "--layers", 8],
    "coupled": ["--pp", 4, "--micro-batches", 6, "--coupled-sends"],
    "experts": ["--ranks", 8, "--tp", 2, "--ep", 2],
    "graphs": ["--cuda-graphs"],
    "experts in graphs": ["--ep", 4, "--cuda-graphs"],
    "even": ["--jitter", 0],
    "one rank": ["--ranks", 1],
    "many events": ["--ranks", 2, "--events", 60000],
    "two faults": ["--fault", "throttle:rank=1", "--fault", "host-sync"],
    "rough": ["--noise", "rough"],
    "three faults": ["--fault", "memory-pressure", "--fault", "copies", "--fault", "compilation"],
}


def simulate(folder, *options):
    """The truth of a job whose traces are in the folder."""
    sizes = [word for option, value in SMALL.items() if option not in options for word in (option, value)]
    done = harness.run("simulate", "-o", folder, *sizes, *options)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads((folder / "truth.json").read_text())


def measured_steps(folder):
    """{(rank, step): duration}"""
    return {(row["rank"], row["number"]): row["dur_ns"]
            for row in harness.analyze(folder, tables=["steps"], top=None)["steps"]}


def job_ends(folder):
    """{step: when it has ended on all ranks}"""
    ends = {}
    for row in harness.analyze(folder, tables=["steps"], top=None)["steps"]:
        ends[row["number"]] = max(ends.get(row["number"], 0), row["start_ns"] + row["dur_ns"])
    return ends


def check_numbers(rows, truth_columns, pick):
    for row in rows["temporal_breakdown"]:
        truth = {name: pick(values, row["rank"]) for name, values in truth_columns.items()}
        busy = truth["device_window_ns"] - truth["idle_ns"]
        assert (row["kernel_time_ns"], row["idle_ns"], row["compute_ns"], row["non_compute_ns"]) == (
            truth["device_window_ns"], truth["idle_ns"], truth["compute_ns"], busy - truth["compute_ns"])
    for row in rows["comm_comp_overlap"]:
        truth = {name: pick(values, row["rank"]) for name, values in truth_columns.items()}
        assert (row["communication_ns"], row["compute_and_communication_ns"]) == (
            truth["communication_ns"], truth["hidden_communication_ns"])
        assert truth["exposed_communication_ns"] == truth["communication_ns"] - truth["hidden_communication_ns"]


@pytest.mark.parametrize("job", JOBS)
def test_numbers_are_those_of_the_schedule(tmp_path, job):
    truth = simulate(tmp_path, *JOBS[job])
    assert truth["exact"]
    tables = ["temporal_breakdown", "comm_comp_overlap", "steps", "kernel_type_breakdown", "summary"]
    found = harness.analyze(tmp_path, tables=tables, top=None)
    assert found.notes == []
    assert [row["events"] for row in found["summary"]] == truth["events"]
    assert [row["file"] for row in found["summary"]] == truth["files"]
    assert [row["host"] for row in found["summary"]] == truth["hosts"]
    assert len(found["temporal_breakdown"]) == truth["ranks"]
    check_numbers(found, truth["by_rank"], lambda values, rank: values[rank])
    by_step = truth["by_rank_and_step"]
    assert len(found["steps"]) == truth["ranks"] * len(truth["steps"])
    for row in found["steps"]:
        rank, step = row["rank"], truth["steps"].index(row["number"])
        busy = by_step["device_window_ns"][rank][step] - by_step["idle_ns"][rank][step]
        assert (row["start_ns"], row["dur_ns"], row["device_busy_ns"]) == (
            by_step["start_ns"][rank][step], by_step["step_ns"][rank][step], busy)
    for rank in range(truth["ranks"]):
        memory = sum(row["time_ns"] for row in found["kernel_type_breakdown"]
                     if row["rank"] == rank and "memory" in row["kernel_type"])
        assert memory == truth["by_rank"]["memory_ns"][rank]


@pytest.mark.parametrize("job", ["ddp", "fsdp", "pipeline"])
def test_numbers_of_one_step(tmp_path, job):
    truth = simulate(tmp_path, *JOBS[job])
    for index, step in enumerate(truth["steps"]):
        found = harness.analyze(tmp_path, tables=["temporal_breakdown", "comm_comp_overlap"], top=None,
                                options=["--steps", f"{step}-{step}"])
        check_numbers(found, truth["by_rank_and_step"], lambda values, rank: values[rank][index])


@pytest.mark.parametrize("fault", FAULTS)
def test_effect_of_a_fault(tmp_path, fault):
    options = FAULTS[fault]
    simulate(tmp_path / "off", *options)
    truth = simulate(tmp_path / "on", *options, "--fault", fault)
    off, on = measured_steps(tmp_path / "off"), measured_steps(tmp_path / "on")
    (told,) = truth["faults"]
    assert told["fault"] == fault
    largest = 0
    for rank, effects in enumerate(told["effect_ns"]):
        for step, effect in zip(truth["steps"], effects, strict=True):
            assert on[rank, step] - off[rank, step] == pytest.approx(effect, rel=0.01, abs=1)
            largest = max(largest, effect)
    assert largest > 1_000_000
    assert max(map(max, told["injected_ns"])) > 0
    off, on = job_ends(tmp_path / "off"), job_ends(tmp_path / "on")
    later = 0
    for step, effect in zip(truth["steps"], told["job_effect_ns"], strict=True):
        later += effect
        assert on[step] - off[step] == later
    assert told["job_effect_total_ns"] == later
    assert told["job_effect_alone_ns"] == told["job_effect_ns"] == truth["job"]["effect_ns"]


def test_effects_of_two_faults_are_each_against_the_other(tmp_path):
    first, second = "gc-pause:rank=0", "host-sync"
    truth = simulate(tmp_path / "both", "--fault", first, "--fault", second)
    both = measured_steps(tmp_path / "both")
    assert both
    for told, other in zip(truth["faults"], (second, first), strict=True):
        simulate(tmp_path / other.split(":")[0], "--fault", other)
        without = measured_steps(tmp_path / other.split(":")[0])
        for (rank, step), dur in both.items():
            assert dur - without[rank, step] == told["effect_ns"][rank][truth["steps"].index(step)]
    simulate(tmp_path / "neither")
    last = truth["steps"][-1]
    neither, either = job_ends(tmp_path / "neither")[last], job_ends(tmp_path / "both")[last]
    assert truth["job"]["effect_total_ns"] == either - neither
    for told, other in zip(truth["faults"], (second, first), strict=True):
        alone = job_ends(tmp_path / told["type"])[last] - neither
        with_other = job_ends(tmp_path / other.split(":")[0])[last]
        assert told["job_effect_alone_total_ns"] == alone > 1_000_000
        assert told["job_effect_total_ns"] == either - with_other


@pytest.mark.parametrize("spread", [0.3, 3])
def test_imbalance_conserves_work(tmp_path, spread):
    compute = {}
    for name, options in (("off", []), ("on", ["--fault", f"imbalance:spread={spread}"])):
        simulate(tmp_path / name, "--jitter", 0, *options)
        rows = harness.analyze(tmp_path / name, tables=["kernel_breakdown"])["kernel_breakdown"]
        compute[name] = [sum(row["sum_ns"] for row in rows if row["rank"] == rank and "nccl" not in row["name"])
                         for rank in range(SMALL["--ranks"])]
    assert sum(compute["on"]) == pytest.approx(sum(compute["off"]), rel=1e-5)
    assert max(compute["off"]) == min(compute["off"])
    assert min(compute["on"]) < 0.99 * min(compute["off"])
    assert max(compute["on"]) > 1.01 * max(compute["off"])


def test_clocks_differ_by_what_the_truth_tells(tmp_path):
    sizes = ["--gpus-per-node", 2, "--sharding", "none"]  # no collective ties the hosts together
    simulate(tmp_path / "right", *sizes)
    truth = simulate(tmp_path / "off", *sizes, "--clock-offset", "5ms")
    assert not truth["exact"]
    offsets, drifts = truth["clock_offset_ns"], truth["clock_drift_ns_per_s"]
    assert offsets[0] == offsets[1] != offsets[2] == offsets[3]
    right, off = job_starts(tmp_path / "right"), job_starts(tmp_path / "off")
    begin = min(right.values())
    for (rank, step), start in right.items():
        gained = (start - begin) * drifts[rank] / 1e9
        assert off[rank, step] - start == pytest.approx(offsets[rank] + gained, abs=3)


def job_starts(folder):
    return {(row["rank"], row["number"]): row["start_ns"]
            for row in harness.analyze(folder, tables=["steps"], top=None)["steps"]}


def test_omitted_ranks_have_no_file(tmp_path):
    truth = simulate(tmp_path, "--omit-ranks", "1,3-")
    assert truth["files"][1] is truth["files"][3] is None
    assert sorted(path.name for path in tmp_path.iterdir()) == [truth["files"][0], truth["files"][2], "truth.json"]
    assert [row["rank"] for row in harness.analyze(tmp_path, tables=["summary"], top=None)["summary"]] == [0, 2]
    assert all(truth["by_rank"]["compute_ns"])


def test_compilation_is_told_as_pytorch_does(tmp_path):
    truth = simulate(tmp_path, "--fault", "compilation:ms=50")
    events = json.loads(harness.text_of(tmp_path / truth["files"][0]))["traceEvents"]
    (step,) = [e for e in events if e["name"] == f"ProfilerStep#{truth['steps'][-1]}" and e["cat"] == "user_annotation"]
    for cat, name in (("user_annotation", "_compile.compile_inner (dynamo_timed)"), ("cpu_op", "Torch-Compiled Region: 0/1"),
                      ("overhead", "Runtime Triggered Module Loading"), ("cuda_driver", "cuLaunchKernel")):
        (event,) = [e for e in events if e["name"] == name and e["cat"] == cat]
        assert step["ts"] < event["ts"] < step["ts"] + step["dur"]


def test_memory_pressure_reserves_nearly_all_of_the_device(tmp_path):
    truth = simulate(tmp_path, "--memory-events", "--fault", "memory-pressure:rank=1,percent=97")
    for rank, least, most in ((0, 0, 0.9), (1, 0.96, 1)):
        events = json.loads(harness.text_of(tmp_path / truth["files"][rank]))
        size = events["deviceProperties"][0]["totalGlobalMem"]
        reserved = max(e["args"]["Total Reserved"] for e in events["traceEvents"] if e["name"] == "[memory]")
        assert least * size <= reserved <= most * size


def test_scaled_kernels_are_the_job_simulated_anew(tmp_path):
    kernels = {}
    for name, options in (("plain", []), ("scaled", ["--scale", "flash_bwd=0.5"])):
        simulate(tmp_path / name, "--jitter", 0, *options)
        rows = harness.analyze(tmp_path / name, tables=["kernel_breakdown"])["kernel_breakdown"]
        kernels[name] = {(row["rank"], row["name"]): row["sum_ns"] for row in rows}
    assert any("flash_bwd" in name for _, name in kernels["plain"])
    for (rank, name), ns in kernels["plain"].items():
        if "ncclDevKernel" not in name:  # they wait
            factor = 0.5 if "flash_bwd" in name else 1
            assert kernels["scaled"][rank, name] == pytest.approx(ns * factor, abs=100)


def test_the_straggler_is_named(tmp_path):
    simulate(tmp_path, "--fault", "slow-rank:rank=2,factor=1.5")
    rows = harness.analyze(tmp_path, tables=["stragglers"], top=None)["stragglers"]
    assert rows[0]["rank"] == 2
    assert rows[0]["caused_wait_ns"] > 5 * sum(row["caused_wait_ns"] for row in rows[1:])


def test_an_exchange_is_of_no_call_that_names_a_peer(tmp_path):
    truth = simulate(tmp_path, "--pp", 4, "--micro-batches", 6, "--coupled-sends", "--steps", 1)
    ends = {}
    for rank, name in enumerate(truth["files"]):
        events = json.loads(harness.text_of(tmp_path / name))["traceEvents"]
        kernels = [e for e in events if e.get("cat") == "kernel" and "SendRecv" in e["name"]]
        coupled = [e for e in kernels if "Group size" not in e["args"]]
        both = sum(e["name"] == "nccl:coalesced" and e["cat"] == "user_annotation" for e in events)
        assert len(coupled) == both == sum(6 - (3 - stage) for stage in (rank, rank - 1) if 0 <= stage < 3)
        names = [e["args"]["Collective name"] for e in events if e["name"] == "record_param_comms"]
        assert names.count("send") == names.count("recv") == (6 if rank in (0, 3) else 12)
        ends[rank] = {round(e["ts"] * 1000 + e["dur"] * 1000) for e in coupled}
    assert ends[1] & ends[0] == ends[0] and ends[0]


def test_tokens_are_exchanged_within_expert_groups(tmp_path):
    truth = simulate(tmp_path, "--ranks", 8, "--tp", 2, "--ep", 2, "--steps", 1)
    assert truth["groups"]["expert"][:2] == [[0, 2], [4, 6]]
    assert truth["groups"]["expert_data"][:2] == [[0, 4], [2, 6]]
    found = {(row["group"], tuple(row["ranks"]), row["name"]): row["calls"] for row in truth["collectives"]}
    assert found["expert", (0, 2), "all_to_all"] == 2 * 4 * SMALL["--layers"]  # of 2 ranks
    assert found["expert_data", (0, 4), "allreduce"] > 0
    rows = harness.analyze(tmp_path, tables=["stragglers"], top=None)["stragglers"]
    assert [row["rank"] for row in rows if not row["collectives"]] == []


@pytest.mark.parametrize("options", [[], ["--pp", 2], ["--tp", 2], ["--sharding", "fsdp"]])
def test_a_hang_ends_the_traces(tmp_path, options):
    truth = simulate(tmp_path, "--fault", "hang:rank=1,step=4,after_ms=300", *options)
    assert [steps[0] is not None for steps in truth["by_rank_and_step"]["step_ns"]] == [True] * 4
    assert truth["by_rank_and_step"]["step_ns"][1][1] is None
    found = harness.analyze(tmp_path, tables=["temporal_breakdown", "comm_comp_overlap"], top=None)
    assert [n for n in found.notes if n["severity"] != "info"] == []
    check_numbers(found, truth["by_rank"], lambda values, rank: values[rank])
    for name in truth["files"]:
        events = json.loads(harness.text_of(tmp_path / name))["traceEvents"]
        stuck = [e for e in events if e.get("args", {}).get("finished") is False]
        assert any(e["name"] == "ProfilerStep#4" for e in stuck)
        starts = {e["args"]["External id"] for e in events if e.get("cat") == "cuda_runtime"}
        assert starts  # launches of what never ran are there


@pytest.mark.parametrize("era", ["today", "2024", "2023", "2022", "2021"])
def test_every_era_is_read_whole(tmp_path, era):
    truth = simulate(tmp_path, "--era", era, "--tp", 2, "--memory-events", "--python-stacks")
    found = harness.analyze(tmp_path, tables=["summary", "steps", "temporal_breakdown", "stragglers"], top=None)
    kinds = {note["kind"] for note in found.notes}
    # Kernels of that era tell the size of their group, but not which one it is: two of two look like one.
    assert kinds <= {"2021": {"rank_from_file_name"}, "2023": {"mixed_groups"}}.get(era, set())
    assert [row["rank"] for row in found["summary"]] == list(range(4))
    for row in found["steps"]:
        step = truth["by_rank_and_step"]["step_ns"][row["rank"]][truth["steps"].index(row["number"])]
        assert row["dur_ns"] == pytest.approx(step, abs=0 if truth["exact"] else 1000)
    for row in found["temporal_breakdown"]:
        assert row["kernel_time_ns"] == pytest.approx(truth["by_rank"]["device_window_ns"][row["rank"]], abs=1000)
    assert len({row["collectives"] for row in found["stragglers"]}) == (0 if era == "2023" else 1)


MEMORY_JOBS = {
    "ddp": [],
    "fsdp": ["--sharding", "fsdp"],
    "tensor and pipeline": ["--tp", 2, "--pp", 2, "--micro-batches", 5],
    "accumulated gradients": ["--ranks", 1, "--micro-batches", 3],
    "one step": ["--ranks", 2, "--steps", 1],
    "even": ["--jitter", 0],
}


@pytest.mark.parametrize("with_stacks", [True, False])
@pytest.mark.parametrize("job", MEMORY_JOBS)
def test_memory_is_held_for_what_was_simulated(tmp_path, job, with_stacks):
    truth = simulate(tmp_path, "--all-memory-events", *(["--python-stacks"] if with_stacks else []), *MEMORY_JOBS[job])
    at_peak = truth["memory_at_peak"]
    found = harness.analyze(tmp_path, tables=["memory_at_peak", "memory_timeline", "memory_leaks"])
    for row in found["memory_timeline"]:
        assert (row["peak_time_ns"], row["peak_allocated_bytes"]) == (
            at_peak["peak_time_ns"][row["rank"]], at_peak["peak_bytes"][row["rank"]])
    for rank in range(truth["ranks"]):
        held = {name: values[rank] for name, values in at_peak.items() if not name.startswith("peak_")}
        held["unknown"] = held.pop("before")
        if not with_stacks:  # nothing else tells the calls that make modules
            held["unknown"] += held.pop("parameters")
        sums = dict.fromkeys(held, 0)
        for row in found["memory_at_peak"]:
            if row["rank"] == rank:
                sums[row["category"]] += row["bytes"]
        assert sums == held, rank
        # What the first of three steps leaves for good.
        kept = sum(row["retained_bytes"] for row in found["memory_leaks"] if row["rank"] == rank)
        made = at_peak["parameters"][rank] + at_peak["optimizer_state"][rank]
        assert kept == (made if len(truth["steps"]) > 2 else 0), rank
    if truth["steps"][1:]:
        assert held["activations"] and held["gradients"] and held["optimizer_state"]


@pytest.mark.parametrize("era", ["today", "2023", "2021"])
def test_traces_are_what_a_second_reader_sees(tmp_path, era):
    truth = simulate(tmp_path, "--era", era, "--ranks", 2, "--memory-events", "--python-stacks")
    for name in truth["files"]:
        check_trace(tmp_path / name, oracle.Trace(harness.text_of(tmp_path / name)))


@pytest.mark.parametrize("options", [
    ["--tp", 2, "--events", 9000, "--fault", "gc-pause", "--scale", "gemm=1.5"],
    ["--ep", 2, "--omit-ranks", "0,3-", "--clock-offset", "3ms", "--noise", "rough", "--fault", "imbalance", "--fault", "slow-link:ranks=0-2"],
    ["--pp", 4, "--virtual-stages", 2, "--layers", 8, "--events", 9000, "--noise", "rough"],
    ["--pp", 2, "--coupled-sends", "--gpus-per-node", 2, "--clock-offset", "250us"],
])
def test_the_truth_tells_how_to_simulate_the_job_again(tmp_path, options):
    first = simulate(tmp_path / "first", *options)
    words = []
    for option, value in first["options"].items():
        if isinstance(value, bool):
            words += [f"--{option}"] if value else []
        else:
            for one in value if isinstance(value, list) else [value]:
                words += [f"--{option}", one]
    assert harness.run("simulate", "-o", tmp_path / "again", *words).returncode == 0
    for name in filter(None, ["truth.json", *first["files"]]):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_memory_does_not_grow_with_the_job(tmp_path):
    def peak_kb(ranks, steps):
        words = ["simulate", "-o", tmp_path / f"{ranks}-{steps}", "--ranks", ranks, "--steps", steps, "--layers", 4,
                 "--threads", 2]
        child = subprocess.Popen([str(harness.program()), *map(str, words)], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait again
        assert child.returncode == 0
        return usage.ru_maxrss

    # A rank's schedule is some 16 KiB; its events, held, would be 30 MiB.
    assert peak_kb(64, 40) - peak_kb(2, 2) < 6 * 1024

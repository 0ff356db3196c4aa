"""The verdict: which mechanism, which ranks and how much time `findings` names in jobs of which the truth is known."""

import json
import shutil
import subprocess
import sys

import pytest

import harness
from test_simulate import simulate

EIGHT = ["--ranks", 8, "--steps", 6, "--layers", 12]
PIPELINE = [*EIGHT, "--pp", 2, "--micro-batches", 8]
HOSTS = ["--ranks", 8, "--steps", 8, "--layers", 12, "--gpus-per-node", 4]
ALL = None
# A fault and its job: the first finding's mechanism and ranks.
FAULTS = {
    "slow-rank:rank=3,factor=1.2": ("slow_device", "3", EIGHT),
    "slow-rank:rank=2-3,factor=1.2": ("slow_device", "2-3", EIGHT),
    "slow-rank:rank=5,factor=1.3": ("slow_device", "5", PIPELINE),
    "throttle:rank=1,from_ms=300": ("clock_drop", "1", EIGHT),
    "throttle:rank=all,from_ms=300": ("clock_drop", ALL, EIGHT),
    "throttle:rank=1,step=4-5": ("clock_drop", "1", EIGHT),
    "slow-rank:rank=6,step=3-4": ("clock_drop", "6", EIGHT),
    "slow-rank:rank=3,step=5-8,factor=1.1": ("clock_drop", "3", ["--ranks", 4, "--steps", 10]),
    "throttle:rank=4-7,step=6-,factor=1.3": ("clock_drop", "4-7", HOSTS),
    "throttle:rank=0-4,step=6-,factor=1.3": ("clock_drop", "0-4", HOSTS),
    "throttle:rank=6-7,step=6-": ("clock_drop", "6-7", HOSTS),
    "straggling-step:rank=2,step=5": ("long_step", "2", EIGHT),
    "straggling-step:rank=0,factor=1.8": ("long_step", "0", ["--ranks", 2, "--steps", 6]),
    "imbalance:spread=0.6": ("uneven_work", ALL, EIGHT),
    "extra-calls:rank=6,count=200": ("uneven_work", "6", EIGHT),
    "data-loader-stall": ("data_loading", ALL, EIGHT),
    "data-loader-stall:rank=1,ms=40": ("data_loading", "1", ["--ranks", 2, "--steps", 5]),
    "throttle:rank=0,step=6-": ("clock_drop", "0", ["--ranks", 2, "--steps", 6]),
    "imbalance:spread=0.5": ("uneven_work", ALL, ["--ranks", 16, "--steps", 4, "--pp", 8, "--layers", 16, "--micro-batches", 32]),
    "data-loader-stall:rank=2": ("data_loading", "2", EIGHT),
    "host-sync": ("host_sync", ALL, EIGHT),
    "gc-pause:rank=1": ("host_pause", "1", EIGHT),
    "gc-pause:rank=6": ("host_pause", "6", PIPELINE),
    "gc-pause:rank=0,ms=60": ("host_pause", "0", ["--ranks", 8, "--pp", 8, "--layers", 16, "--micro-batches", 16, "--steps", 4]),
    "allocator-retries:ms=6": ("allocator", ALL, EIGHT),
    "copies:mb=40": ("copies", ALL, EIGHT),
    "compilation": ("compilation", ALL, EIGHT),
    "launch-bound:pieces=64": ("launch_bound", ALL, EIGHT),
    "launch-bound:rank=3,pieces=64": ("launch_bound", "3", EIGHT),
    "launch-bound:rank=6-7,pieces=64": ("launch_bound", "6-7", HOSTS),
    "launch-bound:step=6-,pieces=64": ("launch_bound", ALL, EIGHT),
    "memory-pressure": ("memory_pressure", ALL, [*EIGHT, "--memory-events"]),
    "memory-pressure:rank=2,ms=16": ("memory_pressure", "2", [*EIGHT, "--memory-events"]),
    "slow-link:factor=20": ("slow_link", ALL, EIGHT),
    "slow-link:group=tensor,index=1,factor=20": ("slow_link", "2-3", [*EIGHT, "--tp", 2]),
    "hang:rank=2": ("hang", "2", EIGHT),
    "hang:rank=5": ("hang", "5", [*EIGHT, "--tp", 2]),
}
LAYOUTS = {
    "ddp": EIGHT,
    "two": ["--ranks", 2, "--steps", 5],
    "hosts": [*EIGHT, "--gpus-per-node", 4],
    "fsdp": [*EIGHT, "--sharding", "fsdp"],
    "tensor": [*EIGHT, "--tp", 2],
    "pipeline": PIPELINE,
    "all": ["--ranks", 16, "--steps", 3, "--tp", 2, "--pp", 4, "--gpus-per-node", 4],
    "graphs": [*EIGHT, "--cuda-graphs"],
    "no records": [*EIGHT, "--era", "2024"],
}
# Beside the names of the faults: what is there in a healthy job of that layout.
OPPORTUNITIES = {"exposed_communication", "pipeline_bubble", "unequal_stages"}
# Real files whose replay is off by more than 1 %, and why.
KNOWN_ERRORS = {
    "resnet_act_checkpoint.json.gz": "launches of most kernels on its second stream are missing",
}


def findings_of(folder, *options, fault=None):
    truth = simulate(folder, *options, *(["--fault", fault] if fault else []))
    return truth, harness.analyze(folder, tables=["findings"], top=None)["findings"]


@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_finding_is_the_fault(tmp_path, fault):
    mechanism, ranks, layout = FAULTS[fault]
    truth, findings = findings_of(tmp_path, *layout, fault=fault)
    first = findings[0]
    assert (first["mechanism"], first["ranks"], first["kind"]) == (mechanism, ranks, "fault"), first["finding"]
    if mechanism == "hang":
        assert first["time_ns"] is None
        return
    effect, step = truth["faults"][0]["job_effect_total_ns"] / len(truth["steps"]), truth["job"]["step_ns"][0]
    if mechanism != "launch_bound":  # whose ideal is not the job without the fault
        assert first["time_ns"] == pytest.approx(effect, rel=0.1, abs=0.005 * step)
    assert first["share"] == pytest.approx(first["time_ns"] / (sum(truth["job"]["step_ns"]) / len(truth["steps"])), rel=0.02)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("jitter", [1, 5])
def test_the_healthy_are_told_so(tmp_path, layout, jitter):
    _, findings = findings_of(tmp_path, *LAYOUTS[layout], "--jitter", jitter, "--seed", 7)
    assert {f["mechanism"] for f in findings if f["kind"] != "caveat"} <= OPPORTUNITIES
    report = harness.run("analyze", tmp_path).stdout.decode()
    assert "No fault found" in " ".join(report.split())


def write_dumps(folder, ranks, missing=(), call="nccl:all_reduce"):
    """What the flight recorder of each rank leaves: all have ended collective 285, and 286 only those that are missing have not called."""
    for rank in ranks:
        entries = [{"record_id": number, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": number, "p2p_seq_id": 0,
                    "op_id": number, "profiling_name": call, "time_created_ns": 1_767_189_312_000_000_000 + number, "is_p2p": False,
                    "input_sizes": [[4096]], "output_sizes": [[4096]], "input_dtypes": ["Float"], "output_dtypes": ["Float"],
                    "state": "completed" if number < 286 else "started", "retired": number < 286}
                   for number in range(280, 286 if rank in missing else 287)]
        groups = {"0": {"name": "0", "desc": "default_pg", "ranks": str([*ranks])}}
        (folder / f"nccl_trace_rank_{rank}").write_text(json.dumps({"version": "2.10", "pg_config": groups, "pg_status": {}, "entries": entries}))


@pytest.mark.parametrize("missing, confidence", [([2], "high"), ([5], "medium")])
def test_flight_recorders_beside_traces_tell_the_call_of_a_hang(tmp_path, missing, confidence):
    """Where they name another rank than the traces nothing is certain."""
    simulate(tmp_path, *EIGHT, "--fault", "hang:rank=2")
    alone = harness.analyze(tmp_path, tables=["findings"], top=None)["findings"][0]
    assert (alone["mechanism"], alone["ranks"], alone["confidence"]) == ("hang", "2", "medium")
    write_dumps(tmp_path, range(8), missing)
    found = harness.analyze(tmp_path, tables=["findings", "flight_recorder"], top=None)
    first = found["findings"][0]
    assert (first["mechanism"], first["ranks"], first["confidence"]) == ("hang", str(missing[0]), confidence)
    assert "all_reduce 286 of group 0 (default_pg)" in first["finding"]
    assert first["against"] is None if confidence == "high" else "the traces say otherwise: rank 2" in first["against"]
    assert [row["missing"] for row in found["flight_recorder"]] == [None, str(missing[0])]


def test_flight_recorders_of_a_job_that_runs_tell_nothing(tmp_path):
    """All are in the same call, as the last one before the dumps may be."""
    simulate(tmp_path, *EIGHT)
    write_dumps(tmp_path, range(8))
    findings = harness.analyze(tmp_path, tables=["findings"], top=None)["findings"]
    assert not [f for f in findings if f["kind"] == "fault"]


@harness.needs_shared()
@pytest.mark.parametrize("folder, ranks, words", [
    ("gloo_desync", "3", "all_reduce 12 of group 0"), ("nccl_lock_gil", "9,14", "all_to_all 45265 of group 72"),
    ("nccl_gpu_error", "12,14", "_all_gather_base 42806 of group 41"), ("gloo_healthy", None, None)])
def test_flight_recorders_alone_tell_who_hangs(folder, ranks, words):
    """The two of Megatron have a log of whom a fault was injected into; in the healthy one a rank wrote its dump amid the last barrier."""
    findings = harness.analyze(harness.SHARED / "imports/flight_recorder" / folder, tables=["findings"], top=None)["findings"]
    assert [(f["mechanism"], f["ranks"], f["confidence"]) for f in findings] == ([("hang", ranks, "medium")] if ranks else [])
    assert words is None or words in findings[0]["finding"]


def test_a_rank_without_a_dump_may_be_dead(tmp_path):
    write_dumps(tmp_path, range(4))
    (tmp_path / "nccl_trace_rank_3").unlink()
    first = harness.analyze(tmp_path, tables=["findings"], top=None)["findings"][0]
    assert (first["mechanism"], first["ranks"], first["confidence"]) == ("hang", "3", "low")
    (tmp_path / "nccl_trace_rank_2").unlink()  # as many as there are: somebody left them out
    assert not harness.analyze(tmp_path, tables=["findings"], top=None)["findings"]


@pytest.mark.parametrize("fault, options, confidence", [
    ("slow-rank:rank=3,factor=1.2", EIGHT, "high"), ("throttle:rank=1,from_ms=300", EIGHT, "high"),
    ("data-loader-stall:rank=2", EIGHT, "high"), ("data-loader-stall", EIGHT, "medium"), ("host-sync", EIGHT, "medium")])
def test_high_confidence_takes_two_measurements(tmp_path, fault, options, confidence):
    """The rank also comes last to its collectives. That a span names the cause is one alone."""
    _, findings = findings_of(tmp_path, *options, fault=fault)
    assert findings[0]["confidence"] == confidence


def first_opportunity(findings):
    return next((f for f in findings if f["kind"] == "opportunity"), None)


@pytest.mark.parametrize("layout", [
    [*EIGHT, "--hidden", 512, "--batch", 1], [*EIGHT, "--tp", 4, "--hidden", 1024, "--batch", 1], ["--ranks", 1, "--hidden", 1024, "--batch", 1],
], ids=["small", "tensor", "one"])
def test_small_kernels_that_the_host_can_keep_up_with_are_no_fault(tmp_path, layout):
    _, findings = findings_of(tmp_path, *layout)
    assert not [f for f in findings if f["kind"] == "fault" and f["share"] >= 0.02]


@pytest.mark.parametrize("options", [[], ["--eager"], ["--cuda-graphs"], ["--annotations"]])
def test_inference_that_is_healthy_has_no_fault(tmp_path, options):
    _, findings = findings_of(tmp_path, "--ranks", 2, "--steps", 16, "--inference", *options)
    assert not [f for f in findings if f["kind"] == "fault"]


@harness.needs_shared()
def test_a_device_that_begins_late_is_not_bound_by_launches():
    """Its first kernel begins 147 ms after its launch, and nothing before it was recorded."""
    findings = harness.analyze(harness.SHARED / "traces/tracelens/inference/vllm_prefilldecode_piecewise/graph_execution.json.gz",
                               tables=["findings"], top=None)["findings"]
    assert "launch_bound" not in {f["mechanism"] for f in findings}
    caveat = next(f for f in findings if f["mechanism"] == "device_clock")
    assert caveat["kind"] == "caveat" and "149 ms after it was launched" in caveat["finding"]


@harness.needs_shared()
def test_no_thread_of_many_is_the_host():
    """An executor of requests: each of its threads launches, and waits for its own."""
    findings = harness.analyze(harness.SHARED / "traces/hta/mtia_inference_trace", tables=["findings"], top=None)["findings"]
    assert "host_pause" not in {f["mechanism"] for f in findings}
    caveat = next(f for f in findings if f["mechanism"] == "many_launchers")
    assert caveat["kind"] == "caveat" and "threads" in caveat["finding"]


def test_a_program_that_launches_from_two_threads_is_one_host(tmp_path):
    """The near miss: forward and backward pass."""
    _, findings = findings_of(tmp_path, *EIGHT, fault="gc-pause:rank=5,ms=30")
    assert (findings[0]["mechanism"], findings[0]["ranks"]) == ("host_pause", "5")
    assert "many_launchers" not in {f["mechanism"] for f in findings}


@harness.needs_shared()
@pytest.mark.parametrize("trace", ["hta/triton_example", "hta/cpu_only", "hta/call_stack", "hta/trace_filter"])
def test_what_was_left_out_of_a_trace_is_no_silence(trace):
    findings = harness.analyze(harness.SHARED / "traces" / trace, tables=["findings"], top=None)["findings"]
    assert "host_pause" not in {f["mechanism"] for f in findings}
    assert [f["kind"] for f in findings if f["mechanism"] == "unrecorded_host"] == ["caveat"]


@harness.needs_shared()
def test_a_loop_that_sleeps_is_told_so_whatever_its_first_step_has():
    """Each step sleeps 20 ms; the first one's sleep began before it was recorded."""
    findings = harness.analyze(harness.SHARED / "traces/pytorch_2_13_cpu/start_time_stacks_shapes", tables=["findings"], top=None)["findings"]
    assert not [f for f in findings if f["kind"] == "fault"]
    assert (findings[0]["mechanism"], findings[0]["ranks"], findings[0]["subject"]) == ("host_pause", ALL, "<built-in function sleep>")


@pytest.mark.parametrize("hosts, told", [(["--ranks", 8], "(1 host)"), (["--ranks", 8, "--gpus-per-node", 4], None)])
def test_hosts_that_no_trace_names_are_told_by_their_devices(tmp_path, hosts, told):
    """75 GB/s are slow within a host; what two have between them is as usual."""
    _, findings = findings_of(tmp_path, *hosts, "--era", "2024", "--steps", 5, fault="slow-link:group=data,index=0,factor=" + ("4" if told else "1.1"))
    links = [f for f in findings if f["mechanism"] == "slow_link"]
    assert not links if told is None else (links[0]["ranks"], told in links[0]["finding"]) == (ALL, True)


@pytest.mark.parametrize("layout", [["--ranks", 8], ["--ranks", 8, "--pp", 2, "--micro-batches", 8], ["--ranks", 8, "--cuda-graphs"]], ids=["ddp", "pp", "graphs"])
def test_uneven_work_costs_what_the_simulator_says(tmp_path, layout):
    """Only a step's layers depend on its size; and what is uneven in one stage is so in the next."""
    truth, findings = findings_of(tmp_path, *layout, "--steps", 6, fault="imbalance:spread=0.75")
    assert (findings[0]["mechanism"], findings[0]["ranks"]) == ("uneven_work", ALL)
    assert findings[0]["time_ns"] == pytest.approx(truth["faults"][0]["job_effect_total_ns"] / len(truth["steps"]), rel=0.05)


def test_a_long_step_is_told_beside_uneven_work(tmp_path):
    truth = simulate(tmp_path, "--ranks", 16, "--steps", 6, "--fault", "imbalance:spread=0.2", "--fault", "straggling-step:rank=6,step=8,factor=1.6")
    faults = [f for f in harness.analyze(tmp_path, tables=["findings"], top=None)["findings"] if f["kind"] == "fault"]
    assert [(f["mechanism"], f["ranks"], f["steps"]) for f in faults] == [("long_step", "6", "8"), ("uneven_work", ALL, None)]
    assert truth["steps"][0] < 8 <= truth["steps"][-1]


def test_clocks_of_host_and_device_that_disagree_are_told(tmp_path):
    """The device's is 20 ms behind: its work begins before it is launched."""
    truth = simulate(tmp_path, "--ranks", 2, "--steps", 3, "--layers", 2, "--no-gzip", "--fault", "launch-bound:pieces=64")
    mechanisms = lambda: {f["mechanism"]: f["kind"] for f in harness.analyze(tmp_path, tables=["findings"], top=None)["findings"]}
    assert mechanisms()["launch_bound"] == "fault"
    for name in truth["files"]:
        document = json.loads((tmp_path / name).read_text())
        for event in document["traceEvents"]:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                event["ts"] -= 20_000
        (tmp_path / name).write_text(json.dumps(document))
    assert mechanisms().get("device_clock") == "caveat"
    assert "launch_bound" not in mechanisms()


def test_memory_that_is_full_without_retries_is_a_caveat(tmp_path):
    """And retries with memory to spare are the allocator's."""
    _, findings = findings_of(tmp_path / "spare", *EIGHT, "--memory-events", fault="memory-pressure:percent=90")
    assert findings[0]["mechanism"] == "allocator"
    _, findings = findings_of(tmp_path / "full", *EIGHT, "--memory-events", fault="memory-pressure:percent=98,ms=0.05")
    assert not [f for f in findings if f["kind"] == "fault" and f["share"] >= 0.02]


def test_low_efficiency_is_what_attainable_rates_would_win(tmp_path):
    truth, findings = findings_of(tmp_path, *EIGHT, fault="low-efficiency:factor=3")
    first = first_opportunity(findings)
    assert (first["mechanism"], first["ranks"], first["subject"]) == ("low_efficiency", ALL, "aten::mm")
    rows = harness.analyze(tmp_path, tables=["operator_efficiency"], top=0)["operator_efficiency"]
    slow = [row for row in rows if row["bound"] and max(row["flops_utilization_ratio"], row["bandwidth_utilization_ratio"]) < 0.4
            and row["device_ns"] >= 50_000 * row["calls"]]
    won = sum(row["device_ns"] * (1 - max(row["flops_utilization_ratio"], row["bandwidth_utilization_ratio"]) / 0.7) for row in slow)
    assert first["time_ns"] == pytest.approx(won / 8 / len(truth["steps"]), rel=0.1)


def test_products_of_usual_efficiency_are_no_opportunity(tmp_path):
    """Healthy they reach 52 % of the peak, here 42 %."""
    _, findings = findings_of(tmp_path, *EIGHT, fault="low-efficiency:factor=1.25")
    assert "low_efficiency" not in {f["mechanism"] for f in findings}


@pytest.mark.parametrize("omitted, options", [("3", EIGHT), ("1-7", EIGHT), ("7", PIPELINE)])
def test_ranks_without_a_file_are_waited_for(tmp_path, omitted, options):
    """A slow one among them holds the others up: that is no transfer, and no fault of those that are here."""
    rank = 7 if options == PIPELINE else 3
    truth, findings = findings_of(tmp_path, *options, "--omit-ranks", omitted, fault=f"slow-rank:rank={rank},factor=1.3")
    assert not [f for f in findings if f["kind"] == "fault"]
    caveat = next(f for f in findings if f["mechanism"] == "absent_ranks")
    assert (caveat["kind"], caveat["ranks"]) == ("caveat", omitted)
    effect = truth["faults"][0]["job_effect_total_ns"] / len(truth["steps"])
    assert caveat["time_ns"] == pytest.approx(effect, rel=0.1)


# How much is left of rank 3's file, and what is said of it.
@pytest.mark.parametrize("left, other, sentence", [
    (0.5, None, "A part of what rank 3 recorded is damaged, and in collectives that only some have those wait for the others"),
    (200, None, "Rank 3 has a file that could not be read, and the others wait for it in collectives and sends"),
    (200, 5, "Rank 3 has a file that could not be read, rank 5 has no file here, and the others wait for them in collectives and sends"),
], ids=["part", "nothing", "another absent"])
def test_a_damaged_rank_is_not_absent(tmp_path, left, other, sentence):
    simulate(tmp_path, *EIGHT, *([] if other is None else ["--omit-ranks", other]), "--fault", "slow-rank:rank=3,factor=1.5")
    (damaged,) = tmp_path.glob("rank_0003*")
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:left if left > 1 else int(left * len(whole))])
    findings = harness.analyze(tmp_path, tables=["findings"], top=None)["findings"]
    caveat = next(f for f in findings if f["mechanism"] == "absent_ranks")
    assert caveat["finding"].startswith(sentence + ":"), caveat
    assert caveat["remedy"].startswith("Copy the damaged files again")
    assert "the largest possible gain is absent ranks" not in harness.run("analyze", tmp_path).stdout.decode()


def test_healthy_ranks_without_a_file_are_not_waited_for(tmp_path):
    _, findings = findings_of(tmp_path, *EIGHT, "--omit-ranks", "3")
    assert "absent_ranks" not in {f["mechanism"] for f in findings}


@harness.needs_shared()
def test_one_rank_of_eight_does_not_blame_communication():
    """Its all-reduces of 31 MB take 9 ms, of which nothing here explains more than 1 ms."""
    findings = harness.analyze(harness.SHARED / "traces/tracelens/mi300/resnet_act_checkpoint.json.gz", tables=["findings"], top=None)["findings"]
    shares = {f["mechanism"]: f["share"] for f in findings}
    assert shares["absent_ranks"] > 5 * shares.get("exposed_communication", 0)


def test_two_faults_are_each_found_with_their_own_cost(tmp_path):
    faults = ["slow-rank:rank=3,factor=1.2", "gc-pause:rank=5,ms=30"]
    truth = simulate(tmp_path, *EIGHT, *[word for fault in faults for word in ("--fault", fault)])
    findings = harness.analyze(tmp_path, tables=["findings"], top=None)["findings"][:2]
    assert {(f["mechanism"], f["ranks"]) for f in findings} == {("slow_device", "3"), ("host_pause", "5")}
    # They cover each other: each costs what the job loses by it once the other is gone.
    alone = {fault["type"]: fault["job_effect_alone_total_ns"] / len(truth["steps"]) for fault in truth["faults"]}
    for finding in findings:
        assert finding["time_ns"] == pytest.approx(alone[{"slow_device": "slow-rank", "host_pause": "gc-pause"}[finding["mechanism"]]], rel=0.1)


def test_a_clock_that_drops_further_than_all_others_is_told_beside_them(tmp_path):
    faults = ["throttle:rank=all,step=6-,factor=1.05", "throttle:rank=3,step=6-,factor=1.5"]
    truth = simulate(tmp_path, "--ranks", 8, "--steps", 8, *[word for fault in faults for word in ("--fault", fault)])
    findings = [f for f in harness.analyze(tmp_path, tables=["findings"], top=None)["findings"] if f["kind"] == "fault"]
    assert [(f["mechanism"], f["ranks"]) for f in findings] == [("clock_drop", "3"), ("clock_drop", ALL)]
    assert "computes 50 % longer" in findings[0]["finding"] and "Every rank computes 5.0 % longer" in findings[1]["finding"]
    step = sum(truth["job"]["step_ns"]) / len(truth["steps"])
    # What remains of each is what the job loses by it once the other is gone, or with it.
    assert findings[0]["time_ns"] == pytest.approx(truth["faults"][1]["job_effect_total_ns"] / len(truth["steps"]), rel=0.1, abs=0.005 * step)
    assert findings[1]["time_ns"] == pytest.approx(truth["faults"][0]["job_effect_alone_total_ns"] / len(truth["steps"]), rel=0.1, abs=0.005 * step)


@pytest.mark.parametrize("steps, faults, words", [
    (10, ["step=4-6,factor=1.3", "step=8-,factor=1.3"], "computes 30 % longer for the same work than the 7 others in 8 of 10 steps"),
    (8, [f"step={s}-{s + 1},factor={factor}" for s, factor in ((3, 1.1), (5, 1.2), (7, 1.3), (9, 1.4))], "computes 10-40 % longer"),
], ids=["at times", "heats up"])
def test_a_device_that_is_slow_unevenly_is_told(tmp_path, steps, faults, words):
    simulate(tmp_path, "--ranks", 8, "--steps", steps, *[word for fault in faults for word in ("--fault", f"slow-rank:rank=3,{fault}")])
    faults = [f for f in harness.analyze(tmp_path, tables=["findings"], top=None)["findings"] if f["kind"] == "fault"]
    assert [(f["mechanism"], f["ranks"]) for f in faults] == [("slow_device", "3")]
    assert words in faults[0]["finding"] and "varies from step to step" in faults[0]["against"]
    healthy = harness.analyze(tmp_path, tables=[], options=["--what-if", "device:rank=3=peer"], top=None)["what_if"]
    assert faults[0]["time_ns"] == pytest.approx(healthy[0]["gain_ns"], rel=0.1)


def test_equal_faults_that_cover_each_other_are_both_found(tmp_path):
    """Alone neither gains anything: the other one holds the job up as long."""
    _, findings = findings_of(tmp_path, *EIGHT, "--jitter", 0, "--fault", "gc-pause:rank=2,ms=40", "--fault", "gc-pause:rank=5,ms=40")
    assert {(f["mechanism"], f["ranks"]) for f in findings[:2]} == {("host_pause", "2"), ("host_pause", "5")}


def test_a_pause_that_costs_nothing_once_another_fault_is_gone_is_told(tmp_path):
    """Only since copies leave the device nothing to do does it wait for the host that collects garbage."""
    truth, findings = findings_of(tmp_path, *EIGHT, "--ep", 4, "--jitter", 5,
                                  "--fault", "gc-pause:rank=7,ms=9.6", "--fault", "copies:count=4,mb=43")
    assert [(f["mechanism"], f["ranks"]) for f in findings[:2]] == [("copies", None), ("host_pause", "7")]
    pause = next(fault for fault in truth["faults"] if fault["type"] == "gc-pause")
    assert findings[1]["time_ns"] == pytest.approx(pause["job_effect_total_ns"] / len(truth["steps"]), rel=0.1)
    assert "once the other" in findings[1]["against"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_replay_of_a_simulated_job_is_the_job(tmp_path, layout):
    simulate(tmp_path, *LAYOUTS[layout], "--jitter", 4)
    rows = harness.analyze(tmp_path, tables=["replay"], top=None)["replay"]
    assert rows
    assert max(abs(row["error_ratio"]) for row in rows) < 0.001


@pytest.mark.parametrize("layout", ["hosts", "fsdp", "all"])
def test_clocks_that_differ_change_nothing(tmp_path, layout):
    options = [*LAYOUTS[layout], "--fault", "slow-rank:rank=3,factor=2", "--clock-offset", "5ms"]
    simulate(tmp_path, *options)
    found = harness.analyze(tmp_path, tables=["replay", "findings"], top=None)
    assert max(abs(row["error_ratio"]) for row in found["replay"]) < 0.01
    first = found["findings"][0]
    assert (first["mechanism"], first["ranks"]) == ("slow_device", "3")


def test_evidence_is_a_command_that_runs(tmp_path):
    _, findings = findings_of(tmp_path, *EIGHT, fault="slow-rank:rank=3,factor=1.2")
    command = findings[0]["evidence"]
    assert command == f"spotter analyze {tmp_path} --table kernel_breakdown --ranks 3"
    done = subprocess.run([str(harness.program()), *command.split()[1:]], capture_output=True, check=False)
    assert done.returncode == 0 and b"gemm" in done.stdout


@harness.needs_shared()
@pytest.mark.parametrize("name, path", [file for file in harness.trace_files() if file[0].startswith("shared")])
def test_the_replay_of_real_traces(name, path):
    if not harness.is_trace(path):
        pytest.skip("no trace")
    rows = harness.analyze(path, tables=["replay"], top=None)["replay"]
    dur, replayed = (sum(row[column] for row in rows) for column in ("dur_ns", "replayed_ns"))
    if path.name not in KNOWN_ERRORS:
        assert replayed == pytest.approx(dur, rel=0.01), name


@harness.needs_shared()
@pytest.mark.parametrize("folder", ["tb_plugin/resnet50_num_workers_0", "pytorch_2_13_cpu/dataloader_shapes"])
def test_slow_data_loaders_are_told_first(folder):
    path = sorted((harness.SHARED / "traces" / folder).glob("*.json.gz"))[0]
    first = harness.analyze(path, tables=["findings"], top=None)["findings"][0]
    assert first["mechanism"] == "data_loading"


def test_a_short_score(tmp_path):
    """tools/score_verdicts on a few jobs of a seed that is used nowhere else."""
    done = subprocess.run([sys.executable, harness.ROOT / "tools" / "score_verdicts", "--spotter", str(harness.program()), "--seed", "1001",
                           "--count", "16"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_jobs_of_others_are_scored(tmp_path):
    """With --jobs the truth beside the traces is what counts: with another truth the same findings are wrong."""
    simulate(tmp_path / "healthy", *EIGHT)
    simulate(tmp_path / "slow", *EIGHT, "--fault", "slow-rank:rank=3,factor=1.2")
    simulate(tmp_path / "late", *EIGHT, "--fault", "data-loader-stall:step=5,rank=6,ms=80")
    score = [sys.executable, harness.ROOT / "tools" / "score_verdicts", "--spotter", str(harness.program()), "--jobs", tmp_path]
    done = subprocess.run(score, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| all | 1 of 1 | 2 of 2 |" in done.stdout and "| data_loading | 1 of 1 | 1 of 1 | 1 of 1 | 1 of 1 | 1 of 1 |" in done.stdout
    truth = tmp_path / "slow" / "truth.json"
    document = json.loads(truth.read_text())
    injected = document["faults"][0]["injected_ns"]
    injected[3], injected[4] = injected[4], injected[3]
    truth.write_text(json.dumps(document))
    done = subprocess.run(score, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "| slow_device | 0 of 1 | 0 of 1 | 1 of 1 | 0 of 1 |" in done.stdout, done.stdout + done.stderr


def test_a_rank_that_was_recorded_for_fewer_steps_is_no_trouble(tmp_path):
    truth = simulate(tmp_path, *EIGHT, "--no-gzip", "--fault", "throttle:rank=all,from_ms=400")
    first = tmp_path / truth["files"][0]
    document = json.loads(first.read_text())
    cut = max(event["ts"] for event in document["traceEvents"] if event["name"] == f"ProfilerStep#{truth['steps'][2]}")
    document["traceEvents"] = [event for event in document["traceEvents"] if event.get("ph") == "M" or event["ts"] < cut]
    first.write_text(json.dumps(document))
    findings = harness.analyze(tmp_path, tables=["findings"], top=None)["findings"]
    assert findings[0]["mechanism"] == "clock_drop"


@pytest.mark.parametrize("era", ["2021", "2023"])
@pytest.mark.parametrize("layout", [
    [*EIGHT, "--tp", 2, "--gpus-per-node", 4, "--clock-offset", "5ms"],
    [*EIGHT, "--sharding", "fsdp", "--gpus-per-node", 1, "--clock-offset", "1ms"],
    PIPELINE,
    ["--ranks", 8, "--pp", 8, "--layers", 16, "--micro-batches", 16, "--steps", 4, "--noise", "rough"],
], ids=["tensor", "hosts", "pipeline", "deep"])
def test_traces_that_name_no_groups_and_no_peers(tmp_path, era, layout):
    truth, findings = findings_of(tmp_path, *layout, "--era", era, fault="slow-rank:rank=7,factor=1.3")
    assert (findings[0]["mechanism"], findings[0]["ranks"]) == ("slow_device", "7"), findings[0]["finding"]
    effect, step = truth["faults"][0]["job_effect_total_ns"] / len(truth["steps"]), truth["job"]["step_ns"][0]
    assert findings[0]["time_ns"] == pytest.approx(effect, rel=0.1, abs=0.005 * step)


@pytest.mark.parametrize("fault, mechanism, ranks", [("data-loader-stall:rank=6,ms=5", "data_loading", "6"),
                                                     ("unoverlapped-communication", "serialized_communication", None)])
@pytest.mark.parametrize("jitter", [1, 5])
def test_groups_that_wait_for_each_other_are_told_apart_without_names(tmp_path, fault, mechanism, ranks, jitter):
    """Reductions of the two data-parallel groups end microseconds apart, since tensor groups join them."""
    truth, findings = findings_of(tmp_path, *EIGHT, "--tp", 2, "--era", "2023", "--jitter", jitter, "--seed", 997605, fault=fault)
    found = [row for row in findings if row["mechanism"] == mechanism and (ranks is None or row["ranks"] == ranks)]
    effect, step = truth["faults"][0]["job_effect_total_ns"] / len(truth["steps"]), truth["job"]["step_ns"][0]
    assert [row["time_ns"] for row in found] == [pytest.approx(effect, rel=0.1, abs=0.005 * step)], findings


def test_what_a_rank_does_more_costs_its_launches_too(tmp_path):
    truth, findings = findings_of(tmp_path, "--ranks", 16, "--steps", 5, "--tp", 4, "--layers", 16, "--hidden", 1024, "--batch", 1,
                                  fault="extra-calls:rank=5,count=200")
    assert (findings[0]["mechanism"], findings[0]["ranks"]) == ("uneven_work", "5")
    assert findings[0]["time_ns"] == pytest.approx(truth["faults"][0]["job_effect_total_ns"] / len(truth["steps"]), rel=0.1)


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_silence_that_all_ranks_and_steps_have_is_an_opportunity(tmp_path, ranks):
    truth, findings = findings_of(tmp_path, "--ranks", ranks, "--steps", 6, fault=f"gc-pause:rank=0-{ranks - 1},ms=60" if ranks > 1 else "gc-pause:ms=60")
    assert not [f for f in findings if f["kind"] == "fault" and f["share"] >= 0.02]
    first = next(f for f in findings if f["kind"] == "opportunity")
    assert first["mechanism"] == "host_pause"
    assert first["time_ns"] == pytest.approx(truth["faults"][0]["job_effect_total_ns"] / len(truth["steps"]), rel=0.1)


@pytest.mark.parametrize("fault", ["none", "slow-rank:rank=3,factor=1.2", "straggling-step:rank=2,step=6", "imbalance:spread=0.6"])
def test_ranks_that_were_recorded_from_another_step_on(tmp_path, fault):
    """As captures that begin by the clock are: half of the ranks lack the first step, one the last."""
    truth = simulate(tmp_path, *EIGHT, "--no-gzip", *(["--fault", fault] if fault != "none" else []))
    whole = harness.analyze(tmp_path, tables=["findings"], top=None)["findings"]
    for rank, name in enumerate(truth["files"]):
        document = json.loads((tmp_path / name).read_text())
        starts = [min(e["ts"] for e in document["traceEvents"] if e["name"] == f"ProfilerStep#{truth['steps'][s]}") for s in (1, -1)]
        if rank % 2 == 1:
            document["traceEvents"] = [e for e in document["traceEvents"] if e.get("ph") == "M" or e["ts"] >= starts[0]]
        if rank == 3:
            document["traceEvents"] = [e for e in document["traceEvents"] if e.get("ph") == "M" or e["ts"] + e.get("dur", 0) <= starts[1]]
        (tmp_path / name).write_text(json.dumps(document))
    cut = harness.analyze(tmp_path, tables=["findings"], top=None)["findings"]
    told = [[(f["mechanism"], f["ranks"]) for f in findings if f["kind"] == "fault" and f["share"] >= 0.02] for findings in (whole, cut)]
    assert told[0] == told[1]
    if told[0]:  # nothing is won back in steps in which the slow rank was not recorded
        assert whole[0]["time_ns"] * 0.5 < cut[0]["time_ns"] <= whole[0]["time_ns"]


def test_text_of_a_job_brings_no_escapes_to_a_terminal(tmp_path):
    truth = simulate(tmp_path, *EIGHT, "--no-gzip", "--fault", "hang:rank=2")
    for name in truth["files"]:
        path = tmp_path / name
        path.write_text(path.read_text().replace('"allreduce"', '"all\\u001b[31mreduce"'))
    report = harness.run("analyze", tmp_path, "--table", "findings").stdout
    assert b"Rank 2" in report and b"\x1b" not in report


def test_the_healthy_are_told_what_they_reach_and_could_win(tmp_path):
    simulate(tmp_path, "--ranks", 4, "--steps", 4, "--layers", 4, "--all-shapes", "--gpus-per-node", 2)
    tables = harness.analyze(tmp_path, tables=["mfu", "findings"], top=None)
    of_ranks = [row["mfu"] for row in tables["mfu"] if row["number"] is None]
    most = max((f for f in tables["findings"] if f["share"]), key=lambda f: f["share"])
    report = " ".join(harness.run("analyze", tmp_path).stdout.decode().split())
    assert f"MFU is {100 * sum(of_ranks) / len(of_ranks):.0f} %; the largest possible gain is " in report
    assert f"{most['mechanism'].replace('_', ' ')} ({100 * most['share']:.1f} %)." in report


def test_a_rank_that_launches_more_is_told_by_the_step(tmp_path):
    """Also where its recording is shorter than its peers'."""
    job = ["--ranks", 8, "--hidden", 256, "--batch", 1, "--layers", 2, "--seed", 5, "--fault", "launch-bound:rank=3,pieces=2"]
    simulate(tmp_path / "job", *job, "--steps", 8)
    simulate(tmp_path / "short", *job, "--steps", 4)

    def assert_told():
        first = harness.analyze(tmp_path / "job", tables=["findings"], top=None)["findings"][0]
        assert (first["mechanism"], first["ranks"]) == ("launch_bound", "3"), first
        assert "it launches 2.0 times as much" in first["finding"] and "another path through the code" in first["remedy"], first

    assert_told()
    name = "rank_0003.node000.pt.trace.json.gz"
    shutil.copy(tmp_path / "short" / name, tmp_path / "job" / name)
    assert_told()

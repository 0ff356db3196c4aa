"""The verdict of recordings that are not as they should be: hosts of one name, a rank without its device's work, devices of two types, no
marks of steps."""

import json
import re

import pytest

import harness
from test_simulate import simulate

EIGHT = ["--ranks", 8, "--steps", 6, "--layers", 2, "--hidden", 1024, "--no-gzip"]
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", "ac2g")
HOST = ("cpu_op", "user_annotation", "gpu_user_annotation", "fwdbwd")


def rewrite(folder, change, files="*"):
    """What `change` makes of each trace."""
    for path in sorted(folder.glob(f"rank_{files}.json")):
        trace = json.loads(path.read_text())
        change(trace)
        path.write_text(json.dumps(trace))


def without(trace, categories):
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") not in categories]


def answer(folder, *options):
    return json.loads(harness.analyze_raw(folder, tables=["findings"], top=None, options=options))


def findings_of(folder, *options):
    return harness.analyze(folder, tables=["findings"], top=None, options=options)["findings"]


def faults_of(folder):
    return [(f["mechanism"], f["ranks"]) for f in findings_of(folder) if f["kind"] == "fault"]


def all_are_called(name, devices=None):
    def change(trace):
        trace["host_name"] = name
        for event in trace["traceEvents"] if devices == "own" else []:
            if "device" in event.get("args", {}):
                event["args"]["device"] = 0
    return change


@pytest.mark.parametrize("offset", [[], ["--clock-offset", "10ms"]], ids=["one clock", "clocks apart"])
@pytest.mark.parametrize("devices", ["numbered", "own"])
def test_hosts_of_one_name_are_no_slow_link(tmp_path, offset, devices):
    simulate(tmp_path, *EIGHT, "--gpus-per-node", 2, *offset)
    rewrite(tmp_path, all_are_called("localhost", devices))
    assert not faults_of(tmp_path)
    (note,) = [n for n in answer(tmp_path)["notes"] if n["kind"] == "host_of_several"]
    assert "localhost" in note["sentence"] and ("localhost#4" in note["sentence"]) == (devices == "numbered"), note


def test_a_slow_rank_of_hosts_of_one_name(tmp_path):
    simulate(tmp_path, *EIGHT, "--gpus-per-node", 2, "--clock-offset", "10ms", "--fault", "slow-rank:rank=5,factor=1.5")
    rewrite(tmp_path, all_are_called("localhost"))
    assert faults_of(tmp_path) == [("slow_device", "5")]


def test_a_host_whose_processes_see_their_own_device_is_one(tmp_path):
    simulate(tmp_path, *EIGHT)
    rewrite(tmp_path, all_are_called("node7", "own"))
    assert not faults_of(tmp_path)
    assert "host_of_several" not in {n["kind"] for n in answer(tmp_path)["notes"]}


def test_a_rank_that_was_recorded_without_its_device(tmp_path):
    """Nothing of it tells that it is slow; the others wait for it all the same."""
    simulate(tmp_path, *EIGHT, "--fault", "slow-rank:rank=5,factor=1.5")
    rewrite(tmp_path, lambda trace: without(trace, DEVICE), "0005*")
    (absent,) = [f for f in findings_of(tmp_path) if f["mechanism"] == "absent_ranks"]
    assert absent["finding"].startswith("Rank 5 has a file without device work, and the others wait for it in collectives and sends: "), absent
    assert absent["ranks"] == "5" and absent["share"] > 0.25 and "ProfilerActivity.CUDA" in absent["remedy"], absent


def test_a_rank_that_was_recorded_without_its_device_hides_no_other(tmp_path):
    simulate(tmp_path, *EIGHT, "--fault", "slow-rank:rank=2,factor=1.5")
    rewrite(tmp_path, lambda trace: without(trace, DEVICE), "0005*")
    assert faults_of(tmp_path) == [("slow_device", "2")]


def is_an_a100(trace):
    for device in trace["deviceProperties"]:
        device["name"] = "NVIDIA A100-SXM4-80GB"
    for event in trace["traceEvents"]:
        if event.get("cat") == "kernel" and "nccl" not in event["name"]:
            event["name"] = event["name"].replace("sm90", "sm80")
            event["args"]["grid"][0] += 1


def test_a_slower_type_of_device_is_no_more_work(tmp_path):
    simulate(tmp_path, *EIGHT, "--fault", "slow-rank:rank=5,factor=1.5")
    rewrite(tmp_path, is_an_a100, "0005*")
    (fault,) = [f for f in findings_of(tmp_path) if f["kind"] == "fault"]
    assert (fault["mechanism"], fault["ranks"]) == ("slow_device", "5"), fault
    assert re.search("computes (49|50|51) % longer .*, on NVIDIA A100-SXM4-80GB where they have NVIDIA H100 80GB HBM3; ", fault["finding"]), fault
    assert "slowest type of device" in fault["remedy"], fault
    told = harness.run("analyze", tmp_path, "--what-if", "device:rank=5=peer").stdout.decode()
    assert float(re.search(r"\((\d+) %\) less", " ".join(told.split())).group(1)) > 25, told


def runs_other_kernels(trace):
    for event in trace["traceEvents"]:
        if event.get("cat") == "kernel":
            event["name"] = event["name"].replace("sm90", "sm80")


def test_a_slow_rank_with_another_version_of_a_library(tmp_path):
    simulate(tmp_path, *EIGHT, "--fault", "slow-rank:rank=5,factor=1.5")
    rewrite(tmp_path, runs_other_kernels, "0005*")
    assert faults_of(tmp_path) == [("slow_device", "5")]


@pytest.mark.parametrize("change", [is_an_a100, runs_other_kernels])
def test_other_kernels_that_are_as_fast_are_no_fault(tmp_path, change):
    simulate(tmp_path, *EIGHT)
    rewrite(tmp_path, change, "0005*")
    assert not faults_of(tmp_path)


def test_without_marks_of_steps_a_window_is_no_step(tmp_path):
    simulate(tmp_path, *EIGHT)
    rewrite(tmp_path, lambda trace: without(trace, HOST))
    told = findings_of(tmp_path)
    assert not [f for f in told if f["kind"] == "fault" or f["mechanism"] == "serialized_communication"], told
    assert not [f for f in told if "each step" in f["finding"]], told
    report = harness.run("analyze", tmp_path).stdout.decode()
    assert "No fault found: the recording takes " in report and "No steps were found" in report, report


@harness.needs_shared()
def test_a_pause_behind_which_nothing_is_launched_is_no_fault():
    """85.1 ms lie between the last launch of the recording and the profiler's own wait: no device work is late for it."""
    path, = (harness.SHARED / "traces" / "tb_plugin" / "resnet50_num_workers_4").glob("worker0.1623213129365*")
    found = {row["mechanism"] for row in findings_of(path)}
    assert "host_pause" not in found and "launch_bound" in found, found


@harness.needs_shared()
def test_several_waits_for_data_in_a_step_are_added_up():
    """The one step has two calls of the loader, 1,302.0 and 16.6 us, in pauses of 1.39 ms together: what the sentence and the gain are about."""
    rows = findings_of(harness.SHARED / "imports" / "ascend" / "trace_view.json.gz")
    row, = (row for row in rows if row["mechanism"] == "data_loading")
    assert "waits 1.39 ms for its next batch in each step" in row["finding"], row


@harness.needs_shared()
@pytest.mark.parametrize("other", ["tb_plugin/resnet50_num_workers_4", "hta/trace_diff/control"])
def test_steps_of_captures_of_several_times_are_their_own(other):
    """Two captures in a folder, eight minutes apart: none of them has a step of a minute."""
    before = harness.SHARED / "traces" / "tb_plugin" / "resnet50_num_workers_0"
    done = harness.run("diff", before, harness.SHARED / "traces" / other)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "Steps take" in text and " min" not in text and "late starts" not in text, text
    assert harness.run("diff", before, harness.SHARED / "traces" / other, "--fail-if", "step>1s").returncode == 0


@harness.needs_shared()
def test_two_recordings_without_a_host_and_of_different_times_are_not_one_job():
    paths = [harness.SHARED / "traces" / "hta" / name for name in ("nccl_parser_config", "trace_diff/control")]
    found = harness.analyze(*paths, tables=["findings"], top=None)["findings"]
    assert {row["kind"] for row in found} == {"caveat"} and "captures_apart" in {row["mechanism"] for row in found}, found
    assert b"No fault found" not in harness.run("analyze", *paths).stdout


@harness.needs_shared()
@pytest.mark.parametrize("trace, steps", [
    ("hta/negative_queue_length_values_check", "steps take 215 ms ± 1 %"),
    ("hta/trace_diff/test", "steps take 118 ms ± 2 %"),
    ("tracelens/mi300/resnet_act_checkpoint.json.gz", "steps take 18.8 ms ± 1 %"),
])
def test_steps_of_a_host_that_runs_ahead_are_its_devices(trace, steps):
    """From the end of one step's device work to the end of the next one's; the last one is not all that was ahead."""
    text = harness.run("analyze", harness.SHARED / "traces" / trace).stdout.decode()
    assert steps in " ".join(text.split()), text

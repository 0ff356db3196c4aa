"""Critical paths of simulated jobs: what they are made of is what the schedule says, and what a what-if predicts is what
the job simulated with that change takes."""

import json

import pytest

import harness

# Times vary by nothing: then a rank's own trace tells what it would do, but for waiting that other ranks would change.
COMMON = ["--steps", "3", "--layers", "4"]

# Options of the job; NAME=FACTOR.
CASES = [
    ([], "gemm=0.5"),
    ([], "gemm=2"),
    ([], "flash=0.5"),
    ([], "nccl=0.5"),
    ([], "nccl=20"),
    ([], "multi_tensor=0.2"),
    ([], "aten::=20"),
    ([], "Optimizer=3"),
    ([], "cudaLaunchKernel=10"),
    (["--cuda-graphs"], "gemm=0.5"),
    (["--sharding", "fsdp"], "gemm=0.5"),
    (["--sharding", "fsdp"], "nccl=4"),
    (["--tp", "2"], "gemm=0.5"),
    (["--python-stacks", "--memory-events"], "gemm=0.5"),
    (["--fault", "launch-bound"], "aten::=2"),
    (["--fault", "launch-bound"], "cudaLaunchKernel=0.5"),
    (["--fault", "launch-bound"], "cudaLaunchKernel=20"),
    (["--fault", "launch-bound"], "gemm=5"),
    (["--fault", "host-sync"], "gemm=0.5"),
    (["--fault", "data-loader-stall"], "gemm=0.5"),
    (["--fault", "gc-pause:rank=all"], "gemm=0.5"),
    (["--fault", "allocator-retries:rank=all"], "gemm=0.5"),
    (["--fault", "unoverlapped-communication"], "nccl=0.5"),
    (["--fault", "slow-link"], "nccl=0.1"),
    (["--fault", "slow-rank:rank=all"], "gemm=0.5"),
]


def simulate(folder, *options):
    even = [] if "--jitter" in options else ["--jitter", "0"]
    done = harness.run("simulate", "-o", folder, *COMMON, *even, *options)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads((folder / "truth.json").read_text())


def paths(folder, *options):
    done = harness.run("analyze", folder, "--table", "critical_path", "--format", "json", *options)
    assert done.returncode == 0, done.stderr.decode()
    return {(row["rank"], row["step"]): row for row in harness.Answer(json.loads(done.stdout))["critical_path"]}


@pytest.mark.parametrize("options,what_if", CASES, ids=lambda value: " ".join(value) if isinstance(value, list) else value)
def test_prediction(options, what_if, tmp_path):
    simulate(tmp_path / "before", "--ranks", "4", *options)
    simulate(tmp_path / "after", "--ranks", "4", *options, "--scale", what_if)
    predicted, real = paths(tmp_path / "before", "--what-if", what_if), paths(tmp_path / "after")
    assert predicted.keys() == real.keys() and len(real) == 12
    for key, row in real.items():
        assert predicted[key]["what_if_ns"] == pytest.approx(row["length_ns"], rel=0.01)
        assert abs(predicted[key]["length_ns"] / row["length_ns"] - 1) > 0.0005, "nothing was to be predicted"


def test_a_job_that_varies(tmp_path):
    options = ["--ranks", "4", "--jitter", "3"]
    simulate(tmp_path / "before", *options)
    simulate(tmp_path / "after", *options, "--scale", "gemm=0.5")
    predicted, real = paths(tmp_path / "before", "--what-if", "gemm=0.5"), paths(tmp_path / "after")
    assert predicted.keys() == real.keys() and len(real) == 12
    for key, row in real.items():
        assert predicted[key]["what_if_ns"] == pytest.approx(row["length_ns"], rel=0.01)


def test_the_slow_rank_tells_what_the_job_would_take(tmp_path):
    options = ["--ranks", "4", "--fault", "slow-rank:rank=2"]
    simulate(tmp_path / "before", *options)
    simulate(tmp_path / "after", *options, "--scale", "gemm=0.5")
    predicted, real = paths(tmp_path / "before", "--what-if", "gemm=0.5"), paths(tmp_path / "after")
    for step in (3, 4, 5):
        assert predicted[2, step]["what_if_ns"] == pytest.approx(real[2, step]["length_ns"], rel=0.001)


def schedule(folder, *options):
    """(path, truth of that step) of each rank and step."""
    truth = simulate(folder, *options)["by_rank_and_step"]
    rows = paths(folder)
    assert rows
    for (rank, step), row in rows.items():
        yield row, {key: values[rank][step - 3] for key, values in truth.items()}


def test_a_busy_device_is_the_path(tmp_path):
    for row, truth in schedule(tmp_path / "job", "--ranks", "1"):
        assert row["bound_by"] == "compute"
        assert row["length_ns"] == truth["step_ns"]
        assert row["compute_ns"] == truth["compute_ns"]
        assert row["host_operators_ns"] + row["host_gaps_ns"] + row["data_loading_ns"] < 0.01 * row["length_ns"]
        assert row["kernel_gaps_ns"] <= truth["idle_ns"]


def test_communication_that_is_not_hidden_is_on_the_path(tmp_path):
    for row, truth in schedule(tmp_path / "job", "--ranks", "4", "--fault", "unoverlapped-communication"):
        assert row["compute_ns"] == truth["compute_ns"]
        assert row["communication_ns"] == truth["exposed_communication_ns"] == truth["communication_ns"]


def test_a_stalled_data_loader_is_on_the_path(tmp_path):
    plain = [row["data_loading_ns"] for row, _ in schedule(tmp_path / "plain", "--ranks", "1")]
    stalled = list(schedule(tmp_path / "job", "--ranks", "1", "--fault", "data-loader-stall:ms=70"))
    for before, (row, truth) in zip(plain, stalled, strict=True):
        assert row["data_loading_ns"] - before == 70_000_000
        assert row["compute_ns"] == truth["compute_ns"]


def test_a_host_that_launches_too_slowly_is_the_path(tmp_path):
    for row, truth in schedule(tmp_path / "job", "--ranks", "1", "--fault", "launch-bound"):
        assert row["bound_by"] == "host operators"
        assert row["length_ns"] == truth["step_ns"]
        on_device = row["compute_ns"] + row["memory_ns"] + row["kernel_gaps_ns"]
        assert row["host_operators_ns"] + row["host_gaps_ns"] > 0.8 * row["length_ns"] > on_device


def test_a_pause_of_the_host_is_on_the_path(tmp_path):
    for row, truth in schedule(tmp_path / "job", "--ranks", "1", "--fault", "gc-pause:rank=0,ms=90"):
        assert row["length_ns"] == truth["step_ns"]
        assert row["host_gaps_ns"] >= 90_000_000

"""Flops against those that PyTorch counts itself, and MFU against simulated jobs whose work is known.

PyTorch's part needs a Python that can import torch, named in the environment variable SPOTTER_TORCH_PYTHON.
"""

import collections
import json
import os
import pathlib
import subprocess

import pytest

import harness

PYTHON = os.environ.get("SPOTTER_TORCH_PYTHON")
MODELS = pathlib.Path(__file__).parent / "flop_models.py"
ATTENTION = "_scaled_dot_product_flash_attention_for_cpu"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """(folder of the traces, what PyTorch counts)"""
    if not PYTHON:
        pytest.skip("SPOTTER_TORCH_PYTHON names no Python with torch")
    folder = tmp_path_factory.mktemp("models")
    done = subprocess.run([PYTHON, MODELS, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return folder, json.loads(done.stdout)


def counted(trace):
    """(flops of products by operator, flops of the whole trace)"""
    answer = harness.analyze(trace, tables=["operator_efficiency"])
    by_operator = collections.Counter()
    for row in answer["operator_efficiency"]:
        name = row["operator"].removeprefix("aten::")
        if name in ("mm", "bmm", "addmm", "baddbmm") or "convolution" in name or "attention" in name:
            by_operator["convolution" if name == "_convolution" else name] += row["flops"]
    (whole,) = [row for row in harness.analyze(trace, tables=["mfu"], top=None)["mfu"] if row["number"] is None]
    return by_operator, whole["flops"]


def expected(facts):
    return {name.removeprefix("aten."): flops for name, flops in facts["flops"].items()}


@pytest.mark.parametrize("model", ["mlp", "mlp of three axes", "products", "residual", "dilation", "one and three axes", "same padding",
                                   "transposed", "attention", "attention on the CPU", "transformer layer", "LSTM"])
def test_as_pytorch_counts(models, model):
    folder, facts = models
    by_operator, whole = counted(folder / f"{model}.json")
    assert by_operator == expected(facts[model])
    assert whole == sum(by_operator.values()) > 0


def test_the_gradient_of_a_grouped_weight_takes_no_more_than_the_forward_pass(models):
    """PyTorch counts it as if each channel of the result saw all of the input (PyTorch 2.13)."""
    folder, facts = models
    by_operator, whole = counted(folder / "groups.json")
    by_pytorch = expected(facts["groups"])
    assert by_operator["convolution"] == by_pytorch["convolution"] == sum(flops for flops, _ in facts["groups"]["grouped"])
    assert by_operator["convolution_backward"] == 2 * by_operator["convolution"]
    too_many = sum((groups - 1) * flops for flops, groups in facts["groups"]["grouped"])
    assert by_pytorch["convolution_backward"] == by_operator["convolution_backward"] + too_many
    assert whole == sum(by_operator.values())


def test_causal_attention_is_the_pairs_that_its_mask_leaves(models):
    """PyTorch counts all pairs of the 11 places."""
    folder, facts = models
    by_operator, whole = counted(folder / "causal attention on the CPU.json")
    by_pytorch = expected(facts["causal attention on the CPU"])
    for name in (ATTENTION, f"{ATTENTION}_backward"):
        assert by_operator.pop(name) * 11 * 11 == by_pytorch.pop(name) * (11 * 12 // 2)
    assert by_operator == by_pytorch
    assert whole > sum(by_operator.values())


H100_BF16 = 989e12


def simulated(folder, *options, ranks=4):
    done = harness.run("simulate", "-o", folder, "--ranks", ranks, "--steps", 3, "--layers", 4, "--all-shapes", *options)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads((folder / "truth.json").read_text())


@pytest.mark.parametrize("options", [(), ("--sharding", "fsdp", "--hidden", 1024), ("--tp", 2), ("--pp", 2, "--micro-batches", 6),
                                     ("--fault", "data-loader-stall:rank=1,ms=40"), ("--era", "2022")])
def test_mfu_of_a_simulated_job(tmp_path, options):
    truth = simulated(tmp_path, *options)
    answer = harness.analyze(tmp_path, tables=["mfu", "step_breakdown"], top=None)
    windows = {(row["rank"], row["number"]): row["dur_ns"] for row in answer["step_breakdown"]}
    rows = {(row["rank"], row["number"]): row for row in answer["mfu"]}
    assert set(rows) == set(windows) | {(rank, None) for rank in range(4)}
    for (rank, step), row in rows.items():
        steps = 3 if step is None else 1
        assert row["flops"] == steps * truth["step_flops"][rank]
        ns = windows.get((rank, step)) or sum(dur for (r, _), dur in windows.items() if r == rank)
        assert row["mfu"] == pytest.approx(steps * truth["step_flops"][rank] / (ns / 1e9) / H100_BF16, rel=1e-9)
        assert (row["dtype"], row["peak_tflops"]) == ("bfloat16", 989)
    # The step of the host, which the schedule knows, is the window but for what the device works off behind it.
    first = rows[0, truth["steps"][0]]
    known = truth["step_flops"][0] / (truth["by_rank_and_step"]["step_ns"][0][0] / 1e9) / H100_BF16
    assert first["mfu"] == pytest.approx(known, rel=0.01)


def test_a_model_of_known_size(tmp_path):
    """One rank, 4 layers of 2048, one batch of 2048 tokens: 6 flops for each parameter and token but for the embedding's, and
    attention: 16 heads of 128, 2048 * 2049 / 2 pairs, two products forward and five backward."""
    simulated(tmp_path, "--sharding", "none", "--jitter", 0, "--hidden", 2048, "--batch", 1, ranks=1)
    parameters = 4 * 12 * 2048**2 + 32_000 * 2048
    attention = 4 * 16 * (2048 * 2049 // 2) * 128 * 2 * (2 + 5)
    for row in harness.analyze(tmp_path, tables=["mfu"], top=None)["mfu"]:
        steps = 3 if row["number"] is None else 1
        assert row["flops"] == steps * (6 * parameters * 2048 + attention)


def test_without_the_shapes_of_attention_there_is_no_mfu(tmp_path):
    done = harness.run("simulate", "-o", tmp_path, "--ranks", 1, "--steps", 2, "--layers", 2)
    assert done.returncode == 0, done.stderr.decode()
    answer = harness.analyze(tmp_path, tables=["mfu"], top=None)
    assert {(row["flops"], row["mfu"]) for row in answer["mfu"]} == {(None, None)}
    assert "step_flops" not in json.loads((tmp_path / "truth.json").read_text())


@harness.needs_shared()
@pytest.mark.parametrize("path", harness.traces())
def test_shares_are_shares(path):
    """On every trace: what is counted is at least nothing, and no step does more than its device can."""
    if not harness.is_trace(path):
        pytest.skip("no trace")
    answer = harness.analyze(path, tables=["operator_efficiency", "mfu"])
    for row in answer["operator_efficiency"]:
        assert min(row[column] or 0 for column in ("flops", "bytes", "device_ns", "host_ns", "calls")) >= 0, row
        assert row["device_ratio"] is None or 0 <= row["device_ratio"] <= 1 + 1e-9, row
    for row in answer["mfu"]:
        assert row["mfu"] is None or 0 <= row["mfu"] <= 1, row
        assert row["covered_ratio"] is None or 0 <= row["covered_ratio"] <= 1, row
    known = [row["device_ratio"] for row in answer["operator_efficiency"] if row["device_ratio"] is not None]
    assert sum(known) <= 1 + 1e-9

"""The verdict on real jobs: four ranks of PyTorch on CPUs (gloo), rank 2 with a fault.

Needs a Python that can import torch, named in the environment variable SPOTTER_TORCH_PYTHON.
"""

import os
import pathlib
import subprocess

import pytest

import harness

PYTHON = os.environ.get("SPOTTER_TORCH_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="SPOTTER_TORCH_PYTHON names no Python with torch")

JOB = pathlib.Path(__file__).parent / "gloo_job.py"
FAULTS = {"more": "uneven_work", "loader": "data_loading", "garbage": "host_pause", "sleep": "host_pause"}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """The folder of each job, by its fault."""
    folder = tmp_path_factory.mktemp("gloo")
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4", str(JOB), str(folder), "none", *FAULTS]
    # Whatever other tests run meanwhile is not to be taken for a fault of the job.
    ahead = ["nice", "-n", "-15"] if os.geteuid() == 0 else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*ahead, PYTHON, *words], env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def faults_of(folder):
    rows = harness.analyze(folder, tables=["findings"], top=None)["findings"]
    return [row for row in rows if row["kind"] == "fault"]


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_comes_first(jobs, fault):
    first = faults_of(jobs / fault)[0]
    assert (first["mechanism"], first["ranks"], first["confidence"]) == (FAULTS[fault], "2", "high"), first["finding"]


def test_without_a_fault_nobody_is_accused_with_confidence(jobs):
    """On two cores something is always late, but little, or not so that two measurements agree."""
    assert not [row["finding"] for row in faults_of(jobs / "none") if row["confidence"] == "high"]


def test_their_replay_is_near_what_was_measured(jobs):
    for fault in ("none", *FAULTS):
        rows = harness.analyze(jobs / fault, tables=["replay"], top=None)["replay"]
        dur, replayed = (sum(row[column] for row in rows) for column in ("dur_ns", "replayed_ns"))
        assert replayed == pytest.approx(dur, rel=0.06), fault
        # Where nothing was matched the replay is what was measured, to the nanosecond.
        assert replayed != dur, fault

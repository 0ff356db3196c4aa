"""Of each mechanism a job in which it comes first and a near miss: a job that looks alike, in which it does not.

In short on one layout each; with SPOTTER_LONG=1 on several, with more jitter and other seeds.
"""

import json
import os

import pytest

import harness
from test_simulate import simulate

SMALL = ["--ranks", 8, "--steps", 6, "--layers", 6]
HOSTS = [*SMALL, "--gpus-per-node", 1, "--hidden", 1024]
PIPELINE = ["--ranks", 8, "--steps", 6, "--layers", 8, "--pp", 4]


def fault(text, job=SMALL):
    return [*job, "--fault", text]


# Mechanism -> (a job of it, its near miss, what comes first in that; None: no fault is told).
JOBS = {
    "slow_device": (fault("slow-rank:rank=3,factor=1.2"), fault("extra-calls:rank=3,count=200"), "uneven_work"),
    "clock_drop": (fault("throttle:rank=1,step=6-"), fault("slow-rank:rank=1,factor=1.2"), "slow_device"),
    "long_step": (fault("straggling-step:rank=2,step=5"), fault("gc-pause:rank=2,step=5"), "host_pause"),
    "uneven_work": (fault("imbalance:spread=0.6"), [*SMALL, "--noise", "rough", "--jitter", 5], None),
    "data_loading": (fault("data-loader-stall:rank=2"), fault("gc-pause:rank=2"), "host_pause"),
    "host_sync": (fault("host-sync"), fault("copies:mb=40"), "copies"),
    "host_pause": (fault("gc-pause:rank=1"), fault("compilation:rank=1,step=6,ms=100"), "compilation"),
    "allocator": (fault("allocator-retries:ms=6"), fault("allocator-retries:step=3,ms=6"), None),
    "copies": (fault("copies:mb=40"), fault("host-sync"), "host_sync"),
    "compilation": (fault("compilation"), fault("gc-pause:rank=0-7,step=6,ms=100"), "host_pause"),
    "slow_link": (fault("slow-link:group=tensor,index=1,factor=20", [*SMALL, "--tp", 2]),
                  fault("slow-rank:rank=2,factor=2", [*SMALL, "--tp", 2]), "slow_device"),
    "launch_bound": (fault("launch-bound:pieces=64"), fault("host-sync:ms=4"), "host_sync"),
    "small_kernels": (fault("launch-bound:pieces=32"), fault("launch-bound:pieces=36"), "launch_bound"),
    "serialized_communication": (fault("unoverlapped-communication", [*SMALL, "--sharding", "fsdp"]), [*SMALL, "--tp", 2],
                                 "exposed_communication"),
    "exposed_communication": (HOSTS, fault("slow-rank:rank=3,factor=2"), "slow_device"),
    "unequal_stages": (fault("slow-rank:rank=2,factor=1.5", fault("slow-rank:rank=3,factor=1.5", PIPELINE)),
                       fault("slow-rank:rank=2,factor=1.5", PIPELINE), "slow_device"),
    "pipeline_bubble": ([*PIPELINE, "--micro-batches", 4], fault("slow-rank:rank=6,factor=1.5", [*PIPELINE, "--micro-batches", 32]),
                        "slow_device"),
}
LONG = [["--jitter", 1, "--seed", 11], ["--jitter", 5, "--seed", 12], ["--jitter", 3, "--seed", 13, "--era", "2024"]]
VARIANTS = [[], *LONG] if os.environ.get("SPOTTER_LONG") else [[]]


def varied(job, variant):
    """The variant's jitter is in the place of the job's own."""
    own = job.index("--jitter") if "--jitter" in job and "--jitter" in variant else len(job)
    return [*job[:own], *job[own + 2:], *variant]


def told(folder):
    """The findings that are about time, or certain, first the one that a reader sees first."""
    return [row for row in harness.analyze(folder, tables=["findings"], top=None)["findings"] if row["confidence"]]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda words: " ".join(map(str, words)) or "-")
@pytest.mark.parametrize("mechanism", JOBS)
def test_it_comes_first_in_a_job_of_it(tmp_path, mechanism, variant):
    job, _, _ = JOBS[mechanism]
    simulate(tmp_path, *varied(job, variant))
    rows = told(tmp_path)
    assert rows and rows[0]["mechanism"] == mechanism, [row["finding"] for row in rows]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda words: " ".join(map(str, words)) or "-")
@pytest.mark.parametrize("mechanism", JOBS)
def test_it_does_not_in_what_looks_alike(tmp_path, mechanism, variant):
    _, job, first = JOBS[mechanism]
    simulate(tmp_path, *varied(job, variant))
    rows = told(tmp_path)
    faults = [row["mechanism"] for row in rows if row["kind"] == "fault" and row["share"] >= 0.02]
    if first is None:
        assert not faults
    else:
        assert rows[0]["mechanism"] == first, [row["finding"] for row in rows]
    assert mechanism not in faults


def test_a_file_that_ends_early_is_no_hang(tmp_path):
    """Its rank was last seen between two calls, and the others' calls have ended."""
    truth = simulate(tmp_path, *SMALL, "--no-gzip")
    path = tmp_path / truth["files"][2]
    document = json.loads(path.read_text())
    cut = max(event["ts"] for event in document["traceEvents"] if event["name"] == f"ProfilerStep#{truth['steps'][-1]}")
    document["traceEvents"] = [event for event in document["traceEvents"] if event.get("ph") == "M" or event["ts"] < cut]
    path.write_text(json.dumps(document))
    assert not [row for row in told(tmp_path) if row["kind"] == "fault"]

"""Somebody who only follows the first hint of each answer, from `overview` on, comes to the cause of every fault that the
simulator knows; of a healthy job nobody is blamed."""

import re

import pytest

from agent import run
from answers import check_answer, rows_of
from asking import Pipe
from jobs import simulate
from verdict_truth import LEAST, expected_of, has_ranks, has_mechanism, is_opportunity

MOST_CALLS = 4
LAYOUT = ["--ranks", 8, "--steps", 6, "--layers", 8]
# Faults with what makes them plain in such a job, and the options of the job beside LAYOUT; () is the fault as it is by default.
FAULTS = {
    "slow-rank": ["slow-rank:rank=3"], "slow-link": ["slow-link:group=data"], "data-loader-stall": ["data-loader-stall:rank=5"],
    "launch-bound": ["launch-bound"], "host-sync": ["host-sync:ms=1"], "gc-pause": ["gc-pause:rank=6"], "throttle": ["throttle:rank=1,step=7-"],
    "imbalance": ["imbalance:spread=0.8"], "allocator-retries": ["allocator-retries"], "unoverlapped-communication": ["unoverlapped-communication"],
    "straggling-step": ["straggling-step:rank=2"], "hang": ["hang:rank=4"], "extra-calls": ["extra-calls:rank=7,count=200"], "copies": ["copies"],
    "compilation": ["compilation"], "memory-pressure": ["memory-pressure", "--memory-events"], "low-efficiency": ["low-efficiency"],
}
SHORT = {"slow-rank", "hang", "data-loader-stall"}


def test_all_that_the_simulator_knows_are_here():
    assert set(FAULTS) == set(re.findall(r"^([a-z-]+)", run("simulate", "--list-faults").stdout, re.MULTILINE))


def followed(pipe, tools):
    """Each answer on the way, as (tool, structured content)."""
    tool, words = "overview", {}
    for _ in range(MOST_CALLS):
        content = check_answer(tool, pipe.call(tool, **words), tools)
        yield tool, content
        if not content["next"]:
            return
        tool, words = content["next"][0]["tool"], content["next"][0]["arguments"]


@pytest.mark.parametrize("fault", [fault if fault in SHORT else pytest.param(fault, marks=pytest.mark.whole) for fault in FAULTS])
def test_the_first_hints_lead_to_the_cause(tmp_path, fault):
    text, *more = FAULTS[fault]
    truth = simulate(tmp_path / "job", *LAYOUT, *more, "--fault", text)
    [expected] = expected_of(truth)
    assert expected.mechanisms and (expected.share >= LEAST or fault == "hang"), "this fault cannot be told"
    with Pipe(tmp_path) as pipe:
        way = []
        for tool, content in followed(pipe, pipe.tools()):
            rows = [row for row in rows_of(content) if "mechanism" in row]
            way.append((tool, content["answer"], rows[:3]))
            told = [row for row in rows if row.get("kind", "fault") == "fault" or is_opportunity(expected, truth["ranks"])]
            if is_opportunity(expected, truth["ranks"]):
                told = [row for row in told if has_mechanism(row, expected)]
            if told:
                assert has_mechanism(told[0], expected) and has_ranks(told[0], expected, truth["ranks"]), way
                return
        pytest.fail(f"no cause on the way: {way}")


@pytest.mark.parametrize("more", [[], pytest.param(["--sharding", "fsdp", "--seed", 5], marks=pytest.mark.whole),
                                  pytest.param(["--pp", 2, "--seed", 9], marks=pytest.mark.whole)], ids=str)
def test_of_a_healthy_job_nobody_is_blamed(tmp_path, more):
    simulate(tmp_path / "job", *LAYOUT, *more)
    with Pipe(tmp_path) as pipe:
        for _, content in followed(pipe, pipe.tools()):
            assert not [row for row in rows_of(content) if row.get("kind") == "fault" and (row.get("share") or 0) >= LEAST]
            assert not re.search(r"\b[Rr]anks? \d", content["answer"]), content["answer"]

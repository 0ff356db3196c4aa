"""A job of more ranks than are traced at once: the first capture names no cause, the second one takes those that it waits for."""

import pytest

from agent import Agent, until
from incident import incidents, record
from simulated_job import simulate, steps_of, steps_seen

RANKS, SLOW = 72, 37  # of which 0 to 31 are traced first
JOB = "4737"
STEP_MS = 20
BASELINE = 460  # steps: 400 that count, without the first 50


@pytest.fixture(name="traces", scope="module")
def simulated(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("simulated") / "job", RANKS, SLOW)


def configuration(tmp_path):
    (tmp_path / "traces").mkdir(mode=0o777)
    file = tmp_path / "agent.yaml"
    file.write_text(f"""
collect: step,process,job_log
history: {tmp_path / "history.db"}
output_directories: [{tmp_path / "traces"}]
respond: {{captures: automatic, allowance: 0.1, min_age: 0s, min_steps: 0, canary: false, least_free: 0}}
""")
    return file


def test_whom_the_first_ranks_wait_for_is_traced_next(tmp_path, traces):
    with Agent("--config", configuration(tmp_path), "--collect", "step,process,job_log") as agent, \
            steps_of(JOB, RANKS, tmp_path / "train.log", STEP_MS) as says, \
            agent.spawn("--children", RANKS, "--traces", traces, "--period", "1", SLURM_JOB_ID=JOB, SLURM_NTASKS=RANKS):
        until(lambda: sum(row["job"] == JOB for row in agent.processes()) >= RANKS, 30, "all ranks are known")
        # The agent finds a log some seconds after it begins: what counts is what it has seen.
        until(lambda: steps_seen(agent, JOB) > BASELINE, 60, "there is a baseline", every=0.2)
        says(STEP_MS * 2)
        made = until(lambda: concluded(agent), 120, "it has a verdict", every=0.2)
    assert [capture["ranks"] for capture in made["captures"]] == ["0-31", "0, 32-62"]
    first, second = made["captures"]
    assert first["id"] and second["id"] and first["id"] != second["id"] and first["steps"] == second["steps"] == 4
    assert made["verdict"]["cause"] == "slow_device", made
    assert [suspect["rank"] for suspect in made["verdict"]["suspects"]] == [SLOW]


def concluded(agent):
    for row in incidents(agent, JOB):
        if row["family"] == "speed" and row["state"] == "verdict":
            return record(agent, row["id"])
    return None

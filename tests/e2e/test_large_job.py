"""A job of more ranks than are traced at once: the first capture names no cause, the second one takes those that it waits for."""

import contextlib
import json
import subprocess
import sys
import time

import pytest

from agent import Agent, clean_environment, program, tables, until
from incident import incidents

RANKS, SLOW = 72, 37  # of which 0 to 31 are traced first
JOB = "4737"
STEP_MS = 20
BASELINE = 460  # steps: 400 that count, without the first 50
# Lines of Megatron's for each step that it is told, in its standard output.
LOG = r"""
import sys
for line in sys.stdin:
    step, ms = line.split()
    print(f" iteration {step:>8}/ 9000 | consumed samples: 1 | elapsed time per iteration (ms): {ms} | loss: 1 |", flush=True)
"""


@pytest.fixture(name="traces", scope="module")
def simulated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated") / "job"
    subprocess.run([program(), "simulate", "-o", folder, "--ranks", str(RANKS), "--steps", "4", "--layers", "2", "--no-gzip",
                    "--fault", f"slow-rank:rank={SLOW},factor=1.5"], check=True, capture_output=True)
    return folder


@contextlib.contextmanager
def step_lines(log):
    """says(ms): a step of the job that took so long."""
    environment = clean_environment(SLURM_JOB_ID=JOB, SLURM_PROCID=0, SLURM_NTASKS=RANKS, RANK=0, WORLD_SIZE=RANKS)
    with log.open("wb") as out, subprocess.Popen([sys.executable, "-c", LOG], stdin=subprocess.PIPE, stdout=out, env=environment) as process:
        step = 0

        def says(ms):
            nonlocal step
            step += 1
            process.stdin.write(f"{step} {ms}\n".encode())
            process.stdin.flush()
            time.sleep(ms / 1000)
        try:
            yield says
        finally:
            process.stdin.close()
            process.wait(5)


def configuration(tmp_path):
    (tmp_path / "traces").mkdir(mode=0o777)
    file = tmp_path / "agent.yaml"
    file.write_text(f"""
collect: step,process,job_log
history: {tmp_path / "history.db"}
output_directories: [{tmp_path / "traces"}]
respond: {{captures: automatic, allowance: 0.1, min_age: 0s, min_steps: 0, canary: false}}
""")
    return file


def test_whom_the_first_ranks_wait_for_is_traced_next(tmp_path, traces):
    with Agent("--config", configuration(tmp_path), "--collect", "step,process,job_log") as agent, \
            step_lines(tmp_path / "train.log") as says, \
            agent.spawn("--children", RANKS, "--traces", traces, "--period", "1", SLURM_JOB_ID=JOB, SLURM_NTASKS=RANKS):
        until(lambda: sum(row["job"] == JOB for row in agent.processes()) >= RANKS, 30, "all ranks are known")
        # The agent finds a log some seconds after it begins: what counts is what it has seen.
        until(lambda: [says(STEP_MS) for _ in range(20)] and steps_seen(agent) > BASELINE, 60, "there is a baseline", every=0)
        record = until(lambda: says(STEP_MS * 2) or concluded(agent), 120, "it has a verdict", every=0)
    assert [capture["ranks"] for capture in record["captures"]] == ["0-31", "0, 32-62"]
    first, second = record["captures"]
    assert first["id"] and second["id"] and first["id"] != second["id"] and first["steps"] == second["steps"] == 4
    assert record["verdict"]["cause"] == "slow_device", record
    assert [suspect["rank"] for suspect in record["verdict"]["suspects"]] == [SLOW]


def steps_seen(agent):
    return max((row["steps"] for row in tables(agent.api("GET", "/v1/metrics")[1]).get("step", []) if row["job"] == JOB), default=0)


def concluded(agent):
    for row in incidents(agent, JOB):
        if row["family"] == "speed" and row["state"] == "verdict":
            return json.loads(agent.api_bytes("GET", f"/v1/incidents/{row['id']}")[1])
    return None

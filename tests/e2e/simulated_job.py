"""A job for tests that need no training: its steps are lines of a log, as Megatron prints them, its traces those of `spotter simulate`."""

import contextlib
import subprocess

from agent import BESIDE, clean_environment, program, tables

# A line for each step, of which the last number that it was told is the time in milliseconds; 0: no more of them.
JOB = r"""
import os, select, sys
step, ms = 0, 0
while True:
    if select.select([0], [], [], ms / 1000 if ms else None)[0]:
        words = os.read(0, 4096).split()
        if not words:
            break
        ms = float(words[-1])
        continue
    step += 1
    print(f" iteration {step:>8}/ 9000 | consumed samples: 1 | elapsed time per iteration (ms): {ms} | loss: 1 |", flush=True)
"""


def simulate(folder, ranks, slow):
    """Its traces, of four steps of which one rank holds the others up; for `--traces` of client.py."""
    subprocess.run([program(), "simulate", "-o", folder, "--ranks", str(ranks), "--steps", "4", "--layers", "2", "--no-gzip",
                    "--fault", f"slow-rank:rank={slow},factor=1.5"], check=True, capture_output=True)
    return folder


@contextlib.contextmanager
def steps_of(job, ranks, log, ms, rankless=False):
    """says(ms): steps take so long from now on, 0: there are no more."""
    place = {} if rankless else {"SLURM_PROCID": 0, "SLURM_NTASKS": ranks, "RANK": 0, "WORLD_SIZE": ranks}
    environment = clean_environment(SLURM_JOB_ID=job, **place)
    with log.open("wb") as out, \
            subprocess.Popen(["python3", "-S", "-c", JOB], stdin=subprocess.PIPE, stdout=out, env=environment) as process:
        def says(milliseconds):
            process.stdin.write(f"{milliseconds}\n".encode())
            process.stdin.flush()
        try:
            says(ms)
            yield says
        finally:
            process.stdin.close()
            process.wait(5 * BESIDE)


def steps_seen(agent, job):
    return max((row["steps"] for row in tables(agent.api("GET", "/v1/metrics")[1]).get("step", []) if row["job"] == job), default=0)

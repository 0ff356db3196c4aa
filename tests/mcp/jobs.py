"""Simulated jobs, made once for all processes that test."""

import fcntl
import json
import os
import time

from agent import run

SLOW_RANK = 2


def made(folder, make):
    """The folder, once `make` has filled it."""
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder.parent / f"{folder.name}.made"
        if not done.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            done.touch()
    return folder


def simulate(folder, *words, old=True):
    done = run("simulate", "-o", folder, *words, timeout=300)
    assert done.returncode == 0, done.stderr
    if old:  # nobody writes to them any more
        then = time.time() - 3600
        for path in folder.iterdir():
            os.utime(path, (then, then))
    return json.loads((folder / "truth.json").read_text())


def two_jobs(folder):
    simulate(folder / "slow", "--ranks", 4, "--steps", 5, "--layers", 4, "--fault", f"slow-rank:rank={SLOW_RANK}")
    simulate(folder / "well", "--ranks", 4, "--steps", 5, "--layers", 4)


def large_job(folder):
    simulate(folder / "large", "--ranks", 1024, "--steps", 3, "--layers", 4, "--fault", "slow-rank:rank=437")


def capture_of(pipe, job):
    """The id of the capture that a folder's job is, as `overview` has it."""
    from answers import rows_of
    rows = rows_of(pipe.call("overview")["structuredContent"])
    return next(row["capture"] for row in rows if row["job"] == job)

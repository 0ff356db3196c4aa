"""The wall clock of a host is set by a day, forward and back, while an agent measures and a capture waits to begin: nothing
hangs, nothing that was measured is lost, and receipts tell what became of each process."""

import contextlib
import mmap
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import time

import pytest

from agent import until
from test_metrics import Measuring

DAY = 24 * 3600

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


class Clock:
    """Of the processes that are started with its environment."""

    def __init__(self, folder):
        shim, file = folder / "set_clock.so", folder / "ahead"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, pathlib.Path(__file__).parent / "set_clock.c"], check=True,
                       timeout=60)
        file.write_bytes(bytes(8))
        with file.open("r+b") as opened:
            self.seconds = mmap.mmap(opened.fileno(), 8)
        self.environment = {"LD_PRELOAD": str(shim), "CLOCK_AHEAD": str(file)}
        self.before = ["env", *(f"{name}={value}" for name, value in self.environment.items())]

    def set_ahead(self, seconds):
        self.seconds[:] = struct.pack("q", seconds)


@pytest.fixture(name="clock")
def clock_of_our_own(tmp_path):
    return Clock(tmp_path)


@pytest.fixture(name="folder")
def short_folder(tmp_path_factory):
    return pathlib.Path(tmp_path_factory.mktemp("c"))


def test_the_clock_of_the_tests_is_set(clock):
    def date():
        return int(subprocess.run([*clock.before, "date", "+%s"], capture_output=True, check=True, text=True).stdout)
    assert abs(date() - time.time()) < 60
    clock.set_ahead(-DAY)
    assert abs(date() - time.time() + DAY) < 60


def test_samples_go_on(folder, clock):
    """They are told by the clock as it is, before and after the agent begins again."""
    steps = [DAY, -DAY, 0]

    def told(agent):
        return agent.tables("--since", "1m", "--metric", "cpu_user_ns")["cpu"]

    with Measuring(folder, "--history", folder / "history.db", collect="cpu:100ms,agent:100ms", before=clock.before) as agent:
        def taken():
            return agent.sample("spotter_agent_collector_samples_total", collector="cpu") or 0

        until(lambda: taken() >= 12, 10, "samples")
        for ahead in steps:
            count, start = taken(), time.monotonic()
            clock.set_ahead(ahead)
            until(lambda count=count: taken() >= count + 12, 10, "samples go on")
            assert time.monotonic() - start < 5
            assert agent.tables("--metric", "cpu_user_ns")["cpu"], "there is a newest sample"
            assert told(agent), ahead
        state, detail = agent.parts()["history"]
        assert state == "works" and "lost" not in detail, detail
    with Measuring(folder, "--history", folder / "history.db", collect="cpu:100ms,agent:100ms", before=clock.before) as agent:
        for ahead in steps:
            clock.set_ahead(ahead)
            assert told(agent), f"what was measured {ahead} s ahead is kept"
        assert agent.parts()["history"][0] == "works"


@pytest.mark.parametrize("ahead", [DAY, -DAY], ids=["forward", "back"])
def test_captures_that_are_under_way(folder, clock, ahead):
    """One that no process has asked for, one that a process has and waits to begin, and one that is being recorded."""
    wishes = {"accepted": {"duration_ms": 50}, "delivered": {"duration_ms": 50, "start_in_ms": 2500, "warmup_ms": 1000},
              "capturing": {"duration_ms": 2000, "warmup_ms": 0}}
    with Measuring(folder, "--history", "off", collect="cpu:1s", before=clock.before) as agent, contextlib.ExitStack() as stack:
        processes = {state: stack.enter_context(agent.spawn(*words, **clock.environment))
                     for state, words in {"accepted": ["--polls", 1], "delivered": [], "capturing": []}.items()}
        agent.wait_for_processes([one.pid for one in processes.values()])
        captures = {state: agent.capture(pids=[one.pid], deadline_ms=4000, **wishes[state]) for state, one in processes.items()}
        for state, capture in captures.items():
            until(lambda state=state, capture=capture: agent.receipts(capture)[0]["state"] == state, 2, f"it is {state}")
        # Who has waited has not begun yet when the agent looks.
        os.kill(processes["delivered"].pid, signal.SIGSTOP)
        clock.set_ahead(ahead)
        time.sleep(0.5)
        os.kill(processes["delivered"].pid, signal.SIGCONT)
        rows = {state: agent.wait_for_receipts(capture, 10)[0] for state, capture in captures.items()}
        assert rows["accepted"]["state"] == "expired" and "did not ask" in rows["accepted"]["reason"], rows
        for state in ("delivered", "capturing"):
            assert rows[state]["state"] == ("written" if ahead > 0 else "expired"), rows[state]
            assert rows[state]["reason"] or ahead > 0, rows[state]
        clock.set_ahead(0)
        another = stack.enter_context(agent.spawn(**clock.environment))
        agent.wait_for_processes([another.pid])
        row, = agent.wait_for_receipts(agent.capture(pids=[another.pid], duration_ms=50))
        assert row["state"] == "written", row

"""The closed loop: a job of unmodified PyTorch becomes slow since one of its ranks is held up from outside; the agent notices,
traces it and says whose fault it is, without a person. Needs SPOTTER_TORCH_PYTHON, and the right to probe processes."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest

from agent import Agent, program, until
from test_pytorch import pytestmark as needs_torch
from test_pytorch import training

pytestmark = [needs_torch, pytest.mark.skipif(os.geteuid() != 0 or not pathlib.Path("/sys/bus/event_source/devices/uprobe").exists(),
                                             reason="root probes processes, where the kernel has uprobes")]

RANKS = 4
BASELINE = 60  # s: 400 steps at least, of which 50 are not judged
LATEST = 35    # s from the first slow step to the message


@contextlib.contextmanager
def agent_that_responds(tmp_path, captures):
    config = tmp_path / "agent.yaml"
    messages = tmp_path / "messages"
    config.write_text(f"""
collect: step,process
history: off
output_directories: [{tmp_path / "traces"}]
respond: {{captures: {captures}, min_age: 0s, min_steps: 0, canary: false}}
notifiers:
  - {{name: file, type: file, path: {messages}}}
""")
    (tmp_path / "traces").mkdir(mode=0o777)
    with Agent("--config", config, "--collect", "step,process") as agent:
        agent.messages = messages
        yield agent


@contextlib.contextmanager
def held_up(pid):
    """A process that is stopped for most of the time, in pulses that are shorter than a step."""
    ending = threading.Event()

    def pulses():
        while not ending.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.06)
            os.kill(pid, signal.SIGCONT)
            ending.wait(0.03)

    thread = threading.Thread(target=pulses)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def incidents(agent, *words):
    done = subprocess.run([str(program()), "incidents", *words, "--socket", str(agent.api_socket), "--format", "json"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rank_of(pid):
    environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return int(next(word.split(b"=")[1] for word in environment if word.startswith(b"RANK=")))


def steps_seen(agent):
    document = agent.api("GET", "/v1/metrics")[1]
    for table in document["tables"]:
        if table["name"] == "step":
            names = [column["name"] for column in table["columns"]]
            return [row[names.index("steps")] for row in table["rows"]]
    return []


def test_a_rank_that_is_held_up_is_told(tmp_path):
    with agent_that_responds(tmp_path, "automatic") as agent, training(agent, ranks=RANKS) as pids:
        until(lambda: len(seen := steps_seen(agent)) == RANKS and min(seen) > 450, BASELINE, "there is a baseline", every=0.5)
        assert not agent.messages.exists(), agent.messages.read_text()
        victim = pids[1]
        began = time.monotonic()
        with held_up(victim):
            until(agent.messages.exists, LATEST, "it is told", every=0.1)
        took = time.monotonic() - began
        text = agent.messages.read_text()
        print(f"{took:.1f} s\n{text}")
        [row] = [dict(zip([c["name"] for c in table["columns"]], table["rows"][0], strict=True))
                 for table in incidents(agent)["tables"]]
        assert row["family"] == "speed" and row["state"] == "verdict"
        assert f"rank {rank_of(victim)} " in row["suspects"] + " ", row
        record = incidents(agent, row["id"])
        assert record["verdict"]["cause"] == row["mechanism"] and record["captures"][0]["ranks"] == "0-3"
        assert record["symptom"]["source"] == "profilerStep" and record["symptom"]["ratio"] > 1.1
        assert row["id"] in text


def test_what_is_not_allowed_is_said_and_not_done(tmp_path):
    with agent_that_responds(tmp_path, "off") as agent, training(agent, ranks=2) as pids:
        until(lambda: len(seen := steps_seen(agent)) == 2 and min(seen) > 450, BASELINE, "there is a baseline", every=0.5)
        with held_up(pids[0]):
            until(agent.messages.exists, LATEST, "it is told", every=0.1)
        [row] = incidents(agent)["tables"][0]["rows"]
        record = incidents(agent, row[0])
        assert record["state"] == "inconclusive" and record["captures"] == []
        assert any("automatic captures are off" in sentence for sentence in record["not_known"])
        assert list((tmp_path / "traces").iterdir()) == []
        acknowledged = incidents(agent, "ack", row[0])
        assert acknowledged["acknowledged"]["by"] == "user 0"

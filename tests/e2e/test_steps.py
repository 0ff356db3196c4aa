"""The steps of an unmodified PyTorch job, as the agent sees them. Needs SPOTTER_TORCH_PYTHON (test_pytorch.py), and the
right to probe processes."""

import os
import pathlib
import re
import signal
import time

import pytest

from agent import Agent, tables, until
from test_pytorch import pytestmark as needs_torch
from test_less_power import service
from test_pytorch import training

pytestmark = [needs_torch, pytest.mark.skipif(os.geteuid() != 0 or not pathlib.Path("/sys/bus/event_source/devices/uprobe").exists(),
                                             reason="root probes processes, where the kernel has uprobes")]


@pytest.fixture(name="agent")
def agent_of_steps():
    with Agent("--collect", "step") as running:
        yield running


def rows(agent):
    return {row["pid"]: row for row in tables(agent.api("GET", "/v1/metrics")[1]).get("step", [])}


def test_steps_of_each_rank(agent):
    with training(agent, ranks=2) as pids:
        seen = until(lambda: len(now := rows(agent)) == 2 and all(row["step_ns"] for row in now.values()) and now, 20, "both ranks step")
        assert set(seen) == set(pids)
        assert sorted(row["rank"] for row in seen.values()) == [0, 1]
        for row in seen.values():
            assert row["step_longest_ns"] >= row["step_ns"] > 0
        page = agent.api_bytes("GET", "/metrics")[1].decode()
        assert sum(line.startswith("spotter_step_seconds{") for line in page.splitlines()) == 2


def test_each_step_is_counted_once(agent):
    """While it is stopped, the job has made as many steps as it says, and the agent has looked at all of them."""
    with training(agent, TRAIN_LOG_EVERY=1) as [pid]:
        def counted():
            os.kill(pid, signal.SIGSTOP)
            until(lambda: rows(agent)[pid]["step_age_ns"] > 1e9, 15, "the agent has looked since", every=0.1)
            own = int(re.findall(r"^step: +(\d+)", (agent.folder / "train.log").read_text(), re.MULTILINE)[-1])
            return rows(agent)[pid]["steps"], own
        until(lambda: pid in rows(agent), 20, "its steps are seen")
        hits, own = counted()
        for pause in (3, 1, 2):
            os.kill(pid, signal.SIGCONT)
            time.sleep(pause)
            more_hits, more_own = counted()
            assert more_own - own > 10 * pause
            # A step is counted when its optimizer ends, and said some calls later: it may be stopped between.
            assert abs((more_hits - hits) - (more_own - own)) <= 1, (hits, own, more_hits, more_own)
            hits, own = more_hits, more_own
        os.kill(pid, signal.SIGCONT)


def test_an_agent_that_is_not_root_has_its_probes_of_the_helper():
    with service("--collect", "step") as agent, training(agent) as [pid]:
        row = until(lambda: rows(agent).get(pid), 20, "its steps are seen")
        assert row["source"] == "profilerStep" and row["steps"] > 0
        assert [one.wait(10) for one in agent.helper.started] == [0]  # it is not needed any more
        before = row["steps"]
        until(lambda: rows(agent)[pid]["steps"] > before, 10, "they go on")


def test_without_the_right_it_says_so():
    with service("--collect", "step", has_helper=False) as agent, training(agent):
        def failing():
            return [row["detail"] for row in tables(agent.api("GET", "/v1/status")[1])["status"] if "step" in row["part"] and row["state"] == "fails"]
        said = until(failing, 20, "it is said")
        assert "CAP_SYS_ADMIN" in said[0] and rows(agent) == {}


def test_a_log_tells_where_no_probe_does():
    """The same job, by an agent that may probe and by one that may not."""
    def row_of(agent, source):
        found = [row for row in rows(agent).values() if row["step_ns"]]
        return found[0] if found and found[0]["source"] == source else None

    def median_step(agent, source):
        """Of several samples: the first of a busy machine may be of one step alone, a short one after a late one."""
        taken = [row["step_ns"] for _ in range(5) if not time.sleep(1) and (row := row_of(agent, source))]
        return sorted(taken)[len(taken) // 2]

    with service("--collect", "process,job_log,step", has_helper=False) as agent, training(agent):
        row = until(lambda: row_of(agent, "log:torchtitan"), 30, "the log tells its steps")
        assert row["rank"] is None and 0 < row["step_error_ns"] < 1e9
        logged = median_step(agent, "log:torchtitan")
    with Agent("--collect", "process,job_log,step") as agent, training(agent):
        row = until(lambda: row_of(agent, "profilerStep"), 30, "its hook tells its steps")
        assert row["step_error_ns"] is None
        def logs():
            return tables(agent.api("GET", "/v1/metrics")[1]).get("job_log", [])
        until(lambda: any(log["files"] > 0 for log in logs()), 20, "it is read all the same, for what is fatal", every=0.2)
        assert 0.5 < logged / median_step(agent, "profilerStep") < 2

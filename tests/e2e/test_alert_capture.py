"""An alert of another program begins a capture of a job of unmodified PyTorch, and ends in an incident that has it. Needs
SPOTTER_TORCH_PYTHON."""

import os

import pytest

from agent import until
from test_alerts import HOOK, alert, frame
from test_closed_loop import agent_that_responds, incidents, report_of, steps_seen
from test_pytorch import pytestmark as needs_torch
from test_pytorch import training

pytestmark = [needs_torch, pytest.mark.skipif(os.geteuid() != 0, reason="root probes processes")]

RANKS = 2
CONCLUDED = 60  # s: the incident's patience is 45


def send(agent, **more):
    document = frame(alert(job_id=agent.job, **more))
    return agent.api("POST", HOOK, document)


def state(agent, id):
    rows = {row["id"]: row["state"] for row in agent.table("/v1/incidents", "incidents")}
    return rows.get(id)


def test_an_alert_begins_a_capture_of_pytorch(tmp_path):
    with agent_that_responds(tmp_path, "automatic") as agent, training(agent, ranks=RANKS) as pids:
        agent.job = agent.wait_for_processes(pids)[pids[0]]["job"]
        until(lambda: len(seen := steps_seen(agent)) == RANKS and min(seen) > 50, 60, "it makes steps", every=0.5)
        status, document = send(agent)
        assert status == 202, document
        id = f"{agent.job}-alert-1"
        until(lambda: state(agent, id) in ("verdict", "inconclusive"), CONCLUDED, "it is concluded", every=0.5)
        record = incidents(agent, id)
        [capture] = record["captures"]
        assert capture["ranks"] == "0-1" and capture["path"], record
        traces = [path for path in (tmp_path / "traces").rglob("*.json*") if path.stat().st_size > 0]
        assert len(traces) == RANKS and all(str(path).startswith(capture["path"]) for path in traces), (capture, traces)
        assert (record["state"] == "verdict") == bool(record["verdict"]), record
        assert record["verdict"] or record["not_known"], record
        [condition] = record["conditions"]
        assert condition["source"] == "alertmanager:StepSlow" and condition["text"] == "it is slow", condition
        assert not any("nothing was traced" in sentence for sentence in record["not_known"]), record
        text = until(lambda: agent.messages.exists() and id in (said := agent.messages.read_text()) and said, 10, "it is told")
        assert "alert StepSlow fires" in text, text
        assert "rank" in report_of(agent, id).lower()
        # A replay begins nothing more, and its end is the alert's own.
        send(agent)
        assert len(incidents(agent, id)["captures"]) == 1
        send(agent, status="resolved")
        until(lambda: state(agent, id) == "recovering", 10, "it recovers", every=0.2)

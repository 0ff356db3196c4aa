"""A notebook watches an agent and traces its processes."""

import importlib

import pytest

import agent as agent_module
from incident import JOB, an_incident


@pytest.fixture
def spotter(monkeypatch):
    """The package beside the program, where it was built."""
    package = agent_module.program().parent / "python"
    monkeypatch.setenv("SPOTTER", str(agent_module.program()))
    monkeypatch.syspath_prepend(str(package))
    try:
        return importlib.import_module("spotter")
    except ModuleNotFoundError:
        pytest.skip(f"the Python package was not built (no module in {package})")


def test_processes_status_and_metrics(agent, spotter):
    live = spotter.agents(socket=agent.api_socket)
    with agent.spawn(RANK=5, WORLD_SIZE=8) as one:
        agent.wait_for_processes([one.pid])
        processes = live.processes()
        assert (processes["pid"], processes["rank"]) == ([one.pid], [5])
    assert all(len(table) for table in live.status().values())


def test_a_capture_is_waited_for_and_analysed(agent, spotter):
    live = spotter.agents(socket=agent.api_socket)
    with agent.spawn(RANK=3, WORLD_SIZE=8) as one:
        agent.wait_for_processes([one.pid])
        capture = live.trace(agent.out_dir, duration="50ms", pid=one.pid)
        receipts = capture.wait(timeout=30)
        assert capture.done and (receipts["rank"], receipts["state"]) == ([3], ["written"])
        assert capture.files() == receipts["file"]
        assert capture.analyze("summary", progress=False)["summary"]["rank"] == [3]
        (known,) = live.captures()
        assert known["state"] == "written"
        assert live.captures(known["id"])["pid"] == [one.pid]


def test_what_cannot_be_captured_says_why(agent, spotter):
    live = spotter.agents(socket=agent.api_socket)
    capture = live.trace(agent.out_dir, duration="50ms", pid=1)
    with pytest.raises(spotter.Error, match="process"):
        capture.wait(timeout=30)
    with pytest.raises(spotter.Error, match="no such|no capture"):
        live.captures("nothing")


def test_a_capture_can_be_taken_back(agent, spotter):
    live = spotter.agents(socket=agent.api_socket)
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        capture = live.trace(agent.out_dir, duration="20s", pid=one.pid)
        with pytest.raises(TimeoutError):
            capture.wait(timeout=0.5)
        capture.cancel()
        assert capture.done


def test_what_went_wrong_and_what_is_done_about_it(tmp_path, spotter):
    with an_incident(tmp_path) as (agent, id):
        live = spotter.agents(socket=agent.api_socket)
        [row] = [row for row in live.incidents() if row["job"] == JOB]
        assert (row["id"], row["job"], row["family"], row["severity"]) == (id, JOB, "progress", "critical")
        record = live.incident(id)
        assert record["symptom"]["rule"] == "rank_gone" and record["acknowledged"] is None
        assert [(row["rule"], row["rank"]) for row in live.rules_test("10m", job=JOB)] == [("rank_gone", 1)]
        with pytest.raises(spotter.Error, match="nothing was traced for it"):
            live.save_incident_report(id, tmp_path / "r.html")
        assert not (tmp_path / "r.html").exists()
        assert live.acknowledge(id)["acknowledged"]["by"]
        assert live.silence(id, "2h", "the node is drained")["silenced_until"]
        assert live.resolve(id)["state"] == "resolved"
        assert [row["state"] for row in live.incidents() if row["job"] == JOB] == ["resolved"]
        with pytest.raises(spotter.Error, match="reason"):
            live.silence(id, "2h", "")
        with pytest.raises(spotter.Error, match="no incident"):
            live.incident("nothing")


def test_no_agent_is_an_error(tmp_path, spotter):
    with pytest.raises(spotter.Error):
        spotter.agents(socket=tmp_path / "none").processes()

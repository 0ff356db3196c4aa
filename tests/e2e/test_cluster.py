"""A job of six ranks on three hosts that Slurm started, traced: cluster.py says what the hosts are.

Needs root, the Debian packages, and a Python with torch (SPOTTER_TORCH_PYTHON).
"""

import json
import pathlib
import subprocess
import time

import pytest

import agent as agent_module
from agent import run, tables, until
from cluster import NODES, PYTHON, RANKS, Cluster, missing
from test_pytorch import optimizer_steps

pytestmark = pytest.mark.skipif(not PYTHON, reason="SPOTTER_TORCH_PYTHON names no Python with torch")

CAPTURE_DEADLINE = 90  # the captures have one of their own, which says what was missing
PLACES = [(NODES[rank // 2], rank) for rank in range(RANKS)]  # as srun fills hosts


@pytest.fixture(scope="module")
def running():
    """The cluster with its job, once for all tests: six imports of torch are most of their time."""
    if reason := missing():
        pytest.skip(reason)
    with Cluster() as cluster:
        cluster.start_agents()
        cluster.start_training()
        yield cluster


@pytest.fixture
def cluster(running, request):
    """The same, well at first; a test that fails is told with all logs."""
    failed = request.session.testsfailed
    if running.has_crashed():
        running.start_training()
    until(lambda: [row["rank"] for row in processes(running)] == list(range(RANKS)), 20, "six ranks are known", every=0.2)
    yield running
    if request.session.testsfailed > failed:
        print(running.logs())


def table(done, name):
    return tables(json.loads(done.stdout))[name]


def processes(cluster, *hosts):
    """By rank; of the job's hosts, if it is not said which."""
    done = cluster.spotter("ps", *(hosts or ("--slurm-job", cluster.job)), "--format", "json")
    assert done.returncode == 0, done
    return sorted(table(done, "processes"), key=lambda row: row["rank"])


class Capture:
    """A `spotter trace` of the job that has ended: its receipts by rank, and what it left. Of a job that crashed meanwhile
    by itself: of the one that is started then."""

    def __init__(self, cluster, name, *arguments, meanwhile=None):
        self.out = cluster.folder / name
        self.trace(cluster, arguments, meanwhile or (lambda: None))
        reasons = [row["reason"] or "" for row in self.receipts]
        # Not where the agent asked a process twice: that must not end it.
        if meanwhile is None and any("process ended" in r for r in reasons) and not any("asked again" in r for r in reasons):
            until(cluster.has_crashed, 30, "the job has ended with its rank", every=0.2)
            print(cluster.logs())
            cluster.start_training()
            if self.out != cluster.own_folder:
                self.out = cluster.folder / f"{name}-again"
            self.trace(cluster, arguments, lambda: None)

    def trace(self, cluster, arguments, meanwhile):
        command = [agent_module.program(), "trace", "--slurm-job", cluster.job, *arguments, "--output", self.out]
        with cluster.ctl.popen(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=cluster.environment) as running:
            try:
                meanwhile()
                self.stdout, self.stderr = running.communicate(timeout=CAPTURE_DEADLINE)
            finally:
                running.kill()
        self.status = running.returncode
        assert self.status in (0, 3, 4), self.stderr
        newest = max(self.out.glob("capture*.json"), key=lambda path: path.stat().st_mtime_ns)
        document = json.loads(newest.read_text())
        self.receipts = sorted(tables(document)["receipts"], key=lambda row: (row["rank"] is None, row["rank"]))

    def written(self):
        return [(row["host"], row["rank"]) for row in self.receipts if row["state"] == "written"]

    def not_written(self):
        return [row for row in self.receipts if row["state"] != "written"]

    def assert_complete(self):
        """Six receipts, each true, and one report of six ranks; the traces as JSON."""
        assert (self.status, self.written(), self.not_written()) == (0, PLACES, []), self.receipts
        assert "6 ranks · 3 hosts" in self.stdout, self.stdout
        for row in self.receipts:
            assert pathlib.Path(row["file"]).stat().st_size == row["size_bytes"]
        return [json.loads(pathlib.Path(row["file"]).read_text()) for row in self.receipts]


def collectives(trace):
    return sum(event["name"].startswith("gloo:") for event in trace["traceEvents"])


@pytest.mark.parametrize("way", ["slurm-job", "host", "hostfile"])
def test_each_agent_knows_its_own(cluster, way):
    """Each has the default names and ports, and none sees the processes of another host."""
    if way == "slurm-job":
        found = processes(cluster)
    elif way == "host":
        found = processes(cluster, "--host", "n[1-2],n3:1779")
    else:
        hostfile = cluster.folder / "hostfile"
        hostfile.write_text("# three\n" + "".join(f"{name} slots=2\n" for name in NODES))
        found = processes(cluster, "--hostfile", hostfile)
    assert [(row["host"], row["rank"]) for row in found] == PLACES
    assert {(row["job"], row["role"], row["world_size"]) for row in found} == {(cluster.job, "rank", RANKS)}


def test_all_ranks(cluster):
    done = Capture(cluster, "all", "--duration", "400ms", "--start-in", "12s", "--analyze")
    traces = done.assert_complete()
    assert all(collectives(trace) for trace in traces)
    found = run("analyze", done.out, "--format", "json", "--top", 0)
    assert found.returncode == 0, found
    summary, operators = table(found, "summary"), table(found, "operators")
    assert [(row["host"], row["rank"]) for row in summary] == PLACES
    for rank in range(RANKS):
        assert any(row["rank"] == rank and row["name"].startswith(("gloo:", "c10d::")) for row in operators)
    # Two cores may let a rank wait, but a start that was not agreed on would differ by up to a second, as polls do.
    starts = [row["start_ns"] for row in summary]
    assert max(starts) - min(starts) < 500e6, starts


def test_iterations(cluster):
    traces = Capture(cluster, "iterations", "--iterations", "3", "--roundup", "50", "--analyze").assert_complete()
    assert [optimizer_steps(trace) for trace in traces] == [3] * RANKS


def test_files_stay_on_their_hosts(cluster):
    """Nothing is shared, so each agent analyses what its host has, and one report is made of it."""
    done = Capture(cluster, cluster.own_folder.name, "--duration", "400ms", "--start-in", "6s", "--analyze")
    assert (done.status, done.written()) == (0, PLACES), done.receipts
    assert not any(pathlib.Path(row["file"]).exists() for row in done.receipts)
    assert "6 ranks · 3 hosts" in done.stdout, done.stdout + done.stderr
    assert "gloo:" in done.stdout or "c10d::" in done.stdout, done.stdout


def test_agent_that_is_not_there(cluster):
    """Its host has a row that says so; the other hosts' ranks are traced."""
    cluster.agents["n3"].stop()
    try:
        done = Capture(cluster, "absent", "--duration", "400ms", "--warmup", "0ms", "--analyze")
    finally:
        cluster.start_agent(cluster.hosts["n3"])
    assert (done.status, done.written()) == (3, PLACES[:4]), done.receipts
    row, = done.not_written()
    assert (row["host"], row["pid"], row["state"]) == ("n3", None, "failed")
    assert row["reason"], row
    assert "4 ranks · 2 hosts" in done.stdout, done.stdout


def test_rank_killed_in_mid_capture(cluster):
    """The last test, as the job is none any more. The files stay on their hosts."""
    victim = processes(cluster)[3]
    ahead, duration = 6, 4

    def kill():
        time.sleep(ahead + duration / 2)
        cluster.hosts[victim["host"]].signal(victim["pid"], "KILL")

    done = Capture(cluster, cluster.own_folder.name, "--duration", f"{duration}s", "--start-in", f"{ahead}s", "--warmup", "0ms",
                   "--analyze", meanwhile=kill)
    assert (done.status, done.written()) == (3, PLACES[:3] + PLACES[4:]), done.receipts
    row, = done.not_written()
    assert (row["host"], row["pid"], row["rank"], row["state"]) == ("n2", victim["pid"], 3, "failed")
    assert "ended" in row["reason"], row
    assert "5 ranks · 3 hosts" in done.stdout, done.stdout + done.stderr

"""A job of six ranks on three hosts that Slurm started, traced: cluster.py says what the hosts are.

Needs root, the Debian packages, and a Python with torch (SPOTTER_TORCH_PYTHON).
"""

import json

import pytest

from agent import run, tables, until
from cluster import NODES, PYTHON, RANKS, Cluster, missing

pytestmark = pytest.mark.skipif(not PYTHON, reason="SPOTTER_TORCH_PYTHON names no Python with torch")

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
    until(lambda: all(len(ranks(running, node)) == 2 for node in running.nodes), 20, "each agent knows its two ranks")
    yield running
    if request.session.testsfailed > failed:
        print(running.logs())


def rows(done, name):
    assert done.returncode == 0, done
    return tables(json.loads(done.stdout))[name]


def ranks(cluster, node):
    """What a host's own agent knows."""
    agent = cluster.agents[node.name]
    return rows(node.run(*agent.command("ps"), "--format", "json"), "processes")


def test_hosts_are_apart(cluster):
    """Each agent has the default names and knows the processes of its own host only."""
    for at, node in enumerate(cluster.nodes):
        found = ranks(cluster, node)
        assert sorted((row["host"], row["rank"]) for row in found) == PLACES[2 * at:2 * at + 2]
        assert {row["job"] for row in found} == {cluster.job}
        assert {(row["role"], row["world_size"]) for row in found} == {("rank", RANKS)}


def test_one_host(cluster):
    """The ranks of one host by its own agent, in the midst of the job."""
    node = cluster.nodes[1]
    out = cluster.folder / "one"
    agent = cluster.agents[node.name]
    done = node.run(*agent.command("trace"), "--job-id", cluster.job, "--duration", "300ms", "--warmup", "0ms",
                    "--output", out, "--format", "json")
    assert sorted((row["host"], row["rank"], row["state"]) for row in rows(done, "receipts")) == [
        (host, rank, "written") for host, rank in PLACES[2:4]]
    summary = rows(run("analyze", out, "--table", "summary", "--format", "json"), "summary")
    assert [row["rank"] for row in summary] == [2, 3]

"""`spotter serve` of the hosts of a job of Slurm, and of those of a file: cluster.py says what the hosts are. The job's ranks are
simulated clients, whose traces are those of `spotter simulate`."""

import contextlib
import json
import os
import pathlib
import re
import subprocess

import pytest

import client
from agent import FINAL, program, run, tables, until
from cluster import NODES, RANKS, START_DEADLINE, Cluster, missing
from simulated_job import simulate

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

SLOW = 1
*CAPTURED, GONE = NODES
# A client lives as long as its standard input is open.
RANK = 'RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS exec python3 -S "$@" <>"$0"'
ASK = """
import sys, urllib.error, urllib.request
url, token, body = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
try:
    answer = urllib.request.urlopen(urllib.request.Request(url, body.encode() or None, headers), timeout=60)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.read().decode())
"""


class Server:
    """`spotter serve` on ctl, which is asked there."""

    def __init__(self, cluster, line):
        self.cluster = cluster
        self.address, self.token = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/#token=([0-9a-f]{32})\n", line).groups()

    def ask(self, path, body=None):
        """(status, document); with a body it is sent."""
        done = self.cluster.ctl.run("python3", "-c", ASK, self.address + path, self.token, json.dumps(body) if body else "", timeout=90)
        assert done.returncode == 0, done.stderr
        status, text = done.stdout.split(" ", 1)
        return int(status), json.loads(text)

    def table(self, path, name):
        status, document = self.ask(path)
        assert status == 200, document
        return tables(document)[name]

    def settled(self):
        """The hosts by their names, once each has answered or is known not to."""
        def hosts():
            found = {row["host"]: row for row in self.table("/v1/hosts", "hosts")}
            return found if found and all(row["state"] != "asked" for row in found.values()) else None
        return until(hosts, START_DEADLINE, "all hosts are asked", every=0.2)


@contextlib.contextmanager
def serving(cluster, *words):
    with cluster.ctl.popen(program(), "serve", "--no-open", *words, stdout=subprocess.PIPE, text=True, env=cluster.environment) as process:
        try:
            yield Server(cluster, process.stdout.readline())
        finally:
            process.kill()  # nsenter alone: the server ends with the host


@pytest.fixture(name="cluster", scope="module")
def a_job_on_three_hosts(tmp_path_factory):
    """Of one of them the agent is gone."""
    traces = simulate(tmp_path_factory.mktemp("traces") / "job", RANKS, SLOW)
    with Cluster() as cluster:
        cluster.traces = traces
        cluster.start_agents()
        os.mkfifo(open_end := cluster.folder / "open")
        cluster.start(cluster.ctl, "srun", "--nodes", len(NODES), "--ntasks-per-node", RANKS // len(NODES),
                      "sh", "-c", RANK, open_end, pathlib.Path(client.__file__).resolve(), "--traces", traces)

        def job():
            return cluster.ctl.run("squeue", "-h", "-t", "RUNNING", "-o", "%i", env=cluster.environment).stdout.strip()
        cluster.job = until(job, START_DEADLINE, "the job runs", every=0.2)
        try:
            with serving(cluster, "--slurm-job", cluster.job) as server:
                until(lambda: [row["rank"] for name in NODES for row in server.table(f"/v1/hosts/{name}/processes", "processes")] ==
                      list(range(RANKS)), START_DEADLINE, "its ranks are known", every=0.2)
            cluster.agents[GONE].stop()
            yield cluster
        finally:
            print(cluster.logs())


@pytest.mark.parametrize("way", ["slurm-job", "hostfile"])
def test_each_host_has_a_line(cluster, way):
    hostfile = cluster.folder / "hostfile"
    hostfile.write_text("# three\n" + "".join(f"{name} slots=2\n" for name in NODES))
    with serving(cluster, f"--{way}", cluster.job if way == "slurm-job" else hostfile) as server:
        hosts = server.settled()
        assert list(hosts) == list(NODES)
        for name in CAPTURED:
            row = hosts[name]
            assert (row["state"], row["kind"], row["address"], row["role"], row["message"]) == ("up", "remote", f"{name}:1779", "admin", None)
            assert row["uptime_ns"] > 0 and row["version"] and row["history"], row
            places = [(process["host"], process["rank"]) for process in server.table(f"/{row['prefix']}processes", "processes")]
            assert places == [(name, 2 * NODES.index(name)), (name, 2 * NODES.index(name) + 1)]
        gone = hosts[GONE]
        assert gone["state"] == "down" and f"no agent answers at {GONE}:1779" in gone["message"], gone
        assert {gone[column] for column in ("role", "version", "uptime_ns", "failing", "history")} == {None}, gone


def of_files(files):
    """What stands out where one program reads them all."""
    done = run("analyze", *files, "--table", "findings", "--format", "json")
    assert done.returncode == 0, done
    return tables(json.loads(done.stdout))["findings"]


def said(findings):
    """But for the command that shows it, which names the files."""
    return [{column: value for column, value in row.items() if column != "evidence"} for row in findings]


def test_what_stands_out_in_a_capture_of_two_hosts(cluster):
    """Their files stay where they are: each host sees its own alone."""
    with serving(cluster, "--slurm-job", cluster.job) as server:
        captures = {}
        for name in CAPTURED:
            status, document = server.ask(f"/v1/hosts/{name}/captures", {"output": str(cluster.own_folder), "duration_ms": 100, "warmup_ms": 0})
            assert status in (200, 201, 202), document
            captures[name] = document["capture"]

        def receipts():
            rows = [row for name, id in captures.items() for row in server.table(f"/v1/hosts/{name}/captures/{id}", "receipts")]
            return rows if all(row["state"] in FINAL for row in rows) else None
        rows = until(receipts, 20, "all traces are written", every=0.2)
        assert [(row["rank"], row["state"]) for row in rows] == [(rank, "written") for rank in range(4)]
        assert not any(pathlib.Path(row["file"]).exists() for row in rows)

        status, document = server.ask("/v1/hosts/findings", {"captures": captures})
        assert status == 200, document
        found = tables(document)["findings"]
        assert (found[0]["kind"], found[0]["mechanism"], found[0]["ranks"]) == ("fault", "slow_device", str(SLOW)), found
        assert said(found) == said(of_files(sorted(cluster.traces.glob("rank_*"))[:len(rows)]))
        assert not [note for note in document["notes"] if note["kind"] == "host_missing"]
        # One that does not answer is said to be left out of what the others say.
        status, document = server.ask("/v1/hosts/findings", {"captures": captures | {GONE: "any"}})
        assert status == 200, document
        assert tables(document)["findings"] == found
        note, = [note for note in document["notes"] if note["kind"] == "host_missing"]
        assert note["sentence"].startswith(f"{GONE} is left out: no agent answers at "), note

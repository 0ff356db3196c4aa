"""A job on hosts whose clocks are a minute apart, and whose network is cut and mended: one host speaks for it, and what it tells is
told once. The hosts are namespaces (cluster.py)."""

import datetime
import os
import re
import shutil
import signal
import time

import pytest

import cluster
from agent import clean_environment, until
from test_attacks_clock import Clock
from test_many_hosts import Hosts, child_of

pytestmark = [pytest.mark.skipif(bool(cluster.missing()), reason=cluster.missing()),
              pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")]

JOB = "4787"
ID = f"{JOB}-progress-1"
AHEAD = {"n2": -60, "n3": 60}  # s


class Apart(Hosts):
    """Hosts with clocks of their own."""

    def start(self, node):
        clock = self.clocks.get(node.name)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (clock.environment if clock else {}).items():
                patch.setenv(name, value)
            super().start(node)

    def begin_job(self):
        """Rank 0 where it is led, three on each other host: where most of a host's ranks have ended it is the job that ends."""
        self.ranks = {}
        for rank, node in enumerate([self.nodes[0], *[self.nodes[1]] * 3, *[self.nodes[2]] * 3]):
            environment = clean_environment(SLURM_JOB_ID=JOB, SLURM_PROCID=rank, SLURM_NTASKS=7, RANK=rank, WORLD_SIZE=7, SLURM_JOB_NODELIST="n[1-3]",
                                            MASTER_ADDR="n1")
            self.ranks[rank] = node.popen("sleep", "600", env=environment)
        self.processes += self.ranks.values()

    def ranks_seen(self, name):
        for table in self.asked(name, "metrics")["tables"]:
            if table["name"] == "job":
                names = [column["name"] for column in table["columns"]]
                return {row[names.index("rank")] for row in table["rows"] if row[names.index("job")] == JOB}
        return set()


@pytest.fixture(name="hosts")
def with_clocks_apart(tmp_path):
    with Apart() as hosts:
        hosts.clocks = {}
        for name, seconds in AHEAD.items():
            (tmp_path / name).mkdir()
            hosts.clocks[name] = Clock(tmp_path / name)
            hosts.clocks[name].set_ahead(seconds)
        yield hosts
        print(hosts.logs())


def time_of(text):
    return datetime.datetime.fromisoformat(text).timestamp()


@pytest.mark.whole
def test_one_host_speaks_for_all_over_clocks_and_networks_apart(hosts):
    hosts.begin()
    hosts.begin_job()
    until(lambda: hosts.ranks_seen("n3") == {4, 5, 6} and hosts.ranks_seen("n2") == {1, 2, 3}, 30, "its ranks are seen", every=0.5)
    killed = time.time()
    os.kill(child_of(hosts.ranks[5].pid), signal.SIGKILL)
    until(lambda: hosts.messages().get("n1"), 60, "it is told", every=0.2)
    told = hosts.messages()
    assert list(told) == ["n1"] and ID in told["n1"] and "rank 5 on n3 ended" in told["n1"], told
    # Times are the leader's.
    record = hosts.asked("n1", "incidents", ID)
    assert abs(time_of(record["symptom"]["since"]) - killed) < 10 and 0 < time_of(record["opened"]) - killed < 30, (killed, record)
    assert hosts.incidents("n2") == hosts.incidents("n3") == []

    hosts.ctl.link("link", "set", "to-n1", "down")
    until(lambda: hosts.messages().get("n2"), 120, "n2 tells of it", every=0.5)
    assert hosts.messages()["n1"] == told["n1"] and "n3" not in hosts.messages()
    told = hosts.messages()
    numbers = re.findall(r"^-- \S+ (\S+)$", "".join(told.values()), re.MULTILINE)
    assert numbers and len(numbers) == len(set(numbers)), "receivers take two messages of one number for one"
    assert "rank 5 on n3 ended" in told["n2"]
    for name in ("n1", "n2"):
        assert [(row["id"], row["state"]) for row in hosts.incidents(name)] == [(ID, "verdict")], name

    hosts.ctl.link("link", "set", "to-n1", "up")
    until(lambda: hosts.asked("n2", "incidents", ID)["led_by"] == "n1", 60, "n2 hands it over", every=0.5)
    assert [row["state"] for row in hosts.incidents("n2")] == ["resolved"]
    time.sleep(3)
    assert [(row["id"], row["state"]) for row in hosts.incidents("n1")] == [(ID, "verdict")]
    assert hosts.asked("n1", "incidents", ID)["led_by"] == "n1" and hosts.messages() == told, "it is no news"

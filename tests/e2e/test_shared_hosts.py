"""Three jobs that have a host in common, and that two other hosts lead: what they share is that host's to tell, and known to those
that lead. The hosts are namespaces (cluster.py)."""

import os
import signal

import pytest

import cluster
from agent import clean_environment, until
from test_many_hosts import Hosts, child_of

pytestmark = pytest.mark.skipif(bool(cluster.missing()), reason=cluster.missing())

PLACES = {"4781": ("n1", "n[1,3]"), "4782": ("n2", "n[2-3]"), "4783": ("n3", "n3")}  # where rank 0 is, and Slurm's list
HERE = "n3"


def begin(hosts, job):
    """Rank 0 where the job is led, three others on the host that all have; gives back one of these."""
    first, nodes = PLACES[job]
    by_name = {node.name: node for node in hosts.nodes}
    ranks = []
    for rank in range(4):
        environment = clean_environment(SLURM_JOB_ID=job, SLURM_PROCID=rank, SLURM_NTASKS=4, RANK=rank, WORLD_SIZE=4, SLURM_JOB_NODELIST=nodes,
                                        MASTER_ADDR=first)
        ranks.append(by_name[HERE if rank else first].popen("sleep", "600", env=environment))
    hosts.processes += ranks
    return ranks[2]


def ranks_seen(hosts, job):
    for table in hosts.asked(HERE, "metrics")["tables"]:
        if table["name"] == "job":
            names = [column["name"] for column in table["columns"]]
            return {row[names.index("rank")] for row in table["rows"] if row[names.index("job")] == job}
    return set()


def test_the_common_host_tells_and_the_leaders_know():
    with Hosts() as hosts:
        hosts.begin()
        victims = {job: begin(hosts, job) for job in PLACES}
        until(lambda: all(ranks_seen(hosts, job) >= {1, 2, 3} for job in PLACES), 30, "their ranks are seen", every=0.5)
        for victim in victims.values():
            os.kill(child_of(victim.pid), signal.SIGKILL)
        shared = f"{HERE}-progress-1-shared"
        until(lambda: shared in [row["id"] for row in hosts.incidents(HERE)], 60, "they share an incident", every=0.5)
        for job, (leader, _) in PLACES.items():
            id = f"{job}-progress-1"
            until(lambda: id in hosts.messages().get(leader, ""), 60, f"{leader} tells of {job}", every=0.5)
            record = hosts.asked(leader, "incidents", id)
            assert record["led_by"] == leader and record["shared_incident"] == shared, record
            assert f"other jobs on the same host have it, too: incident {shared}" in hosts.messages()[leader].split(f"Job {job}")[1], hosts.messages()
        record = hosts.asked(HERE, "incidents", shared)
        assert sorted(record["shared_by"]["jobs"]) == sorted(PLACES) and record["shared_by"]["hosts"] == [HERE], record
        for name in ("n1", "n2"):
            assert shared not in [row["id"] for row in hosts.incidents(name)]
            assert f"3 jobs on {HERE}" not in hosts.messages()[name]
        assert hosts.messages()[HERE].count(f"3 jobs on {HERE}: ") == 1, hosts.messages()

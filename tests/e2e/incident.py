"""An agent with an incident: a job of three ranks, one of which ends while the others go on."""

import contextlib
import json
import os
import subprocess

from agent import Agent, clean_environment, tables, until

JOB = f"48{os.getpid()}"  # other tests of this machine have jobs, too, and each agent sees them all


@contextlib.contextmanager
def three_ranks(job):
    """The processes of a job, each of which can be killed."""
    with contextlib.ExitStack() as processes:
        def rank(number):
            environment = clean_environment(RANK=number, LOCAL_RANK=number, WORLD_SIZE=3, SLURM_JOB_ID=job, SLURM_PROCID=number)
            process = processes.enter_context(subprocess.Popen(["sleep", "600"], env=environment))
            processes.callback(process.kill)
            return process
        yield [rank(number) for number in range(3)]


@contextlib.contextmanager
def an_incident(folder, job=JOB, kind=Agent):
    """(the agent, the id of the incident); its history is in `folder`."""
    with three_ranks(job) as ranks, kind("--collect", "process", "--history", folder / "history.db") as agent:
        until(lambda: ranks_seen(agent, job) == {0, 1, 2}, 20, "its ranks are seen", every=0.2)
        ranks[1].kill()
        ranks[1].wait()
        [row] = until(lambda: [each for each in incidents(agent, job) if each["state"] == "verdict"], 40, "it has a verdict", every=0.2)
        yield agent, row["id"]


# Other tests of this machine have jobs, too.
def ranks_seen(agent, job):
    return {row["rank"] for row in tables(agent.api("GET", "/v1/metrics")[1]).get("job", []) if row["job"] == job}


def incidents(agent, job):
    return [row for row in agent.table("/v1/incidents", "incidents") if row["job"] == job]


def record(agent, id):
    return json.loads(agent.api_bytes("GET", f"/v1/incidents/{id}")[1])


def automatic_captures(agent):
    """How many captures for incidents there were, by result; needs the collector `agent`."""
    rows = tables(agent.api("GET", "/v1/metrics")[1]).get("captures_automatic", [])
    return {row["result"]: row["captures_automatic"] for row in rows}

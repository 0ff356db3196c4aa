"""Three jobs of one host that are in trouble at once: each has its incident, and they share one of the host."""

import contextlib
import json
import os
import re

import pytest

from agent import run, until
from incident import ranks_seen, three_ranks
from remote import RemoteAgent, token

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")

JOBS = [f"47{os.getpid()}{i}" for i in range(3)]


def agent_of(tmp_path):
    extra = f"history: {tmp_path}/history.db\nnotifiers:\n  - {{name: file, type: file, path: {tmp_path}/messages}}\n"
    return RemoteAgent("--collect", "process", extra=extra)


def incidents(agent):
    return {row["id"]: row for row in agent.table("/v1/incidents", "incidents")}


def record(agent, name):
    answer, body = agent.api_bytes("GET", f"/v1/incidents/{name}")
    assert answer.status == 200, body
    return json.loads(body)


def test_three_jobs_share_an_incident_that_outlives_the_agent(tmp_path):
    messages = tmp_path / "messages"
    with contextlib.ExitStack() as jobs:
        ranks = {name: jobs.enter_context(three_ranks(name)) for name in JOBS}

        def end_ranks(agent, names):
            until(lambda: all(ranks_seen(agent, name) == {0, 1, 2} for name in names), 20, "their ranks are seen", every=0.2)
            for name in names:
                ranks[name][1].kill()
                ranks[name][1].wait()

        with agent_of(tmp_path) as agent:
            end_ranks(agent, JOBS[:2])
            until(lambda: all(f"{name}-progress-1" in incidents(agent) for name in JOBS[:2]), 40, "two jobs have incidents", every=0.2)
            end_ranks(agent, JOBS[2:])
            [shared] = until(lambda: [row for name, row in incidents(agent).items() if name.endswith("-shared") and row["state"] == "inconclusive"],
                             40, "they share one", every=0.2)
            assert shared["job"] is None and shared["family"] == "progress" and shared["severity"] == "critical", shared
            whole = record(agent, shared["id"])
            assert set(whole["shared_by"]["jobs"]) >= set(JOBS), whole
            host = whole["host"]
            assert whole["shared_by"]["hosts"] == [host] and shared["id"] == f"{host}-progress-1-shared", whole
            assert whole["key"].endswith(f"/{host}/progress/shared")
            for name in JOBS:
                assert record(agent, f"{name}-progress-1")["shared_incident"] == shared["id"]
            until(lambda: all(f"spotter incidents {name}-progress-1" in messages.read_text() for name in JOBS), 60, "all are told", every=0.2)
            text = messages.read_text()
            headline, = re.findall(rf"^.*Critical · \d+ jobs on {host}: .*$", text, re.MULTILINE)
            named, = re.findall(r"^ • jobs .*$", text, re.MULTILINE)
            assert all(name in named for name in JOBS), text  # other tests of this machine have jobs, too
            third = text[text.index(f"Job {JOBS[2]}"):]
            assert f"other jobs on the same host have it, too: incident {shared['id']}" in third, text
            # Who may end and trace one user's processes alone has no say in what is of several jobs.
            for act in ("acknowledge", "resolve"):
                assert agent.https("POST", f"/v1/incidents/{shared['id']}/{act}", {}, bearer=token("limited"))[0] == 403
            status, body = agent.https("POST", f"/v1/incidents/{shared['id']}/acknowledge", {}, bearer=token("trace"))
            assert status == 200, body
            done = run("incidents", shared["id"], "--socket", agent.api_socket)
            assert f" jobs on {host}: " in done.stdout and "Acknowledged by" in done.stdout, done

            until(lambda: messages.read_text().count(headline) == 2, 10, "that somebody has seen it is told", every=0.2)

        with agent_of(tmp_path) as agent:
            again = record(agent, shared["id"])
            assert again["shared_by"] == whole["shared_by"] and again["acknowledged"], json.dumps(again)
            assert [name for name in incidents(agent) if name.endswith("-shared")] == [shared["id"]]
            assert messages.read_text().count(headline) == 2, "a restart is no news"
            agent.assert_well()

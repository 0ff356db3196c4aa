"""What agents of other hosts tell the one that leads their job: a thousand of them, and somebody who makes it all up."""

import concurrent.futures
import contextlib
import datetime
import json
import pathlib
import tempfile
import time

from agent import GROWTH_MB, until
from remote import RemoteAgent

HOSTS = 1000
LATEST = 35  # s from the first condition to the message
FLOOD, AT_ONCE = 220, 120  # reports of so many conditions
ROOM_MB = max(48, GROWTH_MB)  # 20,000 of them, and what is under way


@contextlib.contextmanager
def leader():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        messages = pathlib.Path(folder) / "messages"
        with RemoteAgent("--collect", "load", "--history", f"{folder}/history.db", extra=f"notifiers:\n  - {{name: file, type: file, path: {messages}}}\n") as agent:
            agent.messages = messages
            yield agent


def moment(ago=0.0):
    return datetime.datetime.fromtimestamp(time.time() - ago, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def condition(rank, **other):
    return {"rule": "step_time_up", "family": "speed", "severity": "warning", "job": "4711", "user": "alice", "rank": rank, "firing": True,
            "since": moment(2), "at": moment(), "value": 4.42, "baseline": 3.1, "unit": "s", "source": "profilerStep"} | other


def report(host, conditions, **other):
    job = {"id": "4711", "user": "alice", "ranks": [0],
           "world_size": HOSTS, "age_ms": 3_600_000, "steps": 1000, "step_ms": 3100}
    return {"host": host, "instance": f"of-{host}", "version": "0.0.9", "sent": moment(), "leaders": ["gpu0000"], "job": job,
            "conditions": conditions} | other


def tell(agent, body, name="trace", stream=None):
    return agent.https("POST", "/v1/conditions", body, name, stream=stream)


def incidents(agent):
    _, document = agent.api("GET", "/v1/incidents")
    names = [column["name"] for column in document["tables"][0]["columns"]]
    return [dict(zip(names, row, strict=True)) for row in document["tables"][0]["rows"]]


def record(agent):
    """Of the only incident."""
    incident, = incidents(agent)
    answer, said = agent.api_bytes("GET", f"/v1/incidents/{incident['id']}")
    assert answer.status == 200
    return json.loads(said)


def test_a_thousand_hosts_are_one_incident_and_one_message():
    with leader() as agent:
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(32) as threads:
            answers = list(threads.map(lambda i: tell(agent, report(f"gpu{i:04}", [condition(i)]))[0], range(HOSTS)))
        assert answers == [200] * HOSTS
        until(agent.messages.exists, LATEST, "it is told", every=0.1)
        took = time.monotonic() - began
        assert took < LATEST
        print(f"{took:.1f} s")
        until(lambda: record(agent)["symptom"]["hosts"] == HOSTS, 10, "all of them count")
        assert record(agent)["condition_count"] == HOSTS and record(agent)["symptom"]["now"] == 4.42
        job = record(agent)["job"]
        assert job["user"] == "alice" and job["world_size"] == HOSTS and job["hosts"] > 0
        # Its leader says how it has it, for whoever has to go on with it.
        _, answer = tell(agent, report("gpu0001", [condition(1)]))
        led, = answer["incidents"]
        assert led["n"] == 1 and led["open"] and led["sequence"] == 1
        time.sleep(3)
        assert agent.messages.read_text().count("4711-speed-1.") == 1
        agent.assert_well()


def test_who_may_tell():
    with leader() as agent:
        for name, status in (("view", 403), ("limited", 403), (None, 401), ("admin", 200)):
            assert tell(agent, report("gpu0001", [condition(1)]), name)[0] == status, name
        assert "may not" in tell(agent, report("gpu0001", [condition(1)]), "limited")[1]["error"]["message"]


def test_what_is_made_up_is_bounded_and_harmless():
    with leader() as agent:
        # Nothing that is no report.
        for body in ({}, [], report("", []), report("h", [condition("x")]), report("h", "x"),
                     report("h", [], sent="yesterday"), report("h", [], job={"id": ""})):
            status, answer = tell(agent, body)
            assert status == 400 and answer["error"]["code"] == "invalid", body
        # Of another job than it says, from the future, from long ago, of a rule that is none, with texts for a terminal and a chat.
        bad = "\x1b[31m<!channel> `x` \u202e\n"
        odd = [condition(1, job="4712"), condition(2, at=moment(-86400 * 365), since=moment(-86400 * 365)),
               condition(3, at=moment(86400 * 3650), since=moment(86400 * 3650)), condition(4, rule=bad, unit=bad, source=bad, device=bad)]
        assert tell(agent, report("gpu0001" + bad, odd))[0] == 200
        until(agent.messages.exists, 15, "it is told", every=0.1)
        assert [i["job"] for i in incidents(agent)] == ["4711"]
        text = agent.messages.read_text()
        assert "\x1b" not in text and "\u202e" not in text
        before = agent.resident_mb()
        stream = agent.tls_stream("trace", timeout=30)
        for i in range(FLOOD):
            body = report(f"h{i}", [condition(k, device=f"gpu {k}", rule="gpu_throttled", family="gpu") for k in range(AT_ONCE)])
            status, _ = tell(agent, body, stream=stream)
            assert status == 200
        assert agent.resident_mb() - before < ROOM_MB
        assert len(incidents(agent)) == 2
        # Each of a job of its own.
        for i in range(1200):
            tell(agent, report("h", [condition(1, job=f"j{i}")], job={"id": f"j{i}"}), stream=stream)
        assert len(incidents(agent)) <= 1000
        status = agent.api("GET", "/v1/status")[1]
        assert "rules" in str(status)
        agent.assert_well()

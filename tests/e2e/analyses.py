"""What the tests of analyses on the host that has the files share: asking for them, and stopping them on the way."""

import http.client
import json
import os
import pathlib
import signal
import threading
import time

import pytest

import agent as agent_module

REPORT = {"analyses": ["summary", "operators", "steps"], "params": {"top": 0}}


def ask(agent, capture, body=None, timeout=30.0):
    """(status, document) of the route."""
    connection = http.client.HTTPConnection("localhost", timeout=timeout)
    connection.sock = agent.api_stream(timeout)
    try:
        connection.request("POST", f"/v1/captures/{capture}/analyze", json.dumps(REPORT if body is None else body))
        answer = connection.getresponse()
        document = json.loads(answer.read())
    finally:
        connection.close()
    if answer.status >= 400:
        assert set(document["error"]) >= {"code", "message"}, document
        assert not any(ord(c) < 32 and c != "\n" for c in document["error"]["message"]), document
    return answer.status, document


def written(agent, *processes):
    """A capture of them that is over, and its receipts."""
    pids = [process.pid for process in processes]
    agent.wait_for_processes(pids)
    capture = agent.capture(pids=pids, duration_ms=50)
    rows = agent.wait_for_receipts(capture)
    assert {row["state"] for row in rows} == {"written"}, rows
    return capture, rows


def rows_of(document, file, analysis):
    at = [a["name"] for a in document["analyses"]].index(analysis)
    columns = [name for name, _, _ in document["analyses"][at]["columns"]]
    return [dict(zip(columns, row, strict=True)) for row in file["tables"][at]["rows"]]


def children(pid):
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# Events enough to keep an analysis at work until it is stopped.
LARGE = ("--step", 1e-6)


def runs_itself(pid):
    """Whether it is no longer a copy of the agent."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1:2] == [b"analyze-part"]
    except OSError:
        return True  # it has ended


class Stuck:
    """An analysis that is stopped as soon as it runs."""

    def __init__(self, agent, capture):
        before = set(children(agent.pid))
        self.answer = []
        self.thread = threading.Thread(target=self.ask, args=(agent, capture))
        self.thread.start()
        self.pid, = agent_module.until(lambda: set(children(agent.pid)) - before, 5, "the analysis runs", every=0)
        agent_module.until(lambda: runs_itself(self.pid), 5, "it is itself", every=0)
        os.kill(self.pid, signal.SIGSTOP)

    def ask(self, agent, capture):
        try:
            self.answer.append(ask(agent, capture))
        except (OSError, http.client.HTTPException) as error:
            self.answer.append(error)

    def end(self):
        self.thread.join(10)
        return self.answer[0]


def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def stuck_ones(agent, capture, count):
    """Or skip: one that is done before it can be stopped tells nothing."""
    ones = [Stuck(agent, capture) for _ in range(count)]
    time.sleep(0.05)
    if not all(lives(one.pid) for one in ones):
        for one in ones:
            if lives(one.pid):
                os.kill(one.pid, signal.SIGKILL)
            one.end()
        pytest.skip("the analysis was done before it could be stopped")
    return ones

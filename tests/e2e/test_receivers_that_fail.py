"""An incident of an agent while those that it tells by HTTP are busy, hang up or hang, and the agent itself is killed: each hears of it
once it can, in one alert, one message, one event for each word, and of its end."""

import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time

from agent import ROOT, Agent, clean_environment, until
from incident import incidents
from test_alerts import HOOK, alert, frame

sys.path.append(str(ROOT / "tests" / "conformance"))
from webhook_receiver import Receiver, answer  # noqa: E402

JOB = f"55{os.getpid()}"
BUSY, HANGS_UP, HANGS = "busy", "hangs up", "hangs"
GATHERS = 3  # s: an incident is told no earlier


class Failing:
    """Fails in these ways, the last one for ever, until it is well. `taken`: (request line, headers, document) of what it then heard."""

    def __init__(self, *ways):
        self.ways, self.failed, self.taken, self.is_well = ways, [], [], threading.Event()

    def __call__(self, connection, request):
        head, body = request
        first, *lines = head.split("\r\n")
        heard = (first, dict(line.lower().split(": ", 1) for line in lines), json.loads(body))
        if self.is_well.is_set():
            self.taken.append(heard)
            connection.sendall(answer("200 OK", b'{"ok": true, "channel": "C1", "ts": "1732337206.%06d"}' % len(self.taken)))
            return None
        self.failed.append(heard)
        way = self.ways[min(len(self.failed), len(self.ways)) - 1]
        if way == HANGS:
            time.sleep(60)
        if way != BUSY:
            return "close"
        connection.sendall(answer("503 Busy"))
        return None


def method_of(heard):
    return heard[0].split()[1].rpartition("/")[2]


def secret(path, text):
    path.touch(0o600)
    path.write_text(text + "\n")
    return str(path)


@contextlib.contextmanager
def agents_with_notifiers(folder, notifiers):
    """A function that starts an agent; the one before is killed, and its folder stays."""
    config, agents = folder / "agent.yaml", []
    config.write_text(json.dumps({"history": str(folder / "history.db"), "notifiers": notifiers}))

    def start():
        if agents:
            agents[-1].kill(forget=False)
        agents.append(Agent("--config", config, "--collect", "process", folder=agents[0].folder if agents else None))
        return agents[-1]
    try:
        yield start
    finally:
        agents[-1].kill(forget=False)
        agents[0].forget()


@contextlib.contextmanager
def a_job():
    with subprocess.Popen(["sleep", "600"], env=clean_environment(RANK=0, WORLD_SIZE=1, SLURM_JOB_ID=JOB)) as process:
        try:
            yield
        finally:
            process.kill()


def fire(agent):
    """An alert of the job, as soon as that is known."""
    body = frame(alert(job_id=JOB, severity="critical"))
    until(lambda: agent.api("POST", HOOK, body)[0] == 202 and incidents(agent, JOB), 10, "there is an incident", every=0.2)
    return agent


def words_waiting(agent):
    """What the status says of each notifier that has not told all."""
    details = [row["detail"] for row in agent.table("/v1/status", "status") if row["part"].startswith("notifier ")]
    return [detail for detail in details if "0 words waiting, 0 dropped" not in detail]


def webhook_to(folder, url):
    return {"type": "webhook", "url": url, "key_file": secret(folder / "key", "whsec_" + "MTIz" * 8)}


def kind_of(heard):
    return heard[2]["type"].removeprefix("dev.spotter.incident.").removesuffix(".v1")


def test_each_hears_of_an_incident_once_it_can(tmp_path):
    pagerduty, slack, webhook = Failing(BUSY, HANGS, HANGS_UP), Failing(HANGS_UP, HANGS, BUSY), Failing(BUSY, HANGS, HANGS_UP)
    all_of_them = (pagerduty, slack, webhook)
    with contextlib.ExitStack() as stack:
        urls = [stack.enter_context(Receiver(behave)).url for behave in all_of_them]
        start = stack.enter_context(agents_with_notifiers(tmp_path, [
            {"type": "pagerduty", "url": urls[0], "key_file": secret(tmp_path / "routing", "0123456789abcdef0123456789abcdef")},
            {"type": "slack", "url": urls[1], "token_file": secret(tmp_path / "token", "xoxb-1"), "channel": "C1"},
            webhook_to(tmp_path, urls[2])]))
        stack.enter_context(a_job())
        fire(start())
        until(lambda: all(len(each.failed) == 2 for each in all_of_them), 30, "each hangs")
        agent = start()
        until(lambda: all(len(each.failed) > 2 for each in all_of_them), 30, "each is tried again")
        for each in all_of_them:
            each.is_well.set()
        until(lambda: all(each.taken for each in all_of_them) and not words_waiting(agent), 30, "each has heard of it", every=0.1)
        agent = start()
        [row] = incidents(agent, JOB)
        assert row["state"] == "inconclusive", row
        assert agent.api_bytes("POST", f"/v1/incidents/{row['id']}/resolve", {})[0].status == 200
        until(lambda: all(kind in [what(heard) for heard in each.taken] for each, what, kind in (
            (pagerduty, lambda heard: heard[2]["event_action"], "resolve"), (slack, method_of, "chat.update"),
            (webhook, kind_of, "resolved"))) and not words_waiting(agent), 30, "each has heard of its end", every=0.1)

    key = f"spotter/local/{JOB}/alert/1"
    assert [(event["event_action"], event["dedup_key"]) for _, _, event in pagerduty.taken] == [("trigger", key), ("resolve", key)]
    assert [(method_of(heard), heard[2].get("ts")) for heard in slack.taken if "thread_ts" not in heard[2]] == [
        ("chat.postMessage", None), ("chat.update", "1732337206.000001")]
    assert {heard[2]["thread_ts"] for heard in slack.taken if "thread_ts" in heard[2]} <= {"1732337206.000001"}
    tries = {}
    for _, headers, event in webhook.failed + webhook.taken:
        assert tries.setdefault(headers["webhook-id"], event) == event, "what is tried again is the same"
    assert [kind_of(heard) for heard in webhook.taken] == ["verdict", "resolved"]
    ids = [headers["webhook-id"] for _, headers, _ in webhook.taken]
    assert webhook.failed[-1][1]["webhook-id"] == ids[0] != ids[1], ids


def test_killed_at_any_moment_it_tells_of_one_incident(tmp_path):
    """Whoever fires the alert sends it again, as Alertmanager does."""
    seed = time.time_ns()
    print(f"seed {seed}")
    chance = random.Random(seed)
    webhook = Failing()
    webhook.is_well.set()
    with contextlib.ExitStack() as stack:
        start = stack.enter_context(agents_with_notifiers(tmp_path, [webhook_to(tmp_path, stack.enter_context(Receiver(webhook)).url)]))
        stack.enter_context(a_job())
        for alive in (chance.uniform(0, 1), GATHERS + chance.uniform(0, 0.5), chance.uniform(0, 0.5), chance.uniform(0, 1)):
            fire(start())
            time.sleep(alive)
        agent = fire(start())
        # One that was killed as it looked for the cause: the next waits for 45 s, as for any evidence.
        until(lambda: "verdict" in map(kind_of, webhook.taken) and not words_waiting(agent), 60, "it is told", every=0.1)
        [row] = incidents(agent, JOB)
        assert agent.api_bytes("POST", f"/v1/incidents/{row['id']}/resolve", {})[0].status == 200
        time.sleep(chance.uniform(0, 0.05))
        agent = start()
        until(lambda: "resolved" in map(kind_of, webhook.taken) and not words_waiting(agent), 30, "its end is told", every=0.1)
        [row] = incidents(agent, JOB)
        assert row["id"] == f"{JOB}-alert-1" and row["state"] == "resolved", row
    words = {(headers["webhook-id"], kind_of((line, headers, event))) for line, headers, event in webhook.taken}
    assert sorted(kind for _, kind in words if kind != "opened") == ["resolved", "verdict"] and len(words) <= 3, words
    assert {id.rpartition(".")[0] for id, _ in words} == {f"{JOB}-alert-1"}, words

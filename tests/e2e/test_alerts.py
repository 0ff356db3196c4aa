"""Alerts that come in by POST /v1/hooks/alertmanager, and what was changed: by hand, and by the real Alertmanager and Prometheus."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request

import pytest

from agent import tables, until
from incident import record
from remote import RemoteAgent, certificates, free_port, token
from simulated_job import simulate, steps_of, steps_seen

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")

HOOK = "/v1/hooks/alertmanager"
HOSTILE = ["\x1b]0;owned\x07", "<!channel> @everyone", "../../etc/passwd", "$(reboot)", "'; DROP TABLE incidents; --", "\u202e" * 20, "x" * 200]


def alert(fingerprint="b3d8110e04668ca5", status="firing", starts="2026-11-23T04:46:46Z", summary="it is slow", **labels):
    return {"status": status, "labels": {"alertname": "StepSlow", "job_id": "4795"} | labels, "annotations": {"summary": summary},
            "startsAt": starts, "endsAt": "0001-01-01T00:00:00Z", "generatorURL": "", "fingerprint": fingerprint}


def frame(*alerts, truncated=0, **more):
    return {"version": "4", "groupKey": "{}", "truncatedAlerts": truncated, "receiver": "spotter", "status": "firing", "groupLabels": {},
            "commonLabels": {}, "commonAnnotations": {}, "externalURL": "http://am:9093", "alerts": list(alerts)} | more


@contextlib.contextmanager
def agent_with_a_job(tmp_path, history="off"):
    messages = tmp_path / "messages"
    notifiers = f"history: {history}\nnotifiers:\n  - {{name: file, type: file, path: {messages}}}\n"
    with RemoteAgent("--collect", "process", extra=notifiers) as agent, \
            agent.spawn(RANK=0, WORLD_SIZE=1, SLURM_JOB_ID=4795) as one:
        agent.wait_for_processes([one.pid])
        agent.messages = messages
        yield agent


def send(agent, body, bearer=None):
    status, document = agent.https("POST", HOOK, body, bearer=token(bearer or "trace"))
    return status, document


def outcomes(document):
    return [(row["outcome"], row["job"]) for row in tables(document)["alerts"]]


def incidents(agent):
    return {row["id"]: row for row in tables(agent.api("GET", "/v1/incidents")[1])["incidents"]}


def test_an_alert_is_an_incident_until_it_is_over(tmp_path):
    with agent_with_a_job(tmp_path) as agent:
        assert send(agent, frame(alert(severity="critical")))[0] == 202
        until(lambda: incidents(agent).get("4795-alert-1", {}).get("state") == "inconclusive", 10, "it is concluded")
        text = until(lambda: agent.messages.exists() and agent.messages.read_text(), 5, "somebody is told")
        assert "StepSlow" in text and "it is slow" in text, text
        status, document = send(agent, frame(alert()))  # sent again
        assert status == 202 and outcomes(document) == [("goes_on", "4795")]
        assert len(incidents(agent)) == 1
        ended = send(agent, frame(alert(status="resolved"), truncated=2))[1]
        assert outcomes(ended) == [("over", "4795")], "its own status counts"
        assert [(note["kind"], note["count"]) for note in ended["notes"]] == [("alerts_left_out", 2)]
        assert "without 2 more (max_alerts)" in agent.log()
        until(lambda: incidents(agent)["4795-alert-1"]["state"] == "recovering", 5, "it recovers")
        assert outcomes(send(agent, frame(alert()))[1]) == [("left_alone", "4795")], "a replay"


@pytest.mark.parametrize(("who", "status"), [("view", 403), ("nobody", 401), ("limited", 202), ("trace", 202), ("admin", 202)])
def test_who_may(tmp_path, who, status):
    with agent_with_a_job(tmp_path) as agent:
        got, document = send(agent, frame(alert()), bearer=who)
        assert got == status
        if who == "limited":  # who may trace another user's processes alone
            assert outcomes(document) == [("not_taken", "4795")]
        for path, body in (("/v1/changes", {"summary": "x"}), ("/v1/changes", {"summary": "x", "job": "4795"})):
            got, _ = agent.https("POST", path, body, bearer=token(who))
            assert got == (403 if who == "limited" else 200 if status == 202 else status), path


def test_a_storm_and_hostile_labels(tmp_path):
    with agent_with_a_job(tmp_path) as agent:
        status, document = send(agent, frame(*(alert(f"{i:016x}", instance=f"n{i}") for i in range(1000))))  # > 64 KiB
        assert status == 202
        assert sum(outcome == "begins" for outcome, _ in outcomes(document)) == 10
        status, document = send(agent, frame(*(
            alert(f"hostile {i}", **{name: text, "job_id": text if name == "job_id" else "4795"})
            for i, (name, text) in enumerate((name, text) for text in HOSTILE for name in ("job_id", "alertname", "spotter_action")))))
        assert status == 202
        ended = send(agent, frame(alert("unknown", job_id="no such")))[1]
        row, = tables(ended)["alerts"]
        assert row["outcome"] == "not_taken" and row["why"] == "cannot tell whom: job_id=no such is of no job here"
        until(lambda: "4795-alert-1" in incidents(agent), 10, "there is an incident")
        assert set(incidents(agent)) == {"4795-alert-1"}
        with agent.spawn(RANK=0, WORLD_SIZE=1, SLURM_JOB_ID=4796) as one:
            agent.wait_for_processes([one.pid])
            status, document = send(agent, frame(alert("of another job", job_id="4796")))
            assert (status, outcomes(document)) == (503, [("not_now", "4796")])
        for line in agent.log().splitlines():
            assert "\x1b" not in line and "\x07" not in line
        agent.assert_well()


def test_what_is_no_alert(tmp_path):
    with agent_with_a_job(tmp_path) as agent:
        for body in ({}, [], {"version": "3", "alerts": []}, frame({"status": "firing"}), frame(1), {"version": "4", "alerts": {}}):
            status, document = send(agent, body)
            assert status == 400 and len(document["error"]["message"]) > 10, body
        assert send(agent, frame(version="1"))[0] == 202
        assert incidents(agent) == {}


def test_changes_are_shown_with_an_incident(tmp_path):
    with agent_with_a_job(tmp_path) as agent:
        assert agent.https("POST", "/v1/changes", {"summary": "driver 570 rolled out", "kind": "driver", "source": "ansible"},
                           bearer=token("trace"))[0] == 200
        done = agent.command_line("changes", "add", "another job's", "--job", "9")
        assert done.returncode == 0 and done.stdout == "Noted.\n", done
        listed = agent.command_line("changes")
        assert "driver 570 rolled out" in listed.stdout and "another job's" in listed.stdout, listed
        time.sleep(1)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        send(agent, frame(alert(starts=now, severity="critical")))
        until(lambda: incidents(agent).get("4795-alert-1", {}).get("state") == "inconclusive", 10, "it is concluded")
        record = agent.https("GET", "/v1/incidents/4795-alert-1", bearer=token("trace"))[1]
        assert [change["what"] for change in record["changes"]] == ["driver 570 rolled out"]
        assert "driver changed" in until(lambda: agent.messages.exists() and agent.messages.read_text(), 5, "somebody is told")


@contextlib.contextmanager
def running(folder, *command):
    with open(folder / "log", "a") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield
        finally:
            process.kill()


@contextlib.contextmanager
def alertmanager(folder, agent, port=None):
    """Of a folder that has one already, one that begins anew."""
    folder.mkdir(exist_ok=True)
    port, tls = port or free_port(), certificates().tls / "agent"
    (folder / "token").write_text(token("trace"))
    hook = {"url": f"https://localhost:{agent.port}{HOOK}", "send_resolved": True, "max_alerts": 50,
            "http_config": {"authorization": {"credentials_file": str(folder / "token")}, "tls_config": {"ca_file": str(tls / "ca.pem")}}}
    (folder / "alertmanager.yml").write_text(json.dumps({
        "templates": [], "route": {"receiver": "spotter", "group_by": ["job_id"], "group_wait": "1s", "group_interval": "2s"},
        "receivers": [{"name": "spotter", "webhook_configs": [hook]}]}))
    with running(folder, shutil.which("prometheus-alertmanager"), f"--config.file={folder}/alertmanager.yml", f"--storage.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="):
        until(lambda: answers(f"http://127.0.0.1:{port}/-/ready"), 15, "Alertmanager is ready", every=0.2)
        yield port


def answers(url, body=None):
    with contextlib.suppress(OSError):
        request = urllib.request.Request(url, body and json.dumps(body).encode(), {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=5).status == 200
    return False


@pytest.mark.skipif(not shutil.which("prometheus-alertmanager"), reason="needs Alertmanager")
def test_the_real_alertmanager(tmp_path):
    with agent_with_a_job(tmp_path) as agent, alertmanager(tmp_path / "am", agent) as port:
        url = f"http://127.0.0.1:{port}/api/v2/alerts"
        ours = {"alertname": "SpotterStepTimeUp", "job_id": "4795", "incident": "4795-speed-1"}
        theirs = {"alertname": "StepSlow", "job_id": "4795", "severity": "critical"}
        assert answers(url, [{"labels": theirs, "annotations": {"summary": "slow"}}, {"labels": ours}])
        until(lambda: incidents(agent).get("4795-alert-1", {}).get("state") == "inconclusive", 20, "it is concluded", every=0.2)
        assert len(incidents(agent)) == 1
        record = agent.https("GET", "/v1/incidents/4795-alert-1", bearer=token("trace"))[1]
        assert record["symptom"]["source"] == "alertmanager:StepSlow" and record["condition_count"] == 1
        ended = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        assert answers(url, [{"labels": theirs, "endsAt": ended}])
        until(lambda: incidents(agent)["4795-alert-1"]["state"] == "recovering", 20, "it is over", every=0.2)


def sent_by(port):
    """How many messages Alertmanager has sent since it began."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        count = re.search(r'^alertmanager_notifications_total{integration="webhook"} (\S+)', answer.read().decode(), re.MULTILINE)
    return int(float(count[1]))


@pytest.mark.whole
@pytest.mark.skipif(not shutil.which("prometheus-alertmanager"), reason="needs Alertmanager")
def test_restarts_of_alertmanager_and_of_the_agent_are_no_news(tmp_path):
    ours = {"labels": {"alertname": "StepSlow", "job_id": "4795", "severity": "critical"}, "annotations": {"summary": "slow"},
            "startsAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    with agent_with_a_job(tmp_path, tmp_path / "history.db") as agent:
        with alertmanager(tmp_path / "am", agent) as port:
            url = f"http://127.0.0.1:{port}/api/v2/alerts"
            assert answers(url, [ours])
            until(lambda: incidents(agent).get("4795-alert-1", {}).get("state") == "inconclusive", 20, "it is concluded", every=0.2)
            told = until(lambda: agent.messages.exists() and agent.messages.read_text(), 5, "somebody is told")
        # It is killed, and has forgotten all: Prometheus sends what fires again.
        with alertmanager(tmp_path / "am", agent, port):
            assert answers(url, [ours])
            until(lambda: sent_by(port) == 1, 20, "it is sent again", every=0.2)
            assert [row["state"] for row in incidents(agent).values()] == ["inconclusive"]
            # The end comes while there is no agent.
            agent.stop(forget=False)
            assert answers(url, [ours | {"endsAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}])
            until(lambda: "Notify attempt failed" in (tmp_path / "am" / "log").read_text(), 20, "it has tried", every=0.2)
            agent.restart()
            # Whether other hosts see something still is to be waited for: it recovers minutes later.
            until(lambda: "says that alert StepSlow of job 4795 is over" in agent.log(), 30, "it is over", every=0.2)
        assert "fires" not in agent.log()
        assert list(incidents(agent)) == ["4795-alert-1"] and record(agent, "4795-alert-1")["condition_count"] == 1
        assert agent.messages.read_text() == told


@contextlib.contextmanager
def prometheus(folder, agent, alertmanager_port, rule):
    """One that scrapes the agent."""
    folder.mkdir()
    target = {"job_name": "spotter", "scheme": "https", "static_configs": [{"targets": [f"localhost:{agent.port}"]}],
              "authorization": {"credentials": token("view")}, "tls_config": {"ca_file": str(certificates().tls / "agent" / "ca.pem")}}
    (folder / "rules.yml").write_text(json.dumps({"groups": [{"name": "g", "rules": [rule]}]}))
    (folder / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}, "scrape_configs": [target],
        "rule_files": [str(folder / "rules.yml")],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager_port}"]}]}]}}))
    port = free_port()
    with running(folder, shutil.which("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{port}", "--rules.alert.resend-delay=2s"):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.skipif(not shutil.which("prometheus-alertmanager") or not shutil.which("prometheus"), reason="needs Prometheus")
def test_from_a_rule_of_the_real_prometheus_to_a_verdict(tmp_path):
    ranks, slow, job, messages = 4, 2, f"56{os.getpid()}", tmp_path / "messages"
    traces = simulate(tmp_path / "simulated", ranks, slow)
    rule = {"alert": "StepSlow", "expr": f'spotter_step_seconds{{job_id="{job}"}} > 0.03', "labels": {"severity": "critical"}}
    extra = ("history: off\nrespond: {captures: automatic, min_age: 0s, min_steps: 0, canary: false, least_free: 0}\n"
             f"notifiers:\n  - {{name: file, type: file, path: {messages}}}\n")
    with RemoteAgent("--collect", "step,process,job_log", extra=extra) as agent, alertmanager(tmp_path / "am", agent) as port, \
            prometheus(tmp_path / "prometheus", agent, port, rule) as url, steps_of(job, ranks, tmp_path / "log", 20) as says, \
            agent.spawn("--children", ranks, "--traces", traces, "--period", "1", SLURM_JOB_ID=job, SLURM_NTASKS=ranks):
        until(lambda: answers(url + "/-/ready") and steps_seen(agent, job) > 50, 30, "its steps are seen", every=0.2)
        assert not [id for id, row in incidents(agent).items() if row["job"] == job]
        says(40)
        begun = time.monotonic()
        until(lambda: messages.exists() and "slow device" in messages.read_text(), 60, "somebody is told of the cause", every=0.2)
        assert time.monotonic() - begun < 60
        made = record(agent, f"{job}-alert-1")
    assert f"rank {slow} " in messages.read_text() and "alert StepSlow fires" in messages.read_text()
    assert made["state"] == "verdict" and made["symptom"]["source"] == "alertmanager:StepSlow", made
    assert [suspect["rank"] for suspect in made["verdict"]["suspects"]] == [slow], made
    [capture] = made["captures"]
    assert capture["id"] and capture["ranks"] == f"0-{ranks - 1}" and capture["steps"] == 4, made

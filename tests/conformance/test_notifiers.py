"""Notifiers against the real receivers, or what these check messages with: Alertmanager, Slack's, Standard Webhooks' and
CloudEvents' libraries, PagerDuty's rules as a schema, OpenTelemetry's generated classes. `tell` (tell.cc) makes them tell."""

import base64
import contextlib
import datetime
import http.server
import json
import subprocess
import threading
import time

import pytest

import harness
import monitoring

KEY, OLD_KEY, STRANGER = ("whsec_" + base64.b64encode(bytes([byte]) * 32).decode() for byte in b"kos")
ROUTING_KEY = "0123456789abcdef0123456789abcdef"
# What a job may have written, each a text of its own.
HOSTILE = ["<!channel> & <https://evil|x> `a` ```b```", "a\r\nX-Injected: 1\r\n\r\n{\"b\":1}", "\u202egnp.exe\u2066", "\x00\x1b[31m\x07\x7f",
           "\U0001f680" * 300, "x" * (1 << 20), "\"}],'--", "{{ .Labels }} %s %n ${x}", "\ufffe\U0010ffff e\u0301" * 50]


def stamp(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def incident(now, text="pretrain", **changed):
    """With `text` at every place that somebody else writes; all of it where it may be long."""
    whole, text = text, text[:5000]
    condition = {"rule": "log_error", "family": "speed", "severity": "critical", "job": "4711", "user": text, "host": text, "rank": 3, "device": text,
                 "firing": True, "since": stamp(now - 40), "at": stamp(now - 30), "value": 4.42, "baseline": 3.1, "unit": "s", "source": text, "text": text}
    made = {
        "version": 1, "cluster": "a", "family": "speed", "n": 2, "sequence": 3, "state": "verdict", "severity": "warning",
        "opened": stamp(now - 30), "updated": stamp(now), "led_by": "gpu01",
        "job": {"id": "4711", "name": whole, "user": text, "world_size": 1024, "hosts": 128},
        "symptom": {"rule": "step_time_up", "source": text, "unit": "s", "before": 3.1, "now": 4.42, "since": stamp(now - 40), "hosts": 128},
        "verdict": {"cause": "slow_device", "confidence": "high", "suspects": [{"rank": 37, "host": "gpu05", "gpu": 5}], "sentence": text, "remedy": text},
        "evidence": [{"says": text, "table": "stragglers", "row": {"rank": 37}, "command": text}], "against": [text], "not_known": [text],
        "changes": [{"at": stamp(now - 3600), "kind": text, "what": text, "before": text, "after": text, "by": text, "link": text}],
        "logs": [{"text": whole, "file": text, "offset": 1, "rank": 3}], "captures": [{"id": "c", "ranks": "0,8", "path": text, "steps": 3}],
        "conditions": [condition, condition | {"rule": "oom_kill"}], "condition_count": 2}
    return made | changed


class Tell:
    def __init__(self):
        path = harness.program().parent / "tell"
        if not path.is_file():
            pytest.skip(f"{path} is not built (the target tell)")
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, kind, settings, incident, occasion="verdict", kept="", at=None):
        question = {"kind": kind, "settings": {key: str(value) for key, value in settings.items()}, "incident": incident, "occasion": occasion,
                    "at": int((at or time.time()) * 1000), "kept": kept}
        self.process.stdin.write(json.dumps(question).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def tell():
    teller = Tell()
    yield teller
    teller.process.stdin.close()
    teller.process.wait(10)


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what it is told, and answers as `answer` says."""

    def __init__(self):
        self.requests = []
        self.answer = lambda path, body: (200, "{}")

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.server.requests.append((self.path, {key.lower(): value for key, value in self.headers.items()}, body))
                status, text = self.server.answer(self.path, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


@pytest.fixture
def receiver():
    with contextlib.closing(Receiver()) as made:
        yield made
        made.shutdown()


Receiver.close = Receiver.server_close


@pytest.fixture
def secret(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.touch(0o600)
        path.write_text(text + "\n")
        return path
    return write


@pytest.fixture(scope="session")
def checks():
    """Complaints of the receivers' libraries; none is all well."""
    python = subprocess.run([harness.ROOT / "tools" / "notifier_python"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    if not python:
        pytest.skip("no Python with the receivers' libraries (tools/notifier_python says why)")

    def check(asked):
        assert asked
        done = subprocess.run([python, harness.ROOT / "tests/conformance/notifier_checks.py"], input=json.dumps(asked), stdout=subprocess.PIPE,
                              text=True, timeout=60, check=True)
        return done.stdout
    return check


OCCASIONS = ["opened", "verdict", "changed", "resolved", "test"]


def test_pagerduty_takes_every_event(tell, receiver, secret, checks):
    receiver.answer = lambda path, body: (202, '{"status":"success"}')
    settings = {"key_file": secret("key", ROUTING_KEY), "url": receiver.url + "/v2/enqueue"}
    for text in ["pretrain", *HOSTILE]:
        for occasion in OCCASIONS:
            assert tell("pagerduty", settings, incident(time.time(), text), occasion)["outcome"] == "done"
    long = incident(time.time()) | {"cluster": HOSTILE[4], "job": {"id": HOSTILE[5]}}
    assert tell("pagerduty", settings, long)["outcome"] == "done"
    assert checks([{"check": "pagerduty", "event": json.loads(body)} for _, _, body in receiver.requests]) == ""


def test_pagerduty_triggers_and_resolves_one_alert_each_time(tell, receiver, secret):
    """The life of keys, as PagerDuty keeps it."""
    open_alerts, ended = set(), []

    def answer(path, body):
        event = json.loads(body)
        if event["event_action"] == "trigger":
            open_alerts.add(event["dedup_key"])
        elif event["dedup_key"] in open_alerts:
            open_alerts.remove(event["dedup_key"])
            ended.append(event["dedup_key"])
        return 202, "{}"
    receiver.answer = answer
    settings = {"key_file": secret("key", ROUTING_KEY), "url": receiver.url}
    for n in (1, 2):
        for occasion in ("opened", "verdict", "changed", "resolved"):
            tell("pagerduty", settings, incident(time.time(), n=n), occasion)
            assert len(open_alerts) == (occasion != "resolved")
    tell("pagerduty", settings, incident(time.time(), n=3), "opened")
    tell("pagerduty", settings, incident(time.time(), n=2), "resolved")  # late, and of the one before
    assert open_alerts == {"spotter/a/4711/speed/3"}
    assert ended == ["spotter/a/4711/speed/1", "spotter/a/4711/speed/2"]


def test_slack_takes_every_message(tell, receiver, secret, checks):
    receiver.answer = lambda path, body: (200, '{"ok": true, "channel": "C1", "ts": "1732337206.123456"}')
    bot = {"token_file": secret("token", "xoxb-1"), "channel": "C1", "url": receiver.url + "/api"}
    hook = {"url_file": secret("url", receiver.url + "/services/T/B/x")}
    for text in ["pretrain", *HOSTILE]:
        kept = ""
        for occasion in OCCASIONS:
            answer = tell("slack", bot, incident(time.time(), text), occasion, kept)
            assert answer["outcome"] == "done", answer
            kept = answer["kept"]
            assert tell("slack", hook, incident(time.time(), text), occasion)["outcome"] == "done"
    bodies = [json.loads(body) for _, _, body in receiver.requests]
    assert sum("thread_ts" in body for body in bodies) >= len(HOSTILE)
    assert checks([{"check": "slack", "body": body} for body in bodies]) == ""


def test_webhooks_are_verified_with_either_key_and_are_cloud_events(tell, receiver, secret, checks):
    settings = {"key_file": secret("key", KEY), "old_key_file": secret("old", OLD_KEY), "url": receiver.url + "/hook"}
    for text in ["pretrain", *HOSTILE]:
        for occasion in OCCASIONS:
            assert tell("webhook", settings, incident(time.time(), text), occasion)["outcome"] == "done"
    for job in HOSTILE:  # in ids and headers, too
        assert tell("webhook", settings, incident(time.time(), job={"id": job}))["outcome"] == "done"
    asked = [{"check": "webhook", "body": base64.b64encode(body).decode(), "headers": headers, "keys": [KEY, OLD_KEY], "stranger": STRANGER}
             for _, headers, body in receiver.requests]
    assert not any("x-injected" in one["headers"] for one in asked)
    assert checks(asked) == ""


def test_a_webhook_keeps_its_id_when_it_is_tried_again(tell, receiver, secret):
    settings = {"key_file": secret("key", KEY), "url": receiver.url}
    receiver.answer = lambda path, body: (503, "later")
    now = time.time()
    assert tell("webhook", settings, incident(now), at=now)["outcome"] == "again"
    receiver.answer = lambda path, body: (200, "")
    assert tell("webhook", settings, incident(now), at=now + 60)["outcome"] == "done"
    (_, first, body), (_, second, same) = receiver.requests
    assert first["webhook-id"] == second["webhook-id"] == "4711-speed-2.3" and body == same
    assert int(second["webhook-timestamp"]) - int(first["webhook-timestamp"]) == 60


def test_a_receiver_that_breaks_off_is_tried_again(tell, receiver, secret):
    def hang_up(path, body):
        raise ConnectionAbortedError
    receiver.answer = hang_up
    receiver.handle_error = lambda *_: None
    answer = tell("webhook", {"key_file": secret("key", KEY), "url": receiver.url}, incident(time.time()))
    assert answer["outcome"] == "again" and answer["in_doubt"]


OTLP_READER = """
import json, sys
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
for line in sys.stdin:
    request = ExportLogsServiceRequest.FromString(bytes.fromhex(line))
    [resource] = request.resource_logs
    [record] = resource.scope_logs[0].log_records
    print(json.dumps({"event": getattr(record, "event_name", None), "severity": record.severity_number, "body": record.body.string_value, "time": record.time_unix_nano,
        "unknown": len(request.SerializeToString()), "attributes": {a.key: a.value.string_value for a in record.attributes},
        "resource": {a.key: a.value.string_value for a in resource.resource.attributes}}))
"""


def test_otlp_is_what_opentelemetry_decodes(tell, receiver):
    python = subprocess.run([harness.ROOT / "tools" / "otlp_python"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    if not python:
        pytest.skip("no Python with opentelemetry-proto (tools/otlp_python says why)")
    receiver.answer = lambda path, body: (200, "")
    now = int(time.time())
    for text in ["pretrain", *HOSTILE]:
        for occasion in OCCASIONS:
            assert tell("otlp", {"url": receiver.url}, incident(now, text), occasion)["outcome"] == "done"
    assert {path for path, _, _ in receiver.requests} == {"/v1/logs"}
    lines = "\n".join(body.hex() for _, _, body in receiver.requests)
    done = subprocess.run([python, "-c", OTLP_READER], input=lines, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(records) == len(OCCASIONS) * (1 + len(HOSTILE))
    verdict = records[1]
    assert verdict["event"] in (None, "spotter.incident.verdict") and verdict["severity"] == 13 and verdict["time"] == now * 10**9
    assert verdict["body"].startswith("Job 4711 pretrain (pretrain): steps 3.10 → 4.42 s")
    assert verdict["attributes"] | {"spotter.incident.id": "4711-speed-2", "spotter.job": "4711", "spotter.incident.cause": "slow_device"} == verdict["attributes"]
    assert verdict["resource"]["service.name"] == "spotter" and verdict["resource"]["host.name"] == "gpu01"


class Alertmanager:
    def __init__(self, folder, receiver):
        self.folder, self.port, self.url = folder, monitoring.free_port(), None
        self.url = f"http://127.0.0.1:{self.port}"
        folder.mkdir()
        configuration = {
            "templates": [],
            "route": {"receiver": "hook", "group_by": ["cluster", "job_id"], "group_wait": "1s", "group_interval": "2s", "repeat_interval": "1h"},
            "receivers": [{"name": "hook", "webhook_configs": [{"url": receiver.url + "/am", "send_resolved": True}]}]}
        (folder / "alertmanager.yml").write_text(json.dumps(configuration))

    def running(self):
        command = [monitoring.tool("prometheus-alertmanager"), f"--config.file={self.folder}/alertmanager.yml", f"--storage.path={self.folder}/data",
                   f"--web.listen-address=127.0.0.1:{self.port}", "--cluster.listen-address="]
        return monitoring.running(command, self.folder / "log")

    def alerts(self):
        """None: it does not answer."""
        with contextlib.suppress(OSError):
            return json.loads(monitoring.fetch(self.url + "/api/v2/alerts")[1])

    def wait(self):
        monitoring.wait_for(lambda: self.alerts() is not None, "Alertmanager answers")


def told(receiver, word):
    """The alerts of Alertmanager's own messages in which the word is."""
    return [alert for _, _, body in list(receiver.requests) for alert in json.loads(body)["alerts"] if word in json.dumps(alert, ensure_ascii=False)]


def test_alertmanager_tells_of_a_verdict_and_its_end_over_a_restart(tell, receiver, tmp_path):
    manager = Alertmanager(tmp_path / "am", receiver)
    settings = {"url": manager.url, "timeout": "3s"}
    now = time.time()
    with manager.running():
        manager.wait()
        for text in HOSTILE:
            assert tell("alertmanager", settings, incident(now, text, family="x", n=HOSTILE.index(text)))["outcome"] == "done"
        first = tell("alertmanager", settings, incident(now), "verdict")
        assert first["outcome"] == "done", first
        monitoring.wait_for(lambda: told(receiver, "slow_device"), "the verdict arrives")
        again = tell("alertmanager", settings, incident(now), "changed", first["kept"])
        assert again["outcome"] == "done"
        assert len([a for a in manager.alerts() if a["labels"]["incident"] == "4711-speed-2"]) == 1
    assert tell("alertmanager", settings, incident(now), "changed", first["kept"])["outcome"] == "again"
    with manager.running():
        manager.wait()
        over = incident(now, state="resolved", closed=stamp(time.time()))
        assert tell("alertmanager", settings, incident(now), "changed", first["kept"])["outcome"] == "done"
        [alert] = [a for a in manager.alerts() if a["labels"]["incident"] == "4711-speed-2"]
        assert alert["labels"]["alertname"] == "SpotterStepTimeUp" and alert["annotations"]["suspect"] == "rank 37 on gpu05 (GPU 5)"
        # What it forgets without us: four minutes after we said it last.
        ends = datetime.datetime.fromisoformat(alert["endsAt"].replace("Z", "+00:00")).timestamp()
        assert 200 < ends - time.time() < 241
        assert tell("alertmanager", settings, over, "resolved", first["kept"])["outcome"] == "done"
        monitoring.wait_for(lambda: any(a["status"] == "resolved" for a in told(receiver, "4711-speed-2")), "the end arrives")


def test_alertmanager_says_what_it_will_not_take(tell, receiver, tmp_path):
    manager = Alertmanager(tmp_path / "am", receiver)
    with manager.running():
        manager.wait()
        late = incident(time.time() + 7200)  # begins later than it ends
        answer = tell("alertmanager", {"url": manager.url}, late, "resolved", at=time.time())
        assert answer["outcome"] == "done", answer  # we say no such thing, whatever the clocks do
        wrong = tell("alertmanager", {"url": manager.url + "/nowhere"}, incident(time.time()))
        # A proxy, or a path that is being changed, may say so: it is tried again as long as others that fail.
        assert wrong["outcome"] == "again" and "404" in wrong["says"]

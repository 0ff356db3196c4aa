"""`spotter notify`: whether a notifier would be heard, with receivers that are slow, failing, lying or closing early; no secret is
shown, and the exit status says whether the message was taken."""

import base64
import json
import os
import subprocess
import time

import pytest
from harness import ROOT, program
from webhook_receiver import OK, Receiver, answer, closes, echoes, says, slow, trickles

KEY = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
SECRETS = ["T0KEN", "secret-path", KEY, KEY.removeprefix("whsec_")]


def secret_file(path, text, mode=0o600):
    path.write_text(text + "\n")
    path.chmod(mode)
    return path


def configuration(folder, notifiers):
    path = folder / "agent.yaml"
    path.write_text(json.dumps({"notifiers": notifiers}))  # JSON is YAML
    return path


def notify(*words, timeout=60):
    return subprocess.run([program(), "notify", *map(str, words)], capture_output=True, text=True, timeout=timeout, check=False)


def webhook(folder, url, **more):
    return {"type": "webhook", "url_file": str(secret_file(folder / "url", url)), "key_file": str(secret_file(folder / "key", KEY)),
            "timeout": "2s", **more}


def sent_to(folder, behave, **more):
    """The run, what the receiver got, and how long it took."""
    with Receiver(behave) as receiver:
        config = configuration(folder, [webhook(folder, receiver.url, **more)])
        begun = time.monotonic()
        done = notify("test", "webhook", "--config", config)
        return done, receiver.requests, time.monotonic() - begun


def check_no_secret(done):
    for secret in SECRETS:
        assert secret not in done.stdout + done.stderr, done


def test_a_test_that_is_taken_says_that_it_is_a_test(tmp_path):
    done, requests, _ = sent_to(tmp_path, says(OK))
    assert done.returncode == 0 and done.stdout.startswith("webhook (webhook): taken"), done
    (head, body), = requests
    assert head.startswith("POST /secret-path/T0KEN HTTP/1.1\r\n")
    event = json.loads(body)
    assert event["type"] == "dev.spotter.incident.test.v1" and "test" in json.dumps(event["data"]).lower()
    assert "This is a test. Nothing is wrong." in json.dumps(event["data"])
    check_no_secret(done)


@pytest.mark.parametrize(("behave", "says_so"), [
    (says(answer("500 No", b"broken")), "500"),
    (says(answer("429 Slow", b"", "Retry-After: 7\r\n")), "429"),
    (says(answer("400 Bad", b"no_text")), "no_text"),
    (says(answer("404 None")), "404"),
    (says(answer("410 Gone")), "told nothing more"),
    (says(answer("302 Found", b"", "Location: http://127.0.0.1:1/\r\n")), "302"),
    (says(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), "webhook"),
    (says(b"220 smtp.example.org\r\n"), "webhook"),
    (says(b"\x00" * 100_000), "webhook"),
    (closes(b""), "webhook"),
    (closes(b"HTTP/1.1 200 O"), "webhook"),
    (closes(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), "webhook"),
    (slow(30), "webhook"),
    (trickles, "webhook"),
], ids=["500", "429", "400", "404", "410", "302", "promises more", "no http", "zeros", "closes", "half a line", "half a body", "slow",
        "trickles"])
def test_what_is_not_taken_is_no_success(tmp_path, behave, says_so):
    done, requests, took = sent_to(tmp_path, behave)
    assert done.returncode == 1, done
    assert "not taken" in done.stdout and says_so in done.stdout, done
    assert done.stdout.count("\n") == 1 and len(done.stdout) < 2000, done
    assert took < 20, took
    assert requests, "it was not asked at all"
    check_no_secret(done)


@pytest.mark.parametrize("status", ["400 Bad", "500 No", "410 Gone"])
def test_what_is_sent_back_is_shown_without_secrets(tmp_path, status):
    done, _, _ = sent_to(tmp_path, echoes(status))
    assert done.returncode == 1, done
    check_no_secret(done)
    assert "webhook-signature: v1," not in done.stdout or "whsec" not in done.stdout


def test_control_characters_of_a_receiver_do_not_reach_the_terminal(tmp_path):
    done, _, _ = sent_to(tmp_path, says(answer("400 Bad", b"\x1b]0;owned\x07\r\nline two\x1b[31m")))
    assert done.returncode == 1 and "\x1b" not in done.stdout and "\x07" not in done.stdout, done
    assert done.stdout.count("\n") == 1


def test_nobody_there(tmp_path):
    done = notify("test", "webhook", "--config", configuration(tmp_path, [webhook(tmp_path, "http://127.0.0.1:1/secret-path/T0KEN")]))
    assert done.returncode == 1 and "would try again" in done.stdout, done
    check_no_secret(done)


@pytest.mark.skipif(os.geteuid() != 0 and not hasattr(os, "chmod"), reason="needs modes of files")
def test_a_secret_that_others_may_read_is_refused(tmp_path):
    entry = webhook(tmp_path, "http://127.0.0.1:1/secret-path/T0KEN")
    (tmp_path / "url").chmod(0o644)
    done = notify("test", "webhook", "--config", configuration(tmp_path, [entry]))
    assert done.returncode == 1 and str(tmp_path / "url") in done.stderr, done
    check_no_secret(done)


def test_redaction_holds_for_the_test_too(tmp_path):
    host = os.uname().nodename
    done, requests, _ = sent_to(tmp_path, says(OK), redact=["hosts"])
    assert done.returncode == 0, done
    assert f'"{host}"' not in json.dumps(json.loads(requests[0][1])["data"])


def test_list_and_types(tmp_path):
    config = configuration(tmp_path, [webhook(tmp_path, "http://127.0.0.1:1/secret-path/T0KEN", name="ours", redact=["hosts", "users"]),
                                      {"type": "alertmanager", "url": "http://127.0.0.1:9093"}])
    done = notify("list", "--config", config, "--format", "json")
    table, = json.loads(done.stdout)["tables"]
    assert [row[:2] for row in table["rows"]] == [["ours", "webhook"], ["alertmanager", "alertmanager"]]
    assert table["rows"][0][2] == "hosts,users" and table["rows"][1][2] is None
    done = notify("types")
    assert done.returncode == 0
    for word in ("webhook:", "slack:", "pagerduty:", "alertmanager:", "otlp:", "url_file", "redact"):
        assert word in done.stdout, word
    (tmp_path / "agent.yaml").write_text("log_level: info\n")
    done = notify("list", "--config", config)
    assert done.returncode == 0 and "nobody is told" in done.stdout


@pytest.mark.parametrize(("words", "status", "says_so"), [
    (["test"], 2, "NAME"), (["list", "x"], 2, "no NAME"), (["tell"], 2, "list, test and types"), ([], 2, "ACTION"),
    (["types", "--format", "json"], 2, "--format"), (["test", "webhok", "--config", "CONFIG"], 1, "did you mean"),
    (["test", "x", "--config", "/nowhere/agent.yaml"], 1, "/nowhere/agent.yaml"),
])
def test_command_lines_that_cannot_be(tmp_path, words, status, says_so):
    config = configuration(tmp_path, [webhook(tmp_path, "http://127.0.0.1:1/secret-path/T0KEN")])
    done = notify(*[str(config) if word == "CONFIG" else word for word in words])
    assert done.returncode == status and says_so.lower() in done.stderr.lower(), done
    check_no_secret(done)


def test_the_example_names_types_that_are(tmp_path):
    example = (ROOT / "packaging" / "agent.yaml").read_text()
    text = example[example.index("# notifiers:"):].split("\n\n")[0]
    (tmp_path / "agent.yaml").write_text("\n".join(line[2:] for line in text.splitlines()) + "\n")
    done = notify("list", "--config", tmp_path / "agent.yaml")
    assert done.returncode == 0 and "team" in done.stdout, done

"""An agent with notifiers: its status and metrics say how they fare, no secret of theirs is anywhere, and a secret that others may read
is refused at the start. What they are told is tested where incidents are."""

import json
import subprocess

import pytest

from agent import Agent, clean_environment, program, run

SECRET = "T0KEN-of-a-channel"


@pytest.fixture
def config(tmp_path):
    """A configuration with a channel whose URL is a secret, and nobody there."""
    url = tmp_path / "url"
    url.write_text(f"http://127.0.0.1:1/{SECRET}\n")
    url.chmod(0o600)
    path = tmp_path / "agent.yaml"
    path.write_text(json.dumps({"history": str(tmp_path / "history.db"), "notifiers": [
        {"type": "slack", "name": "ours", "url_file": str(url)}, {"type": "alertmanager", "url": "http://127.0.0.1:1"}]}))
    return path


def test_status_and_metrics_say_how_notifiers_fare(config):
    with Agent("--config", config, "--collect", "agent:100ms") as agent:
        parts = {row["part"]: row for row in agent.table("/v1/status", "status")}
        assert parts["incidents"]["state"] == "works" and f"remembered in {config.parent}/incidents.db" in parts["incidents"]["detail"], parts["incidents"]
        for name in ("notifier ours", "notifier alertmanager"):
            assert parts[name]["state"] == "works" and "0 messages sent, 0 words waiting, 0 dropped" in parts[name]["detail"], parts
        shown = run("metrics", "--socket", agent.api_socket, "--metric", "notifier_*", "--format", "json")
        table, = json.loads(shown.stdout)["tables"]
        columns = [column["name"] for column in table["columns"]]
        rows = [dict(zip(columns, row, strict=True)) for row in table["rows"]]
        assert {row["notifier"] for row in rows} == {"ours", "alertmanager"}
        assert all(row[name] == 0 for row in rows for name in ("sent", "failed", "dropped", "waiting")), rows
        assert (config.parent / "incidents.db").exists()
        assert "spotter_incidents{" not in agent.api_bytes("GET", "/metrics")[1].decode(), "there is none"
        everything = json.dumps(parts) + shown.stdout + agent.log()
    assert SECRET not in everything


def test_without_a_disk_incidents_are_in_memory(config, tmp_path):
    (tmp_path / "incidents.db").write_text("somebody else's file, which nobody may lose\n" * 10)
    with Agent("--config", config, "--collect", "load") as agent:
        parts = {row["part"]: row for row in agent.table("/v1/status", "status")}
        assert parts["incidents"]["state"] == "fails" and "in memory alone" in parts["incidents"]["detail"]
        assert str(tmp_path / "incidents.db") in parts["incidents"]["detail"]
    assert (tmp_path / "incidents.db").read_text().startswith("somebody else's")
    with Agent("--config", config, "--collect", "load", "--history", "off") as agent:
        parts = {row["part"]: row for row in agent.table("/v1/status", "status")}
        assert parts["incidents"]["state"] == "works" and "in memory alone" in parts["incidents"]["detail"]


def test_a_secret_that_others_may_read_is_refused(config, tmp_path):
    (tmp_path / "url").chmod(0o644)
    done = subprocess.run([program(), "agent", "--config", config, "--api-socket", tmp_path / "a", "--ipc-dir", tmp_path, "--rpc-port", "0"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False, env=clean_environment())
    assert done.returncode == 1 and str(tmp_path / "url") in done.stderr and SECRET not in done.stderr, done

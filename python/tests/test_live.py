"""spotter.Capture, with a program that says what `spotter trace` says of many processes."""

import json
import time

import pytest

import spotter
from spotter.live import Capture

COLUMNS = ["rank", "host", "state", "file", "reason"]


def program_of(tmp_path, monkeypatch, receipts, status=0, begin=""):
    """Puts it in the program's place."""
    columns = [
        {"name": name, "type": "integer" if name == "rank" else "text", "unit": "none", "role": "key", "help": ""} for name in COLUMNS
    ]  # fmt: skip
    said = tmp_path / "said.json"
    said.write_text(json.dumps({"notes": [], "tables": [{"name": "receipts", "columns": columns, "rows": receipts}]}))
    script = tmp_path / "spotter"
    script.write_text(f"#!/bin/sh\n{begin}\ncat '{said}'\nexit {status}\n")
    script.chmod(0o755)
    monkeypatch.setenv("SPOTTER", str(script))


def test_more_receipts_than_a_pipe_holds(tmp_path, monkeypatch):
    """Nobody reads them until the capture is done."""
    receipts = [[rank, f"gpu{rank:03}", "written", f"/shared/{'x' * 300}/rank_{rank}.json", None] for rank in range(400)]
    program_of(tmp_path, monkeypatch, receipts)
    capture = Capture(["trace"])
    deadline = time.monotonic() + 10
    while not capture.done and time.monotonic() < deadline:
        time.sleep(0.02)
    assert capture.done
    assert capture.wait()["rank"] == list(range(400)) == capture.wait(5)["rank"]
    with pytest.raises(spotter.NotFound, match="other hosts"):
        capture.files()


def test_a_wait_that_is_too_short_and_a_cancel(tmp_path, monkeypatch):
    program_of(tmp_path, monkeypatch, [[0, "a", "cancelled", None, "taken back"]], 4, "trap done=1 INT; while [ -z \"$done\" ]; do sleep 0.1; done")
    capture = Capture(["trace"])
    with pytest.raises(TimeoutError):
        capture.wait(0.3)
    assert not capture.done
    capture.cancel()
    assert capture.done and capture.wait()["reason"] == ["taken back"]


def test_what_the_program_says_against_it(tmp_path, monkeypatch):
    program_of(tmp_path, monkeypatch, [], 1, "echo 'spotter: no agent answers' >&2")
    with pytest.raises(spotter.Error, match="^no agent answers$"):
        Capture(["trace"]).wait(10)


def test_an_incident_may_be_called_as_a_flag(tmp_path, monkeypatch):
    """Its name is what somebody sent, and no word for the program."""
    script = tmp_path / "spotter"
    script.write_text("#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    script.chmod(0o755)
    monkeypatch.setenv("SPOTTER", str(script))
    agents = spotter.agents()
    assert agents.incident("--help")[-2:] == ["--", "--help"]
    said = agents.silence("--all", "2h", "--because")
    assert said[:4] == ["incidents", "silence", "--for=2h", "--reason=--because"] and said[-2:] == ["--", "--all"]

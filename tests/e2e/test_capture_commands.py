"""Captures by the command line, with simulated clients."""

import base64
import csv
import io
import json
import os
import re
import subprocess
import time
import zlib

import pytest

import agent as agent_module
import client
from agent import Agent, assert_written, run, tables


def spotter(agent, command, *arguments):
    done = run(command, "--socket", agent.api_socket, *arguments)
    assert "Traceback" not in done.stderr
    return done


def test_command_ps(agent):
    with agent.spawn(RANK=0, WORLD_SIZE=1) as one:
        agent.wait_for_processes([one.pid])
        done = spotter(agent, "ps", "--format", "json")
        assert done.returncode == 0, done.stderr
        row, = tables(json.loads(done.stdout))["processes"]
        assert row["pid"] == one.pid and row["rank"] == 0
        done = spotter(agent, "ps", "--format", "csv")
        assert any(str(one.pid) in row for row in csv.reader(io.StringIO(done.stdout)))
        assert str(one.pid) in spotter(agent, "ps").stdout


def test_command_status(agent):
    done = spotter(agent, "status", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert tables(json.loads(done.stdout))
    assert spotter(agent, "status").stdout


def test_command_captures(agent):
    assert "no capture" in spotter(agent, "captures").stdout
    with agent.spawn(SLURM_JOB_ID=77) as one:
        agent.wait_for_processes([one.pid])
        first = agent.capture(pids=[one.pid], duration_ms=1500)
        row, = agent.table("/v1/captures", "captures")
        assert (row["id"], row["state"], row["processes"], row["written"]) == (first, "running", 1, 0)
        agent.wait_for_receipts(first)
        second = agent.capture(pids=[one.pid], duration_ms=20_000)
        agent.api("DELETE", f"/v1/captures/{second}")
    done = spotter(agent, "captures", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = tables(json.loads(done.stdout))["captures"]
    assert [(r["id"], r["state"], r["written"]) for r in rows] == [(second, "failed", 0), (first, "written", 1)]
    for row in rows:
        assert (row["job"], row["output"], row["asked_by"]) == ("77", str(agent.out_dir), f"user {os.getuid()}")
        assert abs(row["began_ns"] / 1e9 - time.time()) < 60
    shown = spotter(agent, "captures").stdout
    assert first in shown and time.strftime("%m-%d ") in shown and "began_ns" not in shown
    done = spotter(agent, "captures", first, "--format", "json")
    receipt, = tables(json.loads(done.stdout))["receipts"]
    assert (receipt["pid"], receipt["state"]) == (one.pid, "written")
    for wrong in ("no-such-one", "../status", "a b"):
        done = spotter(agent, "captures", wrong)
        assert done.returncode == 1 and "no capture of that id" in done.stderr, done.stderr


def trace_command(agent, *arguments):
    done = spotter(agent, "trace", "--output", agent.out_dir, "--duration", "50ms", "--format", "json", *arguments)
    receipts = tables(json.loads(done.stdout))["receipts"] if done.stdout else None
    return done, receipts


def test_command_trace_written(agent):
    with agent.spawn() as a, agent.spawn() as b:
        agent.wait_for_processes([a.pid, b.pid])
        done, rows = trace_command(agent, "--pid", f"{a.pid},{b.pid}")
        assert done.returncode == 0, done.stderr
        assert sorted(row["pid"] for row in rows) == sorted([a.pid, b.pid])
        for row in rows:
            assert_written(row, row["pid"])


def test_command_trace_leaves_its_receipts(agent):
    """Beside the traces; `analyze` of the folder has rank and host from them, and knows that they are no trace."""
    with agent.spawn(RANK=3, WORLD_SIZE=8) as one:
        agent.wait_for_processes([one.pid])
        done, (row,) = trace_command(agent)
        assert done.returncode == 0, done.stderr
        assert tables(json.loads((agent.out_dir / "capture.json").read_text()))["receipts"] == [row]
        assert row["rank"] == 3 and row["host"]
        report = run("analyze", agent.out_dir, "--table", "summary", "--format", "json")
        assert report.returncode == 0, report.stderr
        (summary,) = tables(json.loads(report.stdout))["summary"]
        assert (summary["rank"], summary["host"]) == (3, row["host"])
        assert "rank_from_receipts" in {note["kind"] for note in json.loads(report.stdout)["notes"]}


@pytest.mark.parametrize("arguments", [["--all"], ["--rank", "1"], ["--job", "9876543210"], ["--job-id", "9876543210"]], ids=lambda a: a[0])
def test_command_trace_targets(agent, arguments):
    with agent.spawn(RANK=1, WORLD_SIZE=2, SLURM_JOB_ID=9876543210) as one:
        agent.wait_for_processes([one.pid])
        done, (row,) = trace_command(agent, *arguments)
        assert done.returncode == 0, done.stderr
        assert_written(row, one.pid)


def test_command_trace_some(agent):
    with agent.spawn() as good, agent.spawn("--die") as bad:
        agent.wait_for_processes([good.pid, bad.pid])
        done, rows = trace_command(agent, "--all")
        assert done.returncode == 3, done.stderr
        assert {row["pid"]: row["state"] for row in rows} == {good.pid: "written", bad.pid: "failed"}


@pytest.mark.parametrize("how", ["--die", "--no-events"])
def test_command_trace_none(agent, how):
    with agent.spawn(how) as bad:
        agent.wait_for_processes([bad.pid])
        done, rows = trace_command(agent, "--all")
        assert done.returncode == 4, done.stderr
        assert rows[0]["state"] in ("failed", "empty")


def test_command_trace_options_reach_the_process(agent):
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        done, _ = trace_command(agent, "--pid", one.pid, "--shapes", "--stacks", "--activities", "cpu_op")
        assert done.returncode == 0, done.stderr
        asked = client.parse(one.wait_for("config")["text"])
        assert asked["PROFILE_REPORT_INPUT_SHAPES"] == asked["PROFILE_WITH_STACK"] == "true"
        assert asked["ACTIVITY_TYPES"] == "cpu_op"
        assert asked["ACTIVITIES_DURATION_MSECS"] == 50


def test_command_trace_analyzes(agent):
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        done = spotter(agent, "trace", "--output", agent.out_dir, "--duration", "50ms", "--all", "--analyze")
        assert done.returncode == 0, done.stderr
        assert "aten::mm" in done.stdout
        page = agent.out_dir / "report.html"
        done = spotter(agent, "trace", "--output", agent.out_dir, "--duration", "50ms", "--all", "--analyze", "-o", page)
        assert done.returncode == 0, done.stderr
        assert "aten::mm" not in done.stdout
        text = page.read_text()
        assert text.count("<h1>") == 1 and '<th scope="row">aten::mm</th>' in text and 'id="spans/' in text


def test_commands_without_an_agent(tmp_path):
    for command in (["ps"], ["status"], ["trace", "--all"]):
        done = run(*command, "--socket", tmp_path / "none.sock")
        assert done.returncode == 1
        assert "none.sock" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["--duration", "soon"], ["--pid", "x"], ["--nothing"], ["--format", "xml"],
                                       ["--activities", "nothing"]], ids=str)
def test_command_trace_usage(agent, arguments):
    done = spotter(agent, "trace", "--all", *arguments)
    assert done.returncode in ((1, 2) if arguments[0] == "--activities" else (2,)), done


def test_agent_that_dies_while_a_command_waits():
    agent = Agent()
    try:
        with agent.spawn("--polls", 1) as one:
            agent.wait_for_processes([one.pid])
            command = map(str, [agent_module.program(), "trace", "--socket", agent.api_socket, "--all", "--output",
                                agent.out_dir])
            waiting = subprocess.Popen(list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, env=agent_module.clean_environment())
            try:
                with pytest.raises(subprocess.TimeoutExpired):
                    waiting.wait(0.5)
                agent.kill(forget=False)
                assert waiting.wait(5) in (1, 4)
                assert waiting.stderr.read()
            finally:
                waiting.kill()
                waiting.communicate()
    finally:
        agent.kill()


def test_receipts_tell_the_repository(agent, tmp_path, monkeypatch):
    """From where a process works to where a report's links lead; the token of the remote's address goes nowhere."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    git = tmp_path / "work" / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text(commit + "\n")
    (git / "config").write_text('[remote "origin"]\n\turl = https://me:ghp_secret@github.com/owner/repo.git\n')
    (git.parent / "src").mkdir()
    monkeypatch.chdir(git.parent / "src")
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        done, (row,) = trace_command(agent)
        assert done.returncode == 0, done.stderr
    text = (agent.out_dir / "capture.json").read_text()
    assert tables(json.loads(text))["receipts"] == [row]
    assert (row["source"], row["source_root"]) == (f"https://github.com/owner/repo@{commit}", str(git.parent))
    assert "ghp_secret" not in text and "me:" not in text
    web = f"https://github.com/owner/repo/blob/{commit}"
    for words, url in [([], f"{git.parent}={web} {web}"), (["--redact"], ""), (["--source-url", "https://git.example.org/x"], "https://git.example.org/x")]:
        done = run("analyze", agent.out_dir, "-o", tmp_path / "r.html", *words)
        assert done.returncode == 0, done.stderr
        facts = job_block((tmp_path / "r.html").read_text())
        assert url.encode() in facts and (b"owner/repo" in facts) == (words == []) and b"ghp_secret" not in facts


def job_block(page):
    """What a report says of its job, as bytes that have its texts in them."""
    return zlib.decompress(base64.b64decode(re.search(r'id="job">([^<]+)<', page)[1]), 31)

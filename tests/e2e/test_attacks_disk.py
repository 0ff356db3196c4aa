"""A disk that is full, and one that may not be written: nothing ends by it, what is lost is counted and told, and all goes
on when there is room again. Each disk is a small file system that the tests alone see."""

import json
import os
import re
import signal
import time

import pytest

from agent import ROOT, Agent, run, tables, until
from analyses import written
from namespaces import on_small_disk

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")

TRACE = ROOT / "tests/fixtures/traces/gpu_training/rank0.json.gz"
MIB = 1 << 20


def parts(agent):
    """What the status says: part -> (state, detail)."""
    return {row["part"]: (row["state"], row["detail"]) for row in agent.table("/v1/status", "status")}


def traced(agent, pid):
    """`spotter trace` of it: (exit status, receipts, standard error)."""
    done = run("trace", "--socket", agent.api_socket, "--pid", pid, "--output", agent.out_dir, "--duration", "50ms", "--format",
               "json")
    return done.returncode, tables(json.loads(done.stdout))["receipts"], done.stderr


def configured(disk, *arguments, text=""):
    config = disk.folder / "agent.yaml"
    config.write_text(text)
    return Agent("--config", config, *arguments, folder=disk.folder)


def test_a_full_disk():
    """All that an agent writes is on it: log, history, a sink's lines, sockets, and the traces."""
    def inside(disk):
        text = f"sinks:\n  - {{kind: json_lines, path: {disk.folder}/lines, every: 100ms}}\n"
        with configured(disk, "--collect", "cpu:100ms,agent:100ms", "--history", disk.folder / "history.db", text=text) as agent:
            with agent.spawn() as one:
                agent.wait_for_processes([one.pid])
                disk.fill()
                # Each of these is two lines of the log, whose last page has room for some. The process must not ask: it would keep
                # what it gets.
                os.kill(one.pid, signal.SIGSTOP)
                for _ in range(40):
                    agent.api("DELETE", f"/v1/captures/{agent.capture(pids=[one.pid])}")
                os.kill(one.pid, signal.SIGCONT)
                agent.process.send_signal(signal.SIGHUP)
                state, detail = until(lambda: parts(agent).get("log"), 5, "the status tells that lines are lost")
                assert state == "fails" and "No space left" in detail, detail
                until(lambda: parts(agent)["json_lines"][0] == "fails", 10, "the sink's state tells it")
                agent.assert_well()
                status, (row,), err = traced(agent, one.pid)
                assert status == 1 and row["state"] == "failed" and row["reason"], (row, err)
                assert "capture.json" in err and "No space left" in err, err
                before = sorted(path.name for path in disk.folder.iterdir())
                done = run("export", TRACE, "-o", disk.folder / "exported.json")
                assert done.returncode == 1 and "No space left" in done.stderr, done
                assert sorted(path.name for path in disk.folder.iterdir()) == before
            lost = int(re.match(r"\d+", parts(agent)["log"][1])[0])
            assert lost >= 20
            disk.empty()
            with agent.spawn() as one:
                written(agent, one)
            assert parts(agent)["log"][0] == "works"
            told = sum(map(int, re.findall(r"warning (\d+) lines of the log could not be written", agent.log())))
            assert told == int(re.match(r"\d+", parts(agent)["log"][1])[0]) >= lost
            until(lambda: parts(agent)["json_lines"][0] == "works", 20, "the sink goes on")
            lines = (disk.folder / "lines").read_text().rpartition("\n")[0].splitlines()
            for line in lines:
                json.loads(line)

    on_small_disk(inside, 4 * MIB)


def test_an_agent_ends_on_a_full_disk():
    """In order, though its history cannot be written; the next one goes on with that."""
    def inside(disk):
        arguments = ["--collect", "cpu:100ms,agent:100ms", "--history", disk.folder / "history.db"]
        with configured(disk, *arguments):
            time.sleep(0.5)
            disk.fill()
            time.sleep(0.5)
        disk.empty()
        with configured(disk, *arguments) as agent:
            assert parts(agent)["history"][0] == "works"

    on_small_disk(inside, 4 * MIB)


def test_a_disk_that_may_not_be_written(tmp_path):
    def inside(disk):
        out = disk.folder / "out"
        out.mkdir(mode=0o777)
        disk.make_read_only()
        config = tmp_path / "agent.yaml"
        config.write_text(f"sinks:\n  - {{kind: json_lines, path: {disk.folder}/lines, every: 100ms}}\n")
        with Agent("--config", config, "--collect", "cpu:100ms", "--history", disk.folder / "history.db") as agent:
            agent.out_dir = out
            state, detail = until(lambda: parts(agent).get("history"), 10, "the history is among the parts")
            assert state == "fails" and "ead-only" in detail, detail
            until(lambda: parts(agent)["json_lines"][0] == "fails", 10, "the sink tells it")
            with agent.spawn() as one:
                agent.wait_for_processes([one.pid])
                status, (row,), err = traced(agent, one.pid)
                assert status == 1 and row["state"] == "failed" and "ead-only" in err, (row, err)
            agent.process.send_signal(signal.SIGHUP)
            agent.assert_well()
            disk.make_read_only(False)
            for part in ("history", "json_lines"):
                until(lambda part=part: parts(agent)[part][0] == "works", 40, f"{part} goes on")
            with agent.spawn() as one:
                agent.wait_for_processes([one.pid])
                status, (row,), _ = traced(agent, one.pid)
                assert status == 0 and row["state"] == "written", row
    on_small_disk(inside, 4 * MIB)


def test_a_configuration_that_is_cut_short():
    """As an editor leaves it on a full disk: whoever is not in it has no right, and what is no configuration changes none."""
    from remote import RemoteAgent, token
    with RemoteAgent() as agent:
        whole = agent.config.read_text()
        assert agent.https("GET", "/v1/status", bearer=token("view"))[0] == 200
        for length in [0, *range(1, len(whole), 97)]:
            agent.config.write_text(whole[:length])
            before = len(agent.log())
            agent.process.send_signal(signal.SIGHUP)
            log = until(lambda before=before: agent.log()[before:] if "read again" in agent.log()[before:]
                        or "stays as it was" in agent.log()[before:] else None, 5, "it is read")
            status, _ = agent.https("GET", "/v1/status", bearer=token("view"))
            assert status == 401 or (status == 200 and ("stays as it was" in log or "name: view" in whole[:length]))
            status, _ = agent.https("POST", "/v1/captures", {"all": True, "output": "/etc"}, bearer=token("view"))
            assert status in (401, 403)
        agent.config.write_text(whole)
        agent.reload()
        assert agent.https("GET", "/v1/status", bearer=token("view"))[0] == 200

"""Analyses that run on the host that has the files: POST /v1/captures/ID/analyze."""

import json
import os
import pathlib
import signal
import socket

import pytest

import agent as agent_module
from agent import Agent, tables
from analyses import LARGE, REPORT, ask, children, lives, rows_of, stuck_ones, written


def test_two_files(agent):
    with agent.spawn(RANK=0, WORLD_SIZE=2) as a, agent.spawn(RANK=1, WORLD_SIZE=2) as b:
        capture, receipts = written(agent, a, b)
        status, document = ask(agent, capture)
        assert status == 200, document
        assert [file["path"] for file in document["files"]] == [f"{r['host']}:{r['file']}" for r in receipts]
        for file, receipt in zip(document["files"], receipts, strict=True):
            assert "error" not in file
            assert file["name_rank"] == receipt["rank"]
            row, = rows_of(document, file, "summary")
            assert row["file"] == pathlib.Path(receipt["file"]).name and row["spans"] > 1
            assert "aten::mm" in [row["name"] for row in rows_of(document, file, "operators")]
            assert rows_of(document, file, "steps")


def test_same_numbers_as_on_the_host(agent):
    with agent.spawn(RANK=3, WORLD_SIZE=4) as one:
        capture, (receipt,) = written(agent, one)
        _, document = ask(agent, capture)
        done = agent_module.run("analyze", receipt["file"], "--table", "operators", "--top", "0", "--format", "json")
        here = tables(json.loads(done.stdout))["operators"]
        there = rows_of(document, document["files"][0], "operators")
        assert [{"rank": 3} | row for row in there] == here


def test_after_the_process_has_ended(agent):
    with agent.spawn() as one:
        capture, _ = written(agent, one)
    agent_module.until(lambda: not agent.processes(), 5, "the process is gone")
    status, document = ask(agent, capture)
    assert status == 200 and rows_of(document, document["files"][0], "summary")


def test_a_file_comes_in_parts(agent):
    most = 4 << 20  # at once
    with agent.spawn(*LARGE, RANK=0, WORLD_SIZE=2) as a, agent.spawn(RANK=1, WORLD_SIZE=2) as b:
        capture, receipts = written(agent, a, b)
        way = f"/v1/captures/{capture}/file?pid="
        assert receipts[0]["size_bytes"] > most
        for receipt in receipts:
            here = b""
            while len(here) < receipt["size_bytes"]:
                answer, part = agent.api_bytes("GET", f"{way}{receipt['pid']}&from={len(here)}")
                assert (answer.status, answer.getheader("Content-Type")) == (200, "application/octet-stream")
                assert len(part) == min(most, receipt["size_bytes"] - len(here))
                here += part
            assert here == pathlib.Path(receipt["file"]).read_bytes()
        pid, size = receipts[0]["pid"], receipts[0]["size_bytes"]
        for asked, status in {f"{pid}&from={size}": 400, f"{pid}&from=-1": 400, f"{pid}&file=/etc/passwd": 400, "1": 404, "": 400, "x": 400, f"{pid}&from=x": 400}.items():
            assert agent.api("GET", way + asked)[0] == status, asked
        assert agent.api("GET", f"/v1/captures/none/file?pid={pid}")[0] == 404
        path = pathlib.Path(receipts[0]["file"])
        path.unlink()
        path.symlink_to("/etc/passwd")
        assert agent.api("GET", f"{way}{pid}")[0] >= 400


def test_damaged_file_is_told_with_the_others(agent):
    with agent.spawn(RANK=0, WORLD_SIZE=2) as a, agent.spawn(RANK=1, WORLD_SIZE=2) as b:
        capture, receipts = written(agent, a, b)
        path = pathlib.Path(receipts[0]["file"])
        path.write_bytes(b"%PDF" + b" " * (receipts[0]["size_bytes"] - 4))
        status, document = ask(agent, capture)
        assert status == 200, document
        bad, good = document["files"]
        assert "PDF" in bad["error"]["message"] and not bad["tables"]
        assert "error" not in good and good["tables"]


REFUSED = {
    "no JSON": (b"{", 400),
    "no analyses": ({}, 400),
    "unknown analysis": ({"analyses": ["nothing"]}, 400),
    "unknown parameter": ({"analyses": ["steps"], "params": {"depth": 1}}, 400),
    "steps": ({"analyses": ["steps"], "steps": [2]}, 400),
    "a file": ({"analyses": ["steps"], "files": ["/etc/passwd"]}, 400),
}


@pytest.mark.parametrize("body, status", REFUSED.values(), ids=REFUSED.keys())
def test_bad_requests(agent, body, status):
    with agent.spawn() as one:
        capture, _ = written(agent, one)
        if isinstance(body, bytes):
            answer = agent.api("POST", f"/v1/captures/{capture}/analyze", body)
        else:
            answer = ask(agent, capture, body)
        assert answer[0] == status, answer


def test_nothing_to_analyse(agent):
    assert ask(agent, "no-such-one")[0] == 404
    with agent.spawn("--no-events") as one:
        agent.wait_for_processes([one.pid])
        capture = agent.capture(pids=[one.pid], duration_ms=50)
        assert ask(agent, capture)[0] == 404, "it is not written yet"
        agent.wait_for_receipts(capture)
        assert ask(agent, capture)[0] == 404, "it is empty"


def test_another_file_in_its_place(agent):
    """What lies there when the tables are asked for may be anything."""
    with agent.spawn() as one:
        capture, (receipt,) = written(agent, one)
        path = pathlib.Path(receipt["file"])
        text = path.read_bytes()
        path.write_bytes(text + b" ")
        assert ask(agent, capture)[0] == 404
        path.unlink()
        assert ask(agent, capture)[0] == 404
        (path.parent / "other").write_bytes(text)
        path.symlink_to("other")
        assert ask(agent, capture)[0] == 403
        path.unlink()
        os.mkfifo(path)
        assert ask(agent, capture)[0] == 403
        agent.assert_well()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_file_of_another_user(agent):
    with agent.spawn() as one:
        capture, (receipt,) = written(agent, one)
        os.chown(receipt["file"], 12345, 12345)
        status, document = ask(agent, capture)
        assert status == 403 and "12345" in document["error"]["message"], document


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes others")
def test_peer_who_may_not_trace(agent):
    with agent.spawn() as one:
        capture, _ = written(agent, one)
        agent.folder.chmod(0o755)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.setgid(12345)
            os.setuid(12345)
            try:
                status, _ = ask(agent, capture)
                os.write(writer, str(status).encode())
            finally:
                os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        assert os.read(reader, 100) == b"403"
        os.close(reader)


def test_stuck_ones_hold_up_nobody_else(agent):
    with agent.spawn(*LARGE) as one:
        capture, _ = written(agent, one)
        first, second = stuck_ones(agent, capture, 2)
        agent.assert_well()
        status, document = ask(agent, capture)
        assert status == 409 and "the last is for somebody else" in document["error"]["message"], document
        os.kill(first.pid, signal.SIGKILL)
        status, document = first.end()
        assert status == 500 and "signal 9" in document["error"]["message"], document
        assert ask(agent, capture)[0] == 200, "there is a place again"
        os.kill(second.pid, signal.SIGCONT)
        assert second.end()[0] == 200
        assert not children(agent.pid), "and no zombies"


def test_none_outlives_its_agent():
    agent = Agent()
    try:
        with agent.spawn(*LARGE) as one:
            capture, _ = written(agent, one)
            stuck, = stuck_ones(agent, capture, 1)
            agent.kill(forget=False)
            agent_module.until(lambda: not lives(stuck.pid), 5, "the analysis ends with the agent")
            stuck.end()
    finally:
        agent.kill()


def test_what_the_reader_is(agent):
    """No rights, nothing of the agent's, out of the way of the training."""
    with agent.spawn(*LARGE) as one:
        capture, _ = written(agent, one)
        stuck, = stuck_ones(agent, capture, 1)
        proc = pathlib.Path(f"/proc/{stuck.pid}")
        try:
            status = dict(line.split(":\t", 1) for line in (proc / "status").read_text().splitlines() if ":\t" in line)
            assert int(status["CapEff"], 16) == 0 and status["NoNewPrivs"] == "1"
            if os.geteuid() == 0:
                assert set(status["Uid"].split()) == {"65534"} and status["Groups"].strip() == ""
            assert (proc / "environ").read_bytes() == b""
            assert os.readlink(proc / "cwd") == "/"
            open_ones = {os.readlink(fd) for fd in (proc / "fd").iterdir()}
            assert all(name.startswith(("/memfd:", str(agent.out_dir), "/proc", "/sys", "/lib", "/usr", "/etc"))
                       for name in open_ones), open_ones
        finally:
            os.kill(stuck.pid, signal.SIGKILL)
            stuck.end()


def test_asker_who_leaves(agent):
    with agent.spawn() as one:
        capture, _ = written(agent, one)
        for _ in range(5):
            with agent.api_stream() as s:
                body = json.dumps(REPORT).encode()
                s.sendall(f"POST /v1/captures/{capture}/analyze HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}"
                          "\r\n\r\n".encode() + body)
                s.shutdown(socket.SHUT_RDWR)
        agent_module.until(lambda: ask(agent, capture)[0] == 200, 10, "there is a place again")
        agent.assert_well()

"""What answers `spotter trace`, `ps` and `status` may be no agent, a broken one, or one that means harm: it has its row,
in bounded time and memory, and the other hosts are not delayed. And Ctrl-C at each phase of a capture."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import pytest

import agent as agent_module
from agent import clean_environment, program, tables, until
from hostile_files import SANITIZED
from remote import RemoteAgent, certificates, free_port

FIRST_ANSWER = 5  # seconds that an agent has to say yes or no
LATEST = 60 if SANITIZED else 20  # seconds of the client, whatever comes; most tests have narrower limits of their own
MEMORY_MB = 3000 if SANITIZED else 1000  # of it
COLUMNS = ["host", "pid", "rank", "state", "file", "size_bytes", "took_ns", "reason"]
LARGE = 300 << 20


def receipts(*rows, over=True, revision=1, columns=COLUMNS, **more):
    """The answer of an agent with these rows."""
    document = {"tables": [{"name": "receipts", "columns": [{"name": c} for c in columns], "rows": rows}], "notes": [],
                "capture": "20260101T000000-1", "revision": revision, "unix_ms": int(time.time() * 1000),
                "remaining_ms": 60_000, "over": over}
    return json.dumps(document | more).encode()


def row(**cells):
    values = {"host": "evil", "pid": 1, "rank": 0, "state": "written", "file": "/tmp/none.json", "size_bytes": 10,
              "took_ns": 1, "reason": None} | cells
    return [values[c] for c in COLUMNS]


def http(body, length=None, status=200, head=b""):
    size = len(body) if length is None else length
    return b"HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n" % (status, head, size) + body


class FakeAgent:
    """Answers each request with what `answer(path)` gives: bytes, or an iterable of them with a float for each pause."""

    def __init__(self, answer, certificate="server", tls=True):
        self.answer, self.certificate, self.tls = answer, certificate, tls
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.asked, self.over, self.threads = [], threading.Event(), []
        self.start(self.accept)

    def start(self, function, *arguments):
        self.threads.append(threading.Thread(target=function, args=arguments))
        self.threads[-1].start()

    def accept(self):
        with contextlib.suppress(OSError):
            while not self.over.is_set():
                s, _ = self.listener.accept()
                self.start(self.serve, s)

    def serve(self, s):
        with contextlib.suppress(OSError, ssl.SSLError, ValueError), s:
            s.settimeout(20)
            if self.tls:
                s = certificates().server_context(self.certificate).wrap_socket(s, server_side=True)
            with s:
                while not self.over.is_set():
                    if not self.serve_one(s):
                        return

    def serve_one(self, s):
        asked = b""
        while b"\r\n\r\n" not in asked:
            part = s.recv(65536)
            if not part:
                return False
            asked += part
        head, _, body = asked.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        while length and len(body) < int(length[1]):
            body += s.recv(65536)
        self.asked.append(" ".join(head.decode().split()[:2]))
        answer = self.answer(self.asked[-1])
        for part in [answer] if isinstance(answer, bytes) else answer:
            if isinstance(part, bytes):
                s.sendall(part)
            elif self.over.wait(part):
                return False
        return isinstance(answer, bytes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(30)


def pieces(first, piece, count=10**9, pause=0.0):
    yield first
    for _ in range(count):
        yield piece
        if pause:
            yield pause


def deep(path):
    return http(b'{"tables":' + b"[" * 100_000 + b"]" * 100_000 + b"}")


# What comes back from a question; none of it is an agent's.
NO_AGENTS = {
    "garbage": lambda path: bytes(range(256)) * 100,
    "nothing": lambda path: [b""],
    "silence": lambda path: [b"", 60.0],
    "half a head": lambda path: [b"HTTP/1.1 200 OK\r\nContent-", 60.0],
    "head without end": lambda path: pieces(b"HTTP/1.1 200 OK\r\n", b"X: " + b"x" * 60_000 + b"\r\n"),
    "another protocol": lambda path: [b"SSH-2.0-OpenSSH_9.2p1\r\n", 60.0],
    "no JSON": lambda path: http(b"<html>"),
    "empty body": lambda path: http(b""),
    "other JSON": lambda path: http(b'{"tables":{}}'),
    "JSON array": lambda path: http(b"[]"),
    "deep JSON": deep,
    "bad UTF-8": lambda path: http(b'{"error":{"code":"\xff","message":"\xff"}}'),
    "error without words": lambda path: http(b'{"error":{}}', status=500),
    "too short": lambda path: [http(b"{}", length=100), 60.0],
    "closed too soon": lambda path: [http(b"{}", length=100)],
    "negative length": lambda path: http(b"{}", length=-1),
    "length 10^18": lambda path: [http(b"{}", length=10**18), 60.0],
    "two lengths": lambda path: http(b"{}", head=b"Content-Length: 1\r\n"),
    "300 MB announced": lambda path: pieces(http(b"", length=LARGE), b" " * (1 << 20), LARGE >> 20),
    "no end": lambda path: pieces(b"HTTP/1.1 200 OK\r\n\r\n", b" " * (1 << 20)),
    "chunks without end": lambda path: pieces(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                                              b"100000\r\n" + b" " * (1 << 20) + b"\r\n"),
    "slow bytes": lambda path: pieces(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b" ", 100, 0.3),
    "redirect": lambda path: http(b"", status=302, head=b"Location: http://127.0.0.1:1/\r\n"),
    "continue": lambda path: [b"HTTP/1.1 100 Continue\r\n\r\n", 60.0],
}
SLOW = {"silence", "half a head", "another protocol", "too short", "length 10^18", "slow bytes", "continue"}
NO_CONNECTIONS = {
    "no TLS": {"tls": False}, "foreign": {"certificate": "foreign"}, "self-signed": {"certificate": "self-signed"},
    "a client's certificate": {"certificate": "admin"}, "expired": {"certificate": "expired"},
}


def spotter(*words, timeout=LATEST):
    """(status, output, errors, seconds, MB) of the program."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen([str(program()), *map(str, words)], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   env=clean_environment())
        killer = threading.Timer(timeout, process.kill)
        killer.start()
        _, status, usage = os.wait4(process.pid, 0)
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode >= 0, f"{words} was ended by signal {-process.returncode}"
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        return process.returncode, out.read().decode(), err.read().decode(), seconds, usage.ru_maxrss / 1024


@pytest.fixture(scope="module")
def good():
    """A host whose one process writes what it is asked for."""
    with RemoteAgent() as agent, agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        agent.one = one
        yield agent


def hosts(*ports):
    return ["--host", ",".join(f"127.0.0.1:{port}" for port in ports), "--credentials", certificates().tls / "client"]


def assert_printable(text):
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), "control characters come to the terminal"


def ask(command, port):
    return trace(port) if command == "trace" else spotter(command, *hosts(port))


def trace(*ports, words=(), format="json"):
    with tempfile.TemporaryDirectory(prefix="sh-", dir="/tmp") as folder:
        pathlib.Path(folder).chmod(0o1777)
        return spotter("trace", *hosts(*ports), "--iterations", 1, "--format", format, *(words or ["--output", folder]))


def trace_with(good, fakes):
    """A capture on the good host and these; the rows of the fakes."""
    status, out, err, seconds, memory = trace(good.port, *(fake.port for fake in fakes), words=["--output", good.out_dir])
    assert_printable(err)
    rows = tables(json.loads(out))["receipts"]
    written = [r for r in rows if r["state"] == "written" and r["pid"] == good.one.pid]
    assert len(written) == 1, (rows, err)
    assert written[0]["took_ns"] < 3e9, "the good one was delayed"
    others = [r for r in rows if r not in written]
    assert len(others) == len(fakes) and status == 3, (status, rows, err)
    assert memory < MEMORY_MB, f"{memory:.0f} MB"
    return others, seconds


def test_agents_that_are_none(good):
    """All at once: each has its row, and none costs the others time."""
    with contextlib.ExitStack() as stack:
        fakes = [stack.enter_context(FakeAgent(answer)) for answer in NO_AGENTS.values()]
        fakes += [stack.enter_context(FakeAgent(lambda path: b"", **words)) for words in NO_CONNECTIONS.values()]
        rows, seconds = trace_with(good, fakes)
        for r in rows:
            assert (r["pid"], r["state"], r["host"]) == (None, "failed", "127.0.0.1"), r
            assert 10 < len(r["reason"]) < 300, r
        assert seconds < FIRST_ANSWER + 6
        assert max(len(fake.asked) for fake in fakes) <= 1, "a capture was asked for twice"


@pytest.mark.parametrize("command", ["ps", "captures", "status"])
def test_agents_that_are_none_of_others(good, command):
    """The others differ in nothing and are spared the wait for those that say nothing."""
    answers = [NO_AGENTS[name] for name in NO_AGENTS if command == "ps" or name not in SLOW]
    with contextlib.ExitStack() as stack:
        fakes = [stack.enter_context(FakeAgent(answer)) for answer in answers]
        status, out, err, seconds, memory = spotter(command, *hosts(good.port, *(fake.port for fake in fakes)))
        assert status == 3 and seconds < 16 and memory < MEMORY_MB, (status, seconds, memory, err)
        assert out.strip() and len(err.splitlines()) == len(fakes), err
        assert_printable(err)
        for fake in fakes:
            assert f"127.0.0.1:{fake.port}" in err


@pytest.mark.parametrize("name", ["garbage", "no end", "300 MB announced", "head without end", "deep JSON", "no JSON"])
def test_one_that_is_none_alone(name):
    with FakeAgent(NO_AGENTS[name]) as fake:
        for command in ("trace", "ps", "status"):
            status, _, err, seconds, memory = ask(command, fake.port)
            assert status == 1 and len(err.splitlines()) == 1, (status, err)
            assert seconds < FIRST_ANSWER and memory < MEMORY_MB, (command, seconds, memory)


def large_array(path):
    """As much as is taken, of what takes the most memory for its size."""
    return http(b'{"tables":[' + b"0," * (15 << 20) + b"0]}")


def test_memory_of_an_answer():
    with FakeAgent(large_array) as fake:
        for command in ("trace", "ps"):
            status, _, err, _, memory = ask(command, fake.port)  # which ends what takes too long
            assert status == 1 and len(err.splitlines()) == 1
            assert memory < MEMORY_MB, memory


# Receipts that no agent would give.

WRONG = {
    "pid a text": receipts(row(pid="1")), "pid a float": receipts(row(pid=1.5)), "pid 2^64": receipts(row(pid=1 << 64)),
    "state a number": receipts(row(state=1)), "file a list": receipts(row(file=[])), "row too short": receipts(row()[:3]),
    "row a text": receipts("row"), "no rows": json.dumps({"tables": [{"name": "x", "columns": []}], "notes": []}).encode(),
    "over a number": receipts(row(), over=1), "capture a number": receipts(row(), capture=1),
    "revision a text": receipts(row(), revision="1"), "no tables": receipts(row(), tables=[]),
    "notes of numbers": receipts(row(), notes=[1]), "note without words": receipts(row(), notes=[{"kind": "x"}]),
    "columns of numbers": receipts(row(), columns=[]) .replace(b'"columns": []', b'"columns": [1]'),
}
ODD = {
    "no columns": receipts([], columns=[]), "other columns": receipts([1], columns=["x"]),
    "all null": receipts([None] * len(COLUMNS)), "unknown state": receipts(row(state="splendid")),
    "negative numbers": receipts(row(pid=-1, rank=-5, size_bytes=-1, took_ns=-1)),
    "large numbers": receipts(row(pid=2**63 - 1, rank=2**63 - 1, size_bytes=2**63 - 1, took_ns=2**63 - 1)),
    "one column twice": receipts(row() + ["failed"], columns=[*COLUMNS, "state"]),
    "no row": receipts(), "clock of 1970": receipts(row(), unix_ms=0), "clock of never": receipts(row(), unix_ms=2**63 - 1),
    "clock before all": receipts(row(), unix_ms=-2**63),
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
def test_receipts_that_are_none(body):
    with FakeAgent(lambda path: http(body)) as fake:
        status, _, err, _, _ = trace(fake.port)
        assert status == 1 and "no agent of this program" in err, (status, err)


def test_receipts_that_are_odd(tmp_path):
    """They are shown, in any form, and stay beside the traces; only what is written counts."""
    for name, body in ODD.items():
        with FakeAgent(lambda path, body=body: http(body)) as fake:
            for form in ("text", "json", "csv"):
                status, out, err, seconds, _ = trace(fake.port, words=["--analyze", "--output", tmp_path], format=form)
                assert status in (0, 1, 4), (name, form, status, err)
                assert_printable(out)
                assert_printable(err)
                assert seconds < 5


EVIL = "\x1b]0;x\x07\x1b[2J\x9b31m\r\n\t\x00‮evil"


def test_words_that_would_steer_the_terminal(tmp_path):
    evil_row = row(host=EVIL, file=EVIL, reason=EVIL, state=EVIL)
    answers = {
        "receipts": http(receipts(evil_row)),
        "capture": http(receipts(evil_row, capture=EVIL)),
        "notes": http(receipts(evil_row, notes=[{"kind": EVIL, "sentence": EVIL, "count": 1}])),
        "error": http(json.dumps({"error": {"code": EVIL, "message": EVIL}}).encode(), status=400),
        "table": http(json.dumps({"notes": [], "tables": [
            {"name": EVIL, "columns": [{"name": EVIL}], "rows": [[EVIL]]}]}).encode()),
    }
    for answer in answers.values():
        with FakeAgent(lambda path, answer=answer: answer) as fake:
            for command in ("trace", "ps", "status"):
                for form in ("text", "json", "csv"):
                    words = ["--output", tmp_path] if command == "trace" else []
                    _, out, err, _, _ = spotter(command, *hosts(fake.port), "--format", form, *words)
                    assert_printable(err)
                    if form == "text":  # the others are for programs
                        assert_printable(out)


def test_words_without_end():
    long = "x" * 1_000_000
    with FakeAgent(lambda path: http(receipts(row(host=long, file=long, reason=long, state=long)))) as fake:
        status, _, _, seconds, memory = trace(fake.port, format="text")
        assert status == 4 and seconds < 5 and memory < MEMORY_MB
    with FakeAgent(lambda path: http(json.dumps({"error": {"code": "denied", "message": long}}).encode())) as fake:
        status, _, err, seconds, _ = trace(fake.port)
        assert status == 1 and seconds < 5 and len(err) < 10_000


def test_files_that_are_none_of_a_capture(tmp_path):
    """--analyze reads what the receipts name; what is not such a file is left alone."""
    secret = tmp_path / "secret"
    secret.write_text("top secret\n" * 10)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "link").symlink_to(secret)
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text("top secret")
    out = tmp_path / "out"
    out.mkdir()
    for file, size in ((secret, secret.stat().st_size), (fifo, 0), ("/dev/zero", 0),
                       ("/etc/passwd", os.stat("/etc/passwd").st_size), (tmp_path / "link", secret.stat().st_size), (f"{out}/../secret", secret.stat().st_size),
                       ("../../etc/passwd", 5), ("", 0), (f"{out}", out.stat().st_size), (elsewhere, 10)):
        with FakeAgent(lambda path, r=row(file=str(file), size_bytes=size): http(receipts(r))) as fake:
            _, text, err, seconds, memory = spotter("trace", *hosts(fake.port), "--output", out, "--analyze", timeout=15)
            assert seconds < 10 and memory < MEMORY_MB, (file, seconds)
            assert "top secret" not in text + err and "root:" not in text + err
            assert f"{secret}:" not in err, err
            assert "nalys" not in err and "What stands out" not in text, (file, text, err)


# Agents that go on without end.


def test_an_agent_that_never_ends(good):
    """A capture that is never over is followed, but not faster than there is news."""
    for revision in (lambda: 1, time.monotonic_ns):  # nothing new, and something each time
        def answer(path, revision=revision):
            return http(receipts(row(took_ns=None, state="accepted"), over=False, revision=revision()))

        with FakeAgent(answer) as fake:
            process = start("trace", *hosts(fake.port, good.port), "--iterations", 1, "--output", good.out_dir)
            until(lambda: len(fake.asked) > 2, 10, "it is followed")
            asked = len(fake.asked)
            time.sleep(1)
            assert len(fake.asked) - asked < 100, "the client asks without a pause"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=10)  # it would not end the capture either
            assert process.returncode == 130, (out, err)
            assert "DELETE /v1/captures/20260101T000000-1" in fake.asked
            assert sum(a.startswith("DELETE") for a in fake.asked) <= 3


def test_an_agent_that_is_lost_on_the_way(good):
    """It has begun, and then there is garbage, silence, or nobody."""
    accepted = http(receipts(row(took_ns=None, state="accepted"), over=False))
    forgotten = http(b'{"error":{"code":"not_found","message":"there is no capture of that id"}}', status=404)
    later = [b"\0" * 1000, http(b"x"), forgotten, http(WRONG["pid a text"])]
    fakes = []
    with contextlib.ExitStack() as stack:
        for other in later:
            fakes.append(stack.enter_context(FakeAgent(
                lambda path, other=other: accepted if path.startswith("POST") else other)))
        rows, seconds = trace_with(good, fakes)
        assert seconds < 15
        for r in rows:
            assert r["state"] == "failed" and len(r["reason"]) > 10, r


# Ctrl-C.


def start(*words):
    return subprocess.Popen([str(program()), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=clean_environment())


class Trace:
    """`spotter trace` under way."""

    def __init__(self, agent, *words, ports=(), local=False):
        where = ["--socket", agent.api_socket] if local else hosts(agent.port, *ports)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="so-", dir=agent.out_dir))
        self.folder.chmod(0o1777)
        self.process = start("trace", *where, "--format", "json", "--output", self.folder, "--iterations", 1, *words)

    def interrupt(self, by=signal.SIGINT):
        self.process.send_signal(by)

    def end(self, seconds=5):
        """(status, rows) of one that was interrupted; the receipts are beside the traces, too, where there are any."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        finally:
            self.process.kill()
            self.process.wait()
        rows = tables(json.loads(out))["receipts"]
        file = self.folder / "capture.json"
        written = sum(row["state"] == "written" for row in rows)
        sentence = f"spotter: interrupted; {written} of {len(rows)} processes wrote a trace"
        if file.exists():
            assert tables(json.loads(file.read_text()))["receipts"] == rows
            assert err.splitlines()[-1] == f"{sentence}; the receipts are in {file}"
        else:
            assert not any(row["pid"] for row in rows), err
        return self.process.returncode, rows


@pytest.fixture(params=[False, True], ids=["by TLS", "by the socket"])
def is_local(request):
    return request.param


def test_interrupt_while_accepted(agent_of, is_local):
    with agent_of.spawn("--polls", 1) as one:
        agent_of.wait_for_processes([one.pid])
        under_way = Trace(agent_of, local=is_local)
        agent_of.wait_for_line("audit: ", "asks to trace 1 processes")
        under_way.interrupt()
        status, (row_,) = under_way.end()
        assert (status, row_["state"], row_["pid"]) == (130, "failed", one.pid)
        assert "ended by" in row_["reason"] and "before the process had asked" in row_["reason"]
        agent_of.wait_for_line("audit: ", "ends capture", "done")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_while_delivered(agent_of, is_local, by):
    """What was written until then counts."""
    with agent_of.spawn() as quick, agent_of.spawn("--write-time", 60) as slow:
        agent_of.wait_for_processes([quick.pid, slow.pid])
        under_way = Trace(agent_of, local=is_local)
        quick.wait_for("written")
        slow.wait_for("capturing")
        until(lambda: "written" in [r["state"] for c in captures_of(agent_of) for r in agent_of.receipts(c)], 5,
              "it is written")
        under_way.interrupt(by)
        status, rows = under_way.end()
        states = {r["pid"]: r["state"] for r in rows}
        assert (status, states) == (128 + by, {quick.pid: "written", slow.pid: "failed"})
        assert "it may still write the file" in next(r["reason"] for r in rows if r["pid"] == slow.pid)


def captures_of(agent):
    return re.findall(r": capture (\S+)$", agent.log(), re.MULTILINE)


@pytest.fixture
def agent_of():
    with RemoteAgent() as running:
        yield running


def test_interrupt_before_the_answer(agent_of):
    """The host that has answered is ended at once, the one that never does is given up in its time."""
    with agent_of.spawn("--polls", 1) as one, FakeAgent(NO_AGENTS["silence"]) as silent:
        agent_of.wait_for_processes([one.pid])
        under_way = Trace(agent_of, ports=[silent.port])
        until(lambda: silent.asked, 5, "it was asked")
        agent_of.wait_for_line("asks to trace 1 processes")
        under_way.interrupt()
        agent_of.wait_for_line("ends capture", "done")
        status, rows = under_way.end(FIRST_ANSWER + 3)
        assert status == 130 and [r["state"] for r in rows] == ["failed", "failed"]
        assert silent.asked == ["POST /v1/captures"]


def test_interrupt_before_a_late_answer(tmp_path):
    """Whoever begins after the Ctrl-C is told to end."""
    def late(path):
        if not path.startswith("POST"):
            return http(receipts(row(state="failed")))
        return [0.7, http(receipts(row(state="accepted", took_ns=None), over=False)), 0.0]

    with FakeAgent(late) as fake, FakeAgent(late) as other:
        process = start("trace", *hosts(fake.port, other.port), "--iterations", 1, "--output", tmp_path)
        until(lambda: fake.asked and other.asked, 5, "they were asked")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        assert process.returncode == 130, (out, err)
        for one in (fake, other):
            assert one.asked == ["POST /v1/captures", "DELETE /v1/captures/20260101T000000-1"]


@pytest.mark.parametrize("count", [1, 2])
def test_second_interrupt_gives_up_at_once(agent_of, count):
    """Also where no host has answered yet: nothing is known to be written."""
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(FakeAgent(NO_AGENTS["silence"])) for _ in range(count)]
        under_way = Trace(agent_of, "--pid", 1, ports=[one.port for one in silent])
        until(lambda: all(one.asked for one in silent), 5, "they were asked")
        start = time.monotonic()
        under_way.interrupt()
        time.sleep(0.1)
        under_way.interrupt()
        status, rows = under_way.end()
        assert time.monotonic() - start < 1.5
        assert status == 130, rows
        assert [r["state"] for r in rows] == ["failed"] * count, rows
        assert all("given up" in r["reason"] for r in rows), rows


def test_second_interrupt_while_delivered(agent_of):
    """The agent is stopped and does not end the capture."""
    with agent_of.spawn("--polls", 1) as one:
        agent_of.wait_for_processes([one.pid])
        under_way = Trace(agent_of)
        agent_of.wait_for_line("asks to trace 1 processes")
        time.sleep(0.2)
        os.kill(agent_of.pid, signal.SIGSTOP)
        try:
            under_way.interrupt()
            time.sleep(0.1)
            start = time.monotonic()
            under_way.interrupt()
            status, (row_,) = under_way.end()
            assert time.monotonic() - start < 1.5
            assert (status, row_["state"], row_["pid"]) == (130, "failed", one.pid) and "given up" in row_["reason"]
        finally:
            os.kill(agent_of.pid, signal.SIGCONT)


def test_nobody_listens():
    status, _, err, seconds, _ = trace(free_port())
    assert status == 1 and "does `spotter agent` run there" in err and seconds < 2

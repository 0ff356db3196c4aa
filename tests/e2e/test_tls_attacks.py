"""What would exhaust or stall the door for other hosts, in the manner of test_attacks.py: afterwards, and where the attack
can go on meanwhile, all doors answer in time and the agent has not grown."""

import collections
import contextlib
import os
import socket
import ssl
import struct
import subprocess
import threading
import time

import pytest

import agent as agent_module
from agent import read_to_end, until
from attacks import GET, HTTP_GARBAGE, LOG_LIMIT, REQUEST_SECONDS
from remote import RemoteAgent, certificates, token

IDLE = 10_000  # connections in turn
AT_ONCE = 1000  # of them
CROWD_MB = 96 + agent_module.GROWTH_MB  # what those that the agent holds may need while they are there
STATUS = GET + b"\r\n"


@pytest.fixture
def agent(monkeypatch):
    # The address sanitizer keeps what is freed, 256 MB of it by default.
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=16")
    running = RemoteAgent()
    running.https("GET", "/v1/status", name="admin")  # what the first use of TLS allocates
    yield running
    running.stop()


def assert_tls_well(agent):
    """As assert_well(): the best of three is in time."""
    took = []
    for _ in range(3):
        start = time.monotonic()
        assert agent.https("GET", "/v1/status", name="admin")[0] == 200
        took.append(time.monotonic() - start)
    assert min(took) <= agent_module.PATIENCE, took


@contextlib.contextmanager
def unharmed(agent):
    with agent.unharmed():
        yield
        assert_tls_well(agent)
        # Connections that have ended are told to the agent one after the other.
        until(lambda: connections(agent) <= 2, 2, "its connections have ended")


def connections(agent):
    detail, = (row["detail"] for row in agent.table("/v1/status", "status") if row["part"] == "connections")
    return int(detail.split()[0])


def plain_stream(agent, receive_buffer=None):
    s = socket.socket()
    if receive_buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    s.settimeout(5)
    s.connect(("127.0.0.1", agent.port))
    return s


def client_hello():
    """What a handshake begins with; it may be sent again and again."""
    sent = ssl.MemoryBIO()
    tls = certificates().context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return sent.read()


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def crowd(agent, connect, count, sent=b""):
    """So many connections in turn, AT_ONCE of them open; the others get their answers meanwhile."""
    held = collections.deque()
    before = agent.resident_mb()
    try:
        for n in range(count):
            if len(held) == AT_ONCE:
                held.popleft().close()
            with contextlib.suppress(OSError):
                held.append(connect())
                held[-1].sendall(sent)
            if n % (count // 4) == count // 4 - 1:
                agent.assert_well()
                assert_tls_well(agent)
                assert agent.resident_mb() - before < CROWD_MB
    finally:
        for s in held:
            s.close()


@pytest.mark.parametrize("part", ["a byte", "a half", "all", "all and more"])
def test_handshakes_that_are_left(agent, part):
    hello = client_hello()
    sent = {"a byte": hello[:1], "a half": hello[:len(hello) // 2], "all": hello, "all and more": hello + b"\x17\3\3\0\2xx"}
    with unharmed(agent):
        crowd(agent, lambda: plain_stream(agent), 2000, sent[part])


@pytest.mark.parametrize("door", ["api", "rpc", "tls"])
def test_idle_connections(agent, door):
    connect = {"api": agent.api_stream, "rpc": agent.rpc_stream, "tls": lambda: plain_stream(agent)}[door]
    with unharmed(agent):
        crowd(agent, connect, IDLE)


def test_who_waits_for_news_is_not_displaced(agent):
    """By a crowd of whom nothing is known, not even a name."""
    with unharmed(agent), agent.spawn("--polls", 1) as one, agent.tls_stream("admin", timeout=10) as waiting:
        agent.wait_for_processes([one.pid])
        capture = agent.capture(pids=[one.pid])
        waiting.sendall(f"GET /v1/captures/{capture}?seen=0&wait_ms=60000 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        crowd(agent, lambda: plain_stream(agent), 1500, b"\x16")
        agent.api("DELETE", f"/v1/captures/{capture}")
        assert waiting.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_slow_ones(agent):
    """A handshake and a request of a byte each half second, an answer that is read so: all have an end."""
    hello = client_hello()
    with unharmed(agent), contextlib.ExitStack() as stack:
        handshake = stack.enter_context(plain_stream(agent))
        request = stack.enter_context(agent.tls_stream("view"))
        silent = stack.enter_context(agent.tls_stream("view"))  # shakes hands, and that is all
        start = time.monotonic()
        ended = {}
        for n in range(2 * (REQUEST_SECONDS + 2)):
            for name, s, data in (("handshake", handshake, hello), ("request", request, STATUS), ("silent", silent, b"")):
                if name in ended:
                    continue
                try:
                    s.sendall(data[n:n + 1])
                    s.settimeout(0.01)
                    assert s.recv(4096) == b""
                except TimeoutError:
                    continue
                except (OSError, ssl.SSLError):
                    pass
                ended[name] = time.monotonic() - start
            agent.assert_well()
            time.sleep(max(0, start + (n + 1) / 2 - time.monotonic()))
        assert set(ended) == {"handshake", "request", "silent"}
        assert all(REQUEST_SECONDS - 1 <= seconds <= REQUEST_SECONDS + 2 for seconds in ended.values()), ended


def test_answers_that_are_read_a_byte_at_a_time(agent):
    """Many are asked for at once; what is not taken does not pile up."""
    with unharmed(agent), plain_stream(agent, receive_buffer=4096) as plain:
        with certificates().context("view").wrap_socket(plain, server_hostname="localhost") as s:
            s.settimeout(0.2)
            with contextlib.suppress(OSError):
                while True:
                    s.sendall(STATUS * 50)
            until_then = time.monotonic() + 2
            with contextlib.suppress(OSError, ssl.SSLError):
                while s.recv(1) and time.monotonic() < until_then:
                    time.sleep(0.01)
            agent.assert_well()


def test_resets_in_mid_answer(agent):
    with unharmed(agent):
        for n in range(100):
            s = agent.tls_stream("view")
            s.sendall(STATUS * 100)
            if n % 2:
                s.recv(100)
            reset(s)
        for n in range(300):  # or in mid handshake
            s = plain_stream(agent)
            s.sendall(client_hello())
            if n % 2:
                s.recv(100)
            reset(s)


RECORDS = {
    "empty record": b"\x16\3\1\0\0", "record of 64 kB": b"\x16\3\1\xff\xff" + b"x" * 65535, "alert": b"\x15\3\3\0\2\2\x28",
    "data before the handshake": b"\x17\3\3\0\5hello", "hello of 16 MB": b"\x16\3\1\x40\0\1\xff\xff\xff" + b"\0" * 16380,
    "SSL 2": b"\x80\x2e\1\0\2\0\x15\0\0\0\x10" + b"x" * 40, "NUL bytes": b"\0" * 100_000, "empty records": b"\x16\3\1\0\0" * 20_000,
    "alerts": b"\x15\3\3\0\2\1\0" * 20_000, "changes of cipher": b"\x14\3\3\0\1\1" * 20_000,
}


@pytest.mark.parametrize("sent", RECORDS.values(), ids=RECORDS.keys())
def test_records_that_cannot_be(agent, sent):
    with unharmed(agent):
        for before in (b"", client_hello()):
            with plain_stream(agent) as s:
                s.settimeout(REQUEST_SECONDS + 2)
                with contextlib.suppress(OSError):
                    s.sendall(before + sent)
                    s.shutdown(socket.SHUT_WR)
                read_to_end(s)


def test_records_that_cannot_be_after_the_handshake(agent):
    with unharmed(agent):
        for sent in RECORDS.values():
            with plain_stream(agent) as s:
                # wrap_socket() would take the socket's descriptor for itself.
                incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                tls = certificates().context("view").wrap_bio(incoming, outgoing, server_hostname="localhost")
                while True:
                    try:
                        tls.do_handshake()
                        break
                    except ssl.SSLWantReadError:
                        s.sendall(outgoing.read())
                        incoming.write(s.recv(65536))
                tls.write(STATUS[:10])
                with contextlib.suppress(OSError):
                    s.sendall(outgoing.read() + sent)
                    s.shutdown(socket.SHUT_WR)
                s.settimeout(REQUEST_SECONDS + 2)
                read_to_end(s)


@pytest.mark.parametrize("sent", HTTP_GARBAGE.values(), ids=HTTP_GARBAGE.keys())
@pytest.mark.parametrize("name", [None, "admin"])
def test_http_garbage(shared, name, sent):
    with shared.tls_stream(name, timeout=REQUEST_SECONDS + 2) as s:
        answer = b""
        with contextlib.suppress(OSError, ssl.SSLError):
            s.sendall(sent)
            s.settimeout(0.2)  # where more is awaited there is silence, see test_slow_ones()
            while part := s.recv(65536):
                answer += part
        assert answer == b"" or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")), answer[:200]
    shared.assert_well()


@pytest.fixture(scope="module")
def shared():
    """One agent for all: they leave it unharmed together."""
    with RemoteAgent() as running, unharmed(running):
        yield running


def test_requests_without_end(agent):
    """One connection each, as fast as they go; the others get their turn."""
    stop = threading.Event()
    counts = collections.Counter()

    def flood(name):
        with contextlib.suppress(OSError, ssl.SSLError), agent.tls_stream(name) as s:
            while not stop.is_set():
                s.sendall(STATUS)
                counts[name] += bool(s.recv(65536))

    with unharmed(agent):
        threads = [threading.Thread(target=flood, args=(name,)) for name in (None, "view")]
        for thread in threads:
            thread.start()
        try:
            time.sleep(0.3)
            agent.assert_well()
            assert_tls_well(agent)
            time.sleep(0.3)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert min(counts.values()) > 20, counts


def test_new_keys_without_end(agent):
    """What TLS 1.3 has in the place of renegotiation: each asks for an answer."""
    name = certificates().folder / "view"
    with unharmed(agent), subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{agent.port}", "-cert", f"{name}.pem", "-key", f"{name}-key.pem"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as asking:
        for _ in range(300):
            asking.stdin.write(b"K\n")  # its command for that; one for each time that it reads
            asking.stdin.flush()
            time.sleep(0.002)
        assert asking.communicate(timeout=10)[1].count(b"KEYUPDATE") > 100


def test_connections_without_end(agent):
    """Handshakes cost the agent more than the one who asks for them."""
    with unharmed(agent):
        for n in range(300):
            with agent.tls_stream("view" if n % 2 else None) as s:
                s.sendall(STATUS)


def test_pipelined_requests_that_nobody_reads(agent):
    with unharmed(agent), agent.tls_stream("view", timeout=0.5) as s:
        with contextlib.suppress(OSError):
            for _ in range(300):
                s.sendall(STATUS * 100)
        agent.assert_well()
        assert_tls_well(agent)


def test_refused_requests_do_not_fill_the_log(agent):
    with unharmed(agent):
        for name, bearer, status in ((None, None, 401), (None, "x", 401), ("view", None, 403)):
            with agent.tls_stream(name) as s:
                for _ in range(300):
                    body = {"pids": [os.getpid()], "output": "/etc/" + "x" * 900}
                    assert agent.https("POST", "/v1/captures?" + "x" * 2000, body, bearer=bearer, stream=s)[0] == status
        for _ in range(100):
            with contextlib.suppress(OSError, ssl.SSLError), agent.tls_stream("foreign") as s:
                s.recv(1)
    assert len(agent.log()) < LOG_LIMIT / 10


def test_wrong_tokens_take_no_longer_each_time(agent):
    with unharmed(agent), agent.tls_stream() as s:
        for size in (1, 1000, 15_000):
            assert agent.https("GET", "/v1/status", bearer="x" * size, stream=s)[0] == 401
        assert agent.https("GET", "/v1/status", bearer=token("view"), stream=s)[0] == 200

"""What killed, deafened or stalled Dynolog's daemon, and more of the kind, leaves the agent well.

Each attack gets a fresh agent. Afterwards, and where the attack can go on meanwhile, all three doors answer in time,
and the agent has not grown; see Agent.unharmed().
"""

import contextlib
import json
import os
import socket
import struct
import threading
import time

import pytest

import agent as agent_module
import client
from agent import Agent, in_private_network, is_failure, read_frame, read_to_end

REQUEST_SECONDS = 5  # what the agent gives a whole RPC request
LOG_LIMIT = 200_000


def framed(body):
    return struct.pack("<i", len(body)) + body


STATUS = framed(b'{"fn":"getStatus"}')


def rpc_lingering(agent, sent, count=1):
    """So many connections that send this and then nothing."""
    stack = contextlib.ExitStack()
    for _ in range(count):
        s = stack.enter_context(agent.rpc_stream())
        if sent:
            s.sendall(sent)
    return stack


# The RPC. Each of these blocked or killed Dynolog (SIGPIPE, SIGSEGV, SIGABRT) or made it eat memory.


@pytest.mark.parametrize("sent", [b"", b"\x12", STATUS[:4], STATUS[:12], framed(b"x" * 100_000)[:50_000],
                                  struct.pack("<i", 0x7FFFFFFF), struct.pack("<i", 1 << 20)],
                         ids=["nothing", "half a length", "length only", "half a body", "half a large body",
                              "length 0x7fffffff", "length of 1 MiB"])
def test_rpc_connection_that_lingers(agent, sent):
    with agent.unharmed(), rpc_lingering(agent, sent):
        agent.assert_well()


@pytest.mark.parametrize("count", [52, 250])
def test_rpc_idle_connections(agent, count):
    with agent.unharmed(), rpc_lingering(agent, b"", count):
        agent.assert_well()


def test_rpc_more_idle_connections_than_it_must_hold(agent):
    with agent.unharmed():
        with rpc_lingering(agent, b"", 300):
            # The other doors do not notice. On this one the 301st may be turned away, but not for ever.
            assert agent.probe_ipc(agent_module.LATEST)
            assert agent.api("GET", "/v1/status")[0] == 200

            def answered():
                with contextlib.suppress(OSError, EOFError):
                    return agent.rpc({"fn": "getStatus"}, timeout=1) == {"status": 1}
                return False

            agent_module.until(answered, REQUEST_SECONDS + 3, "an RPC beside 300 idle connections")


def test_idle_connections_to_the_api(agent):
    with agent.unharmed(), contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(agent.api_stream())
        agent.assert_well()


def test_rpc_client_that_leaves_before_the_answer(agent):
    with agent.unharmed():
        for _ in range(50):
            with agent.rpc_stream() as s:
                s.sendall(STATUS)


def test_rpc_reset(agent):
    with agent.unharmed():
        for n in range(50):
            s = agent.rpc_stream()
            s.sendall(STATUS if n % 2 else STATUS[:10])
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()


def test_rpc_client_that_shuts_its_side_down(agent):
    with agent.unharmed():
        with agent.rpc_stream() as s:
            s.sendall(STATUS)
            s.shutdown(socket.SHUT_WR)
            assert json.loads(read_frame(s)) == {"status": 1}
        with agent.rpc_stream() as s:
            s.sendall(STATUS[:10])
            s.shutdown(socket.SHUT_WR)
            s.settimeout(2)
            read_to_end(s)


def test_rpc_http_request(agent):
    with agent.unharmed():
        with agent.rpc_stream() as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert read_to_end(s).startswith(b"HTTP/1.1 400")
        # No more than the word, and the connection stays open on this side.
        with agent.rpc_stream() as s:
            s.sendall(b"GET ")
            agent.assert_well()


@pytest.mark.parametrize("length", [0x7FFFFFFF, (1 << 20) + 1, 0, -1, -0x80000000],
                         ids=["largest", "1 MiB and 1", "zero", "minus one", "smallest"])
def test_rpc_length_that_cannot_be(agent, length):
    with agent.unharmed(), agent.rpc_stream() as s:
        s.sendall(struct.pack("<i", length))
        assert is_failure(read_frame(s))
        assert s.recv(1) == b"", "the connection goes on after a length that cannot be"


def test_rpc_request_of_5_mb(agent):
    with agent.unharmed(), agent.rpc_stream() as s:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            s.sendall(framed(b'{"fn":"getStatus","x":"' + b"x" * 5_000_000 + b'"}'))
        with contextlib.suppress(ConnectionResetError, EOFError):
            assert is_failure(read_frame(s))


NESTED = 75_000
DEEP = {
    "arrays": b'{"fn":"nosuch","a":' + b"[" * NESTED + b"]" * NESTED + b"}",
    "arrays alone": b"[" * NESTED + b"]" * NESTED,
    "objects": b'{"a":' * NESTED + b"1" + b"}" * NESTED,
    "arrays without end": b"[" * 500_000,
    "33 levels": b'{"fn":"getStatus","a":' + b"[" * 33 + b"]" * 33 + b"}",
}


@pytest.mark.parametrize("body", DEEP.values(), ids=DEEP.keys())
def test_rpc_deep_json(agent, body):
    with agent.unharmed():
        assert is_failure(agent.rpc_raw(body))


GARBAGE = {
    "blank": b" ",
    "word": b"nope",
    "cut short": b'{"fn":"getStat',
    "null": b"null",
    "number": b"1e999999",
    "array": b"[]",
    "text": b'"getStatus"',
    "empty object": b"{}",
    "fn a number": b'{"fn":1}',
    "fn null": b'{"fn":null}',
    "fn an object": b'{"fn":{"fn":"getStatus"}}',
    "fn unknown": b'{"fn":"noSuchFunction"}',
    "fn of 100 kB": b'{"fn":"' + b"x" * 100_000 + b'"}',
    "two values": b'{"fn":"getStatus"}{"fn":"getStatus"}',
    "comma at the end": b'{"fn":"getStatus",}',
    "bad UTF-8": b'{"fn":"\xff\xfe\xc0\x80"}',
    "lone surrogate": b'{"fn":"\\ud800"}',
    "NUL bytes": b"\0" * 1000,
    "binary": bytes(range(256)) * 16,
    "control characters": b'{"fn":"\x1b[31m\r\n"}',
    "pause, duration a text": b'{"fn":"dcgmProfPause","duration_s":"abc"}',
    "pause, duration an object": b'{"fn":"dcgmProfPause","duration_s":{}}',
    "pause, no duration": b'{"fn":"dcgmProfPause"}',
    "trace, nothing": b'{"fn":"setKinetOnDemandRequest"}',
    "trace, config a number": b'{"fn":"setKinetOnDemandRequest","config":1,"pids":[0]}',
    "trace, pids a text": b'{"fn":"setKinetOnDemandRequest","config":"X=1","pids":"0"}',
    "trace, pids of texts": b'{"fn":"setKinetOnDemandRequest","config":"X=1","pids":["a",null]}',
    "trace, job a text": b'{"fn":"setKinetOnDemandRequest","config":"X=1","pids":[0],"job_id":"7"}',
    "trace, limit a text": b'{"fn":"setKinetOnDemandRequest","config":"X=1","pids":[0],"process_limit":"7"}',
}


@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE.keys())
def test_rpc_garbage_is_answered_with_an_error(agent, body):
    with agent.unharmed():
        answer = agent.rpc_raw(body)
        assert is_failure(answer), answer[:200]
        assert all(c >= 32 or c == 10 for c in answer), "control characters go back to somebody's terminal"


def test_rpc_many_pids(agent):
    with agent.unharmed():
        pids = ",".join(["2000000000"] * 80_000).encode()
        answer = json.loads(agent.rpc_raw(b'{"fn":"setKinetOnDemandRequest","config":"ACTIVITIES_DURATION_MSECS=1",'
                                          b'"pids":[' + pids + b"]}"))
        assert answer.get("processesMatched", []) == [], answer


def test_slow_senders(agent):
    """A byte a second, on both streams. The RPC ends it after its 5 s; nobody else notices."""
    with agent.unharmed(), agent.rpc_stream() as rpc, agent.api_stream() as api:
        start = time.monotonic()
        request = b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n"
        ended = None
        for n in range(REQUEST_SECONDS + 3):
            with contextlib.suppress(OSError):
                rpc.sendall(STATUS[n:n + 1])
            with contextlib.suppress(OSError):
                api.sendall(request[n:n + 1])
            agent.assert_well()
            rpc.settimeout(max(0.01, start + n + 1 - time.monotonic()))
            try:
                # An error object may come before the end.
                while rpc.recv(4096):
                    pass
                ended = time.monotonic() - start
            except TimeoutError:
                continue
            except ConnectionResetError:
                ended = time.monotonic() - start
            break
        assert ended and REQUEST_SECONDS - 1 <= ended <= REQUEST_SECONDS + 2, f"ended after {ended} s"


# The IPC, in both its forms: a folder, and abstract names. The attacker is bound as a client is, unless said.

HUGE = 1 << 60


def raw_poll(n, pids=(4242,), kind=3):
    return client.datagram(b"req", struct.pack(f"<iiq{len(pids)}i", kind, n, 0, *pids))


DATAGRAMS = {
    "zero length": b"",
    "one byte": b"\0",
    "three bytes": b"abc",
    "39 bytes": client.datagram(b"req", b"")[:39],
    "size 2^60": client.datagram(b"req", b"x" * 20, size=HUGE),
    "size 2^62": client.datagram(b"ctxt", b"x" * 16, size=1 << 62),
    "size 2^64-1": client.datagram(b"req", b"", size=2 ** 64 - 1),
    "size 2^64-40": client.datagram(b"req", b"x" * 20, size=2 ** 64 - 40),
    "size 2 GiB, garbage": client.datagram(b"req", b"\x7b" * 64, size=1 << 31),
    "size too small": client.datagram(b"req", raw_poll(1)[40:], size=3),
    "size too large": client.datagram(b"req", raw_poll(1)[40:], size=21),
    "n = -1": raw_poll(-1),
    "n = smallest": raw_poll(-0x80000000),
    "n = 100000000": raw_poll(100_000_000),
    "n = 2^30, which times 4 is 0": raw_poll(1 << 30),
    "n = 5000 with one pid": raw_poll(5000),
    "n = 5000": raw_poll(5000, [1] * 5000),
    "n = 1 with 3 pids": raw_poll(1, [1, 2, 3]),
    "empty req": client.datagram(b"req", b""),
    "empty ctxt": client.datagram(b"ctxt", b""),
    "ctxt of 15 bytes": client.datagram(b"ctxt", b"x" * 15),
    "ctxt of 4000 bytes": client.datagram(b"ctxt", b"x" * 4000),
    "unknown tag": client.datagram(b"data", b"x" * 20),
    "unterminated tag": client.datagram(b"r" * 32, b"x" * 20),
    "prefix of a tag": client.datagram(b"reqXYZ", raw_poll(1)[40:]),
    "no tag": client.datagram(b"", b""),
    "100 kB": client.datagram(b"req", os.urandom(100_000)),
}


def attack_with_datagrams(agent):
    for name, data in DATAGRAMS.items():
        with agent.unharmed(), agent.client() as attacker:
            for _ in range(5):
                assert attacker.send(data), name
            assert attacker.receive_within(0.05) is None, f"{name}: a reply to a malformed datagram"


def attack_from_odd_addresses(agent):
    target = str(agent.ipc_dir / "dynolog") if agent.ipc_dir else "\0dynolog\0"
    elsewhere = agent.folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    addresses = {
        "unbound": None,
        "autobound": "",
        "path outside": str(elsewhere / "client"),
        "path of another kind of name": str(agent.folder / ("n" * 60)),
        "abstract without the NUL": "\0dynoconfigclientx",
        "abstract": "\0somebody\0",
        "abstract, 107 bytes": "\0" + "a" * 107,
        "abstract, control characters": "\0\x1b[31m\r\n\0",
        "the longest path": str(elsewhere) + "/" + "p" * (107 - len(str(elsewhere)) - 1),
    }
    # What is valid, and what is not; a known sender may be sent a reply, and some cannot be reached.
    messages = [client.poll(3, [os.getpid()]), client.registration(0, os.getpid(), 0), b"", raw_poll(-1)]
    for name, address in addresses.items():
        with agent.unharmed(), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            if address is not None:
                s.bind(address)
            s.settimeout(2)
            for message in messages * 3:
                s.sendto(message, target)


def attack_by_leaving(agent):
    """Gone before the reply, many times: Dynolog stood still for 10 s each time."""
    with agent.unharmed():
        for n in range(50):
            with agent.client() as leaver:
                assert leaver.send(client.registration(0, n, 0) if n % 2 else client.poll(3, leaver.pids))


def attack_by_never_reading(agent):
    """Unread replies are charged to the agent's own send buffer: 278 of them made Dynolog deaf."""
    with agent.unharmed(), contextlib.ExitStack() as stack:
        for _ in range(40):
            silent = stack.enter_context(agent.client())
            for _ in range(20):
                assert silent.send(client.registration(0, os.getpid(), 0))
        agent.assert_well()


def attack_by_flood(agent):
    with agent.unharmed(), agent.client() as flooder:
        stop = time.monotonic() + 1
        sent = 0
        while time.monotonic() < stop:
            with contextlib.suppress(BlockingIOError):
                flooder.socket.sendto(client.registration(0, sent, sent), flooder.daemon)
                sent += 1
            if sent and sent % 2000 == 0:
                # A client beside the flood gets through with libkineto's own way of trying again.
                with agent.client() as honest:
                    assert honest.send(client.registration(0, os.getpid(), 0))
                    assert honest.receive_within(agent_module.LATEST)
        assert sent > 1000, "no flood"


def attack_with_jobs(agent):
    """Dynolog kept each of these for ever."""
    with agent.unharmed(), agent.client() as attacker:
        for n in range(3000):
            assert attacker.send(client.registration(n % 64, n, n << 32))
            attacker.receive_now()


def attack_with_poll_names(agent):
    """One process, many names: each poll comes from another socket."""
    with agent.unharmed():
        for _ in range(300):
            with agent.client() as one:
                assert one.send_poll()
        assert len(agent.processes()) <= 1


IPC_ATTACKS = [attack_with_datagrams, attack_from_odd_addresses, attack_by_leaving, attack_by_never_reading,
               attack_by_flood, attack_with_jobs, attack_with_poll_names]


@pytest.mark.parametrize("attack", IPC_ATTACKS, ids=lambda a: a.__name__)
def test_ipc_in_a_folder(agent, attack):
    attack(agent)


@pytest.mark.parametrize("attack", IPC_ATTACKS, ids=lambda a: a.__name__)
def test_ipc_with_abstract_names(attack):
    def inside():
        with Agent(abstract=True) as agent:
            attack(agent)

    in_private_network(inside)


def test_client_that_never_reads_and_polls(agent):
    """A config waits in its queue; its polls go on and the others are served."""
    with agent.unharmed(), agent.spawn("--never-read") as silent, agent.spawn() as other:
        agent.wait_for_processes([silent.pid, other.pid])
        agent.capture(pids=[silent.pid], duration_ms=50, deadline_ms=1000)
        capture = agent.capture(pids=[other.pid], duration_ms=50)
        assert agent.wait_for_receipts(capture)[0]["state"] == "written"
        silent.wait_for("poll", nth=len([e for e in silent.so_far() if e["event"] == "poll"]) + 2)


def test_clients_that_vanish_after_their_poll(agent):
    with agent.unharmed():
        crowd = [agent.spawn("--vanish") for _ in range(5)]
        for one in crowd:
            one.wait_for("poll")
            one.end()
        # The dead are dropped in seconds, not after Dynolog's minute.
        pids = {one.pid for one in crowd}
        agent_module.until(lambda: not pids & {p["pid"] for p in agent.processes()}, 5, "the dead are forgotten")


# What is of no use to the agent and would stay in it.


def with_descriptors(s, data, count, target=None):
    opened = os.open("/dev/null", os.O_RDONLY)
    try:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{count}i", *[opened] * count))]
        s.sendmsg([data], ancillary, 0, *([target] if target else []))
    finally:
        os.close(opened)


@pytest.mark.parametrize("count", [1, 2, 17, 253])
def test_descriptors_sent_along_are_not_kept(agent, count):
    with agent.unharmed():
        before = agent.open_descriptors()
        with agent.client() as attacker:
            for n in range(20):
                good = client.registration(0, os.getpid(), 0)
                data = (good, client.poll(3, attacker.pids), b"x", client.datagram(b"req", b"", size=HUGE))[n % 4]
                attacker.socket.setblocking(True)
                attacker.socket.settimeout(2)
                with_descriptors(attacker.socket, data, count, attacker.daemon)
            # Zero length with descriptors: there is nothing to read, and still something to drop.
            with_descriptors(attacker.socket, b"", count, attacker.daemon)
            agent.assert_well()
        for request in (b"GET /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"G"):
            with agent.api_stream() as s:
                with_descriptors(s, request, count)
                agent.assert_well()
        # The agent watches this process from its first poll on, which is a descriptor.
        agent_module.until(lambda: agent.open_descriptors() <= before + 1, 3, f"{before + 1} descriptors are open")


@pytest.mark.skipif(bool(os.environ.get("SPOTTER_SANITIZED")),
                    reason="the sanitizer needs descriptors itself, to look at virtual tables")
def test_descriptor_exhaustion():
    with Agent(descriptors=64) as agent, agent.unharmed():
        with contextlib.ExitStack() as stack:
            doors = [(socket.AF_INET, ("127.0.0.1", agent.rpc_port)), (socket.AF_UNIX, str(agent.api_socket))]
            for family, address in doors * 100:
                s = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
                s.setblocking(False)  # the queue of connections may be full
                with contextlib.suppress(BlockingIOError):
                    s.connect(address)
            time.sleep(0.2)
            assert agent.process.poll() is None, agent.log()[-2000:]
            assert agent.probe_ipc(agent_module.LATEST), "the IPC needs no new descriptor"
            # Connections that cannot be accepted stay ready: who does not rest then turns in circles.
            before = agent.cpu_seconds()
            time.sleep(0.5)
            assert agent.cpu_seconds() - before < 0.25, "the agent spins"
            # Processes that come now need a descriptor each to be watched.
            with agent.spawn() as newcomer:
                newcomer.wait_for("poll", nth=2)
        agent_module.until(lambda: answers(agent), 8, "answers after the connections have closed")
        assert len(agent.log()) < LOG_LIMIT


def answers(agent):
    with contextlib.suppress(OSError, EOFError, AssertionError):
        agent.assert_well()
        return True
    assert agent.process.poll() is None, agent.log()[-2000:]
    return False


# HTTP. Whatever comes, it is an HTTP error, or the end of the connection; where the request is not at its end, silence
# until the agent has had enough.

GET = b"GET /v1/status HTTP/1.1\r\nHost: x\r\n"
HTTP_GARBAGE = {
    "a word": b"hello\r\n\r\n",
    "binary": bytes(range(256)) * 64 + b"\r\n\r\n",
    "NUL bytes": b"\0" * 10_000 + b"\r\n\r\n",
    "no version": b"GET /v1/status\r\n\r\n",
    "version 9": b"GET /v1/status HTTP/9.9\r\nHost: x\r\n\r\n",
    "no method": b" /v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
    "other method": b"DELETE /v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
    "CONNECT": b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "unknown path": b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
    "path upwards": b"GET /v1/../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "path with NUL": b"GET /v1/captures/%00%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "path with bad escapes": b"GET /v1/captures/%zz%1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "path of 1 MB": b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "header of 1 MB": GET + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n",
    "100,000 headers": GET + b"X: 1\r\n" * 100_000 + b"\r\n",
    "header without colon": GET + b"nothing\r\n\r\n",
    "length -1": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}",
    "length a word": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n{}",
    "length 10^18": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000000000\r\n\r\n{}",
    "length 10^30": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: 1" + b"0" * 30 + b"\r\n\r\n{}",
    "two lengths": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
    "no length": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\n\r\n",
    "bad chunks": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n0\r\n\r\n",
    "body of 10 MB": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n" + b" " * 10_000_000,
    "query of odd numbers": b"GET /v1/captures/x?wait_ms=-1&seen=99999999999999999999 HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("sent", HTTP_GARBAGE.values(), ids=HTTP_GARBAGE.keys())
def test_http_garbage(agent, sent):
    with agent.unharmed(), agent.api_stream(timeout=2) as s:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            s.sendall(sent)
        with contextlib.suppress(OSError):
            s.shutdown(socket.SHUT_WR)  # no more will come, so an answer or an end can be awaited
        answer = read_to_end(s)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4") or answer.startswith(b"HTTP/1.1 5"), answer[:200]


def test_http_unfinished_requests(agent):
    with agent.unharmed(), contextlib.ExitStack() as stack:
        for sent in (b"G", GET, GET + b"X: ", b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"):
            stack.enter_context(agent.api_stream()).sendall(sent)
        agent.assert_well()


def test_http_client_that_leaves(agent):
    with agent.unharmed():
        for _ in range(50):
            with agent.api_stream() as s:
                s.sendall(GET + b"\r\n")


def test_http_pipelined_requests_that_nobody_reads(agent):
    """What is answered and not read must not pile up."""
    with agent.unharmed(), agent.api_stream(timeout=0.5) as s:
        with contextlib.suppress(OSError):
            for _ in range(300):
                s.sendall((GET + b"\r\n") * 100)
        agent.assert_well()


BODIES = {
    "no JSON": b"nope", "cut short": b'{"pids":[1', "array": b"[]", "null": b"null", "bad UTF-8": b'{"job":"\xff"}',
    "deep": b"[" * 100_000 + b"]" * 100_000, "deep objects": b'{"pids":' * 20_000 + b"1" + b"}" * 20_000,
    "pids a text": b'{"pids":"1"}', "pids of floats": b'{"pids":[1.5]}', "pids too large": b'{"pids":[1e300]}',
    "duration a text": b'{"all":true,"duration_ms":"500"}', "all a number": b'{"all":1}',
    "duration 2^63": b'{"all":true,"duration_ms":9223372036854775808}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_http_bodies(agent, body):
    with agent.unharmed():
        status, document = agent.api("POST", "/v1/captures", body)
        assert status == 400, document


# The log.


def test_malformed_datagrams_do_not_fill_the_log(agent):
    with agent.unharmed(), agent.client() as attacker:
        attacker.socket.setblocking(True)
        attacker.socket.settimeout(5)
        for n in range(10_000):
            attacker.socket.sendto(client.datagram(b"req", b"x", size=HUGE + n), attacker.daemon)
    assert len(agent.log()) < LOG_LIMIT


def test_requests_do_not_fill_the_log(agent):
    with agent.unharmed():
        for _ in range(300):
            with agent.rpc_stream() as s:
                s.sendall(framed(b'{"fn":"' + b"x" * 10_000 + b'"}'))
                read_to_end(s)
        for _ in range(300):
            assert agent.api("GET", "/" + "x" * 1000)[0] in (400, 404, 414)
    assert len(agent.log()) < LOG_LIMIT


def test_what_is_sent_cannot_steer_the_terminal_that_shows_the_log(agent):
    evil = b"\x1b[31m\r\x07\x9b"
    with agent.client() as attacker:
        attacker.send(client.datagram(evil, evil))
    agent.rpc_raw(b'{"fn":"' + evil[:1] + b'[31m"}')
    agent.rpc_raw(b'{"fn":"\\u001b[31m\\u0007"}')
    with agent.api_stream() as s:
        s.sendall(b"GET /" + evil + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        s.shutdown(socket.SHUT_WR)
        read_to_end(s)
    agent.assert_well()
    assert not [c for c in agent.log() if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]


def test_everything_at_once(agent):
    """Several attackers beside a client that is to be served; the client's capture is not their business."""
    with agent.unharmed(), agent.spawn() as honest:
        agent.wait_for_processes([honest.pid])
        stop = threading.Event()
        failures = []

        def guarded(attack):
            def run():
                while not stop.is_set():
                    try:
                        attack()
                    except OSError:
                        pass  # turned away
                    except Exception as error:
                        failures.append(error)
                        return
                    time.sleep(0.02)
            return threading.Thread(target=run)

        def bad_datagrams():
            with agent.client() as attacker:
                for data in DATAGRAMS.values():
                    attacker.send(data, most=1)

        def bad_requests():
            for body in (GARBAGE["binary"], DEEP["arrays"], GARBAGE["fn unknown"]):
                with agent.rpc_stream() as s:
                    s.sendall(framed(body))

        def bad_http():
            with agent.api_stream() as s:
                s.sendall(HTTP_GARBAGE["header without colon"])

        threads = [guarded(bad_datagrams), guarded(bad_requests), guarded(bad_http)]
        for thread in threads:
            thread.start()
        try:
            capture = agent.capture(pids=[honest.pid], duration_ms=200)
            rows = agent.wait_for_receipts(capture)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert not failures, failures
        assert [row["state"] for row in rows] == ["written"], rows

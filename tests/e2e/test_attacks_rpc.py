"""What blocked or killed Dynolog's RPC (SIGPIPE, SIGSEGV, SIGABRT) or made it eat memory leaves the agent well, as
test_attacks.py has it."""

import contextlib
import json
import socket
import struct

import pytest

import agent as agent_module
from agent import is_failure, read_frame, read_to_end
from attacks import DEEP, GARBAGE, REQUEST_SECONDS, STATUS, framed


def rpc_lingering(agent, sent, count=1):
    """So many connections that send this and then nothing."""
    stack = contextlib.ExitStack()
    for _ in range(count):
        s = stack.enter_context(agent.rpc_stream())
        if sent:
            s.sendall(sent)
    return stack


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


@pytest.mark.parametrize("body", DEEP.values(), ids=DEEP.keys())
def test_rpc_deep_json(agent, body):
    with agent.unharmed():
        assert is_failure(agent.rpc_raw(body))


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

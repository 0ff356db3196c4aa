"""Whatever comes over HTTP leaves the agent well, as test_attacks.py has it: it gets an HTTP error, or the end of the
connection; where the request is not at its end, silence until the agent has had enough."""

import contextlib
import socket

import pytest

from agent import read_to_end
from attacks import GET, HTTP_GARBAGE


def test_idle_connections_to_the_api(agent):
    with agent.unharmed(), contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(agent.api_stream())
        agent.assert_well()


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

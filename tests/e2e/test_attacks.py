"""What killed, deafened or stalled Dynolog's daemon, and more of the kind, leaves the agent well.

Each attack gets a fresh agent. Afterwards, and where the attack can go on meanwhile, all three doors answer in time,
and the agent has not grown; see Agent.unharmed(). Here is what concerns several doors, or the log; each door has a file of
its own.
"""

import collections
import contextlib
import os
import socket
import struct
import threading
import time

import pytest

import agent as agent_module
import client
from agent import Agent, read_to_end
from attacks import (DATAGRAMS, DEEP, GARBAGE, HTTP_GARBAGE, HUGE, LOG_LIMIT, REQUEST_SECONDS, STATUS, framed)


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


def test_descriptor_exhaustion():
    with Agent(descriptors=64) as agent, agent.unharmed():
        # A sanitizer needs descriptors itself, to look at a virtual table for the first time: here that of the system's words.
        with agent.spawn() as one:
            agent.wait_for_processes([one.pid])
            assert agent.api("POST", "/v1/captures", {"pids": [one.pid], "output": f"{agent.out_dir}/nowhere"})[0] == 400
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
        failures, done = [], collections.Counter()

        def guarded(attack):
            def run():
                while not stop.is_set():
                    try:
                        attack()
                        done[attack.__name__] += 1
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
            agent_module.until(lambda: len(done) == len(threads), 10, "each attacker gets through")
            before = done.copy()
            capture = agent.capture(pids=[honest.pid], duration_ms=200)
            rows = agent.wait_for_receipts(capture)
            assert all(done[name] > before[name] for name in before), "the attacks ended before the capture did"
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert not failures, failures
        assert [row["state"] for row in rows] == ["written"], rows

"""What comes over the IPC leaves the agent well, as test_attacks.py has it, in both its forms: a folder, and abstract names.

The attacker is bound as a client is, unless said.
"""

import contextlib
import os
import socket
import time

import pytest

import agent as agent_module
import client
from agent import Agent, in_private_network
from attacks import DATAGRAMS, raw_poll


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

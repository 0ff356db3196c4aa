"""How the agent begins and ends, and what it says when it cannot begin."""

import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import tempfile
import time

import pytest

import agent as agent_module
from agent import Agent, clean_environment, in_private_network, program


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_ends_with_0_and_without_its_sockets(by):
    first = Agent()
    try:
        with first.spawn() as one:
            first.wait_for_processes([one.pid])
            with first.rpc_stream(), first.api_stream():  # nobody waits for those who only sit there
                first.stop(by, forget=False)
            with Agent(folder=first.folder) as second:
                second.wait_for_processes([one.pid])  # the clients find it
    finally:
        first.kill()


def test_files_of_a_killed_agent_are_no_obstacle():
    first = Agent()
    first.kill(forget=False)
    assert (first.ipc_dir / "dynolog").exists()
    try:
        with Agent(folder=first.folder) as second:
            second.assert_well()
    finally:
        first.forget()


def test_any_process_may_poll(agent):
    assert stat.S_IMODE((agent.ipc_dir / "dynolog").stat().st_mode) == 0o666


def refused(*arguments):
    done = subprocess.run([str(program()), "agent", *map(str, arguments)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=10, check=False,
                          env=clean_environment())
    assert done.returncode == 1, (done.returncode, done.stderr)
    return done.stderr


def test_taken_sockets_are_named_with_who_has_them(agent):
    other = pathlib.Path(tempfile.mkdtemp(prefix="se-", dir="/tmp"))
    cases = {
        f"{agent.ipc_dir}/dynolog": ["--ipc-dir", agent.ipc_dir, "--api-socket", other / "a", "--rpc-port", "0"],
        str(agent.api_socket): ["--ipc-dir", other, "--api-socket", agent.api_socket, "--rpc-port", "0"],
        str(agent.rpc_port): ["--ipc-dir", other, "--api-socket", other / "a", "--rpc-port", agent.rpc_port],
    }
    try:
        for name, arguments in cases.items():
            told = [line for line in refused(*arguments).splitlines() if name in line]
            assert len(told) == 1, (name, told)
            assert str(agent.pid) in told[0], told
            agent.assert_well()  # the second one has not taken the first one's sockets away
        assert not list(other.iterdir()), "what it opened before is left behind"
    finally:
        for path in other.iterdir():
            path.unlink()
        other.rmdir()


def test_taken_abstract_name():
    def inside():
        with Agent(abstract=True) as agent:
            other = agent.folder / "other.sock"
            assert "dynolog" in refused("--api-socket", other, "--rpc-port", "0")
            agent.assert_well()

    in_private_network(inside)


def test_abstract_name_ends_in_nul():
    """Clients send to the 11 bytes of family, NUL, name, NUL; another name is another address."""
    def inside():
        with Agent(abstract=True):
            # Of the thread: /proc/net is that of the whole process.
            names = [line.split()[-1] for line in pathlib.Path("/proc/thread-self/net/unix").read_text().splitlines()
                     if line.split()[-1].startswith("@dynolog")]
            assert names == ["@dynolog@"]

    in_private_network(inside)


def test_folder_from_the_environment():
    with tempfile.TemporaryDirectory(prefix="se-", dir="/tmp") as folder:
        environment = clean_environment(KINETO_IPC_SOCKET_DIR=folder)
        process = subprocess.Popen([str(program()), "agent", "--api-socket", f"{folder}/a", "--rpc-port", "off",
                                    "--collect", "off"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        try:
            agent_module.until(lambda: os.path.exists(f"{folder}/dynolog"), 5, "the socket is in the folder")
        finally:
            process.terminate()
            assert process.wait(5) == 0


def test_no_rpc():
    with Agent(rpc="off") as agent:
        assert agent.rpc_port is None
        assert agent.api("GET", "/v1/status")[0] == 200


@pytest.mark.parametrize("arguments", [["--rpc-port", "70000"], ["--rpc-port", "x"], ["--nothing"], ["extra"]], ids=str)
def test_usage(arguments):
    done = agent_module.run("agent", *arguments)
    assert done.returncode == 2, done


def test_folder_that_is_not_there():
    assert "/dev/null/x" in refused("--ipc-dir", "/dev/null/x", "--api-socket", "/tmp/se-none", "--rpc-port", "0")


def test_idle_agent_rests(agent):
    """Dynolog wakes up 98 times a second for nothing. Every thread counts, and every time that one went to sleep."""
    def sleeps():
        # The tasks' own files: that of the process is about its first thread.
        texts = [path.read_text() for path in pathlib.Path(f"/proc/{agent.pid}/task").glob("*/status")]
        return sum(int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0]) for text in texts)

    agent.assert_well()
    before = sleeps()
    agent.assert_well()
    end = time.monotonic() + 5
    while sleeps() == before and time.monotonic() < end:  # it has answered, and may not have gone to sleep yet
        time.sleep(0.01)
    assert sleeps() > before, "a question wakes it up, and that shows"

    time.sleep(0.1)
    before, used = sleeps(), agent.cpu_seconds()
    time.sleep(2)
    assert sleeps() - before <= 8
    assert agent.cpu_seconds() - used <= 0.03


def test_a_folder_that_is_missing_is_made():
    """As in the example of the configuration: /run/spotter/ipc."""
    with tempfile.TemporaryDirectory(prefix="se-", dir="/tmp") as folder:
        process = subprocess.Popen([str(program()), "agent", "--api-socket", f"{folder}/run/a", "--ipc-dir", f"{folder}/run/ipc",
                                    "--rpc-port", "off", "--collect", "off", "--history", "off"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
        try:
            agent_module.until(lambda: os.path.exists(f"{folder}/run/ipc/dynolog"), 5, "the socket is in the folder")
            is_root = os.geteuid() == 0
            assert os.stat(f"{folder}/run/ipc").st_mode & 0o7777 == (0o1777 if is_root else 0o700)
            assert os.stat(f"{folder}/run").st_mode & 0o7777 == (0o755 if is_root else 0o700)
        finally:
            process.terminate()
            assert process.wait(5) == 0


def test_what_the_service_manager_is_told(monkeypatch, tmp_path):
    """Readiness, its loop's turns as a watchdog wants them, and the end; and the log's levels as its journal has them."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(5)
        journal = (tmp_path / "journal").open("wb")
        status = os.fstat(journal.fileno())
        environment = clean_environment(NOTIFY_SOCKET=tmp_path / "notify", WATCHDOG_USEC=200_000,
                                        JOURNAL_STREAM=f"{status.st_dev}:{status.st_ino}")
        process = subprocess.Popen([str(program()), "agent", "--api-socket", tmp_path / "a", "--ipc-dir", tmp_path, "--rpc-port",
                                    "off", "--collect", "off", "--history", "off"],
                                   stdin=subprocess.DEVNULL, stderr=journal, env=environment)
        try:
            assert manager.recv(100) == b"READY=1"
            start = time.monotonic()
            assert [manager.recv(100) for _ in range(6)] == [b"WATCHDOG=1"] * 6
            assert 0.3 < time.monotonic() - start < 2
        finally:
            process.terminate()
            assert process.wait(5) == 0
        while (told := manager.recv(100)) == b"WATCHDOG=1":
            pass
        assert told == b"STOPPING=1"
        lines = (tmp_path / "journal").read_text().splitlines()
        assert "<6>spotter agent: ready" in lines and all(line.startswith("<") for line in lines)


def test_a_log_for_programs(tmp_path):
    config = tmp_path / "agent.yaml"
    config.write_text("log_format: json\n")
    with Agent("--config", config) as agent:
        lines = [json.loads(line) for line in agent.log().splitlines()]
        assert {"level": "info", "message": "spotter agent: ready"}.items() <= lines[-1].items()
        assert all(set(line) == {"time", "level", "message"} for line in lines)


def test_what_cannot_be_reloaded_is_named(tmp_path):
    config = tmp_path / "agent.yaml"
    config.write_text("per_core: false\nlog_level: info\n")
    with Agent("--config", config) as agent:
        def told_after(text, words):
            config.write_text(text)
            agent.process.send_signal(signal.SIGHUP)
            return agent_module.until(lambda: [line for line in agent.log().splitlines() if words in line], 5, words)[-1]
        line = told_after("per_core: true\nlog_level: debug\ncollect: 'off'\n", "waiting for a restart")
        assert line.endswith(": collect, per_core")
        assert "there is no key" in told_after("per_cor: true\n", "the configuration stays as it was")

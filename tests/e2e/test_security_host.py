"""What another user of the same host may try: to be taken for somebody, to have a name first, to take all there is."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

import pytest

import client
from agent import Agent, clean_environment, program, run, until
from remote import OWNER, STRANGER, Poller, RemoteAgent, as_user, in_child

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")

BUDGET_MB = 64  # of unfinished requests, of all connections


@pytest.fixture(name="everybodys")
def program_for_everybody(tmp_path_factory):
    """The program where other users may run it."""
    folder = pathlib.Path(f"/tmp/sp-program-{os.getpid()}")
    folder.mkdir(mode=0o755, exist_ok=True)
    shutil.copy(program(), folder / "spotter")
    yield folder / "spotter"
    shutil.rmtree(folder)


def run_as(uid, *words, timeout=20, **environment):
    kept = {name: value for name, value in clean_environment().items() if name not in ("HOME", "XDG_RUNTIME_DIR")}
    return subprocess.run([*map(str, words)], user=uid, group=uid, extra_groups=[], env=kept | environment, cwd="/",
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False)


# Folders.

@pytest.mark.parametrize(("mode", "owner", "why"), [
    (0o777, 0, "others may write there (mode 777)"), (0o775, 0, "others may write there (mode 775)"),
    (0o755, STRANGER, f"it belongs to user {STRANGER}"), (0o1777, STRANGER, f"it belongs to user {STRANGER}")])
@pytest.mark.parametrize("which", ["--ipc-dir", "--api-socket"])
def test_a_folder_in_which_others_can_swap_names_is_refused(tmp_path, which, mode, owner, why):
    unsafe = tmp_path / "unsafe"
    unsafe.mkdir()
    unsafe.chmod(mode)
    os.chown(unsafe, owner, owner)
    places = {"--ipc-dir": tmp_path, "--api-socket": tmp_path / "api.sock"}
    places[which] = unsafe if which == "--ipc-dir" else unsafe / "api.sock"
    words = [word for pair in places.items() for word in pair]
    done = run("agent", *words, "--rpc-port", "off", "--collect", "off", "--history", "off")
    assert done.returncode == 1
    assert f"the directory {unsafe} is not safe: {why}" in done.stderr
    assert list(unsafe.iterdir()) == [], "nothing is made there"


def test_a_link_in_the_place_of_the_socket_keeps_the_mode_of_what_it_names(tmp_path):
    """Somebody swaps the socket for a link as fast as he can; where he could, the agent does not start."""
    victim = tmp_path / "victim"
    victim.touch(mode=0o600)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    swapper = subprocess.Popen(
        ["python3", "-c", f"""
import os
while True:
    try:
        os.unlink('{shared}/dynolog'); os.symlink('{victim}', '{shared}/dynolog')
    except OSError:
        pass
"""], user=STRANGER, group=STRANGER, extra_groups=[])
    try:
        for _ in range(20):
            done = run("agent", "--ipc-dir", shared, "--api-socket", tmp_path / "api.sock", "--rpc-port", "off", "--collect",
                       "off", "--history", "off")
            assert done.returncode == 1 and "is not safe" in done.stderr
            assert victim.stat().st_mode & 0o777 == 0o600
    finally:
        swapper.kill()
        swapper.wait()


# Names that somebody else had first.

@contextlib.contextmanager
def squatted(uid, by):
    """The folder of that user's own agent, with somebody else's listener."""
    folder = pathlib.Path(f"/tmp/spotter-{uid}")
    if folder.exists() or pathlib.Path("/run/spotter/agent.sock").exists():
        pytest.skip("an agent of this machine is there")
    folder.mkdir()
    os.chown(folder, by, by)
    folder.chmod(0o777)

    def listen(s):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(folder / "agent.sock"))
            (folder / "agent.sock").chmod(0o666)
            listener.listen()
            s.sendall(b"!")
            s.recv(1)
    pid, control = in_child(by, listen)
    try:
        assert control.recv(1) == b"!"
        yield folder
    finally:
        control.close()
        os.waitpid(pid, 0)
        shutil.rmtree(folder)


def test_a_squatted_socket_is_not_taken_for_the_agent(everybodys):
    with squatted(OWNER, STRANGER):
        for words in (["status"], ["ps"], ["trace", "--duration", "100ms"]):
            done = run_as(OWNER, everybodys, *words)
            assert done.returncode == 1, done
            assert f"user {STRANGER} listens there, who is neither root nor you" in done.stderr


def test_an_agent_does_not_begin_in_a_squatted_folder(everybodys):
    with squatted(OWNER, STRANGER) as folder:
        done = run_as(OWNER, everybodys, "agent", "--rpc-port", "off", "--collect", "off", "--history", "off")
        assert done.returncode == 1, done
        assert f"the directory {folder} is not safe: it belongs to user {STRANGER}" in done.stderr


def test_a_planted_link_is_not_written_through(tmp_path):
    shared, victim = tmp_path / "shared", tmp_path / "victim"
    victim.write_text("precious")
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "r.json").symlink_to(victim)
    os.chown(shared / "r.json", STRANGER, STRANGER, follow_symlinks=False)
    trace = pathlib.Path(__file__).parents[1] / "fixtures/traces/gpu_training/rank0.json.gz"
    for words in (["analyze", trace], ["diff", trace, trace], ["export", trace]):
        done = run(*words, "-o", shared / "r.json")
        assert done.returncode == 1 and f"is a link that user {STRANGER} put into a directory" in done.stderr, done
    assert victim.read_text() == "precious"
    assert (shared / "r.json").is_symlink()


# User namespaces.

def has_user_namespaces():
    return subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_user_namespaces(), reason="this machine makes no user namespaces")
def test_users_who_are_not_mapped_are_nobody():
    """To an agent in a user namespace that maps root alone two users look like one."""
    with RemoteAgent(before=("unshare", "--user", "--map-root-user")) as agent, Poller(agent, OWNER) as poller:
        assert agent.processes()[0]["uid"] == 65534
        body = {"pids": [poller.pid], "output": str(agent.out_dir), "duration_ms": 50}
        for uid in (STRANGER, OWNER):
            for words in (("POST", "/v1/captures", body), ("GET", "/v1/processes"), ("GET", "/v1/status")):
                status, document = as_user(uid, lambda words=words: agent.api(*words))
                assert status == 401, document
                assert "whom this user namespace does not map" in document["error"]["message"]
        assert poller.poll() == ""


# Shares.

@pytest.fixture(name="shared")
def agent_for_all():
    with RemoteAgent() as agent:
        yield agent


def test_refusals_of_one_do_not_hide_those_of_others(shared):
    with Poller(shared, OWNER) as poller:
        body = {"pids": [poller.pid], "output": str(shared.out_dir), "duration_ms": 50}

        def ask_often():
            return [shared.api("POST", "/v1/captures", body)[0] for _ in range(300)]
        assert set(as_user(STRANGER, ask_often)) == {403}
        assert as_user(STRANGER + 1, lambda: shared.api("POST", "/v1/captures", body)[0]) == 403
        shared.wait_for_line(f"audit: user {STRANGER + 1} ", "refused")
        of_stranger = [line for line in shared.log().splitlines() if f"audit: user {STRANGER} " in line]
        assert len(of_stranger) <= 3, of_stranger
        line = until(lambda: re.search(rf"audit: user {STRANGER}: (\d+) more refusals", shared.log()), 12, "how many there were")
        assert int(line[1]) + len(of_stranger) == 300


def test_one_user_does_not_push_out_the_captures_of_another(shared):
    with Poller(shared, OWNER) as mine, Poller(shared, STRANGER) as theirs:
        def capture(poller):
            body = {"pids": [poller.pid], "output": str(shared.out_dir), "duration_ms": 50}
            status, document = shared.api("POST", "/v1/captures", body)
            assert status == 200, document
            assert shared.api("DELETE", f"/v1/captures/{document['capture']}")[0] == 200
            return document["capture"]
        kept = as_user(OWNER, lambda: capture(mine))
        as_user(STRANGER, lambda: [capture(theirs) for _ in range(600)][-1])
        assert shared.api("GET", f"/v1/captures/{kept}")[0] == 200


# Memory.

def test_half_sent_requests_have_one_budget():
    """512 connections with all but the last byte of a body of 1 MiB."""
    with Agent() as agent, contextlib.ExitStack() as stack:
        agent.assert_well()
        before, most = agent.resident_mb(), 0
        body = bytes((1 << 20) - 1)
        head = f"POST /v1/captures HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {1 << 20}\r\n\r\n"
        for n in range(500):
            s = stack.enter_context(agent.api_stream() if n % 2 else agent.rpc_stream())
            with contextlib.suppress(OSError):
                s.sendall(head.encode() + body if n % 2 else struct.pack("<i", 1 << 20) + body)
            if n % 50 == 49:
                most = max(most, agent.resident_mb())
                assert agent.api("GET", "/v1/status")[0] == 200, "a small request is answered beside them"
        if not os.environ.get("SPOTTER_SANITIZED"):  # the address sanitizer keeps what was freed
            assert most - before < 2 * BUDGET_MB, f"{most - before:.0f} MB"


def test_contexts_that_somebody_makes_up_cost_nothing():
    with Agent() as agent, agent.unharmed(), agent.client() as attacker:
        end = time.monotonic() + 3
        sent = 0
        while time.monotonic() < end:
            for _ in range(100):
                sent += attacker.send(client.registration(sent % 64, sent, sent // 64))
            while attacker.receive() is not None:
                pass
        assert sent > 1000
        # The kernel knows who it is: of a job that is new it is the only process.
        attacker.send(client.registration(0, 1, 1 << 40))
        attacker.send(client.registration(0, 2, 1 << 40))
        counts = [struct.unpack("<i", client.body_of(attacker.receive_within(2)))[0] for _ in range(2)]
        assert counts == [1, 1]

"""Files of finished captures that change while their host's agent analyses them, and what the process that reads them is:
its user's and no more. What cannot be done without being root is left out where one is not."""

import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import signal
import socket
import stat
import threading
import time

import pytest

import agent as agent_module
import client
from agent import Agent, clean_environment
from analyses import LARGE, REPORT, ask, rows_of, stuck_ones, written
from remote import OWNER, STRANGER

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")
SECRET = "secret_of_root"


@contextlib.contextmanager
def spawned_as(agent, uid, *words, **variables):
    """A simulated client that is that user's. It reads its own source before, which he may not."""
    script = agent.folder / "as_user.py"
    script.write_text(f"import os, sys\nsys.path.insert(0, {str(pathlib.Path(client.__file__).parent)!r})\nimport client\n"
                      f"os.setgroups([]); os.setgid({uid}); os.setuid({uid})\nclient.main()\n")
    for name in (agent.out_dir, agent.ipc_dir):
        name.chmod(0o1777)
    agent.folder.chmod(0o755)
    with client.ClientProcess(str(agent.ipc_dir), *words, script=script, environment=clean_environment(**variables)) as one:
        one.wait_for("bound")
        yield one


def test_a_file_that_changes_while_it_is_read(agent):
    """It grows, is cut, is replaced and taken away under an analysis that has it open."""
    with agent.spawn(*LARGE) as one:
        capture, (receipt,) = written(agent, one)
        path = pathlib.Path(receipt["file"])
        whole = path.read_bytes()

        def changed(change):
            stuck, = stuck_ones(agent, capture, 1)
            change()
            os.kill(stuck.pid, signal.SIGCONT)
            status, document = stuck.end()
            assert status == 200, document
            file, = document["files"]
            assert "error" in file or rows_of(document, file, "summary")
            path.unlink(missing_ok=True)
            path.write_bytes(whole)
            return file

        def grow():
            with path.open("ab") as to:
                to.write(b" " * (64 << 20))

        def replace():
            (path.parent / "other").write_bytes(b'{"traceEvents":[{"ph":"X","name":"%s"}]}' % SECRET.encode())
            os.replace(path.parent / "other", path)

        grown = changed(grow)
        assert "error" not in grown
        changed(lambda: os.truncate(path, len(whole) // 2))
        changed(lambda: os.truncate(path, 0))
        for change in (replace, path.unlink):
            assert SECRET not in json.dumps(changed(change))
        assert ask(agent, capture)[0] == 200
        agent.assert_well()


def things_in_its_place(path):
    """What is no file of the process's user: name -> (what makes it, what else has to go afterwards)."""
    def listener():
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(path))
    return {"folder": path.mkdir, "socket": listener, "pipe": lambda: os.mkfifo(path),
            "link to a device": lambda: path.symlink_to("/dev/zero"), "link to itself": lambda: path.symlink_to(path.name),
            "link": lambda: path.symlink_to("/etc/passwd"),
            "device": lambda: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5)),
            "disk": lambda: os.mknod(path, stat.S_IFBLK | 0o666, os.makedev(7, 99))}


def test_other_things_in_the_place_of_a_file(agent):
    with agent.spawn() as one:
        capture, (receipt,) = written(agent, one)
        path = pathlib.Path(receipt["file"])
        path.unlink()
        for name, make in things_in_its_place(path).items():
            try:
                make()
            except PermissionError:
                continue  # devices are not everybody's to make
            start = time.monotonic()
            status, document = ask(agent, capture)
            assert status == 403, (name, document)
            assert time.monotonic() - start < 2, name
            path.rmdir() if path.is_dir() else path.unlink()
        agent.assert_well()


def test_a_lease_on_a_file_holds_nobody_up(agent):
    """Who has leased his file for writing is asked to give it back before another may open it, and has 45 s for that."""
    with agent.spawn() as one:
        capture, (receipt,) = written(agent, one)
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        with open(receipt["file"], "r+b") as leased:
            fcntl.fcntl(leased, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            start = time.monotonic()
            status, document = ask(agent, capture)
            assert status == 500 and "temporarily unavailable" in document["error"]["message"], document
            agent.assert_well()
            assert time.monotonic() - start < 5
        assert ask(agent, capture)[0] == 200


@only_root
def test_a_file_that_is_swapped_for_what_its_user_may_not_read(tmp_path):
    """As fast as he can, by links and by hard links to the other file, and by the folder that it is in."""
    with Agent() as agent, spawned_as(agent, OWNER) as one:
        agent.out_dir.chmod(0o777)
        folder = agent.out_dir / "own"
        folder.mkdir()
        os.chown(folder, OWNER, OWNER)
        agent.wait_for_processes([one.pid])
        capture = agent.capture(pids=[one.pid], duration_ms=50, output=str(folder))
        row, = agent.wait_for_receipts(capture)
        assert row["state"] == "written", row
        size = row["size_bytes"]
        secret = f'{{"traceEvents":[{{"ph":"X","cat":"cpu_op","name":"{SECRET}","pid":1,"tid":1,"ts":1,"dur":2}}]}}'.ljust(size)
        hidden = agent.folder / "hidden"
        hidden.mkdir(mode=0o700)
        name = pathlib.Path(row["file"]).name
        for where in (hidden / name, folder / ".hard"):
            where.write_text(secret)
            where.chmod(0o600)
        (folder / ".link").symlink_to(hidden / name)
        (agent.out_dir / "way").symlink_to(hidden)
        over = threading.Event()

        def swap():
            libc = ctypes.CDLL(None)
            exchanged = [(folder / name, folder / ".link"), (folder / name, folder / ".hard"), (folder, agent.out_dir / "way")]
            while not over.is_set():
                for one, other in exchanged:
                    for _ in range(2):
                        libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2)
        swapper = threading.Thread(target=swap)
        swapper.start()
        try:
            statuses = set()
            for _ in range(60):
                status, document = ask(agent, capture)
                statuses.add(status)
                assert SECRET not in json.dumps(document)
        finally:
            over.set()
            swapper.join()
        assert statuses <= {200, 403, 404} and 403 in statuses, statuses
        agent.assert_well()


EVENT = b'{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":2'
DEEP = 200_000


def skippable(size):
    return b"\x50\x2a\x4d\x18" + (size - 8).to_bytes(4, "little") + bytes(size - 8)


def blanks_of_2_gib_windows():
    """512 MiB of text in 16 kB, and 2 GiB of memory asked for."""
    def block(kind, size, data):
        return (size << 3 | kind << 1).to_bytes(3, "little") + data
    text = b'{"traceEvents":[' + EVENT + b"}"
    return (b"\x28\xb5\x2f\xfd" + bytes([0, (31 - 10) << 3]) + block(0, len(text), text) + block(1, 128 << 10, b" ") * 4096
            + (2 << 3 | 1).to_bytes(3, "little") + b"]}")


CONTENTS = {
    "arrays": b'{"traceEvents":[' + b"[" * DEEP,
    "deep argument": b'{"traceEvents":[' + EVENT + b',"args":{"a":' + b"[" * DEEP + b"]" * DEEP + b"}}]}",
    "deep objects": b'{"traceEvents":[' + EVENT + b',"args":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}]}",
    "deep metadata": b'{"distributedInfo":' + b"[" * DEEP + b"]" * DEEP + b',"traceEvents":[' + EVENT + b"}]}",
    "zeros": b"",
    "a bomb": blanks_of_2_gib_windows(),
    "names": b'{"traceEvents":[' + b",".join(EVENT.replace(b"mm", b"\x1b]0;\x07%d" % n) + b"}" for n in range(20_000)) + b"]}",
}


def test_what_a_process_may_write(agent):
    """Each instead of the trace that was told of, with as many bytes."""
    with agent.spawn(*LARGE) as one:
        capture, (receipt,) = written(agent, one)
        path, size = pathlib.Path(receipt["file"]), receipt["size_bytes"]
        with agent.unharmed():
            for name, contents in CONTENTS.items():
                rest = size - len(contents)
                assert rest > 8, name
                path.write_bytes(contents + (skippable(rest) if name == "a bomb" else b" " * rest if contents else bytes(rest)))
                status, document = ask(agent, capture, timeout=60)
                assert status == 200, (name, document)
                file, = document["files"]
                assert "error" in file or rows_of(document, file, "summary"), (name, file)
                assert "\x1b" not in file.get("error", {}).get("message", ""), file


# What root's agent has, and none of it may be the reader's.
BURDEN = ("setpriv", "--groups", "0,4,27", "--inh-caps", "+chown", "--ambient-caps", "+chown",
          "env", "SPOTTER_SECRET=1", "LD_DEBUG=libs", "LD_LIBRARY_PATH=/nowhere", "GLIBC_TUNABLES=glibc.malloc.check=3",
          "sh", "-c", "exec 9</etc/shadow; umask 0; trap '' CHLD HUP USR1 TERM; exec \"$@\"", "sh")


@only_root
def test_the_reader_of_a_users_files_is_that_user_and_no_more():
    with Agent(before=BURDEN) as agent, spawned_as(agent, OWNER, *LARGE) as one:
        capture, (receipt,) = written(agent, one)
        assert os.stat(receipt["file"]).st_uid == OWNER
        assert any(os.readlink(fd) == "/etc/shadow" for fd in pathlib.Path(f"/proc/{agent.pid}/fd").iterdir())
        stuck, = stuck_ones(agent, capture, 1)
        proc = pathlib.Path(f"/proc/{stuck.pid}")
        try:
            status = dict(line.split(":\t", 1) for line in (proc / "status").read_text().splitlines() if ":\t" in line)
            assert status["Uid"].split() == [str(OWNER)] * 4
            assert status["Gid"].split() == ["65534"] * 4 and status["Groups"].strip() == ""
            assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
            assert status["NoNewPrivs"] == "1"
            ignored = int(status["SigIgn"], 16)
            assert {s.name for s in signal.Signals if ignored >> (s - 1) & 1} <= {"SIGPIPE"}  # its own choice
            assert int(status["SigBlk"], 16) == 0
            assert (proc / "environ").read_bytes() == b""
            assert "/etc/shadow" not in {os.readlink(fd) for fd in (proc / "fd").iterdir()}
            fields = (proc / "stat").read_text().rpartition(")")[2].split()
            session, nice = int(fields[3]), int(fields[16])
            assert (session, nice) == (stuck.pid, 19)
            assert (proc / "oom_score_adj").read_text() == "1000\n"
            limits = {line[:26].strip(): line[26:].split() for line in (proc / "limits").read_text().splitlines()}
            assert limits["Max core file size"][:2] == ["0", "0"]
            assert limits["Max open files"][:2] == ["20", "20"]
        finally:
            os.kill(stuck.pid, signal.SIGKILL)
            status, document = stuck.end()
        assert status == 500 and "signal 9" in document["error"]["message"], document


@only_root
def test_users_cannot_be_mixed():
    """Of a capture of two users' processes no reader has the files of both."""
    with Agent() as agent, spawned_as(agent, OWNER) as mine, spawned_as(agent, STRANGER) as theirs:
        capture, rows = written(agent, mine, theirs)
        assert {os.stat(row["file"]).st_uid for row in rows} == {OWNER, STRANGER}
        status, document = ask(agent, capture)
        assert status == 403 and "not all one user's" in document["error"]["message"], document


def test_askers_who_leave(agent):
    """Many askers at once, most of whom leave: places come back, and nothing is left of the readers."""
    with agent.spawn(*LARGE) as one:
        capture, _ = written(agent, one)
        body = json.dumps(REPORT).encode()
        request = (f"POST /v1/captures/{capture}/analyze HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        with agent.unharmed():
            for n in range(30):
                with agent.api_stream() as s:
                    s.sendall(request)
                    if n % 3 == 0:
                        s.recv(1)
            agent_module.until(lambda: ask(agent, capture)[0] == 200, 20, "there is a place again")

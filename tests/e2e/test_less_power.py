"""The agent as packaging/spotter.service runs it: not root, with three capabilities; root's helper reads other users' traces."""

import array
import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import pytest

import agent as agent_module
from agent import Agent, clean_environment, program, run, tables, until
from analyses import LARGE, ask, children, lives, rows_of, written
from remote import OWNER, STRANGER
from test_attacks_captures import spawned_as

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")

SERVICE = pwd.getpwnam("daemon")  # stands for the user spotter
UNIT = (agent_module.ROOT / "packaging" / "spotter.service").read_text()
CAPABILITIES = re.search(r"^AmbientCapabilities=(.*)$", UNIT, re.MULTILINE)[1].split()


def with_little_power():
    named = ",".join(["-all", *("+" + name.removeprefix("CAP_").lower() for name in CAPABILITIES)])
    return ("setpriv", "--reuid", str(SERVICE.pw_uid), "--regid", str(SERVICE.pw_gid), "--clear-groups", "--bounding-set", named,
            "--inh-caps", named, "--ambient-caps", named, "--no-new-privs")


class Helper:
    """What systemd does by spotter-helper.socket: a helper for each connection, which is its standard input."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.bind(str(path))
        os.chown(path, SERVICE.pw_uid, 0)
        os.chmod(path, 0o600)
        self.socket.listen()
        self.started = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                with connection:
                    self.started.append(subprocess.Popen(
                        [str(program()), "helper", "--for", SERVICE.pw_name], stdin=connection, stdout=subprocess.DEVNULL,
                        stderr=subprocess.PIPE, text=True, env=clean_environment()))

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        for one in self.started:
            if one.poll() is None:
                one.kill()
            one.communicate(timeout=10)


@contextlib.contextmanager
def service(*arguments, config="", has_helper=True):
    """An agent without root's rights, and the helper."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="se-", dir="/tmp"))
    helper = None
    try:
        os.chown(folder, SERVICE.pw_uid, SERVICE.pw_gid)
        folder.chmod(0o755)
        for name, mode in (("ipc", 0o1777), ("out", 0o1777)):
            (folder / name).mkdir()
            os.chown(folder / name, SERVICE.pw_uid, SERVICE.pw_gid)
            (folder / name).chmod(mode)
        # Below a folder that is root's, as /run is.
        place = folder.parent / (folder.name + ".helper")
        helper = Helper(place)
        (folder / "agent.yaml").write_text(f"helper: {place if has_helper else 'off'}\n{config}")
        before = ("env", f"RUNTIME_DIRECTORY={folder}", f"STATE_DIRECTORY={folder}", *with_little_power())
        with Agent("--config", folder / "agent.yaml", *arguments, folder=folder, before=before) as agent:
            agent.helper = helper
            yield agent
    finally:
        if helper:
            helper.close()
            helper.path.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def status_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def test_it_is_not_root_and_has_what_the_unit_names():
    with service() as agent:
        status = status_of(agent.pid)
        assert status["Uid"].split() == [str(SERVICE.pw_uid)] * 4
        numbers = {"CAP_DAC_READ_SEARCH": 2, "CAP_SYS_PTRACE": 19, "CAP_PERFMON": 38}
        assert set(CAPABILITIES) == set(numbers)
        assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == sum(1 << n for n in numbers.values())


def test_traces_of_others_are_read_as_they():
    with service() as agent, spawned_as(agent, OWNER, *LARGE) as one, spawned_as(agent, STRANGER) as other:
        capture, (receipt,) = written(agent, one)
        os.chmod(receipt["file"], 0o600)
        status, document = ask(agent, capture)
        assert status == 200, document
        file, = document["files"]
        assert rows_of(document, file, "summary"), file
        of_other, _ = written(agent, other)
        assert ask(agent, of_other)[0] == 200
        assert [one.wait(10) for one in agent.helper.started] == [0, 0]


def readers(uid):
    """Processes of this user that read traces."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if path.stat().st_uid == uid and (path / "cmdline").read_bytes().split(b"\0")[1:2] == [b"analyze-part"]:
                found.append(int(path.name))
    return found


def stopped_reader(agent, capture):
    """One that was stopped while it reads, and the thread that asked for it."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask(agent, capture)))
    thread.start()
    found = until(lambda: readers(OWNER), 10, "the reader runs", every=0)
    os.kill(found[0], signal.SIGSTOP)
    if not lives(found[0]):
        thread.join(10)
        pytest.skip("the analysis was done before it could be stopped")
    return found[0], thread, answers


def test_the_reader_has_no_power_and_ends_with_who_asked():
    with service() as agent, spawned_as(agent, OWNER, *LARGE) as one:
        capture, _ = written(agent, one)
        pid, thread, answers = stopped_reader(agent, capture)
        status = status_of(pid)
        assert status["Uid"].split() == [str(OWNER)] * 4 and status["Gid"].split() == ["65534"] * 4
        assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
        asker, = children(agent.pid)
        asking = status_of(asker)
        assert asking["Uid"].split() == [str(SERVICE.pw_uid)] * 4
        assert {int(asking[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
        os.kill(asker, signal.SIGKILL)
        until(lambda: not lives(pid), 10, "the reader has ended with who asked for it")
        thread.join(10)
        (status, document), = answers
        assert status == 500 and "signal 9" in document["error"]["message"], document
        agent.assert_well()


def test_the_readers_end_is_told():
    """A reader that fails, and one that a signal ends."""
    with service() as agent, spawned_as(agent, OWNER, *LARGE) as one:
        capture, _ = written(agent, one)
        pid, thread, answers = stopped_reader(agent, capture)
        os.kill(pid, signal.SIGSEGV)
        os.kill(pid, signal.SIGCONT)
        thread.join(10)
        (status, document), = answers
        assert status == 500 and "signal 11" in document["error"]["message"], document
        status, document = ask(agent, capture, {"analyses": ["nonsense"]})
        assert status == 400, document


def test_without_a_helper():
    with service(has_helper=False) as agent, spawned_as(agent, OWNER) as one:
        capture, _ = written(agent, one)
        status, document = ask(agent, capture)
        assert status == 403 and "has no helper" in document["error"]["message"], document
    with service() as agent, spawned_as(agent, OWNER) as one:
        capture, _ = written(agent, one)
        agent.helper.path.rename(agent.helper.path.with_suffix(".away"))
        status, document = ask(agent, capture)
        assert status == 500 and "nobody answers at" in document["error"]["message"], document
        agent.helper.path.with_suffix(".away").rename(agent.helper.path)


def test_a_helper_that_is_not_roots_gets_no_files():
    with service() as agent, spawned_as(agent, OWNER) as one:
        capture, _ = written(agent, one)
        agent.helper.path.rename(agent.helper.path.with_suffix(".away"))
        code = ("import os,socket,sys; s=socket.socket(socket.AF_UNIX,socket.SOCK_SEQPACKET); s.bind(sys.argv[1]);"
                "os.chmod(sys.argv[1], 0o777); s.listen(); print('ready', flush=True); print(s.accept()[0].recv(1))")
        place = agent.helper.path
        squatter = subprocess.Popen(["setpriv", "--reuid", str(OWNER), "--clear-groups", sys.executable, "-c", code, str(place)],
                                    stdout=subprocess.PIPE, text=True)
        try:
            assert squatter.stdout.readline() == "ready\n"
            status, document = ask(agent, capture)
            assert status == 500 and "who is not root" in document["error"]["message"], document
            assert squatter.stdout.readline() == "b''\n"
        finally:
            squatter.kill()
            squatter.wait()
            place.unlink(missing_ok=True)
            place.with_suffix(".away").rename(place)


JOB = "4713"


# What only some may know comes out the same: GPUs, disks and processors do anyway.
def samples(agent):
    status, document = agent.api("GET", "/v1/metrics")
    assert status == 200, document
    return {name: rows for name, rows in tables(document).items() if rows}


def known(rows):
    return {column for row in rows for column, value in row.items() if value is not None}


def has_it(rows):
    """Whether it is not of jobs of other tests alone, which come and go."""
    return any(row.get("job", JOB) in (JOB, None) for row in rows)


def test_it_measures_what_root_measures():
    """Each table, each column, and what only root or its user may know of a process."""
    def measured(agent):
        # Of a job, so that all tables of jobs are there without those of other tests.
        with spawned_as(agent, OWNER, SLURM_JOB_ID=JOB) as one:
            agent.wait_for_processes([one.pid])
            def with_process():
                found = samples(agent)
                rows = [row for row in found.get("process", []) if row["pid"] == one.pid]
                return (found, rows[0]) if rows else None
            return until(with_process, 30, "the process is measured")

    with service("--collect", "all") as agent:
        found, process = measured(agent)
        log = agent.log()
    with Agent("--collect", "all") as root:
        by_root, process_by_root = measured(root)
    # `incidents` has rows from the first one on, which may be of another test's job.
    assert {n for n, rows in by_root.items() if n not in found and has_it(rows)} <= {"gpu_event", "job_label", "incidents"}
    of_jobs = {"process", "job", "job_allocation", "job_label", "job_log", "step", "cgroup"}  # other tests have some, too
    for name, rows in by_root.items():
        if name in found and name not in of_jobs:
            assert known(rows) <= known(found[name]), name
    assert process["read_bytes"] is not None and {c for c, v in process.items() if v is None} == {
        c for c, v in process_by_root.items() if v is None}
    assert "denied" not in log and "not permitted" not in log, log


def answer_to(*packets, uid=SERVICE.pw_uid):
    """What a helper says to packets (text, files) that this user sends, and its exit status."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    place = tempfile.mktemp(prefix="se-", dir="/tmp")  # whoever connects is whom the kernel names
    listener.bind(place)
    os.chmod(place, 0o777)
    listener.listen()
    with ours, its, listener:
        ours.close()
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        os.seteuid(uid)
        try:
            client.connect(place)
        finally:
            os.seteuid(0)
            os.unlink(place)
        connection, _ = listener.accept()
        helper = subprocess.Popen([str(program()), "helper", "--for", SERVICE.pw_name], stdin=connection,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=clean_environment())
        connection.close()
        client.settimeout(20)
        with contextlib.suppress(BrokenPipeError):  # who may not ask is refused before
            for text, files in packets:
                client.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else [])
        if not packets:
            client.close()
            answer = b""
        else:
            try:
                answer = client.recv(4096)
            except ConnectionResetError:  # it is told first that not all was read
                answer = client.recv(4096)
            client.close()
        errors = helper.communicate(timeout=20)[1]
        return answer.decode(), helper.returncode, errors


def memory_file(contents):
    fd = os.memfd_create("x")
    os.write(fd, contents)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def test_what_the_helper_refuses():
    null = os.open("/dev/null", os.O_RDWR)
    trace = memory_file(b'{"traceEvents":[]}')
    os.fchown(trace, OWNER, OWNER)
    roots = memory_file(b'{"traceEvents":[]}')
    pipe, other_end = os.pipe()
    order = (memory_file(b"one\0"), memory_file(b'{"analyses":["summary"],"params":{}}'), null, null, trace)
    assert answer_to((b"analyze 12345 5", order))[:2] == ("ended 0", 0)
    os.lseek(order[1], 0, os.SEEK_SET)
    assert answer_to((b"analyze 65534 5", (*order[:4], roots)))[:2] == ("ended 0", 0)
    for packets, reason in [
            (((b"analyze 0 5", order),), "0"),  # root
            (((b"analyze -1 5", order),), "-1"),
            (((b"analyze 4294967295 5", order),), "4294967295"),
            (((b"analyze 12345 4", order[:4]),), "from 5 to 516"),
            (((b"analyze 12346 5", order),), "is user 12345's, and not user 12346's"),
            (((b"analyze 65534 5", order),), "is user 12345's, and not user 65534's"),
            (((b"analyze 12345 5", (*order[:4], roots)),), "is user 0's"),
            (((b"analyze 12345 5", (*order[:4], null)),), "no plain file"),
            (((b"analyze 12345 600", order),), "600"),
            (((b"analyze 12345 6", order), (b"more", ())), "only 5 were sent"),
            (((b"analyze 12345 5", (*order[:4], trace, trace)),), "2 files and 1 names"),
            (((b"analyze 12345 5", (pipe, *order[1:])),), "in no file"),
            (((b"analyze 12345 5", (memory_file(b"one"), *order[1:])),), "no end"),
            (((b"analyze", order),), ""),
            (((b"run /bin/sh", order),), "knows only how to analyze"),
            (((b"probe 1", ()),), "of one library"),
            (((b"probe 1", (trace, trace)),), "of one library"),
            (((b"probe 1", (null,)),), "no plain file"),
            (((b"probe 1", (trace,)),), "it ends before byte 64"),
            (((b"probe 0", (trace,)),), "0"),
            (((b"probe", (trace,)),), ""),
            (((b"x" * 5000, ()),), "more than"),
            (((b"\0\xff", ()),), "knows only how to analyze"),
    ]:
        answer, status, errors = answer_to(*packets)
        assert answer.startswith("failed ") and reason in answer and status == 1 and errors, (packets, answer, errors)
    for other in (0, OWNER):
        answer, status, errors = answer_to((b"analyze 12345 5", order), uid=other)
        assert answer.startswith("failed ") and f"user {other} asks" in answer and status == 1, answer
    assert answer_to()[1] == 1
    done = run("helper", "--for", "nobody-at-all")
    assert done.returncode == 1 and "no user" in done.stderr
    assert run("helper", "--for", "daemon").returncode == 1  # standard input is no socket
    for fd in {*order, null, roots, pipe, other_end}:
        os.close(fd)

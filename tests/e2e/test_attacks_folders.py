"""Folders that somebody made to harm who analyses what is in them. Each analysis ends in bounded time and memory, with
what is good in the folder, and what names and files say reaches a terminal as text and no more."""

import contextlib
import ctypes
import gzip
import json
import os
import re
import socket
import stat
import subprocess
import threading

import pytest

from agent import clean_environment, program
from hostile_files import EVENT, LATEST, MEMORY_MB, TRACE, Done, notes, summary
from namespaces import CLONE_NEWNS, LIBC, MS_PRIVATE, MS_REC, check, in_thread, mount

SECRET = b"root:secret"


@pytest.fixture(name="folder")
def folder_of_traces(tmp_path):
    made = tmp_path / "traces"
    made.mkdir()
    (made / "good.json").write_bytes(TRACE)
    return made


def make_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero
    except OSError:
        pass  # not every root may, and others never


def test_what_is_no_trace_in_a_folder(folder, tmp_path):
    (tmp_path / "secret").write_bytes(SECRET)
    for name, target in {"dangling": "nowhere", "loop": "loop.json", "zero": "/dev/zero", "null": "/dev/null", "up": "..",
                         "tty": "/dev/tty", "itself": "/proc/self/mem", "stdin": "/proc/self/fd/0", "secret": "../secret",
                         "capture-5": "/dev/zero", "capture-6": "../secret"}.items():
        (folder / f"{name}.json").symlink_to(target)
    for name in ("pipe.json", "capture.json", "capture-2.json.gz"):
        os.mkfifo(folder / name)
    (folder / "folder.json").mkdir()
    (folder / "capture-3.json").mkdir()
    make_device(folder / "device.json")
    make_device(folder / "capture-4.json")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(folder / "socket.json"))
    rows, done = summary(folder)
    assert rows["good.json"]["spans"] == 1
    assert SECRET not in done.everything()
    assert done.mb < MEMORY_MB


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system of the kernel")
def test_a_file_of_the_kernel_that_has_nothing_to_read_yet(folder, tmp_path):
    """It says that it is plain, and whoever reads it would wait for an event of the kernel."""
    def inside():
        check(LIBC.unshare(CLONE_NEWNS))
        mount("none", "/", None, MS_REC | MS_PRIVATE)
        tracing = tmp_path / "tracing"
        tracing.mkdir()
        mount("none", tracing, "tracefs")
        instance = tracing / f"instances/spotter-{os.getpid()}"
        instance.mkdir()
        try:
            for name in ("pipe.json", "capture-7.json"):
                (folder / name).symlink_to(instance / "trace_pipe")
            rows, _ = summary(folder)
            assert rows["good.json"]["spans"] == 1
        finally:
            instance.rmdir()

    in_thread(inside)


NAMES = [b"line\nbreak.json", b"\x1b]0;owned\x07.json", b"\x1b[2Jclear.json", b"c1\xc2\x9b31m.json", b"\xff\xfe.json",
         b"\xe2\x80\xae" b"gnp.json", b"-o.json", b"--help.json", b"*.json", b"[a-z].json", b"~root.json", b"a b'\"$(id).json",
         b"<script>.json", b"{}%s%n.json", b"n" * 250 + b".json", b"capture-\x1b[31m.json", b"capture\n.json"]
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_names_and_receipts_cannot_steer_a_terminal(folder):
    evil = "\x1b]0;owned\x07\x1b[31m\r\n\u202e\x9b"
    for n, name in enumerate(NAMES):
        event = EVENT | {"name": evil + str(n), "cat": evil}
        text = {"deviceProperties": [{"name": evil}], "traceName": evil, "hostname": evil, "traceEvents": [EVENT, event]}
        (folder / os.fsdecode(name)).write_text(json.dumps(text))
    (folder / "broken.json").write_text(evil)
    rows = [[evil, 1, 0, evil, f"/x/{evil}.json", evil], [evil, 2, 1, "failed", None, evil * 200],
            [evil, 3, 2, "written", "../../../etc/passwd", None]]
    (folder / "capture.json").write_text(receipts(rows))
    for words in (["analyze", "."], ["analyze", ".", "--table", "summary"], ["analyze", ".", "--table", "operators"],
                  ["analyze", ".", "--table", "summary", "--format", "csv"],
                  ["analyze", ".", "--table", "operators", "--format", "json"],
                  ["analyze", evil + ".json"], ["diff", ".", "."], ["analyze", evil + "*.json"],
                  ["analyze", *[os.fsdecode(b"./" + name) for name in NAMES]]):
        done = Done(*words, cwd=folder)
        # Of a table for programs the notes alone are for people.
        shown = done.err if "--format" in words else done.everything()
        steering = STEERING.search(shown.decode())
        assert not steering, (words, shown.decode()[max(0, steering.start() - 200):steering.end() + 50])


COLUMNS = ["host", "pid", "rank", "state", "file", "reason"]


def receipts(rows, columns=COLUMNS):
    """What `spotter trace` leaves beside traces."""
    return json.dumps({"tables": [{"name": "receipts", "columns": [{"name": c} for c in columns], "rows": rows}]})


def row(file="good.json", **cells):
    return [{"host": "h", "pid": 1, "rank": 5, "state": "written", "file": f"/elsewhere/{file}", "reason": None}.get(c)
            if c not in cells else cells[c] for c in COLUMNS]


DEEP = 200_000
# Text of capture.json: whether it can be used.
RECEIPTS = {
    "arrays": (b'{"tables":' + b"[" * DEEP, False),
    "closed arrays": (b'{"tables":' + b"[" * DEEP + b"]" * DEEP + b"}", False),
    "objects": (b'{"tables":[' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"]}", False),
    "deep cell": (receipts([row(host=[1])]).replace("[1]", "[" * DEEP + "]" * DEEP).encode(), True),
    "deep columns": (b'{"tables":[{"name":"receipts","columns":' + b"[" * DEEP + b"]" * DEEP + b"}]}", False),
    "many rows": (receipts([row()] * 200_000).encode(), True),
    "too many rows": (receipts([[]] * 1_000_002).encode(), False),
    "a million columns": (receipts([row()], COLUMNS + ["x"] * 1_000_000).encode(), True),
    "wide row": (receipts([row() + [0] * 1_000_000]).encode(), True),
    "no rows": (receipts([]).encode(), True),
    "rows of rows": (receipts([[row()]]).encode(), True),
    "numbers": (receipts([row(rank=n, pid=n) for n in (-1, 2**63, 2**64, 1e308, 0.5, True, "5", None)]).encode(), True),
    "other files": (receipts([row(file=f) for f in ("../../../etc/passwd", "good.json/../x", "", ".", "..", "/", "good.json\0",
                                                    "x" * 100_000)]).encode(), True),
    "bad UTF-8": (receipts([row(host="@")]).encode().replace(b"@", b"\xff\xc0\x80"), True),
    "long texts": (receipts([row(state=w, host=w, reason="x" + w) for w in ("\xe4" * 100_000, "x" * 1_000_000)]).encode(), True),
    "cut": (receipts([row()]).encode()[:-5], False),
    "two of everything": (receipts([row()]).encode() * 2, True),
    "100 MB of blanks": (gzip.compress(b'{"tables":' + b" " * (100 << 20), 1), False),
    "damaged gzip": (gzip.compress(receipts([row()]).encode())[:-9], False),
}


@pytest.mark.parametrize("text, is_good", RECEIPTS.values(), ids=RECEIPTS.keys())
def test_receipts(folder, text, is_good):
    (folder / ("capture.json.gz" if text.startswith(b"\x1f\x8b") else "capture.json")).write_bytes(text)
    rows, done = summary(folder)
    assert rows["good.json"]["spans"] == 1
    assert len(done.everything()) < 100_000, "what others wrote is told in short"
    assert ("receipts_left_out" in notes(done)) == (not is_good), json.loads(done.out)["notes"]


def test_many_names_of_one_file(folder):
    """It is read once, whatever it is called; of receipts there are only so many."""
    (folder / "capture.json").write_text(receipts([row(host="x" * 1000, state="failed")] * 10))
    for n in range(20_000):
        os.link(folder / "good.json", folder / f"n{n}.json")
        os.link(folder / "capture.json", folder / f"capture-{n}.json")
    rows, done = summary(folder)
    assert len(rows) == 1 and notes(done)["receipts_too_many"] == 1
    assert len(done.everything()) < 100_000


def test_many_receipts(folder):
    """Each with a sentence of its own."""
    for n in range(5_000):
        (folder / f"capture-{n}.json").write_text(receipts([row(host=f"host{n}", state="failed", reason=f"because {n}")]))
    rows, done = summary(folder)
    assert len(rows) == 1
    told, = [note for note in json.loads(done.out)["notes"] if note["kind"] == "receipts_too_many"]
    assert told["sentence"].startswith("the receipts of 4000 captures")
    assert len(done.everything()) < 1_000_000


@contextlib.contextmanager
def swapped(folder, make, count=40):
    """Files that are something else each time one looks, as long as this lasts."""
    pairs = []
    for n in range(count):
        one, other = folder / f"x{n}.json", folder / f".other{n}"
        one.write_bytes(TRACE)
        make(other)
        pairs.append((os.fsencode(one), os.fsencode(other)))
    over = threading.Event()

    def swap():
        at_fdcwd, rename_exchange = -100, 2
        libc = ctypes.CDLL(None)
        while not over.is_set():
            for one, other in pairs:
                libc.renameat2(at_fdcwd, one, at_fdcwd, other, rename_exchange)
    threads = [threading.Thread(target=swap) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


SWAPS = {"pipe": os.mkfifo, "folder": os.mkdir, "device": make_device, "gone": lambda path: None,
         "endless": lambda path: path.symlink_to("/dev/zero")}


@pytest.mark.parametrize("make", SWAPS.values(), ids=SWAPS.keys())
def test_files_that_are_swapped_while_they_are_looked_at(folder, make):
    """A pipe that stands where a file was makes nobody wait, unless one asked for the pipe itself."""
    with swapped(folder, make):
        for _ in range(5):
            process = subprocess.Popen([str(program()), "analyze", ".", "--table", "summary"], cwd=folder, env=clean_environment(),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            out, err = process.communicate(timeout=LATEST)
            assert process.returncode in (0, 1), err
            assert b"good.json" in out or process.returncode, out

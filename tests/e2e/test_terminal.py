"""What is drawn over again is drawn on terminals alone, and fits them."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import pytest

from agent import Agent, clean_environment, program, tables, until

ESCAPE = "\x1b"


@contextlib.contextmanager
def on_terminal(rows, columns, *words, **environment):
    """(process, function that gives what has been drawn until now)"""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen([program(), *map(str, words)], stdin=theirs, stdout=theirs, stderr=theirs,
                               env=clean_environment(TERM="xterm", **environment))
    os.close(theirs)
    seen = bytearray()

    def drawn():
        with contextlib.suppress(OSError):  # the other end is closed
            while select.select([ours], [], [], 0)[0]:
                part = os.read(ours, 65536)
                if not part:
                    break
                seen.extend(part)
        return seen.decode(errors="replace")
    try:
        yield process, drawn
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.fixture(name="measuring", scope="module")
def measuring_agent():
    with Agent("--collect", "cpu:1s,memory:1s,process:1s,agent:1s", "--history", "off") as agent:
        time.sleep(2)
        yield agent


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("variable", ["", "300"], ids=["", "COLUMNS"])
def test_watch_fits_the_window(measuring, columns, variable):
    """Also where COLUMNS says that it is wider."""
    rows = 12
    more = {"COLUMNS": variable} if variable else {}
    with on_terminal(rows, columns, "metrics", "--watch", "--socket", measuring.api_socket, NO_COLOR="1", **more) as (_, drawn):
        frames = until(lambda: drawn().split("\x1b[H\x1b[J")[1:-1], 20, "a whole look")
    lines = frames[-1].split("\r\n")
    assert len(lines) <= rows, lines
    assert max(map(len, lines)) <= columns, lines
    assert "metric" in lines[0]


def test_watch_into_a_pipe_has_no_escapes_and_ends_with_its_reader(measuring):
    with subprocess.Popen([program(), "metrics", "--watch", "--socket", measuring.api_socket], stdout=subprocess.PIPE, text=True,
                          env=clean_environment(COLUMNS="80", TERM="xterm")) as watching:
        seen = "".join(watching.stdout.readline() for _ in range(8))
        watching.stdout.close()
        assert watching.wait(10) == 0
    assert ESCAPE not in seen and "metric" in seen


def test_watch_that_cannot_be_written_says_so(measuring):
    with open("/dev/full", "w") as full:
        done = subprocess.run([program(), "metrics", "--watch", "--socket", measuring.api_socket], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=10, check=False, env=clean_environment())
    assert done.returncode == 1 and "standard output cannot be written: No space left" in done.stderr


def test_the_progress_of_a_capture_is_drawn_on_a_terminal_alone():
    with Agent() as agent, agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        words = ["trace", "--duration", "500ms", "--warmup", "1s", "--output", agent.folder / "traces", "--socket", agent.api_socket]
        done = subprocess.run([program(), *map(str, words)], capture_output=True, text=True, timeout=30, check=False,
                              env=clean_environment(COLUMNS="80", TERM="xterm"))
        assert done.returncode == 0, done
        assert ESCAPE not in done.stdout + done.stderr
        with on_terminal(24, 30, *words, COLUMNS="200") as (process, drawn):
            until(lambda: "\x1b[" in drawn(), 20, "something is drawn again")
            process.wait(30)
            first = drawn().split("\x1b[")[0]
            first = first[first.index("1 processes:"):]
            assert max(map(len, first.split("\r\n"))) < 30, first


def words_of(text):
    """Without escapes, and with line ends as blanks."""
    return " ".join(re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", text).split())


def test_why_a_process_was_not_captured_is_read_at_80_columns():
    """Its reason and its file are whole, in the table or below its row."""
    with Agent() as agent, agent.spawn("--no-events") as empty, agent.spawn("--die") as dead, agent.spawn() as good:
        agent.wait_for_processes([empty.pid, dead.pid, good.pid])
        folder = agent.folder / ("a_folder_with_a_long_name" * 2)
        with on_terminal(40, 80, "trace", "--all", "--duration", "50ms", "--output", folder, "--socket", agent.api_socket,
                         NO_COLOR="1") as (process, drawn):
            until(lambda: drawn() and process.poll() is not None, 30, "it ends")
            text = drawn()
        receipts = tables(json.loads((folder / "capture.json").read_text()))["receipts"]
    table = text[text.index("pid"):]
    for reason, file in ((row["reason"], row["file"]) for row in receipts):
        assert not reason or reason in words_of(table), (reason, table)
        assert not file or file in table, (file, table)
    assert sum(bool(row["reason"]) for row in receipts) == 2, receipts
    paths = [row["file"] for row in receipts]
    assert max(len(line) for line in table.split("\r\n") if not any(path in line for path in paths if path)) <= 80, table

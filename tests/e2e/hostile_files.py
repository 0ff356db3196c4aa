"""What the tests of files that mean harm share: one run of the program, held to bounds, and what it told."""

import json
import os
import pathlib
import signal
import subprocess
import threading

from agent import clean_environment, program

SANITIZED = bool(os.environ.get("SPOTTER_SANITIZED"))
LATEST = 90 if SANITIZED else 30  # seconds of one analysis, whatever it is given
MEMORY_MB = 3000 if SANITIZED else 700  # of it; a text without an end is held in pieces of 64 MiB
EVENT = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
TRACE = json.dumps({"traceEvents": [EVENT]}).encode()


class Done:
    """One run of the program to its end: what it said, and how much memory it had at most."""

    def __init__(self, *words, cwd, latest=LATEST):
        out, err = (pathlib.Path(cwd).parent / name for name in ("out", "err"))
        with out.open("wb") as to, err.open("wb") as errors:
            process = subprocess.Popen([str(program()), *map(os.fsencode, words)], cwd=cwd, stdin=subprocess.DEVNULL,
                                       stdout=to, stderr=errors, env=clean_environment())
        timer = threading.Timer(latest, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        self.status = os.waitstatus_to_exitcode(status)
        self.out, self.err = out.read_bytes(), err.read_bytes()
        self.mb = usage.ru_maxrss / 1024
        assert self.status != -signal.SIGKILL, f"not over after {latest} s: {words}"
        assert self.status in (0, 1), (self.status, self.err[-2000:])
        assert self.mb < MEMORY_MB, f"{self.mb:.0f} MB: {words}"

    def everything(self):
        return self.out + self.err


def summary(folder, path="."):
    """The rows of the analysis of that name, by file, and the run that told them."""
    done = Done("analyze", path, "--table", "summary", "--format", "json", cwd=folder)
    assert done.status == 0, done.err[-2000:]
    table, = [t for t in json.loads(done.out)["tables"] if t["name"] == "summary"]
    columns = [c["name"] for c in table["columns"]]
    return {row["file"]: row for row in (dict(zip(columns, r, strict=True)) for r in table["rows"])}, done


def notes(done):
    """Of a run that told JSON: the kinds of its notes, with how often."""
    return {note["kind"]: note["count"] for note in json.loads(done.out)["notes"]}

"""Agents: what is running now, and capturing it. All of it is done by this package's program, so that Python holds no
connection."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile

from spotter import program
from spotter.errors import Error, NotFound
from spotter.tables import Field, Note, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO, Any

    from spotter.runs import Report, Results

_INCOMPLETE = (3, 4)  # some processes wrote no trace; none did: the receipts say why


def _tables_in(document: bytes) -> dict[str, Table]:
    """Of the program's JSON (docs/json.md)."""
    read = json.loads(document)
    notes = [_note(note) for note in read["notes"]]
    return {
        table["name"]: Table.of(table["name"], [_field(column) for column in table["columns"]], table["rows"], notes)
        for table in read["tables"]
    }


def _field(column: dict[str, str]) -> Field:
    return Field(column["name"], column["type"], column["unit"], column["role"], column["help"])


def _note(note: dict[str, Any]) -> Note:
    kind, severity, count, sentence = note["kind"], note["severity"], note["count"], note["sentence"]
    position = note.get("position")
    return Note(kind, severity, count, -1 if position is None else position, note.get("scope") or "", note.get("scopes", 1), sentence, "")


def _content(file: IO[bytes]) -> bytes:
    with file:
        file.seek(0)
        return file.read()


def _only(tables: dict[str, Table]) -> Table:
    return next(iter(tables.values()))


class Capture:
    """A capture that was begun. `wait()` for its receipts, then `report()` or `analyze()` what was written."""

    def __init__(self, words: list[str]) -> None:
        # Files: of a pipe that nobody reads, a program with many receipts would wait for ever.
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [program.path(), *words], stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err
        )  # fmt: skip
        self._said: tuple[bytes, bytes] | None = None

    def _finish(self, timeout: float | None) -> tuple[bytes, bytes]:
        self._process.wait(timeout)
        if self._said is None:
            self._said = _content(self._out), _content(self._err)
        return self._said

    def wait(self, timeout: float | None = None) -> Table:
        """The receipts: of each process its rank, host, state and file, and where none was written the reason.

        Raises:
            TimeoutError: after so many seconds; the capture goes on, and can be waited for again.
            Error: nothing was begun: no agent answers, or no process matches.
        """
        try:
            out, err = self._finish(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the capture is not done after {timeout} s") from None
        if self._process.returncode not in (0, *_INCOMPLETE) or not out:
            said = err.decode(errors="replace").strip().removeprefix("spotter: ")
            raise Error(said or f"the capture ended with status {self._process.returncode} and said nothing")
        return _only(_tables_in(out))

    @property
    def done(self) -> bool:
        return self._process.poll() is not None

    def cancel(self) -> None:
        """Takes the request back from all processes that have not begun."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._finish(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._finish(None)

    def files(self, timeout: float | None = None) -> list[str]:
        """The traces that were written and that this host can read.

        Raises:
            NotFound: there is none; the message has the first reason.
        """
        receipts = self.wait(timeout)
        written = [row["file"] for row in receipts if row["state"] == "written" and row["file"]]
        here = [file for file in written if os.path.exists(file)]
        if not here:
            reasons = [reason for reason in receipts["reason"] if reason] + ["they are on other hosts alone"] * bool(written)
            raise NotFound(f"no trace can be read here: {reasons[0] if reasons else 'no process wrote one'}")
        return here

    def report(self, **options: Any) -> Report:
        """`spotter.report()` of the traces that were written."""
        from spotter.runs import report

        return report(self.files(), **options)

    def analyze(self, analyses: str | Iterable[str] | None = None, **options: Any) -> Results:
        """`spotter.analyze()` of the traces that were written."""
        from spotter.runs import analyze

        return analyze(self.files(), analyses, **options)

    def __repr__(self) -> str:
        return f"<spotter.Capture: {'done' if self.done else 'under way'}>"


class Agents:
    """The agents of some hosts, or of this one."""

    def __init__(self, where: list[str]) -> None:
        self._where = where

    def _ask(self, command: str, *words: str, **options: Any) -> dict[str, Table]:
        return _tables_in(program.run([command, *words, *program.flags(options), *self._where, "--format", "json"]))

    def status(self) -> dict[str, Table]:
        """Whether each part of the agents works."""
        return self._ask("status")

    def processes(self) -> Table:
        """The PyTorch processes that can be traced, with rank, job and host."""
        return _only(self._ask("ps"))

    def metrics(
        self,
        *metrics: str,
        job: str | None = None,
        since: str | None = None,
        until: str | None = None,
        step: str | None = None,
        raw: bool = False,
    ) -> dict[str, Table]:
        """What is measured, or was: a table by kind of row (host, disk, gpu ...).

        Args:
            metrics: only those of such names: "gpu_*". None: all.
            job: only what belongs to it.
            since: from so long ago ("10m"), or from then ("2026-11-23T14:05:00Z"); None: the newest sample. Counters are then
                what they grow by a second, unless `raw`.
            until: with since. step: at most one sample in this time.
        """
        return self._ask("metrics", metric=list(metrics), job=job, since=since, until=until, step=step, raw=raw)

    def captures(self, capture: str | None = None) -> Table:
        """The captures that the agents know, or the receipts of one."""
        return _only(self._ask("captures", *([capture] if capture else [])))

    def incidents(self) -> Table:
        """What is wrong with jobs and hosts, or was in the last day: a row each, with state, cause and suspects."""
        return _only(self._ask("incidents"))

    def incident(self, incident: str) -> dict[str, Any]:
        """One of them as a record: symptom, verdict, evidence, what is not the cause, what is not known, captures.

        Raises:
            Error: no agent has it.
        """
        return self._tell(incident)

    def save_incident_report(self, incident: str, path: str | os.PathLike[str]) -> None:
        """Writes what was traced for it to `path`: the page of HTML that its agent has kept.

        Raises:
            Error: there is none; the message says why.
        """
        program.run(["incidents", f"--report={os.fspath(path)}", *self._where, "--", incident])

    def acknowledge(self, incident: str) -> dict[str, Any]:
        """Somebody has heard of it: it is told no more every four hours. Gives the record as it is now."""
        return self._tell(incident, "ack")

    def silence(self, incident: str, duration: str, reason: str) -> dict[str, Any]:
        """Nothing is told of what it is about for a time ("2h"). Gives the record as it is now."""
        return self._tell(incident, "silence", *program.flags({"for": duration, "reason": reason}))

    def resolve(self, incident: str) -> dict[str, Any]:
        """Somebody has mended what nothing else ends. Gives the record as it is now."""
        return self._tell(incident, "resolve")

    def rules_test(self, since: str = "1d", *, job: str | None = None, config: str | os.PathLike | None = None) -> Table:
        """Which rules would have fired on the samples that the agents remember, and whether people would have been told.

        Args:
            since: of so long ago ("7d").
            job: of this job alone.
            config: an agent's configuration whose rules are tried; None: those that the agents have.
        """
        return _only(self._ask("rules", "test", since=since, job=job, config=config))

    def _tell(self, incident: str, *words: str) -> dict[str, Any]:
        return json.loads(program.run(["incidents", *words, *self._where, "--format=json", "--", incident]))

    def trace(self, output: str | os.PathLike | None = None, **options: Any) -> Capture:
        """Begins a capture of unmodified PyTorch processes.

        Args:
            output: the folder of the traces; None: a new one.
            options: those of `spotter trace --help`, with _ for -: duration="1s", iterations=3, rank="0-7", job=, pid=,
                roundup=10, start_in="15s", deadline="60s", shapes=True, stacks=True, memory=True.
        """
        return Capture(["trace", *program.flags({"output": output, **options}), *self._where, "--format", "json"])


def agents(
    *hosts: str,
    socket: str | os.PathLike | None = None,
    hostfile: str | os.PathLike | None = None,
    slurm_job: str | int | None = None,
    credentials: str | os.PathLike | None = None,
) -> Agents:
    """The agents to watch and to capture with.

        live = spotter.agents("gpu[01-16]:1779")
        live.metrics("gpu_*", since="10m")["gpu"].to_pandas()
        live.trace(duration="500ms", output="/shared/run1").report()  # a folder that all hosts and this one see

    Args:
        hosts: names as `--host` takes them; none: this host's agent.
        socket: of this host's agent, if it is not the usual one.
        hostfile, slurm_job: other ways to name hosts.
        credentials: the folder of what shows other hosts who asks.
    """
    options = {"host": ",".join(hosts) or None, "socket": socket, "hostfile": hostfile, "slurm_job": slurm_job,
               "credentials": credentials}  # fmt: skip
    return Agents(program.flags(options))

"""The runs: paths in, tables out."""

from __future__ import annotations

import numbers
import operator
import os
from collections import namedtuple

from spotter import _core
from spotter.errors import Invalid
from spotter.tables import Field, Note, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, Union

    from spotter.engines import Engine

    Paths = Union[str, bytes, os.PathLike, Sequence[Union[str, bytes, os.PathLike]]]
    Ranks = Union[None, int, str, Iterable[int]]
    Steps = Union[None, int, str, range, "tuple[int, int]"]
    Progress = Union[bool, Callable[[int, int], object]]

_SENSITIVITY = 0.01  # where a function has no such parameter
_MOST_THREADS = 2**31 - 1

Param = namedtuple("Param", "name default help")
Param.__doc__ = "A parameter of an analysis: a whole number from 0 on, or a text, as its `default` is."

Analysis = namedtuple("Analysis", "name summary doc on_request params columns")
Analysis.__doc__ = """What an analysis is: `doc` defines every number of its table, with the source of each formula; `on_request`:
its table grows with the trace, and is made only for who names it; `columns` are the fields of its table."""

Section = namedtuple("Section", "name title parts sentence")
Section.__doc__ = """A part of a report: `parts` are ("points", [(text, about)]), ("table", Table) or ("notes", [Note])."""


def words_of(paths: Paths) -> list[str]:
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    return [os.fsdecode(path) for path in paths]


def lasting(path: str) -> str:
    """That names the same file later, from another folder and in another process."""
    return path if "://" in path or os.path.isabs(path) else os.path.join(os.getcwd(), path)


def open_job(paths: Paths) -> _core.Job:
    return _core.open_job([os.fsencode(path) for path in words_of(paths)])


def processors() -> int:
    """That this process may run on."""
    return len(os.sched_getaffinity(0))


def whole(value: Any, what: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number, those of numpy and pandas as well."""
    number = operator.index(value) if _is_whole(value) else least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise Invalid(f"{what}={value!r}: a whole number from {least} on is wanted" + f", at most {most}" * (number > most))
    return number


def _is_whole(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:  # arrays have an index as well, for when they are one number
        return False
    return True


def _list(values: Any, what: str, wanted: str) -> list:
    try:
        return list(values)
    except TypeError:
        raise Invalid(f"{what}={values!r}: {wanted}") from None


def _ranks(ranks: Ranks) -> str:
    if ranks is None or isinstance(ranks, str):
        return ranks or ""
    if _is_whole(ranks):
        return str(whole(ranks, "ranks"))
    ranks = _list(ranks, "ranks", "a whole number, several or a text such as '0,3-7' is wanted")
    text = ",".join(str(whole(rank, "ranks")) for rank in ranks)
    if not text:
        raise Invalid("ranks is empty: name some, or leave it out for all")
    return text


def _steps(steps: Steps) -> str:
    if steps is None or isinstance(steps, str):
        return steps or ""
    if _is_whole(steps):
        return str(whole(steps, "steps"))
    if isinstance(steps, range):
        if steps.step != 1 or not steps:
            raise Invalid(f"steps={steps}: a range without gaps is wanted, such as range(2, 6)")
        return f"{steps.start}-{steps.stop - 1}"
    wanted = "a number, (first, last), a range or a text such as '2-5' is wanted"
    ends = _list(steps, "steps", wanted)
    if len(ends) != 2:
        raise Invalid(f"steps={steps!r}: {wanted}")
    return f"{whole(ends[0], 'steps')}-{whole(ends[1], 'steps')}"


def part_of(ranks: Ranks, steps: Steps, threads: int | None, memory: int | None) -> _core.Part:
    wanted = whole(threads or processors(), "threads", 0, _MOST_THREADS), whole(memory or 0, "memory")
    return _core.Part(_ranks(ranks), _steps(steps), *wanted)


def teller(progress: Progress) -> Callable[[int, int], object]:
    """What is called some times a second while a run goes on. What it raises ends the run."""
    if callable(progress):
        return progress
    from spotter.progress import silent, shown

    return shown() if progress else silent


def analyses() -> list[Analysis]:
    """Every analysis, in the order of the report, and the findings.

    Returns:
        Records with the definition of every number, the parameters with their defaults, and the columns.
    """
    return [
        Analysis(name, summary, doc, on_request, [Param(*p) for p in params], [Field(*c) for c in columns])
        for name, summary, doc, on_request, params, columns in _core.analyses()
    ]


class Results:
    """The tables of a run, by name: `results["operators"]`."""

    def __init__(self, tables: list[Table], notes: list[Note], start: int | None, timing: list[tuple[str, int]]) -> None:
        self._tables = {table.name: table for table in tables}
        self.notes = notes
        """What is to be known of the job and of its traces."""
        self.start = start
        """When the job's first span began: Unix time in ns; None where no trace says so."""
        self.timing = timing
        """Where the time went: (phase, ns), summed over threads."""

    def __getitem__(self, name: str) -> Table:
        try:
            return self._tables[name]
        except KeyError:
            raise KeyError(f"{name}: it is not among the tables of this run: {', '.join(self._tables)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __contains__(self, name: object) -> bool:
        return name in self._tables

    def keys(self) -> Iterable[str]:
        return self._tables.keys()

    def values(self) -> Iterable[Table]:
        return self._tables.values()

    def items(self) -> Iterable[tuple[str, Table]]:
        return self._tables.items()

    def __str__(self) -> str:
        return "\n\n".join(table.to_text() for table in self.values())

    def __repr__(self) -> str:
        return f"<spotter.Results: {', '.join(self._tables)}>"

    def _repr_html_(self) -> str:
        from spotter.html import results_html

        return results_html(self)


class Report:
    """What a person is shown of a job: what stands out first, then where its time went."""

    def __init__(self, answer: _core.Answer, save: Callable[..., None]) -> None:
        self._answer = answer
        self._save = save
        headline, sections = answer.report()
        self.headline: list[str] = headline
        """What was traced, in a few words each."""
        self.sections = [
            Section(name, title, [_part(*part) for part in parts], sentence) for name, title, parts, sentence in sections
        ]
        findings = answer.findings(False)
        assert findings is not None  # they were asked for
        self.findings = Table(findings)
        """Faults, opportunities and caveats with what they cost, evidence and remedy, the dearest first."""
        self.notes = [Note(*note) for note in answer.notes]

    def to_text(self, width: int = 100) -> str:
        """As `spotter analyze` prints it on a terminal with so many columns."""
        return self._answer.report_text(width, False)

    def __str__(self) -> str:
        return self.to_text()

    def save(
        self, path: str | os.PathLike[str], *, max_size: int = 3_000_000, redact: bool = False, source_url: str = ""
    ) -> None:
        """Writes it as one HTML file with its pictures, all tables and a timeline, as `spotter analyze -o report.html` does.

        The traces are read again, here, for what a page has beyond this object.

        Args:
            path: of the file, which is written whole or not at all.
            max_size: bytes; what would make it larger is left out, and the page says so; 0: no limit.
            redact: numbers instead of paths, host names and arguments.
            source_url: where links to lines of source code lead: https://github.com/OWNER/REPOSITORY/blob/COMMIT; without it
                where the receipts of a capture say.
        """
        self._save(os.fsencode(path), max_size, redact, source_url)

    def __repr__(self) -> str:
        return f"<spotter.Report: {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        return self._answer.report_html()


def _part(kind: str, part: Any) -> tuple[str, Any]:
    if kind == "table":
        return kind, Table(part)
    if kind == "notes":
        return kind, [Note(*note) for note in part]
    return kind, part


def _names(analyses: str | Iterable[str] | None) -> list[str]:
    if analyses is None:
        return _core.usual_analyses()
    return [analyses] if isinstance(analyses, str) else list(analyses)


def _settings(params: dict[str, Any]) -> list[tuple]:
    for name, value in params.items():
        if not isinstance(value, str) and not _is_whole(value):
            raise Invalid(f"{name}={value!r}: a whole number from 0 on or a text is wanted")
    return [(name, value if isinstance(value, str) else whole(value, name)) for name, value in params.items()]


def _run(paths: Paths, names: list[str], params: dict[str, Any], part: _core.Part, compat: str | None,
         what_if: str | Sequence[str] | None, sensitivity: float, progress: Progress,
         engine: str | Engine) -> _core.Answer:  # fmt: skip
    settings = _settings(params)
    questions = [what_if] if isinstance(what_if, str) else list(what_if or [])
    if questions and compat:
        raise Invalid("what_if takes all of the traces, but compat leaves out what another tool does not see")
    if not isinstance(sensitivity, numbers.Real) or not 0 <= sensitivity <= 1:
        raise Invalid(f"sensitivity={sensitivity!r}: a share of a step is wanted, 0 to 1 (0.01: one percent)")
    job, tell, parts = open_job(paths), teller(progress), None
    if engine != "local":
        from spotter.engines import map_job

        if compat:
            raise Invalid("compat goes with engine='local' alone")
        wanted = [*names, "findings"] if questions else names
        parts = map_job(job, wanted, settings, part, engine, tell)
    return _core.run(job, names, settings, part, compat or "", questions, sensitivity, parts, tell)


def analyze(
    paths: Paths,
    analyses: str | Iterable[str] | None = None,
    *,
    ranks: Ranks = None,
    steps: Steps = None,
    threads: int | None = None,
    memory: int | None = None,
    compat: str | None = None,
    what_if: str | Sequence[str] | None = None,
    sensitivity: float = 0.01,
    progress: Progress = True,
    engine: str | Engine = "local",
    **params: int | str,
) -> Results:
    """Analyses the traces of a job.

    Args:
        paths: trace files (.json, .json.gz, .json.zst), folders of them, or patterns.
        analyses: names of tables (`spotter.analyses()` lists them; `findings` is one); None: all but those on request.
        ranks: only these: 3, [0, 3], range(8) or "0,3-7".
        steps: only these, both included: 3, (2, 5), range(2, 6) or "2-5"; what of them a trace does not have is left out, and
            where it has none of them, that is an error.
        threads: to use; None: as many as this process may run on.
        memory: bytes for traces held at one time; None: half of the machine.
        compat: numbers as another tool has them: "hta" or "tb_plugin".
        what_if: questions to the job's replay, such as "device:rank=3=peer"; the table is `what_if`.
        sensitivity: the share of the step below which nothing is told.
        progress: True: a line on a terminal, a display in a notebook, nothing elsewhere; or a function of (bytes done,
            bytes in all), which is called some times a second. What it raises ends the run.
        engine: where the traces are read: "local", "processes", "ray", or an `Engine` of one's own.
        params: of the analyses, by name, such as top=50.

    Returns:
        The tables by name, with notes.

    Raises:
        NotFound: there is no such file, rank or step. Corrupt: a file is no trace. Invalid: an analysis or a parameter that
        there is not. KeyboardInterrupt and what `progress` raises end the run within a moment.
    """
    names = _names(analyses)
    part = part_of(ranks, steps, threads, memory)
    answer = _run(paths, names, params, part, compat, what_if, sensitivity, progress, engine)
    asked = [answer.findings(False) if "findings" in names else None, answer.what_if, *answer.take_tables(False)]
    return Results([Table(t) for t in asked if t is not None], [Note(*n) for n in answer.notes], answer.start, answer.timing)


def report(
    paths: Paths,
    *,
    ranks: Ranks = None,
    steps: Steps = None,
    threads: int | None = None,
    memory: int | None = None,
    what_if: str | Sequence[str] | None = None,
    sensitivity: float = 0.01,
    progress: Progress = True,
    engine: str | Engine = "local",
    **params: int | str,
) -> Report:
    """What `spotter analyze` prints of a job, as an object: what stands out, and where the time went.

    Args and errors: those of `analyze()`.
    """
    part, paths = part_of(ranks, steps, threads, memory), words_of(paths)
    answer = _run(paths, ["findings"], params, part, None, what_if, sensitivity, progress, engine)
    again = [lasting(path) for path in paths]

    def save(path: bytes, max_size: int, redact: bool, source_url: str) -> None:
        if max_size < 0:
            raise Invalid(f"max_size={max_size}: a number of bytes, or 0 for no limit, is wanted")
        questions = [what_if] if isinstance(what_if, str) else list(what_if or [])
        _core.save_report(
            open_job(again), path, _settings(params), part, questions, sensitivity, max_size, redact, source_url, teller(progress)
        )

    return Report(answer, save)


class Diff:
    """What changed from one job to another."""

    def __init__(self, table: Table, causes: list[str], notes: list[Note]) -> None:
        self.table = table
        """What takes time, name by name, before and after; the largest change first."""
        self.causes = causes
        """Why the second is slower or faster, as sentences; the first is about the step."""
        self.notes = notes

    def __str__(self) -> str:
        return "".join(f"- {cause}\n" for cause in self.causes) + "\n" + self.table.to_text()

    def __repr__(self) -> str:
        return f"<spotter.Diff: {len(self.causes)} causes, {len(self.table)} names>"

    def _repr_html_(self) -> str:
        from spotter.html import diff_html

        return diff_html(self)


def diff(
    before: Paths,
    after: Paths,
    *,
    by_rank: bool = False,
    by_function: bool = False,
    by_path: bool = False,
    by_shapes: bool = False,
    ranks: Ranks = None,
    steps: Steps = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress = True,
) -> Diff:
    """What changed from one job's traces to another's, and why.

    Args:
        by_rank: each rank is compared with itself; else the sums over all ranks are.
        by_function: kernels are compared by their functions, without template arguments.
        by_path: modules and operators are compared by what they are in, in time per step.
        by_shapes: `by_path`, with the shapes of the operands in the paths.
        ranks, steps: only these of both. The others: as for `analyze()`.
    """
    if (by_path or by_shapes) and (by_rank or by_function):
        raise Invalid("by_path is of all ranks, and of operators: it goes neither with by_rank nor with by_function")
    part = part_of(ranks, steps, threads, memory)
    table, causes, notes = _core.diff(
        open_job(before), open_job(after), part, by_rank, by_function, by_path or by_shapes, by_shapes, teller(progress)
    )
    return Diff(Table(table), causes, [Note(*n) for n in notes])


def export(
    paths: Paths,
    output: str | os.PathLike,
    *,
    ranks: Ranks = None,
    steps: Steps = None,
    begin: int | None = None,
    end: int | None = None,
    bucket: int = 0,
    critical_path: bool = False,
    threads: int | None = None,
    progress: Progress = True,
) -> list[Note]:
    """Writes the traces as one file for a timeline viewer (https://ui.perfetto.dev), whole or not at all.

    Args:
        output: the file; compressed if it ends in .gz.
        begin, end: only what begins so many ns after the first event, or later, and before `end`.
        bucket: length, in ns, of a bucket of the curves of busy time; 0: a thousandth of the time.
        critical_path: draw the critical path of each step as arrows. The others: as for `analyze()`.

    Returns:
        What was changed or left out.
    """
    job, output = open_job(paths), os.fsdecode(output)
    begin, end = (None if at is None else whole(at, name, -(2**63)) for name, at in (("begin", begin), ("end", end)))
    if begin is not None and end is not None and begin >= end:
        raise Invalid(f"begin={begin}, end={end}: what is between them is wanted, and there is nothing")
    for path, *_ in job.files:
        if os.path.exists(output) and os.path.exists(path) and os.path.samefile(path, output):
            raise Invalid(f"{output} is one of the traces; write to another file")
    part = part_of(ranks, steps, threads, None)
    notes = _core.export(job, os.fsencode(output), part, begin, end, whole(bucket, "bucket"), critical_path, teller(progress))
    return [Note(*note) for note in notes]


def one(name: str, paths: Paths, settings: dict[str, tuple], ranks: Ranks, steps: Steps, threads: int | None,
        memory: int | None, compat: str | None, progress: Progress, engine: str | Engine) -> Table:  # fmt: skip
    """The table of one analysis, with the notes of the traces as well, which nothing else tells its reader.
    settings: of each parameter its value and its default, which needs no telling."""
    params = {param: value for param, (value, default) in settings.items() if value != default}
    answer = _run(paths, [name], params, part_of(ranks, steps, threads, memory), compat, None, _SENSITIVITY, progress, engine)
    found = answer.findings(True) if name == "findings" else answer.take_tables(True)[0]
    assert found is not None  # it was asked for
    return Table(found)

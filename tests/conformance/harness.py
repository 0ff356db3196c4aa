"""What the conformance tests share: the program, the trace files, and answers as Python values."""

import gzip
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
SHARED = pathlib.Path(os.environ.get("SPOTTER_SHARED", ROOT.parent / "shared"))


def program():
    named = os.environ.get("SPOTTER")
    candidates = [pathlib.Path(named)] if named else [ROOT / "build" / b / "spotter" for b in ("release", "dev")]
    for path in candidates:
        if path.is_file():
            return path
    pytest.fail(f"no spotter program: build it, or name it in the environment variable SPOTTER (looked for "
                f"{', '.join(map(str, candidates))})")


def needs_shared():
    """A mark for what needs the large reference traces, which are not part of the repository."""
    return pytest.mark.skipif(not (SHARED / "traces").is_dir(),
                              reason=f"no traces in {SHARED}; name their folder in SPOTTER_SHARED")


def trace_files():
    """Every file of the fixtures and of the shared traces, as (id, path)."""
    found = []
    for name, folder in (("fixtures/traces", FIXTURES / "traces"), ("shared", SHARED / "traces")):
        if folder.is_dir():
            found += [(f"{name}/{path.relative_to(folder)}", path) for path in sorted(folder.rglob("*"))
                      if path.is_file() and path.suffix in (".json", ".gz")]
    return found


LARGE = 500_000  # bytes of a file as stored
LARGE_ONE = "shared/tb_plugin/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz"  # that each run has


def traces(names=None, most=None):
    """Of trace_files(), or of those with these names or at most that large: cases of a test, each one's path. Only `make conformance` has all
    large ones, and of a folder, whose files are recordings of one program, more than the first."""
    cases, folders = [], set()
    for name, path in trace_files():
        is_large, is_another = path.stat().st_size > LARGE and name != LARGE_ONE, path.parent in folders
        if (names is None or name in names) and (most is None or path.stat().st_size <= most):
            cases.append(pytest.param(path, id=name, marks=[pytest.mark.whole] if is_large or is_another else []))
            folders.add(path.parent)
    return cases


def text_of(path):
    """The uncompressed bytes of a file."""
    data = pathlib.Path(path).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


class Answer:
    """The JSON output of one run: each table as a list of {column: value}, and the notes."""

    def __init__(self, document):
        self.tables = {}
        for table in document["tables"]:
            columns = [column["name"] for column in table["columns"]]
            self.tables[table["name"]] = [dict(zip(columns, row, strict=True)) for row in table["rows"]]
        self.notes = document["notes"]

    def __getitem__(self, name):
        return self.tables[name]


def run(*arguments, stdin=None, timeout=120):
    return subprocess.run([str(program()), *map(str, arguments)], stdin=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, check=False)


def is_trace(path):
    """Whether the program reads this file at all; some reference files are no traces."""
    done = run("analyze", path, "--table", "summary")
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0


def analyze_raw(*paths, tables=(), options=(), top=0, stdin=None):
    """The bytes of `analyze --format json`: the tables whole, all or those named; `top` is None if none of these takes
    it. Fails the test where the program does not exit with 0."""
    wanted = [word for table in tables for word in ("--table", table)]
    limit = [] if top is None else ["--top", top]
    done = run("analyze", *paths, "--format", "json", *limit, *wanted, *options, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def analyze(*paths, tables, options=(), top=0, stdin=None):
    return Answer(json.loads(analyze_raw(*paths, tables=tables, options=options, top=top, stdin=stdin)))

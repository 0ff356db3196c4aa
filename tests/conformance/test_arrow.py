"""--format arrow holds what --format json holds, cell by cell, as pyarrow, polars and duckdb read it."""

import functools
import json
import os
import pty
import subprocess

import pytest

import harness

ON_REQUEST = ("kernel_launches", "timeline", "call_tree", "critical_path_edges")
READERS = ("pyarrow", "polars", "duckdb")
TYPES = {"integer": "int64", "real": "double", "flag": "bool", "text": "dictionary<values=string, indices=int32, ordered=0>"}

MEND_ALIKE = (b"bad \xff", b"bad \xfe")
ODD_NAMES = [*MEND_ALIKE, "漢字 \U0001f680".encode(), b"", b"\\u0000 inside", b"cut \xe6\xbc", b'\\"quoted\\", with a comma', b"plain"]


@pytest.fixture(scope="session")
def python():
    found = subprocess.run([harness.ROOT / "tools" / "python", "test"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    if not found and "CI" in os.environ:
        pytest.fail("no Python with pyarrow, polars and duckdb (tools/python says why)")
    if not found:
        pytest.skip("no Python with pyarrow, polars and duckdb (tools/python says why)")
    return found


@pytest.fixture(scope="session")
def reader(python):
    """What the readers make of a stream in a file."""
    script = harness.ROOT / "tests" / "conformance" / "arrow_reader.py"
    with subprocess.Popen([python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        def read(file):
            process.stdin.write(f"{file}\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        yield read
        process.stdin.close()
        assert process.wait() == 0


@pytest.fixture
def streams(reader, tmp_path):
    """Of a trace and the names of tables: for each the document in JSON and what the readers make of the stream."""
    def read(trace, tables):
        both = []
        for table in tables:
            arguments = ("analyze", trace, "--table", table, "--format")
            file = tmp_path / f"{table}.arrow"
            file.write_bytes(succeeds(*arguments, "arrow").stdout)
            both.append((json.loads(succeeds(*arguments, "json").stdout), reader(file)))
        return both
    return read


def succeeds(*arguments):
    done = harness.run(*arguments)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done


@functools.cache
def version():
    return harness.run("--version").stdout.decode().split()[1]


def is_same(document, stream):
    """Every cell and all that is said of the columns. Gives the JSON table."""
    [table] = document["tables"]
    metadata = stream["schema"]["metadata"]
    assert metadata["spotter.table"] == table["name"]
    assert metadata["spotter.version"] == version()
    assert json.loads(metadata["spotter.notes"]) == document["notes"]
    assert stream["schema"]["fields"] == [
        {"name": column["name"], "type": TYPES[column["type"]], "nullable": True,
         "metadata": {f"spotter.{key}": column[key] for key in ("unit", "role", "help")}} for column in table["columns"]]
    cells = [list(column) for column in zip(*table["rows"])] or [[] for _ in table["columns"]]
    for reader in READERS:
        assert stream[reader] == cells, f"{table['name']} as {reader} reads it"
    return table


def usual_tables(trace):
    return [table["name"] for table in json.loads(harness.analyze_raw(trace, top=None))["tables"]]


@pytest.mark.parametrize("trace", harness.traces(most=30_000))
def test_tables_of_traces(trace, streams):
    if not harness.is_trace(trace):
        pytest.skip("the program does not read it")
    for document, stream in streams(trace, usual_tables(trace)):
        is_same(document, stream)


def test_tables_on_request(streams):
    """These have flags, nulls beside values, and no rows."""
    tables = []
    for trace in sorted(harness.FIXTURES.glob("traces/*/*.gz")):
        tables += [is_same(document, stream) for document, stream in streams(trace, ON_REQUEST)]
    flags = {cell for table in tables for row in table["rows"] for cell in row if isinstance(cell, bool)}
    assert flags == {True, False}
    assert any(len({cell is None for cell in column}) == 2 for table in tables for column in zip(*table["rows"]))
    assert any(not table["rows"] for table in tables)


def test_odd_texts(streams, tmp_path):
    """Two names that are the same once they are mended are one word of the dictionary."""
    events = [b'{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": %d, "dur": 5}' % (name, 10 * i)
              for i, name in enumerate(ODD_NAMES)]
    trace = tmp_path / "odd.json"
    trace.write_bytes(b'{"traceEvents": [\n' + b",\n".join(events) + b"\n]}")
    [(document, stream)] = streams(trace, ["call_tree"])
    table = is_same(document, stream)
    names = [row[[column["name"] for column in table["columns"]].index("name")] for row in table["rows"]]
    assert len(names) == len(ODD_NAMES)
    assert names.count("bad \ufffd") == len(MEND_ALIKE)


def test_notes_are_said_on_standard_error_too(tmp_path):
    trace = tmp_path / "short.json"
    trace.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 5},')
    arguments = ("analyze", trace, "--table", "operators", "--format")
    said = succeeds(*arguments, "arrow").stderr
    assert said.startswith(b"loss: ")
    assert said == succeeds(*arguments, "csv").stderr


def test_not_to_a_terminal(tmp_path):
    trace = next(iter(sorted(harness.FIXTURES.glob("traces/*/*.gz"))))
    ours, its = pty.openpty()
    arguments = [harness.program(), "analyze", trace, "--table", "summary", "--format", "arrow"]
    refused = subprocess.run(arguments, stdout=its, stderr=subprocess.PIPE, check=False)
    assert refused.returncode == 1
    assert refused.stderr == b"spotter: the format arrow is nothing for a terminal; write it to a file or a pipe\n"
    subprocess.run([*arguments, "-o", tmp_path / "r.arrow"], stdout=its, check=True)
    os.close(its)
    os.close(ours)
    assert (tmp_path / "r.arrow").read_bytes() == succeeds(*arguments[1:]).stdout

"""What C++ writes as columns into reports, the page's reader reads as `--format json` has it: all columns of all tables of
the fixtures and of the golden tests' traces."""

import json
import subprocess

import harness
import pytest

from test_tb_plugin import golden_module
from watched import is_equal


def node():
    found = subprocess.run([harness.ROOT / "tools" / "node"], capture_output=True, text=True)
    return f"{found.stdout.strip()}/node" if found.returncode == 0 else None


NODE = node()
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node; tools/node says why")


def golden_jobs():
    """(name, files): of each case of the golden tests that has files of its own, those that are traces."""
    golden = golden_module()
    for path in sorted((harness.ROOT / "tests" / "golden").glob("**/*.test")):
        for number, case in enumerate(golden.read_cases(path)):
            files = {line.rest.split()[0]: golden.take_body(line) for line in case.lines if line.word == "file" and line.body}
            files = {name: data for name, data in files.items() if name.endswith(".json") and "/" not in name and b"traceEvents" in data}
            if files and any("spotter analyze" in line.rest for line in case.lines if line.word == "run"):
                yield pytest.param(case.name.replace(".test:", "_"), files, id=case.name, marks=[pytest.mark.whole] if number else [])


def fixture_jobs():
    for folder in sorted((harness.ROOT / "tests" / "fixtures" / "traces").iterdir()):
        yield pytest.param(folder.name, {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}, id=folder.name)


def is_readable(jobs, job):
    return subprocess.run([harness.program(), "analyze", job, "--table", "summary"], cwd=jobs.folder, capture_output=True).returncode == 0


@pytest.mark.parametrize("name,files", [*fixture_jobs(), *golden_jobs()])
def test_round_trip(jobs, name, files):
    job = f"columns/{name}"
    jobs.put(job, files)
    if not is_readable(jobs, job):
        pytest.skip("no trace that is analysed as it is")
    report = jobs.report(job, "--max-size", "0").path
    printed = subprocess.run([NODE, "web/test/print_columns.ts", report], cwd=harness.ROOT, capture_output=True, check=True).stdout
    tables = [json.loads(line) for line in printed.splitlines()]
    spans = [table for table in tables if table["block"].startswith("spans/")]
    read = {table["name"]: table for table in tables if table["block"].startswith("tables")}
    assert read
    words = [word for table in read for word in ("--table", table)]
    done = subprocess.run([harness.program(), "analyze", job, "--format", "json", *words], cwd=jobs.folder, capture_output=True, check=True)
    document = json.loads(done.stdout)
    assert len(document["tables"]) == len(read)
    for expected in document["tables"]:
        table = read[expected["name"]]
        assert [column["name"] for column in table["columns"]] == [column["name"] for column in expected["columns"]]
        for mine, theirs in zip(table["columns"], expected["columns"]):
            assert {key: theirs[key] for key in mine} == mine
        compare(table, expected["rows"])
    if spans:
        document = json.loads(subprocess.run([harness.program(), "analyze", job, "--format", "json", "--table", "spans"], cwd=jobs.folder, capture_output=True, check=True).stdout)
        expected = document["tables"][0]
        names = [column["name"] for column in expected["columns"]]
        rank = names.index("rank")
        for table in spans:
            assert [column["name"] for column in table["columns"]] == names
            which = table["block"].removeprefix("spans/")
            compare(table, [row for row in expected["rows"] if ("none" if row[rank] is None else str(row[rank])) == which])


def compare(table, expected):
    assert len(table["rows"]) == len(expected), table["name"]
    for number, (row, wanted) in enumerate(zip(table["rows"], expected)):
        for column, text, value in zip(table["columns"], row, wanted, strict=True):
            same = text is None if value is None else text is not None and is_equal(text, value)
            assert same, (table["name"], number, column["name"], text, value)

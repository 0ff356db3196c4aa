"""The TensorBoard plugin's own cases through the page's tables: those of tests/golden/tb_plugin (T, D and L; docs/tb_plugin.md
says which is where), and of its real samples (S) the numbers that it shows."""

import csv
import importlib.machinery
import importlib.util
import io
import json
import shlex

import harness
import pytest

import watched


def golden_module():
    loader = importlib.machinery.SourceFileLoader("golden", str(harness.ROOT / "tools" / "golden"))
    spec = importlib.util.spec_from_loader("golden", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def cases():
    """(files, options of a report, {table: its rows as CSV}): of each case what one command of options shows."""
    golden = golden_module()
    for path in sorted((harness.ROOT / "tests" / "golden" / "tb_plugin").glob("*.test")):
        for case in golden.read_cases(path):
            files = {line.rest.split()[0]: golden.take_body(line) for line in case.lines if line.word == "file"}
            reports, asked = {}, None
            for line in case.lines:
                if line.word == "run":
                    asked = of_command(line.rest)
                elif line.word == "stdout" and asked:
                    options, table = asked
                    reports.setdefault(options, {})[table] = golden.take_body(line).decode()
            for options, tables in reports.items():
                yield pytest.param(case.name, files, options, tables, id=f"{case.name}{'_'.join(options[2:])}")


def of_command(text):
    """(its options, the table) of `spotter analyze FILES --compat tb_plugin --table T [OPTION...] --format csv`."""
    words = shlex.split(text)
    if words[:2] != ["spotter", "analyze"] or "|" in words or "--table" not in words or "csv" not in words:
        return None
    words = words[next(i for i, word in enumerate(words) if word.startswith("--")):]
    table = words[words.index("--table") + 1]
    for option in ("--table", "--format"):
        at = words.index(option)
        del words[at:at + 2]
    return tuple(words), table


def equal_to_csv(text, value):
    """CSV has nothing for what is not known, and for an empty text."""
    if value == "":
        return text == "not known"
    try:
        return float(text) == float(value)
    except ValueError:
        return text == value


CASES = list(cases())
assert len(CASES) > 20


@pytest.mark.parametrize("name,files,options,tables", CASES)
def test_case(jobs, open_page, name, files, options, tables):
    job = "tb_plugin/" + name.replace(".test:", "_")
    jobs.put(job, files)
    place = jobs.report(job, *options)
    page = open_page(place)
    for table, text in tables.items():
        expected = list(csv.DictReader(io.StringIO(text)))
        watched.show(page, place, f"#/tables?v=1&table={table}")
        rows, count = watched.shown_rows(page, table)
        assert count == len(expected), table
        for number, wanted in enumerate(expected):
            row = rows[number]
            for column, value in wanted.items():
                assert equal_to_csv(row[column], value) if column in row else value == "", (table, number, column, row.get(column), value)


SAMPLES = {"resnet50_num_workers_0/span1": "tb_plugin/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
           "resnet50_num_workers_4/span1": "tb_plugin/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz"}
PARTS = {"Kernel": "kernel_ns", "Memcpy": "copy_ns", "Memset": "set_ns", "Runtime": "runtime_ns", "DataLoader": "data_loader_ns",
         "CPU Exec": "host_ns", "Other": "other_ns"}


@harness.needs_shared()
@pytest.mark.parametrize("sample", SAMPLES)
def test_sample(jobs, open_page, sample):
    """Steps as the plugin shows them, and each of its tables as `--format json` has it, which other tests compare with all of
    the plugin's answers."""
    path = harness.SHARED / "traces" / SAMPLES[sample]
    job = "tb_plugin/" + path.parent.name
    jobs.put(job, {path.name: path.read_bytes()})
    place = jobs.report(job, "--compat", "tb_plugin")
    page = open_page(place, "#/tables?v=1&table=step_breakdown")
    rows, _ = watched.shown_rows(page, "step_breakdown")
    told = json.loads((harness.SHARED / "golden" / "tb_plugin" / sample / "overview.json").read_text())["steps"]
    names = [column.get("name") for column in told["columns"]]
    assert len(rows) == len(told["rows"])
    for number, step in enumerate(told["rows"]):
        parts = {PARTS[name]: 1000 * value for name, value in zip(names[1:], step[1:], strict=True) if name in PARTS}
        assert {column: int(rows[number][column]) for column in parts} == parts
    wrong = []
    for table in ("device_summary", "operator_groups", "kernel_groups", "memory_by_operator", "memory_events"):
        watched.show(page, place, f"#/tables?v=1&table={table}")
        wrong += watched.differences(page, table, jobs.json(job, table, "--compat", "tb_plugin"))
    assert not wrong

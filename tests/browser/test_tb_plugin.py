"""The TensorBoard plugin's own cases through the page's tables, by its numbers and by ours: those of the golden tests (T, D and
L; docs/tb_plugin.md says which is where), and of its real samples (S) what it shows."""

import csv
import fnmatch
import importlib.machinery
import importlib.util
import io
import json
import shlex

import harness
import pytest

import watched
from tb_plugin_samples import S_CASES


def golden_module():
    loader = importlib.machinery.SourceFileLoader("golden", str(harness.ROOT / "tools" / "golden"))
    spec = importlib.util.spec_from_loader("golden", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


# Where the plugin's cases are, by its numbers and by ours.
FILES = ["tb_plugin/*", "step_breakdown", "device_summary", "operator_groups", "kernel_groups", "modules", "memory_events", "memory_by_operator",
         "memory_timeline", "comm_steps", "collectives", "device_busy"]


def cases():
    """(job, its files, what a table of it is asked for, that table as CSV), of each command that shows one table."""
    golden = golden_module()
    for path in sorted(path for name in FILES for path in (harness.ROOT / "tests" / "golden").glob(f"{name}.test")):
        for case in golden.read_cases(path):
            files, asked = {}, None
            for line in case.lines:
                if line.word == "file":
                    files[line.rest.split()[0]] = golden.take_body(line)
                elif line.word == "run":
                    asked = of_command(line.rest)
                elif line.word == "stdout" and asked:
                    patterns, table, parameters = asked
                    chosen = {name: data for name, data in files.items() if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)}
                    if chosen:
                        job = f"{path.parent.name}_{case.name}_{patterns[0]}".replace(".test:", "_").replace("*", "").replace(".json", "")
                        yield pytest.param(job, chosen, table, parameters, golden.take_body(line).decode(), id=f"{job}-{table}{parameters}")


def of_command(text):
    """(files, table, what is asked of it) of `spotter analyze FILE... --table T [OPTION VALUE]... --format csv`."""
    words = shlex.split(text)
    if words[:2] != ["spotter", "analyze"] or "|" in words or words.count("--table") != 1 or "csv" not in words:
        return None
    first = next(i for i, word in enumerate(words) if word.startswith("--"))
    options = dict(zip(words[first::2], words[first + 1::2]))
    table = options.pop("--table")
    options.pop("--format")
    parameters = "".join(f"&{name.removeprefix('--').replace('-', '_')}={value}" for name, value in options.items())
    return words[2:first], table, parameters


def equal_to_csv(text, value):
    """CSV has nothing for what is not known, and for an empty text."""
    if value == "":
        return text == "not known"
    try:
        return float(text) == float(value)
    except ValueError:
        return text == value


CASES = list(cases())
assert len(CASES) > 80


@pytest.fixture(scope="session")
def served(jobs):
    """All these jobs behind one server, and {folder: id}."""
    for case in CASES:
        job, files, *_ = case.values
        jobs.put(f"tb_plugin_cases/{job}", files)
    place = jobs.server("tb_plugin_cases")
    return place, {row["folder"].rstrip("/").split("/")[-1]: row["id"] for row in place.ask("v1/jobs", "jobs")}


@pytest.fixture(scope="module")
def page(served, browser):
    with watched.watched_page(browser, served[0]) as opened:
        yield opened


@pytest.mark.parametrize("job,files,table,parameters,text", CASES)
def test_case(served, page, job, files, table, parameters, text):
    place, ids = served
    expected = list(csv.DictReader(io.StringIO(text)))
    watched.show(page, place, f"#/tables?v=1&job={ids[job]}&table={table}{parameters}")
    rows, count = watched.shown_rows(page, table)
    assert count == len(expected)
    for number, wanted in enumerate(expected):
        row = rows[number]
        for column, value in wanted.items():
            assert equal_to_csv(row[column], value) if column in row else value == "", (number, column, row.get(column), value)


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
    job = f"tb_plugin_{path.parent.name}"
    jobs.put(job, {path.name: path.read_bytes()})
    place = jobs.server(job)
    page = open_page(place, "#/tables?v=1&table=step_breakdown&compat=tb_plugin")
    rows, _ = watched.shown_rows(page, "step_breakdown")
    told = json.loads((harness.SHARED / "golden" / "tb_plugin" / sample / "overview.json").read_text())["steps"]
    names = [column.get("name") for column in told["columns"]]
    assert len(rows) == len(told["rows"])
    for number, step in enumerate(told["rows"]):
        parts = {PARTS[name]: 1000 * value for name, value in zip(names[1:], step[1:], strict=True) if name in PARTS}
        assert {column: int(rows[number][column]) for column in parts} == parts
    wrong = []
    for table in ("device_summary", "operator_groups", "kernel_groups", "memory_by_operator", "memory_events"):
        for compat in ("", "tb_plugin"):
            watched.show(page, place, f"#/tables?v=1&table={table}" + (f"&compat={compat}" if compat else ""))
            wrong += watched.differences(page, table, jobs.json(job, table, *(["--compat", compat] if compat else [])))
    assert not wrong


@harness.needs_shared()
def test_recordings_in_a_log_folder(jobs, open_page):
    """The samples as TensorBoard has them in its folder: each recording is a job, with its mean step, its device and its series."""
    traces = harness.SHARED / "traces" / "tb_plugin"
    for folder in {sample.split("/")[0] for sample in S_CASES}:
        jobs.put(f"tb_plugin_log/{folder}", {path.name: path.read_bytes() for path in (traces / folder).iterdir()})
    place = jobs.server("tb_plugin_log")
    ids = {place.ask(f"v1/jobs/{row['id']}", "ranks")[0]["path"].split("tb_plugin_log/")[1].removesuffix(".pt.trace.json.gz"): row["id"]
           for row in place.ask("v1/jobs", "jobs")}
    assert set(ids) == set(S_CASES)
    page = open_page(place)
    for sample, (parts, whole, percentages, numbers, buckets) in S_CASES.items():
        def rows(table):
            watched.show(page, place, f"#/tables?v=1&job={ids[sample]}&table={table}&compat=tb_plugin")
            return watched.shown_rows(page, table)[0]
        steps = list(rows("step_breakdown").values())
        assert [int(step["number"]) for step in steps] == list(numbers)
        means = [sum(int(step[column]) for step in steps) / len(steps) / 1000 for column in ("dur_ns", *PARTS.values())]
        assert means == [pytest.approx(value, abs=0.501) for value in (whole, *parts)]
        [device] = rows("device_summary").values()
        ratios = [100 * float(device[f"{name}_ratio"]) for name in ("utilization", "sm_efficiency", "occupancy", "tensor_core")]
        assert ratios == [pytest.approx(value, abs=0.006) for value in percentages]
        assert len(rows("device_busy_series")) == buckets + 1

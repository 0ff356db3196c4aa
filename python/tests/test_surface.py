"""The functions: their answers are those of the program."""

import inspect
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import python, spotter_json

import spotter


def tables_of(results):
    return [json.loads(results[name].to_json())["tables"][0] for name in results]


def test_every_table_is_that_of_the_program(job):
    document = json.loads(spotter_json("analyze", job))
    results = spotter.analyze(job, progress=False)
    assert tables_of(results) == document["tables"]
    told = {(note["kind"], note["sentence"]) for note in document["notes"]}
    assert {(n.kind, n.sentence) for n in results.notes} <= told
    assert {(n.kind, n.sentence) for name in results for n in results[name].notes} <= told


@pytest.mark.parametrize("name", [a.name for a in spotter.analyses()])
def test_each_analysis_has_a_function(name, job):
    function = getattr(spotter, name)
    table = function(job, progress=False)
    assert table.name == name
    assert json.loads(table.to_json())["tables"] == json.loads(spotter_json("analyze", job, "--table", name))["tables"]
    record = next(a for a in spotter.analyses() if a.name == name)
    assert table.columns == [c.name for c in record.columns]
    signature = inspect.signature(function)
    for param in record.params:
        assert signature.parameters[param.name].default == param.default
        assert signature.parameters[param.name].kind is inspect.Parameter.KEYWORD_ONLY
    doc = inspect.getdoc(function)
    assert doc.startswith(record.summary) and all(f"{c.name}" in doc for c in record.columns)


def test_parameters_ranks_and_steps(job):
    table = spotter.operators(job, top=3, ranks=[1, 2], steps=(2, 3), progress=False)
    assert set(table["rank"]) == {1, 2}
    want = json.loads(spotter_json("analyze", job, "--table", "operators", "--top", 3, "--ranks", "1,2", "--steps", "2-3"))
    assert json.loads(table.to_json())["tables"] == want["tables"]
    for ranks, steps in ((range(1, 3), range(2, 4)), ("1-2", "2-3"), ((1, 2), (2, 3))):
        assert spotter.operators(job, top=3, ranks=ranks, steps=steps, progress=False) == table


@pytest.mark.parametrize("call, error, words", [
    (lambda j: spotter.analyze("nowhere.json"), FileNotFoundError, "nowhere.json"),
    (lambda j: spotter.analyze(j, "operatos"), ValueError, "did you mean \"operators\""),
    (lambda j: spotter.analyze(j, "steps", top=3), spotter.Invalid, "top"),
    (lambda j: spotter.analyze(j, "operators", top="x"), spotter.Invalid, "top"),
    (lambda j: spotter.analyze(j, "operators", top=-1), spotter.Invalid, "top=-1"),
    (lambda j: spotter.analyze(j, "operators", top=True), spotter.Invalid, "top=True"),
    (lambda j: spotter.analyze(j, ranks="1-"), spotter.Invalid, "1-"),
    (lambda j: spotter.analyze(j, ranks=[]), spotter.Invalid, "ranks is empty"),
    (lambda j: spotter.analyze(j, ranks=99), spotter.NotFound, "0-5"),
    (lambda j: spotter.analyze(j, steps="77"), spotter.Error, "77"),
    (lambda j: spotter.operators(j, ranks=[2.5]), spotter.Invalid, "ranks=2.5"),
    (lambda j: spotter.operators(j, ranks=2.5), spotter.Invalid, "ranks=2.5"),
    (lambda j: spotter.operators(j, ranks=True), spotter.Invalid, "ranks=True"),
    (lambda j: spotter.operators(j, steps=[3, 4, 5]), spotter.Invalid, "(first, last\\)"),
    (lambda j: spotter.operators(j, steps=2.5), spotter.Invalid, "steps=2.5"),
    (lambda j: spotter.operators(j, top=2**70), spotter.Invalid, "top=1180591620717411303424"),
    (lambda j: spotter.operators(j, threads=2**40), spotter.Invalid, "threads"),
    (lambda j: spotter.operators(j, memory="1GB"), spotter.Invalid, "memory='1GB'"),
    (lambda j: spotter.export(j, "/dev/null", begin=10, end=5), spotter.Invalid, "begin=10, end=5"),
    (lambda j: spotter.export(j, "/dev/null", bucket=-1), spotter.Invalid, "bucket=-1"),
    (lambda j: spotter.analyze(j, compat="other"), spotter.Invalid, "hta"),
    (lambda j: spotter.analyze(j, engine="none"), spotter.Invalid, "processes"),
    (lambda j: spotter.analyze(j, what_if="device:nobody=1"), spotter.Invalid, "nobody"),
    (lambda j: spotter.analyze(j, what_if="device:rank=3=peer", compat="hta"), spotter.Invalid, "compat"),
    (lambda j: spotter.analyze(j, sensitivity=5), spotter.Invalid, "a share of a step"),
    (lambda j: spotter.report(j, sensitivity=float("nan")), spotter.Invalid, "a share of a step"),
    (lambda j: spotter.report(j, what_if="device:rank=77=1"), spotter.NotFound, "77"),
    (lambda j: spotter.diff(j, j, by_path=True, by_rank=True), spotter.Invalid, "by_rank"),
])  # fmt: skip
def test_errors_are_the_builtins_that_fit(call, error, words, job):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        call(job)


def test_whole_numbers_of_numpy(job):
    numpy = pytest.importorskip("numpy")
    want = spotter.operators(job, top=3, ranks=[1, 2], steps=(2, 3), progress=False)
    got = spotter.operators(
        job, top=numpy.int64(3), ranks=numpy.array([1, 2]), steps=(numpy.int32(2), numpy.int32(3)), threads=numpy.int8(1), progress=False
    )  # fmt: skip
    assert got == want
    one = spotter.operators(job, ranks=numpy.int64(3), steps=numpy.int64(4), progress=False)
    assert one == spotter.operators(job, ranks=3, steps=4, progress=False)


def test_a_file_that_is_no_trace(tmp_path):
    (tmp_path / "a.json").write_text("{]")
    with pytest.raises(spotter.Error, match="a.json"):
        spotter.analyze(tmp_path / "a.json", progress=False)


def test_losses_travel(job, tmp_path):
    import gzip

    source = sorted(pathlib.Path(job).glob("*.json.gz"))[0]
    text = gzip.decompress(source.read_bytes())
    (tmp_path / "cut.json").write_bytes(text[: len(text) // 2])
    results = spotter.analyze(tmp_path / "cut.json", ["summary", "operators"], progress=False)
    assert any(note.severity == "loss" for note in results.notes)
    assert "cut.json" in " ".join(note.text for note in results.notes)
    for function in (spotter.summary, spotter.temporal_breakdown, spotter.findings):
        table = function(tmp_path / "cut.json", progress=False)
        assert any(note.severity == "loss" and "cut.json" in note.text for note in table.notes), table
        assert any(note["severity"] == "loss" for note in json.loads(table.to_json())["notes"])


def test_report(job):
    report = spotter.report(job, progress=False)
    text = subprocess.run([spotter.program.path(), "analyze", job], capture_output=True, text=True, check=True,
                          env={**os.environ, "COLUMNS": "100"}).stdout  # fmt: skip
    assert report.to_text() == text
    assert report.findings.name == "findings" and report.findings["kind"][0] == "fault"
    html = report._repr_html_()
    assert html.lower().index("rank 3") < html.index("<table") and "<script" not in html


def test_save(job, tmp_path):
    report = spotter.report(job, progress=False)
    report.save(tmp_path / "r.html")
    subprocess.run([spotter.program.path(), "analyze", job, "-o", tmp_path / "s.html"], check=True)
    assert (tmp_path / "r.html").read_bytes() == (tmp_path / "s.html").read_bytes()
    report.save(tmp_path / "t.html", redact=True, max_size=0)
    assert os.path.basename(job) not in (tmp_path / "t.html").read_text()
    with pytest.raises(spotter.Invalid):
        report.save(tmp_path / "u.html", max_size=-1)


def test_a_report_is_saved_of_what_it_was_made_of(job, tmp_path, monkeypatch):
    other = tmp_path / "elsewhere"
    spotter.simulate(other / "job", ranks=2, steps=3, layers=2, seed=2)
    shutil.copytree(job, tmp_path / "here" / "job")
    monkeypatch.chdir(tmp_path / "here")
    report = spotter.report("job", progress=False)
    monkeypatch.chdir(other)
    report.save(tmp_path / "r.html")
    spotter.report(tmp_path / "here" / "job", progress=False).save(tmp_path / "s.html")
    assert (tmp_path / "r.html").read_bytes() == (tmp_path / "s.html").read_bytes()


def test_what_if(job):
    results = spotter.analyze(job, ["summary"], what_if=["device:rank=3=peer"], progress=False)
    assert list(results) == ["what_if", "summary"]
    want = json.loads(spotter_json("analyze", job, "--table", "summary", "--what-if", "device:rank=3=peer"))
    assert tables_of(results) == want["tables"]


def test_diff(job, tmp_path):
    healthy = spotter.simulate(tmp_path, ranks=6, steps=4, layers=3, seed=1)
    diff = spotter.diff(healthy, job, progress=False)
    want = json.loads(spotter_json("diff", healthy, job, "--top", 0))
    assert json.loads(diff.table.to_json())["tables"] == want["tables"]
    assert "rank 3" in " ".join(diff.causes).lower() and diff.causes[0] in diff._repr_html_().replace("&#x27;", "'")


def test_export(job, tmp_path):
    notes = spotter.export(job, tmp_path / "job.json", ranks=[0, 1], steps=4, critical_path=True, progress=False)
    program = tmp_path / "program.json"
    subprocess.run([spotter.program.path(), "export", job, "-o", program, "--ranks", "0,1", "--steps", "4", "--critical-path"], check=True,
                   capture_output=True)  # fmt: skip
    assert (tmp_path / "job.json").read_bytes() == program.read_bytes()
    assert isinstance(notes, list)
    trace = shutil.copy(sorted(pathlib.Path(job).glob("*.gz"))[0], tmp_path)
    with pytest.raises(spotter.Invalid, match="one of the traces"):
        spotter.export(trace, trace, progress=False)


def test_progress_is_told_and_may_end_the_run(large):
    told = []
    spotter.analyze(large, "summary", progress=lambda done, total: told.append((done, total)))
    assert told and all(0 <= done <= total or total == 0 for done, total in told)

    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    begun = time.monotonic()
    with pytest.raises(Enough):
        spotter.analyze(large, progress=stop)
    assert time.monotonic() - begun < 1


def test_another_thread_goes_on_meanwhile(large):
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    spotter.analyze(large, "summary", threads=1, progress=False)
    stop.set()
    thread.join()
    assert counted[0] > 20


def test_ctrl_c_is_answered_within_half_a_second(large):
    code = f"""
import signal, time, spotter
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
begun = time.monotonic()
try:
    while True: spotter.analyze({large!r}, progress=False)
except KeyboardInterrupt:
    print(time.monotonic() - begun)
"""
    assert 0.25 < float(python(code)) < 0.8


def test_an_exception_from_another_thread_arrives(large):
    code = f"""
import ctypes, threading, time, spotter
class Enough(Exception): pass
ended = []
def work():
    try:
        while True: spotter.analyze({large!r}, progress=False)
    except Enough:
        ended.append(time.monotonic())
thread = threading.Thread(target=work); thread.start(); time.sleep(0.4)
sent = time.monotonic()
ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Enough))
thread.join(); print(ended[0] - sent)
"""
    assert float(python(code)) < 0.5


def test_runs_of_several_threads_are_alike(job):
    want, seen = spotter.operators(job, progress=False), []
    threads = [threading.Thread(target=lambda: seen.append(spotter.operators(job, progress=False))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [want] * 4


def _length(job):
    return len(spotter.operators(job, progress=False))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_can_run(job):
    want = _length(job)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_length, [job] * 4) == [want] * 4


def test_import_is_light():
    code = """
import sys, time
import resource
before = set(sys.modules)
begun, memory = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
import spotter
print(time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory)
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""
    python(code)  # compiles what is not compiled yet
    runs = [python(code).splitlines() for _ in range(5)]
    assert not {"pandas", "numpy", "pyarrow", "polars", "plotly", "IPython", "inspect", "json"} & set(runs[0][1].split())
    assert min(float(run[0].split()[0]) for run in runs) < 0.010
    assert min(int(run[0].split()[1]) for run in runs) < 5 * 1024


def test_the_module_says_what_it_has():
    names = dir(spotter)
    assert {"analyze", "report", "diff", "export", "simulate", "analyses", "agents", "on_trace_ready", "operators"} <= set(names)
    with pytest.raises(AttributeError, match="no attribute 'operatos'"):
        spotter.operatos  # noqa: B018
    assert spotter.__version__ in subprocess.run([spotter.program.path(), "--version"], capture_output=True, text=True, check=True).stdout


def test_the_package_is_the_program():
    done = subprocess.run([sys.executable, "-m", "spotter", "analyses"], capture_output=True, text=True, check=True)
    assert "temporal_breakdown" in done.stdout


def test_a_progress_line_on_a_terminal(large):
    import pty

    master, slave = pty.openpty()
    code = f"import spotter; spotter.analyze({large!r}, threads=1)"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=slave, env=os.environ)
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 4096):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(master)
    assert process.wait() == 0
    assert b"% of" in shown and shown.endswith(b"\r")


def test_the_process_can_be_interrupted_while_simulating(tmp_path):
    code = f"""
import signal, spotter
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    spotter.simulate({str(tmp_path / "job")!r}, ranks=64, events=1_000_000)
except KeyboardInterrupt:
    print("ended")
"""
    assert python(code) == "ended\n"
    assert signal.SIGALRM


@pytest.mark.parametrize("call", ["analyze(job)", "load(job, 0).events(['External id'])", "report(job)"])
def test_the_end_of_a_script_is_not_that_of_its_threads(job, call):
    """A thread that nobody waits for is in a call, or begins one after the other, when the interpreter ends."""
    code = f"""
import sys, threading, time
import spotter
job, begun = sys.argv[1], threading.Event()
def work():
    begun.set()
    while True:
        spotter.{call}
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(float(sys.argv[2]))
print("done")
"""
    for after in ("0", "0.02", "0.1", "0.3"):
        ended = subprocess.run([sys.executable, "-c", code, job, after], capture_output=True, text=True, timeout=60, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", ""), after


def test_who_asks_at_the_end_is_answered(job):
    code = """
import atexit, sys
atexit.register(lambda: print(len(spotter.analyze(sys.argv[1], ["steps"])["steps"]) > 0))  # called after the module's own
import spotter
"""
    ended = subprocess.run([sys.executable, "-c", code, job], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "True\n", "")

"""Engines give the answer of one machine, to the byte, whatever becomes of their workers."""

import gzip
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

import spotter
from spotter.engines import Engine, Processes, _groups

NAMES = ["findings", "summary", "operators", "temporal_breakdown", "skeleton", "collectives"]


def documents(results):
    return {name: table.to_json() for name, table in results.items()}, results.notes


class Here(Engine):
    """One's own engine: this process, backwards."""

    workers = 2

    def __init__(self, fail=()):
        self.fail = dict(fail)
        self.tasks = []

    def map(self, function, tasks, memory):
        self.tasks.append(len(tasks))
        assert len(memory) == len(tasks)
        for place in reversed(range(len(tasks))):
            yield -1, b""
            if self.fail.get(place, 0) > 0:
                self.fail[place] -= 1
                yield place, OSError("the worker is gone")
            else:
                yield place, function(tasks[place])


def ray_engine():
    pytest.importorskip("ray")
    return "ray"


@pytest.mark.parametrize("engine", [Here, lambda: "processes", ray_engine], ids=["own", "processes", "ray"])
def test_the_answer_is_that_of_one_machine(engine, job):
    engine = engine()
    assert documents(spotter.analyze(job, NAMES, engine=engine)) == documents(spotter.analyze(job, NAMES))
    assert spotter.report(job, engine=engine).to_text() == spotter.report(job).to_text()


def test_every_table_and_parameter(job):
    names = [a.name for a in spotter.analyses()]
    ways = {"steps": (2, 3), "ranks": [0, 1, 3], "top": 4}
    assert documents(spotter.analyze(job, names, engine=Here(), **ways)) == documents(spotter.analyze(job, names, **ways))
    one, many = (spotter.analyze(job, ["summary"], what_if="device:rank=3=peer", engine=e) for e in ("local", Here()))
    assert documents(one) == documents(many)


def test_a_worker_that_is_lost_once_is_no_loss(job):
    engine = Here({0: 1})
    assert documents(spotter.analyze(job, NAMES, engine=engine)) == documents(spotter.analyze(job, NAMES))
    assert len(engine.tasks) == 2


def test_a_worker_that_is_lost_twice_is_a_note(job):
    results = spotter.analyze(job, NAMES, engine=Here({0: 2}))
    assert any("lost twice (OSError: the worker is gone)" in note.text and note.severity == "loss" for note in results.notes)
    assert len(results["summary"]) == 5


def test_what_an_engine_does_not_give_back_is_a_note(job):
    class Dropping(Here):
        def map(self, function, tasks, memory):
            return [(place, function(task)) for place, task in enumerate(tasks) if place > 0]

    results = spotter.analyze(job, NAMES, engine=Dropping())
    assert any("gave nothing of it back" in note.text and note.severity == "loss" for note in results.notes)
    assert len(results["summary"]) == 5


def test_a_damaged_file_and_one_that_vanishes(job, tmp_path):
    for path in pathlib.Path(job).glob("*.json.gz"):
        shutil.copy(path, tmp_path)
    files = sorted(tmp_path.glob("*.gz"))
    files[2].write_bytes(gzip.compress(b"{]"))
    assert documents(spotter.analyze(tmp_path, NAMES, engine=Here())) == documents(spotter.analyze(tmp_path, NAMES))

    class Vanishing(Here):
        def map(self, function, tasks, memory):
            os.unlink(files[4])
            yield from super().map(function, tasks, memory)

    results = spotter.analyze(tmp_path, NAMES, engine=Vanishing())
    assert any(files[4].name in note.text for note in results.notes) and len(results["summary"]) == 4


def test_another_version_is_an_error_not_a_loss(job):
    class Old(Here):
        def map(self, function, tasks, memory):
            for place in range(len(tasks)):
                yield place, spotter.Unsupported("it was written by spotter 0.0.1")

    with pytest.raises(spotter.Unsupported, match="0.0.1"):
        spotter.analyze(job, NAMES, engine=Old())


class Killing:
    """Ends its process at the first call of all."""

    def __init__(self, function, marker):
        self.function, self.marker = function, str(marker)

    def __call__(self, task):
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return self.function(task)
        os.kill(os.getpid(), signal.SIGKILL)


class KillingProcesses(Processes):
    def __init__(self, marker):
        super().__init__(2)
        self.marker = marker

    def map(self, function, tasks, memory):
        yield from super().map(Killing(function, self.marker), tasks, memory)


def test_a_process_that_is_killed_is_no_loss(job, tmp_path):
    results = spotter.analyze(job, NAMES, engine=KillingProcesses(tmp_path / "killed"))
    assert documents(results) == documents(spotter.analyze(job, NAMES))
    assert (tmp_path / "killed").exists()


RAY_KILLED = """
import os, pathlib, signal, sys
import ray, spotter
from spotter.on_ray import Ray

folder, marker = sys.argv[1:]
spotter.simulate(folder, ranks=64, events=3000, seed=1)
ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)


def made():  # classes of this script travel by value
    class Killing(Ray):
        def map(self, function, tasks, memory):
            def killed(task):
                try:
                    number = len(os.listdir(marker))
                    os.close(os.open(f"{marker}/{number}", os.O_CREAT | os.O_EXCL))
                    if number == 5:
                        os.kill(os.getpid(), signal.SIGKILL)
                except FileExistsError:
                    pass
                return function(task)

            yield from super().map(killed, tasks, memory)

    return Killing()


engine = made()
assert engine.workers == 4
names = ["findings", "summary", "operators", "temporal_breakdown", "skeleton", "collectives"]
many = spotter.analyze(folder, names, engine=engine, progress=False)
one = spotter.analyze(folder, names, progress=False)
assert {n: t.to_json() for n, t in many.items()} == {n: t.to_json() for n, t in one.items()}
assert many.notes == one.notes and len(many["summary"]) == 64
print(len(os.listdir(marker)))
"""


def test_a_ray_worker_that_is_killed_is_no_loss(tmp_path):
    """64 files over four workers of one machine, one of which is killed in the middle."""
    pytest.importorskip("ray")
    (tmp_path / "job").mkdir()
    (tmp_path / "called").mkdir()
    done = subprocess.run([sys.executable, "-c", RAY_KILLED, tmp_path / "job", tmp_path / "called"], capture_output=True, text=True,
                          timeout=240, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.splitlines()[-1]) > 6  # tasks begun; Ray says above that a worker died
    assert "killed" in done.stdout


def test_a_script_without_a_guard(job, tmp_path):
    """Each worker runs it again, and then itself wants workers."""
    script = tmp_path / "unguarded.py"
    script.write_text(f"""
import os
open({str(tmp_path / "runs")!r}, "a").write("x")
import spotter
from spotter.engines import Processes
print(len(spotter.summary({job!r}, engine=Processes(2), progress=False)))
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0 and not done.stdout
    assert 'Invalid: workers cannot start: the script that calls engine="processes" needs' in done.stderr.splitlines()[-1]
    assert (tmp_path / "runs").read_text() in ("xx", "xxx")
    guarded = script.read_text().replace("print(", "if __name__ == '__main__': print(")
    script.write_text(guarded)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "6\n", done.stderr


class Ending:
    """Ends its process at each call for the task that has this text."""

    def __init__(self, function, task):
        self.function, self.task = function, task

    def __call__(self, task):
        if task == self.task:
            os._exit(7)
        return self.function(task)


class EndingProcesses(Processes):
    def map(self, function, tasks, memory):
        yield from super().map(Ending(function, tasks[0]), tasks, memory)


def test_a_task_that_ends_each_process_takes_no_other_along(job):
    results = spotter.analyze(job, NAMES, engine=EndingProcesses(2))
    lost = [note for note in results.notes if "lost twice" in note.text]
    assert len(lost) == 1 and lost[0].count == 1 and len(results["summary"]) == 5


def test_an_interruption_leaves_no_process(large):
    class Enough(Exception):
        pass

    children = f"/proc/{os.getpid()}/task/{os.getpid()}/children"

    def stop(done, total):
        if _workers(children):
            raise Enough

    with pytest.raises(Enough):
        spotter.analyze(large, engine="processes", progress=stop)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and _workers(children):
        time.sleep(0.05)
    assert not _workers(children)


def _workers(children):
    """Processes of ours but the one that multiprocessing keeps for its own resources."""
    found = []
    for pid in pathlib.Path(children).read_text().split():
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in words:
            found.append(pid)
    return found


def test_tasks_are_few_where_files_are_small_and_enough_for_all():
    files = [(f"{i}", 1000 + i, 15_000 + i, None) for i in range(100)]
    groups = _groups(files, 4)
    assert sorted(place for group in groups for place in group) == list(range(100))
    assert 12 <= len(groups) <= 16
    huge = [(f"{i}", 1 << 30, 15 << 30, None) for i in range(100)]
    assert len(_groups(huge, 4)) == 100
    assert sys.version_info

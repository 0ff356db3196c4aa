"""Engines: where the traces of a job are read. A task is a group of files, as bytes; what a worker has mapped of it comes
back as bytes; the caller reduces all of them to the answer that one machine gives, to the byte."""

from __future__ import annotations

import importlib

from spotter import _core
from spotter.errors import Error, Invalid
from spotter.runs import processors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import Union

    Outcome = Union[bytes, BaseException]

# A task is worth a worker's start from some seconds on (docs/python.md has the measurement).
_TASK_BYTES = 512 << 20
_TASK_FILES = 32
_TASKS_PER_WORKER = 3
_LEAST_MEMORY = 256 << 20

_NO_GUARD = 'workers cannot start: the script that calls engine="processes" needs `if __name__ == "__main__":`'


class Engine:
    """Where tasks run. An engine of one's own has these; an example is in the documentation."""

    workers = 1
    """How many tasks run at a time: a job has at least three tasks for each."""

    def map(self, function: Callable[[bytes], bytes], tasks: Sequence[bytes], memory: Sequence[int]) -> Generator[tuple[int, Outcome], None, None]:
        """Yields, in any order, the place of each task and what `function(task)` gave, or why it could not be done.

        `function` can be pickled. It raises only where its worker is lost or unfit: files that cannot be read are told in
        its result. `memory[i]`: bytes that task i needs. While there is nothing to yield it may yield (-1, b""), so that
        the caller can tell how far it is. When the generator is closed, tasks that still run are to be given up.
        """
        raise NotImplementedError


class Worker:
    """What workers do, for engines to send."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def __call__(self, task: bytes) -> bytes:
        from spotter.progress import silent

        return _core.map_task(task, self.threads, 0, silent)


def _nothing() -> None:
    pass


class Processes(Engine):
    """Processes of this machine: one that ends takes only its task along."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or processors()

    def map(self, function: Callable[[bytes], bytes], tasks: Sequence[bytes], memory: Sequence[int]) -> Generator[tuple[int, Outcome], None, None]:
        import multiprocessing

        # A worker begins by running the script again that called, up to its guard.
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise Invalid(_NO_GUARD)
        # Where a process ends, its pool breaks, and with it what the others have begun and what waits. The next pool does
        # that; a task that breaks two of them has one of its own, so that it takes no other along.
        broken = yield from self._in_pool(function, tasks, range(len(tasks)), self.workers)
        if broken:
            broken = yield from self._in_pool(function, tasks, broken, self.workers)
        for place in broken:
            if (yield from self._in_pool(function, tasks, [place], 1)):
                yield place, OSError("its process ended")

    def _in_pool(
        self, function: Callable[[bytes], bytes], tasks: Sequence[bytes], places: Sequence[int], workers: int
    ) -> Generator[tuple[int, Outcome], None, list[int]]:
        """Gives back the places that the pool's end left over."""
        import multiprocessing
        from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
        from concurrent.futures.process import BrokenProcessPool

        pool = ProcessPoolExecutor(min(workers, len(places)), mp_context=multiprocessing.get_context("spawn"))
        first = pool.submit(_nothing)  # what breaks the pool before it returned was no task
        running = {pool.submit(function, tasks[place]): place for place in places}
        broken: list[int] = []
        try:
            while running:
                done, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
                if not done:
                    yield -1, b""
                for future in done:
                    place, error = running.pop(future), future.exception()
                    if isinstance(error, BrokenProcessPool):
                        if first.exception() is not None:
                            raise Invalid(_NO_GUARD)
                        broken.append(place)
                    else:
                        yield place, error or future.result()
        finally:
            # Who still works on a task that nobody wants any more would be waited for at the end of the interpreter.
            processes = list((pool._processes or {}).values()) if running else []
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
        return broken


def engine_of(engine: str | Engine) -> Engine:
    if isinstance(engine, Engine) or (not isinstance(engine, str) and hasattr(engine, "map")):
        return engine
    if engine == "processes":
        return Processes()
    if engine == "ray":
        return importlib.import_module("spotter.on_ray").Ray()
    raise Invalid(f'there is no engine "{engine}"; there are local, processes, ray, and your own (spotter.Engine)')


def _groups(files: list[tuple], workers: int) -> list[list[int]]:
    """The places of each task's files: the largest first, together as many as are worth a task, but enough for all workers."""
    total = sum(json_bytes for _, _, json_bytes, _ in files)
    most_bytes = min(_TASK_BYTES, total // (_TASKS_PER_WORKER * workers) + 1)
    most_files = max(1, min(_TASK_FILES, len(files) // (_TASKS_PER_WORKER * workers)))
    groups: list[list[int]] = []
    size = 0
    for place in sorted(range(len(files)), key=lambda i: -files[i][2]):
        if not groups or len(groups[-1]) >= most_files or size + files[place][2] > most_bytes:
            groups.append([])
            size = 0
        groups[-1].append(place)
        size += files[place][2]
    return [sorted(group) for group in groups]


def _memory(files: list[tuple], group: list[int]) -> int:
    """What reading the largest of them takes: about half of its text (docs/decisions/0008)."""
    largest = max(files[place][2] for place in group)
    return -(-max(largest // 2, 1) // _LEAST_MEMORY) * _LEAST_MEMORY


def map_job(
    job: _core.Job, names: list[str], settings: list[tuple], part: _core.Part, engine: str | Engine,
    tell: Callable[[int, int], object],
) -> list[bytes]:  # fmt: skip
    """Maps all files of a job on an engine. A task whose worker is lost is tried once more, its files one by one; a file
    that is lost again is told as not read."""
    engine = engine_of(engine)
    files = job.files
    if not files:
        return []
    results: list[bytes] = []
    total, done = sum(stored for _, stored, _, _ in files), 0
    groups, is_retry = _groups(files, max(1, engine.workers)), False
    while groups:
        tasks = _core.plan(job, names, settings, part, groups)
        again: list[list[int]] = []
        waited_for = set(range(len(groups)))
        outcomes = engine.map(Worker(), tasks, [_memory(files, group) for group in groups])
        try:
            for place, outcome in outcomes:
                tell(done, total)
                if place < 0:
                    continue
                waited_for.discard(place)
                if isinstance(outcome, (Error, ImportError)):
                    raise outcome  # not of this task alone: another version, or none, on the workers
                if isinstance(outcome, BaseException) and not is_retry:
                    again += [[one] for one in groups[place]]
                    continue
                if isinstance(outcome, BaseException):
                    why = f"it was not read: its worker was lost twice ({type(outcome).__name__}: {outcome})"
                    outcome = _core.failed_task(tasks[place], why)
                results.append(outcome)
                done += sum(files[one][1] for one in groups[place])
        finally:
            if hasattr(outcomes, "close"):
                outcomes.close()
        for place in sorted(waited_for):
            results.append(_core.failed_task(tasks[place], "it was not read: the engine gave nothing of it back"))
        groups, is_retry = again, True
    return results

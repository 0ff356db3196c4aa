"""Tasks on a Ray cluster: the one that this process is connected to, else the one of $RAY_ADDRESS, else one of this machine,
which stays for the next call."""

from __future__ import annotations

import ray

from spotter.engines import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from spotter.engines import Outcome

_HELP = (
    "the workers of the Ray cluster cannot import spotter; give them the package: by their image, by "
    'ray.init(runtime_env={"pip": ["spotter-trace"]}), or by runtime_env={"py_modules": [WHEEL]}'
)


class Ray(Engine):
    """threads: processors of each task. retries: of a task whose worker is lost, by Ray itself."""

    def __init__(self, threads: int = 1, retries: int = 1) -> None:
        self._threads, self._retries = threads, retries
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)

    @property
    def workers(self) -> int:  # type: ignore[override]
        return max(1, int(ray.cluster_resources().get("CPU", 1)) // self._threads)

    def map(self, function: Callable[[bytes], bytes], tasks: Sequence[bytes], memory: Sequence[int]) -> Generator[tuple[int, Outcome], None, None]:
        # A task that asks for more than any node has would wait for ever.
        most = min(node["Resources"].get("memory", 0) for node in ray.nodes() if node["Alive"])

        def call(task: bytes) -> bytes:
            return function(task)

        remote = ray.remote(num_cpus=self._threads, max_retries=self._retries, scheduling_strategy="SPREAD")(call)
        waiting = list(reversed(range(len(tasks))))
        running: dict[ray.ObjectRef, int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < 2 * self.workers:
                    place = waiting.pop()
                    task = remote.options(memory=int(min(memory[place], most / 2)))
                    running[task.remote(tasks[place])] = place
                done, _ = ray.wait(list(running), num_returns=1, timeout=0.1)
                if not done:
                    yield -1, b""
                for reference in done:
                    yield running.pop(reference), _outcome(reference)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


def _outcome(reference: ray.ObjectRef) -> Outcome:
    try:
        return ray.get(reference)
    except (ModuleNotFoundError, ray.exceptions.RaySystemError) as error:
        return ImportError(f"{_HELP} ({error})") if "spotter" in str(error) else error
    except ray.exceptions.RayError as error:
        return error
    except Exception as error:  # what the function raised
        return error

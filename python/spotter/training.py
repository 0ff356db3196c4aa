"""For training scripts: where `torch.profiler.profile` puts its traces."""

from __future__ import annotations

import os
import socket
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def on_trace_ready(folder: str | os.PathLike, *, gzip: bool = True) -> Callable[[Any], None]:
    """A handler for `torch.profiler.profile(on_trace_ready=spotter.on_trace_ready("traces"))`.

    Each trace is written whole or not at all, as FOLDER/HOST.rankR.TIME.pt.trace.json.gz; the rank is that of
    `torch.distributed`, else $RANK, else none. Then `spotter.report("traces")` says what it shows.

    Args:
        folder: made if it is not there.
        gzip: compressed, a tenth of the size.
    """
    folder = os.fspath(folder)

    def handler(profiler: Any) -> None:
        os.makedirs(folder, exist_ok=True)
        rank = _rank()
        ending = ".pt.trace.json.gz" if gzip else ".pt.trace.json"
        name = f"{socket.gethostname()}{'' if rank is None else f'.rank{rank}'}.{time.time_ns()}"
        part = os.path.join(folder, f".{name}.{os.getpid()}.part{ending}")
        try:
            profiler.export_chrome_trace(part)
            os.replace(part, os.path.join(folder, name + ending))
        finally:
            if os.path.exists(part):
                os.unlink(part)

    return handler


def _rank() -> int | None:
    # Whoever has a profiler has imported it.
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    text = os.environ.get("RANK", "")
    return int(text) if text.isdigit() else None

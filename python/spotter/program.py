"""The program `spotter` of this package, for what Python asks it to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

from spotter.errors import Error, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def path() -> str:
    """Where the program is: $SPOTTER, else the one that was installed with this package, else that of the PATH."""
    if named := os.environ.get("SPOTTER"):
        return named
    beside = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    for folder in beside:
        if os.access(found := os.path.join(folder, "spotter"), os.X_OK):
            return found
    if (elsewhere := shutil.which("spotter")) is None:
        raise NotFound("the program spotter is not installed beside this package; install spotter-trace anew")
    return elsewhere


def run(words: Sequence[str], ok: Sequence[int] = (0,)) -> bytes:
    """Runs it. What it says on standard error is the message of the error that is raised.

    Args:
        ok: the exit statuses that are no errors.

    Returns:
        What it wrote on standard output.
    """
    process = subprocess.Popen([path(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    if process.returncode in ok:
        return out
    message = err.decode(errors="replace").strip().removeprefix("spotter: ") or f"spotter ended with {process.returncode}"
    raise Error(message)


def flags(options: dict[str, Any]) -> list[str]:
    """no_gzip=True -> --no-gzip; fault=["a", "b"] -> --fault a --fault b."""
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            # As one word, what begins with - is no flag of its own; without a value the next word would be taken for it.
            words += [flag] if one is True else [f"{flag}={one}"] if str(one) else [flag, ""]
    return words


def simulate(folder: str | os.PathLike, *, fault: str | Sequence[str] = (), force: bool = False, **options: Any) -> str:
    """Writes the traces of a simulated job, with faults if wanted, and truth.json.

    Args:
        folder: where to; made if need be, else without traces.
        fault: something wrong with the job, such as "slow-rank:rank=3,factor=1.5".
        force: replace an earlier simulation in the folder.
        options: those of `spotter simulate --help`, with _ for -: ranks=16, steps=8, seed=1, sharding="fsdp", no_gzip=True.

    Returns:
        The folder.
    """
    folder = os.fspath(folder)
    run(["simulate", "-o", folder, *flags({"fault": list(fault) if not isinstance(fault, str) else fault, "force": force}),
         *flags(options)])  # fmt: skip
    return folder


def main() -> None:
    """`python -m spotter ...` is the program."""
    program = path()
    os.execv(program, [program, *sys.argv[1:]])

"""Traces whose answers HTA has given (tests/fixtures/hta/answers.json): the project's own, and those of the folder `shared`."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("SPOTTER_SHARED", ROOT.parent / "shared")) / "traces"
OWN = ("cpu_ddp", "cpu_stacks", "gpu_training")

sys.path.append(str(ROOT / "tests" / "conformance"))

import references  # noqa: E402


def _path(places):
    """A file, or the folder of a job."""
    return SHARED / places if isinstance(places, str) else (SHARED / places[0]).parent


def jobs():
    """Path by name."""
    own = {f"fixtures/{name}": ROOT / "tests" / "fixtures" / "traces" / name for name in OWN}
    return own | {name: _path(places) for name, places in sorted(references.TRACES.items())}

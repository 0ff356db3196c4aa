"""The package as it was built (build/PRESET/python), or as it is installed: tools/python sets PYTHONPATH."""

import os
import pathlib
import subprocess
import sys

import pytest

import spotter
from spotter import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(scope="session")
def training():
    """A trace of one rank with device work."""
    return str(ROOT / "tests" / "fixtures" / "traces" / "gpu_training")


@pytest.fixture(scope="session")
def job(tmp_path_factory):
    """Of six ranks, one of which is slow."""
    folder = tmp_path_factory.mktemp("a-job")  # no word that base64 may happen to make
    return spotter.simulate(folder, ranks=6, steps=4, layers=3, fault="slow-rank:rank=3,factor=1.4", seed=1)


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """A job that takes seconds to read."""
    folder = tmp_path_factory.mktemp("large")
    return spotter.simulate(folder, ranks=4, events=600_000, no_gzip=True, seed=1)


def spotter_json(*words):
    """What the program prints."""
    return subprocess.run([program.path(), *map(str, words), "--format", "json"], check=True, capture_output=True, text=True).stdout


def python(code, *, ok=True, **environment):
    """Runs code in a new interpreter; its standard output."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, **environment})  # fmt: skip
    assert not ok or done.returncode == 0, done.stderr
    return done.stdout

"""Tests of the MCP server: `spotter mcp` over its pipe, and POST /mcp. They run with the Python of tools/mcp_python, which has
the clients that are asked with. All of them, with the program of build/release or $SPOTTER:

    $(tools/mcp_python) -m pytest -q -p no:cacheprovider tests/mcp

`-m "not whole"` leaves out those that tools/test does without: more faults, more clients, a job of 1,024 ranks. The conformance
suite comes from tools/mcp_suite, the client of the generation before from `tools/mcp_python old`; without them their tests skip."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent / "e2e"), str(HERE.parents[1] / "tools")]
sys.dont_write_bytecode = True
pytest.register_assert_rewrite("agent", "answers", "asking", "doors", "incident", "jobs", "remote", "schemas")

import jobs  # noqa: E402
from asking import Pipe  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "whole: only when all is run, not in each run of all tests")


def shared_folder(factory):
    """Of all processes of pytest-xdist."""
    base = factory.getbasetemp()
    return base.parent if base.name.startswith("popen-") else base


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Of two jobs, `slow` with a slow rank 2 and `well` without a fault."""
    return jobs.made(shared_folder(tmp_path_factory) / "two", jobs.two_jobs)


@pytest.fixture(scope="session")
def large_folder(tmp_path_factory):
    """Of the job `large`, with 1,024 ranks."""
    return jobs.made(shared_folder(tmp_path_factory) / "large", jobs.large_job)


@pytest.fixture(scope="module")
def pipe(folder):
    with Pipe(folder) as running:
        yield running


@pytest.fixture(scope="module")
def tools(pipe):
    return pipe.tools()

import signal

import pytest

import agent as agent_module
import guarded_host


def pytest_configure(config):
    config.addinivalue_line("markers", "whole: only in `make e2e`, not in each run of all tests")


@pytest.fixture
def agent():
    """A fresh agent that must also end well."""
    running = agent_module.Agent()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def host():
    """One for a whole file: each test leaves it as it found it, with nothing under way."""
    with guarded_host.running_host() as made:
        yield made


# Whoever runs the tests in the background of a script may have them ignore Ctrl-C, and what they start with them.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest

import agent as agent_module


@pytest.fixture
def agent():
    """A fresh agent that must also end well."""
    running = agent_module.Agent()
    yield running
    running.stop()

"""An agent that several users and clients may ask for different things, and processes that tell whether anything was begun."""

import contextlib
import dataclasses
import re

from remote import OWNER, Poller, RemoteAgent

LIMITED_UID = 65534  # of remote.LIMITED


@dataclasses.dataclass
class Host:
    """An agent with processes that were never asked: `mine` of the user that `limited` may trace, `other` of another."""

    agent: RemoteAgent
    mine: Poller
    other: Poller
    capture: str  # over; root's

    def idle(self):
        return all(row["state"] == "idle" for row in self.agent.processes())

    def assert_nothing_was_begun(self):
        assert self.idle()
        assert self.mine.poll() == self.other.poll() == ""

    def body(self, poller):
        return {"pids": [poller.pid], "output": str(self.agent.out_dir), "duration_ms": 50}

    def begin_as_root(self):
        capture = self.agent.capture(pids=[self.other.pid])
        assert capture
        return capture

    def end_as_root(self, capture):
        assert self.agent.api("DELETE", f"/v1/captures/{capture}")[0] == 200
        self.assert_nothing_was_begun()


@contextlib.contextmanager
def running_host(**options):
    with RemoteAgent(**options) as agent, Poller(agent, LIMITED_UID) as mine, Poller(agent, OWNER) as other:
        host = Host(agent, mine, other, "")
        host.capture = host.begin_as_root()
        host.end_as_root(host.capture)
        yield host


def rpc_trace(agent, poller, file):
    return agent.rpc({"fn": "setKinetOnDemandRequest", "pids": [poller.pid], "process_limit": 3,
                      "config": f"ACTIVITIES_LOG_FILE={file}\nACTIVITIES_DURATION_MSECS=50"})


def end_of(host, poller):
    """Ends what the RPC began, whose id only the log tells."""
    line = host.agent.wait_for_line("audit:", f"processes ({poller.pid})", "setKinetOnDemandRequest", "capture ")
    lines = [one for one in host.agent.log().splitlines() if f"({poller.pid}) by setKinetOnDemandRequest" in one]
    capture = re.search(r": capture (\S+)$", lines[-1])
    assert capture, line
    host.agent.api("DELETE", f"/v1/captures/{capture[1]}")

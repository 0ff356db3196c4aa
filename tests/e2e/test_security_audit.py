"""The log keeps who did what, and from where."""

import json
import os

import pytest

import agent as agent_module
from guarded_host import LIMITED_UID, end_of, rpc_trace, running_host
from remote import STRANGER, RemoteAgent, as_user, certificates, token

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")


def test_audit_of_what_is_done(host):
    agent, mine, other = host.agent, host.mine, host.other
    for name, words in (("trace", {"name": "trace"}), ("admin", {"bearer": token("admin")})):
        _, document = agent.https("POST", "/v1/captures", host.body(other), **words)
        capture = document["capture"]
        agent.wait_for_line(f"audit: client {name} (127.0.0.1:", f"asks to trace 1 processes ({other.pid}) by "
                            f"POST /v1/captures to {agent.out_dir}: capture {capture}")
        agent.https("DELETE", f"/v1/captures/{capture}", **words)
        agent.wait_for_line(f"audit: client {name} (127.0.0.1:", f"ends capture {capture}: done")
        assert f"ended by client {name}" in agent.receipts(capture)[0]["reason"]

    def as_owner():
        _, document = agent.api("POST", "/v1/captures", host.body(mine))
        agent.api("DELETE", f"/v1/captures/{document['capture']}")
        return [os.getpid(), document["capture"]]

    pid, capture = as_user(LIMITED_UID, as_owner)
    agent.wait_for_line(f"audit: user {LIMITED_UID} (unix, process {pid}) asks to trace 1 processes ({mine.pid})", capture)
    agent.wait_for_line(f"audit: user {LIMITED_UID} (unix, process {pid}) ends capture {capture}: done")

    def by_rpc():
        with agent.rpc_stream() as s:
            body = json.dumps({"fn": "setKinetOnDemandRequest", "pids": [mine.pid], "config":
                               f"ACTIVITIES_LOG_FILE={agent.out_dir}/audit.json\nACTIVITIES_DURATION_MSECS=50"}).encode()
            s.sendall(len(body).to_bytes(4, "little") + body)
            agent_module.read_frame(s)
            return s.getsockname()[1]

    port = as_user(LIMITED_UID, by_rpc)
    agent.wait_for_line(f"audit: user {LIMITED_UID} (Dynolog's RPC, port {port}) asks to trace 1 processes ({mine.pid}) by "
                        f"setKinetOnDemandRequest to {agent.out_dir}/audit.json: capture ")
    end_of(host, mine)
    host.assert_nothing_was_begun()


def refused_deeds(host, of_root):
    """name: (deed, words of its line). Only one of many refusals in ten seconds is logged, so each has its own agent."""
    agent, other = host.agent, host.other
    out = agent.out_dir
    post = ("POST", "/v1/captures")
    asks = f"asks to trace 1 processes ({other.pid}) by POST /v1/captures to {out}: refused, "
    ends = f"ends capture {of_root}: refused, "
    return {
        "nobody traces": (lambda: agent.https(*post, host.body(other)),
                          ["audit: an unknown client (127.0.0.1:", "POST /v1/captures: refused, "]),
        "nobody looks": (lambda: agent.https("GET", "/v1/processes", bearer="x"),
                         ["audit: an unknown client (127.0.0.1:", "GET /v1/processes: refused, "]),
        "view traces": (lambda: agent.https(*post, host.body(other), name="view"),
                        ["audit: client view (127.0.0.1:", "POST /v1/captures: refused, client view may not trace"]),
        "limited traces another's": (lambda: agent.https(*post, host.body(other), name="limited"),
                                     ["audit: client limited (127.0.0.1:", asks, "client limited may not trace"]),
        "place": (lambda: agent.https(*post, host.body(other) | {"output": "/etc"}, name="admin"),
                  ["audit: client admin (127.0.0.1:", asks.replace(str(out), "/etc"), "/etc is not in "]),
        "view ends": (lambda: agent.https("DELETE", f"/v1/captures/{of_root}", name="view"),
                      ["audit: client view (127.0.0.1:", ends]),
        "trace ends another's": (lambda: agent.https("DELETE", f"/v1/captures/{of_root}", name="trace"),
                                 ["audit: client trace (127.0.0.1:", ends, "may not end what somebody else began"]),
        "stranger traces": (lambda: as_user(STRANGER, lambda: agent.api(*post, host.body(other))),
                            [f"audit: user {STRANGER} (unix, process ", asks, f"user {STRANGER} may not trace"]),
        "stranger traces all": (lambda: as_user(STRANGER, lambda: agent.api(*post, {"all": True})),
                                [f"audit: user {STRANGER} (unix, process ", "asks for POST /v1/captures: refused, ",
                                 "are other users'"]),
        "stranger traces by RPC": (lambda: as_user(STRANGER, lambda: rpc_trace(agent, other, out / "x.json")),
                                   [f"audit: user {STRANGER} (Dynolog's RPC, port ", f"({other.pid}) by "
                                    f"setKinetOnDemandRequest to {out}/x.json: refused, user {STRANGER} may not trace"]),
        "stranger ends": (lambda: as_user(STRANGER, lambda: agent.api("DELETE", f"/v1/captures/{of_root}")),
                          [f"audit: user {STRANGER} (unix, process ", ends]),
    }


REFUSALS = ["nobody traces", "nobody looks", "view traces", "limited traces another's", "place", "view ends",
            "trace ends another's", "stranger traces", "stranger traces all",
            "stranger traces by RPC", "stranger ends"]


@pytest.mark.parametrize("name", REFUSALS)
def test_audit_of_what_is_refused(name):
    with running_host() as host:
        deed, words = refused_deeds(host, host.capture)[name]
        deed()
        host.agent.wait_for_line(*words)
        host.assert_nothing_was_begun()


def test_a_name_cannot_steer_the_terminal_that_shows_the_log():
    certificates().issue("evil", "\x1b[31m")
    with RemoteAgent() as agent:
        assert agent.https("POST", "/v1/captures", {"all": True}, name="evil")[0] == 401
        assert agent.https("GET", "/%1b[31m", name="evil")[0] == 401
        agent.wait_for_line("audit: ")
        assert not [c for c in agent.log() if ord(c) < 32 and c != "\n"]

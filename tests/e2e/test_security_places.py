"""No door names a file where none may be written."""

import os

import pytest

from guarded_host import LIMITED_UID, rpc_trace
from remote import as_user

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")


def bad_places(agent):
    """Of users who may write only where the agent says."""
    out = agent.out_dir
    return {
        "elsewhere": "/etc", "upwards": f"{out}/../../../etc", "upwards inside": f"{out}/../out",
        "upwards at its end": f"{out}/..", "relative": "out", "relative upwards": "../etc", "like name": f"{out}x",
        "not listed": "/tmp", "the folder above": str(agent.folder), "link": f"{out}/link", "below a link": f"{out}/link/x",
        "root": "/", "dot": ".", "the process's own": "/proc/self/cwd", "home": "~", "line break": f"{out}\n/etc",
        "key": f"{out}\nACTIVITIES_LOG_FILE=/etc/x", "comment": f"{out}#", "NUL": f"{out}\0", "url": "file:///etc",
        "escapes": f"{out}/%2e%2e/%2e%2e/x",
    }


@pytest.fixture(scope="module")
def linked(host):
    (host.agent.out_dir / "link").symlink_to("/etc")
    return host


# A user of the host may name other places for processes of his own, which could write there anyway.
OWNERS_WAY = {"elsewhere": "may not write", "root": "may not write", "like name": "cannot be opened",
              "not listed": None, "the folder above": "may not write"}


@pytest.mark.parametrize("who", ["root", "owner", "admin", "trace", "limited"])
def test_places_over_http(linked, who):
    agent, poller = linked.agent, linked.mine
    for name, place in bad_places(agent).items():
        body = linked.body(poller) | {"output": place}
        if who in ("root", "owner"):
            uid = 0 if who == "root" else LIMITED_UID
            status, document = as_user(uid, lambda body=body: agent.api("POST", "/v1/captures", body))
        else:
            status, document = agent.https("POST", "/v1/captures", body, name=who)
        if who == "owner" and name in OWNERS_WAY and OWNERS_WAY[name] is None:
            assert status == 200
            linked.end_as_root(document["capture"])
            continue
        assert status in (400, 403), (name, document)
        if who == "owner" and name in OWNERS_WAY:
            assert OWNERS_WAY[name] in document["error"]["message"], document
        assert linked.idle(), name
    linked.assert_nothing_was_begun()


@pytest.mark.parametrize("uid", [0, LIMITED_UID])
def test_places_over_rpc(linked, uid):
    agent, poller = linked.agent, linked.mine
    for name, place in bad_places(agent).items():
        if uid == LIMITED_UID and name in OWNERS_WAY:
            continue
        if name == "comment":
            continue  # the text of a config ends there, so this one is the folder that is allowed
        reply = as_user(uid, lambda place=place: rpc_trace(agent, poller, f"{place}/x.json"))
        assert str(reply.get("status")).startswith("failed"), (name, reply)
        assert linked.idle(), name
    # Of two lines the last one counts.
    for lines in ([f"{agent.out_dir}/x.json", "/etc/x.json"], [f"{agent.out_dir}/x.json", ""]):
        text = "".join(f"ACTIVITIES_LOG_FILE={path}\n" for path in lines)
        request = {"fn": "setKinetOnDemandRequest", "pids": [poller.pid], "config": text}
        reply = as_user(0, lambda request=request: agent.rpc(request))
        assert str(reply.get("status")).startswith("failed"), reply
    linked.assert_nothing_was_begun()

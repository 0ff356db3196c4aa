"""Who may do what by Dynolog's RPC: on this host whoever he is for the kernel; from another host nobody, unless it is opened."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

import pytest

import cluster
from agent import until
from guarded_host import end_of, rpc_trace
from remote import OWNER, STRANGER, as_user

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")


@pytest.mark.parametrize(("uid", "owns"), [(0, "both"), (OWNER, "other"), (STRANGER, "none")])
def test_users_over_rpc(host, uid, owns):
    assert as_user(uid, lambda: host.agent.rpc({"fn": "getStatus"})) == {"status": 1}
    for name, poller in (("mine", host.mine), ("other", host.other)):
        file = host.agent.out_dir / "rpc.json"
        reply = as_user(uid, lambda poller=poller, file=file: rpc_trace(host.agent, poller, file))
        if owns in ("both", name):
            assert reply["activityProfilersTriggered"] == [poller.pid]
            until(lambda: not host.idle(), 1, "a request waits")
            assert "rpc.json" in poller.poll()
            end_of(host, poller)
            poller.trace()
        else:
            assert reply["status"].startswith(f"failed: user {uid} may not trace process {poller.pid}"), reply
            host.assert_nothing_was_begun()


def test_the_limit_counts_nobody_elses_processes(host):
    """The first process is another user's, and the second the asker's own."""
    _, own = sorted((host.mine, host.other), key=lambda poller: poller.pid)
    request = {"fn": "setKinetOnDemandRequest", "pids": [0], "process_limit": 1,
               "config": f"ACTIVITIES_LOG_FILE={host.agent.out_dir}/rpc.json\nACTIVITIES_DURATION_MSECS=50"}
    reply = as_user(own.uid, lambda: host.agent.rpc(request))
    assert reply.get("activityProfilersTriggered") == reply.get("processesMatched") == [own.pid], reply
    end_of(host, own)
    host.assert_nothing_was_begun()


def test_rpc_of_one_who_has_closed(host):
    """The kernel no longer says whose the connection was."""
    def send_and_close():
        with host.agent.rpc_stream() as s:
            body = json.dumps({"fn": "setKinetOnDemandRequest", "pids": [host.other.pid], "config":
                               f"ACTIVITIES_LOG_FILE={host.agent.out_dir}/x.json\nACTIVITIES_DURATION_MSECS=50"}).encode()
            s.sendall(len(body).to_bytes(4, "little") + body)
        return []

    for _ in range(20):
        as_user(STRANGER, send_and_close)
    host.agent.assert_well()
    host.assert_nothing_was_begun()


@pytest.mark.parametrize("is_open", [False, True])
def test_rpc_from_another_host(is_open):
    if reason := cluster.missing():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="sh-", dir="/tmp") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        hosts_file = folder / "hosts"
        hosts_file.write_text("127.0.0.1 localhost\n")
        here, there = (cluster.Host(n, i, hosts_file) for n, i in (("here", 1), ("there", 2)))
        stack.callback(here.end)
        stack.callback(there.end)
        here.link("link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth0", "netns", there.first.pid)
        for one in (here, there):
            one.link("address", "add", f"{one.address}/24", "dev", "eth0")
            one.link("link", "set", "eth0", "up")
        config = folder / "agent.yaml"
        config.write_text(f"rpc_on_all_addresses_without_authentication: {str(is_open).lower()}\n")
        agent = cluster.HostAgent(here, folder, "--config", config)
        ask = ("import json, socket, struct, sys\n"
               "s = socket.create_connection((sys.argv[1], 1778), 5)\n"
               "body = sys.argv[2].encode()\n"
               "s.sendall(struct.pack('<i', len(body)) + body)\n"
               "print(s.makefile('rb').read().decode('utf-8', 'replace')[4:])\n")

        def asked(host, request):
            return host.run("python3", "-c", ask, here.address, json.dumps(request))

        status = {"fn": "getStatus"}
        if not is_open:
            for one in (here, there):
                done = asked(one, status)
                assert done.returncode != 0 and "ConnectionRefusedError" in done.stderr, done
            assert "warning" not in agent.log()
        else:
            assert "warning dynolog rpc: whoever reaches this host may trace every process on it" in agent.log()
            assert json.loads(asked(there, status).stdout) == {"status": 1}
            process = here.popen("python3", "-S", pathlib.Path(__file__).parent / "client.py", stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
            stack.callback(process.wait, 10)
            stack.callback(process.stdin.close)
            request = {"fn": "setKinetOnDemandRequest", "pids": [0], "config": "ACTIVITIES_DURATION_MSECS=50\n"}
            reply = until(lambda: (r := json.loads(asked(there, request).stdout))["processesMatched"] and r, 10,
                          "it is known")
            assert len(reply["activityProfilersTriggered"]) == 1
            until(lambda: "audit: an unknown client (Dynolog's RPC, port " in agent.log(), 5, "the line of the log")
            # Not even so do files go elsewhere.
            request["config"] += "ACTIVITIES_LOG_FILE=/etc/x.json\n"
            until(lambda: json.loads(asked(there, request).stdout).get("status", "").startswith("failed: /etc/x.json"), 10,
                  "the path is refused")
        agent.stop()

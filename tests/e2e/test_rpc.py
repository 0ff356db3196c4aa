"""The framed RPC is Dynolog's, to the byte where its client or scripts could tell."""

import json
import os
import pathlib
import re
import socket
import subprocess
import time

import pytest

import agent as agent_module
import client
from agent import is_failure, read_frame, until

NO_TRIGGER = {"activityProfilersBusy": 0, "activityProfilersTriggered": [], "eventProfilersBusy": 0,
              "eventProfilersTriggered": [], "processesMatched": []}
# As `dyno` sends it: the text starts with a line break.
DYNO_REQUEST = r'''
{
    "fn": "setKinetOnDemandRequest",
    "config": "ACTIVITIES_LOG_FILE=/tmp/t.json\nPROFILE_START_TIME=0\nACTIVITIES_DURATION_MSECS=500\n''' + (
    r'''PROFILE_REPORT_INPUT_SHAPES=false\nPROFILE_WITH_STACK=false\nPROFILE_WITH_FLOPS=false\n'''
    r'''PROFILE_WITH_MODULES=false",
    "job_id": 77,
    "pids": [0],
    "process_limit": 3
}''')


def config(agent, *lines, name="rpc.json"):
    return "\n".join([f"ACTIVITIES_LOG_FILE={agent.out_dir / name}", "ACTIVITIES_DURATION_MSECS=50", *lines])


def trace(agent, pids, text=None, **more):
    return agent.rpc({"fn": "setKinetOnDemandRequest", "config": text or config(agent), "pids": pids} | more)


def register(agent, one):
    """A first poll by hand; it gets no reply."""
    assert one.send_poll()
    agent.wait_for_processes([os.getpid()])
    assert one.receive_now() is None, "an empty poll was answered"


def test_status_bytes(agent):
    request = bytes.fromhex("12000000 7b22666e223a22676574537461747573227d".replace(" ", ""))
    reply = bytes.fromhex("0c000000 7b22737461747573223a317d".replace(" ", ""))
    with agent.rpc_stream() as s:
        s.sendall(request)
        assert agent_module.read_to_end(s) == reply  # and the connection ends with it


@pytest.mark.parametrize("cuts", [[2], [4], [1, 2, 3, 4], [3, 9], [22 - 1]], ids=str)
def test_request_in_several_segments(agent, cuts):
    request = b"\x12\0\0\0" + b'{"fn":"getStatus"}'
    with agent.rpc_stream() as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start, end in zip([0, *cuts], [*cuts, len(request)]):
            s.sendall(request[start:end])
            time.sleep(0.02)
        assert json.loads(read_frame(s)) == {"status": 1}


def test_ipv6(agent):
    try:
        s = socket.create_server(("::1", 0), family=socket.AF_INET6)
        s.close()
    except OSError as error:
        pytest.skip(f"no IPv6 here ({error})")
    with agent.rpc_stream(host="::1") as s:
        s.sendall(b"\x12\0\0\0" + b'{"fn":"getStatus"}')
        assert json.loads(read_frame(s)) == {"status": 1}


def test_only_this_host_reaches_it(agent):
    """Dynolog listens on every interface."""
    inodes = {os.readlink(f"/proc/{agent.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{agent.pid}/fd")}
    seen = []
    for table, ours in (("tcp", {"0100007F"}), ("tcp6", {"00000000000000000000000001000000"})):
        path = pathlib.Path("/proc/net") / table
        for line in path.read_text().splitlines()[1:] if path.exists() else []:
            fields = line.split()
            listening = "0A"
            if fields[3] == listening and f"socket:[{fields[9]}]" in inodes:
                address, port = fields[1].split(":")
                assert address in ours, line
                seen.append(int(port, 16))
    assert seen and set(seen) == {agent.rpc_port}


def test_version(agent):
    version = agent.rpc({"fn": "getVersion"})["version"]
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?\S*", version), version
    assert version in agent_module.run("--version").stdout


def test_pause_and_resume(agent):
    """There is no GPU monitor to pause: false, as Dynolog says without one."""
    assert agent.rpc({"fn": "dcgmProfPause", "duration_s": 300}) == {"status": False}
    assert agent.rpc({"fn": "dcgmProfResume"}) == {"status": False}


def test_unknown_members_are_ignored(agent):
    assert agent.rpc({"fn": "getStatus", "more": [[{"a": None}]], "text": "ü\u2028"}) == {"status": 1}


def test_nothing_matches(agent):
    assert trace(agent, [0]) == NO_TRIGGER
    assert trace(agent, []) == NO_TRIGGER
    assert trace(agent, [1999999999]) == NO_TRIGGER


def test_dyno_request(agent):
    with agent.spawn(SLURM_JOB_ID=77) as one:
        agent.wait_for_processes([one.pid])
        reply = agent.rpc_raw(DYNO_REQUEST.encode())
        assert reply == (f'{{"activityProfilersBusy":0,"activityProfilersTriggered":[{one.pid}],"eventProfilersBusy":0,'
                         f'"eventProfilersTriggered":[],"processesMatched":[{one.pid}]}}').encode()
        path = pathlib.Path(f"/tmp/t_{one.pid}.json")  # what dyno tells its user
        try:
            asked = client.parse(one.wait_for("config")["text"])
            assert asked["ACTIVITIES_LOG_FILE"] == "/tmp/t.json"
            assert asked["ACTIVITIES_DURATION_MSECS"] == 500
            assert asked.get("PROFILE_START_TIME", 0) == 0
            for switch in ("PROFILE_REPORT_INPUT_SHAPES", "PROFILE_WITH_STACK", "PROFILE_WITH_FLOPS",
                           "PROFILE_WITH_MODULES"):
                assert asked.get(switch, "false") == "false"
            assert asked["REQUEST_TRACE_ID"]
            assert one.wait_for("written")["path"] == str(path)
            assert json.loads(path.read_text())["trace_id"] == asked["REQUEST_TRACE_ID"]
        finally:
            path.unlink(missing_ok=True)
            path.with_name(path.name + ".tmp").unlink(missing_ok=True)


def test_golden_datagrams(agent):
    """The poll and the registration as an old client's process 4242 sends them, and the reply to the latter."""
    poll = bytes.fromhex("1c00000000000000" "72657100" + "00" * 28 + "03000000" "03000000" "4d00000000000000"
                         "92100000" "04100000" "01000000")
    ctxt = bytes.fromhex("1000000000000000" "63747874" + "00" * 28 + "00000000" "92100000" "4d00000000000000")
    assert poll == client.poll(3, [4242, 4100, 1], 77) and len(poll) == 68
    assert ctxt == client.registration(0, 4242, 77) and len(ctxt) == 56
    with agent.client() as one:
        one.send(ctxt)
        assert one.receive_within(1) == bytes.fromhex("0400000000000000" "63747874" + "00" * 28 + "01000000")
        one.send(poll)
        # It is who the kernel says it is, not who it says. Nothing pends: no answer.
        rows = agent.wait_for_processes([os.getpid()])
        assert 4242 not in rows
        assert one.receive_within(0.1) is None


def test_reply_of_a_poll(agent):
    """One datagram, exact size, no NUL at its end, to the socket that polled."""
    with agent.client() as one:
        register(agent, one)
        assert trace(agent, [os.getpid()])["activityProfilersTriggered"] == [os.getpid()]
        assert one.receive_within(0.05) is None, "a config that nobody asked for yet"
        assert one.send_poll()
        reply = one.receive_within(1)
        size, tag = client.HEADER.unpack_from(reply)
        assert size == len(reply) - 40 and tag == b"req".ljust(32, b"\0")
        body = reply[40:]
        assert b"\0" not in body and b"\r" not in body
        assert client.parse(body.decode())["ACTIVITIES_LOG_FILE"] == str(agent.out_dir / "rpc.json")
        assert one.send_poll()
        assert one.receive_within(0.1) is None, "more than one reply"


def test_poll_of_a_busy_client_gets_no_config(agent):
    with agent.client() as one:
        register(agent, one)
        assert trace(agent, [os.getpid()])["activityProfilersTriggered"] == [os.getpid()]
        for _ in range(2):
            assert one.send_poll(busy=True)
            assert one.receive_within(0.1) is None
        assert one.send_poll()
        assert one.receive_within(1)


@pytest.mark.parametrize("kind", [2, 3])
def test_both_kinds_of_idle_bits(agent, kind):
    with agent.client(idle_type=kind) as one:
        register(agent, one)
        trace(agent, [os.getpid()])
        assert one.send_poll()
        assert one.receive_within(1)


def test_undelivered_config_makes_busy(agent):
    with agent.client() as one:
        register(agent, one)
        assert trace(agent, [0])["activityProfilersTriggered"] == [os.getpid()]
        second = trace(agent, [0])
        assert second == NO_TRIGGER | {"processesMatched": [os.getpid()], "activityProfilersBusy": 1}


def test_ancestors_match(agent):
    """Naming the launcher's pid selects its whole tree."""
    with agent.spawn("--polls", 1) as one:
        agent.wait_for_processes([one.pid])
        assert trace(agent, [os.getpid()])["processesMatched"] == [one.pid]


def test_process_limit(agent):
    with agent.spawn("--polls", 1) as a, agent.spawn("--polls", 1) as b:
        both = sorted([a.pid, b.pid])
        agent.wait_for_processes(both)
        none = trace(agent, [0], process_limit=0)
        assert sorted(none["processesMatched"]) == both and none["activityProfilersTriggered"] == []
        one = trace(agent, [0], process_limit=1)
        assert sorted(one["processesMatched"]) == both
        assert len(one["activityProfilersTriggered"]) == 1 and one["activityProfilersBusy"] == 0
        rest = trace(agent, [0], process_limit=-1)
        assert sorted(rest["activityProfilersTriggered"] + one["activityProfilersTriggered"]) == both
        assert rest["activityProfilersBusy"] == 1


def test_no_process_limit_given(agent):
    with agent.spawn("--polls", 1) as a, agent.spawn("--polls", 1) as b, agent.spawn("--polls", 1) as c, \
            agent.spawn("--polls", 1) as d:
        pids = sorted(one.pid for one in (a, b, c, d))
        agent.wait_for_processes(pids)
        assert sorted(trace(agent, [])["activityProfilersTriggered"]) == pids


def test_pids_that_repeat(agent):
    with agent.spawn("--polls", 1) as one:
        agent.wait_for_processes([one.pid])
        reply = trace(agent, [one.pid, one.pid, one.pid])
        assert reply["processesMatched"] == [one.pid] and reply["activityProfilersTriggered"] == [one.pid]


def test_in_a_container_it_is_told_by_its_own_number(agent):
    """As it tells Dynolog: its file has that number in its name."""
    apart = ("unshare", "--pid", "--fork", "--kill-child")
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no namespace of our own here")
    with agent.spawn("--polls", 1, SLURM_JOB_ID=4711, before=apart):
        [row] = until(lambda: [row for row in agent.processes() if row["job"] == "4711"], 10, "it is known")
        assert row["inner_pid"] == 1 != row["pid"]
        assert trace(agent, [4194000], job_id=4711)["processesMatched"] == []
        reply = trace(agent, [1], job_id=4711)
        assert reply["processesMatched"] == reply["activityProfilersTriggered"] == [1]
        assert trace(agent, [row["pid"]], job_id=4711)["processesMatched"] == [1]


def test_job_ids_of_64_bits(agent):
    """Dynolog reads 32 bits of a request's: 4294967303 addresses job 7."""
    large = (1 << 32) + 7
    with agent.spawn("--polls", 1, SLURM_JOB_ID=7) as small_job, \
            agent.spawn("--polls", 1, SLURM_JOB_ID=9876543210) as large_job:
        agent.wait_for_processes([small_job.pid, large_job.pid])
        assert trace(agent, [0], job_id=large) == NO_TRIGGER
        assert trace(agent, [0], job_id=9876543210 & 0xFFFFFFFF) == NO_TRIGGER
        assert trace(agent, [0]) == NO_TRIGGER  # no job id is job 0
        assert trace(agent, [0], job_id=9876543210)["processesMatched"] == [large_job.pid]
        assert trace(agent, [0], job_id=7)["processesMatched"] == [small_job.pid]


def test_helpers_match_only_if_named(agent):
    """A launcher imports torch, polls, and would use up the places of its ranks."""
    here = pathlib.Path(__file__).parent
    launcher_file = agent.folder / "torchrun"
    launcher_file.symlink_to(here / "client.py")
    with agent.spawn("--polls", 1, "--children", 2, script=launcher_file) as launcher:
        launcher.wait_for("bound")
        children = sorted(e["child"] for e in launcher.events if e["event"] == "child")
        rows = agent.wait_for_processes([launcher.pid, *children])
        assert rows[launcher.pid]["role"] == "helper"
        assert [(rows[pid]["role"], rows[pid]["world_size"]) for pid in children] == [("rank", 2)] * 2
        assert {rows[pid]["rank"] for pid in children} == {0, 1}
        assert sorted(trace(agent, [0], process_limit=0)["processesMatched"]) == children
        assert sorted(trace(agent, [os.getpid()], process_limit=0)["processesMatched"]) == children
        named = trace(agent, [launcher.pid], process_limit=0)["processesMatched"]
        assert sorted(named) == sorted([launcher.pid, *children])


BAD_CONFIGS = {
    "bad number": "\nACTIVITIES_DURATION_MSECS=abc",
    "negative number": "\nACTIVITIES_DURATION_MSECS=-1",
    "no equals sign": "\nACTIVITIES_DURATION_MSECS",
    "two equals signs": "\nACTIVITIES_LOG_FILE=/tmp/a=b.json",
    "unknown activity type": "\nACTIVITY_TYPES=cpu_op,nothing",
    "carriage return": "\nACTIVITIES_DURATION_MSECS=5\r",
    "control character": "\nACTIVITIES_LOG_FILE=/tmp/\x1b.json",
    "bad boolean": "\nPROFILE_WITH_STACK=perhaps",
}


@pytest.mark.parametrize("text", BAD_CONFIGS.values(), ids=BAD_CONFIGS.keys())
def test_config_that_the_client_would_drop(agent, text):
    """It says nothing to anybody when it drops one, so the request fails here, with the line."""
    with agent.client() as one:
        register(agent, one)
        reply = trace(agent, [0], text)
        assert is_failure(json.dumps(reply)) and "line 2" in reply["status"], reply
        assert not re.search(r"[\x00-\x1f\x7f]", reply["status"])
        assert one.send_poll()
        assert one.receive_within(0.1) is None


def test_start_that_leaves_no_time(agent):
    with agent.client() as one:
        register(agent, one)
        soon = int((time.time() + 1) * 1000)
        late = int((time.time() - 60) * 1000)
        for start in (soon, late):
            reply = trace(agent, [0], config(agent, f"PROFILE_START_TIME={start}"))
            assert is_failure(json.dumps(reply)), reply
        fine = int((time.time() + 30) * 1000)
        reply = trace(agent, [0], config(agent, f"PROFILE_START_TIME={fine}"))
        assert reply["activityProfilersTriggered"] == [os.getpid()], reply


def test_unknown_key_is_delivered(agent):
    """A newer client may know it."""
    with agent.client() as one:
        register(agent, one)
        assert trace(agent, [0], config(agent, "SOME_NEW_KEY=1"))["activityProfilersTriggered"] == [os.getpid()]
        assert one.send_poll()
        assert client.parse(client.body_of(one.receive_within(1)).decode())["SOME_NEW_KEY"] == "1"


@pytest.mark.parametrize("request_", [
    {"config": "ACTIVITIES_DURATION_MSECS=5"},
    {"pids": [0]},
    {"config": "ACTIVITIES_DURATION_MSECS=5", "pids": "0"},
    {"config": "ACTIVITIES_DURATION_MSECS=5", "pids": ["0"]},
    {"config": ["ACTIVITIES_DURATION_MSECS=5"], "pids": [0]},
    {"config": "ACTIVITIES_DURATION_MSECS=5", "pids": [0], "job_id": "77"},
    {"config": "ACTIVITIES_DURATION_MSECS=5", "pids": [0], "job_id": 2 ** 64},
], ids=lambda r: json.dumps(r)[:60])
def test_malformed_trace_requests(agent, request_):
    with agent.client() as one:
        register(agent, one)
        reply = agent.rpc({"fn": "setKinetOnDemandRequest"} | request_)
        assert is_failure(json.dumps(reply)), reply
        assert one.send_poll()
        assert one.receive_within(0.1) is None


def test_depth_of_32_is_read(agent):
    """Deeper is refused, see the attacks."""
    assert json.loads(agent.rpc_raw(b'{"fn":"getStatus","a":' + b"[" * 30 + b"]" * 30 + b"}")) == {"status": 1}


def test_request_of_almost_1_mib_is_read(agent):
    body = b'{"fn":"getStatus","x":"' + b"x" * 1_000_000 + b'"}'
    assert json.loads(agent.rpc_raw(body)) == {"status": 1}

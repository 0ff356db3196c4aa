"""Captures from the request to the file, with simulated clients: by HTTP and by RPC."""

import json
import os
import re
import time

import pytest

import agent as agent_module
import client
from agent import FINAL, assert_written, tables

ORDER = ["accepted", "delivered", "capturing", "written"]


def states(agent, capture, seconds=10):
    """Every state that a watcher sees, for the one process of a capture, and the last receipt."""
    seen, revision = [], None
    end = time.monotonic() + seconds
    while True:
        query = "?wait_ms=2000" + (f"&seen={revision}" if revision is not None else "")
        status, document = agent.api("GET", f"/v1/captures/{capture}{query}")
        assert status == 200, document
        row, = tables(document)["receipts"]
        revision = document["revision"]
        if not seen or seen[-1] != row["state"]:
            seen.append(row["state"])
        if row["state"] in FINAL:
            return seen, row
        assert time.monotonic() < end, f"not final after {seconds} s: {seen}"


def assert_reason(row):
    assert re.search(r"[a-z]{3}", row["reason"] or ""), row
    assert not re.search(r"[\x00-\x1f\x7f]", row["reason"]), row


@pytest.mark.parametrize("words", [[], ["--head"], ["--tries", 5], ["--ctxt-first"]], ids=str)
def test_one_process(agent, words):
    with agent.spawn(*words) as one:
        agent.wait_for_processes([one.pid])
        row, = agent.wait_for_receipts(agent.capture(pids=[one.pid], duration_ms=100))
        path = assert_written(row, one.pid)
        assert path.is_relative_to(agent.out_dir)
        assert str(path) == one.wait_for("written")["path"]
        assert not list(agent.out_dir.rglob("*.tmp"))
        if "--ctxt-first" in words:
            assert one.wait_for("registered")["bytes"] == 44


def test_one_process_by_rpc(agent):
    """As with Dynolog the file's name is the caller's choice."""
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        reply = agent.rpc({"fn": "setKinetOnDemandRequest", "pids": [one.pid], "process_limit": 3,
                           "config": f"ACTIVITIES_LOG_FILE={agent.out_dir}/x.json\nACTIVITIES_DURATION_MSECS=50"})
        assert reply["activityProfilersTriggered"] == [one.pid]
        assert one.wait_for("written")["path"] == f"{agent.out_dir}/x_{one.pid}.json"
        assert (agent.out_dir / f"x_{one.pid}.json").exists()


@pytest.mark.parametrize("who", ["pids", "all", "parent", "ranks", "job"])
def test_two_at_once(agent, who):
    with agent.spawn(RANK=0, WORLD_SIZE=2, SLURM_JOB_ID=5) as a, agent.spawn(RANK=1, WORLD_SIZE=2, SLURM_JOB_ID=5) as b:
        pids = [a.pid, b.pid]
        agent.wait_for_processes(pids)
        target = {"pids": {"pids": pids}, "all": {"all": True}, "parent": {"pids": [os.getpid()]},
                  "ranks": {"ranks": [0, 1]}, "job": {"job": "5"}}[who]
        rows = agent.wait_for_receipts(agent.capture(duration_ms=100, **target))
        rows = {row["pid"]: row for row in rows}
        assert set(rows) == set(pids)
        files = {assert_written(rows[pid], pid) for pid in pids}
        assert len(files) == 2
        assert [rows[pid]["rank"] for pid in pids] == [0, 1]


def test_one_of_two(agent):
    with agent.spawn(RANK=0, WORLD_SIZE=2) as a, agent.spawn(RANK=1, WORLD_SIZE=2) as b:
        agent.wait_for_processes([a.pid, b.pid])
        row, = agent.wait_for_receipts(agent.capture(ranks=[1], duration_ms=50))
        assert_written(row, b.pid)
        assert not [e for e in a.so_far() if e["event"] == "reply"]


def test_files_of_two_captures_differ(agent):
    with agent.spawn() as a, agent.spawn() as b:
        agent.wait_for_processes([a.pid, b.pid])
        files, ids, trace_ids = [], set(), set()
        for _ in range(2):
            capture = agent.capture(all=True, duration_ms=50)
            ids.add(capture)
            for row in agent.wait_for_receipts(capture):
                files.append(assert_written(row, row["pid"]))
                trace_ids.add(json.loads(files[-1].read_text())["trace_id"])
        assert len(ids) == 2
        assert len(set(files)) == len(files) == 4
        assert "" not in trace_ids and len(trace_ids) >= 2  # a file tells which request it answers
        assert all(path.exists() for path in files)


def test_states_over_time(agent):
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        capture = agent.capture(pids=[one.pid], duration_ms=400)
        seen, row = states(agent, capture)
        assert seen == [s for s in ORDER if s in seen], seen
        assert seen[-2:] == ["capturing", "written"], seen
        assert_written(row, one.pid)


def test_states_of_a_scheduled_one(agent):
    """While the start is awaited the client says that it is idle, and the agent remembers what it delivered."""
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        before = time.time()
        capture = agent.capture(pids=[one.pid], start_in_ms=1500, warmup_ms=0, duration_ms=300)
        seen, row = states(agent, capture)
        assert seen == [s for s in ORDER if s in seen] and seen[-3:] == ["delivered", "capturing", "written"], seen
        assert_written(row, one.pid)
        asked = client.parse(one.wait_for("config")["text"])
        assert 1.4 <= asked["PROFILE_START_TIME"] / 1000 - before <= 2.5
        assert len([e for e in one.so_far() if e["event"] == "reply"]) == 1


def test_common_start_is_the_same_for_all(agent):
    with agent.spawn() as a, agent.spawn() as b:
        agent.wait_for_processes([a.pid, b.pid])
        start = int((time.time() + 1.5) * 1000)
        agent.wait_for_receipts(agent.capture(all=True, start_time_ms=start, warmup_ms=0, duration_ms=50))
        for one in (a, b):
            assert client.parse(one.wait_for("config")["text"])["PROFILE_START_TIME"] == start


def test_waiting_ends_when_it_should(agent):
    with agent.spawn("--polls", 1) as one:
        agent.wait_for_processes([one.pid])
        capture = agent.capture(pids=[one.pid], duration_ms=50, deadline_ms=60_000)
        revision = agent.api("GET", f"/v1/captures/{capture}")[1]["revision"]
        start = time.monotonic()
        document = agent.api("GET", f"/v1/captures/{capture}?wait_ms=300&seen={revision}")[1]
        assert 0.25 <= time.monotonic() - start <= 0.3 + agent_module.LATEST
        assert document["revision"] == revision
        start = time.monotonic()
        agent.api("GET", f"/v1/captures/{capture}?wait_ms=5000")  # has seen nothing yet
        assert time.monotonic() - start < agent_module.LATEST
        one.kill()
        document = agent.api("GET", f"/v1/captures/{capture}?wait_ms=5000&seen={revision}")[1]
        assert tables(document)["receipts"][0]["state"] == "failed"
        assert document["revision"] != revision


def test_config_of_a_capture(agent):
    """Every wish reaches the process."""
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        agent.capture(pids=[one.pid], duration_ms=50, warmup_ms=3000, shapes=True, stacks=True, memory=True, flops=True,
                      modules=True, activities=["cpu_op", "user_annotation"])
        asked = client.parse(one.wait_for("config")["text"])
        assert asked["ACTIVITIES_DURATION_MSECS"] == 50
        assert asked["ACTIVITIES_WARMUP_PERIOD_SECS"] == 3
        assert asked["ACTIVITY_TYPES"].split(",") == ["cpu_op", "user_annotation"]
        for switch in ("PROFILE_REPORT_INPUT_SHAPES", "PROFILE_WITH_STACK", "PROFILE_PROFILE_MEMORY",
                       "PROFILE_WITH_FLOPS", "PROFILE_WITH_MODULES"):
            assert asked[switch] == "true"
        # This one leaves a thread of the process spinning, and nobody asked for a snapshot.
        assert asked.get("PROFILE_MEMORY", "false") == "false"


def test_iterations(agent):
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        row, = agent.wait_for_receipts(agent.capture(pids=[one.pid], iterations=7, roundup=10))
        path = assert_written(row, one.pid)
        asked = client.parse(one.wait_for("config")["text"])
        assert asked["ACTIVITIES_ITERATIONS"] == 7 and asked["PROFILE_START_ITERATION_ROUNDUP"] == 10
        events = json.loads(path.read_text())["traceEvents"]
        assert sum(e["name"].startswith("ProfilerStep#") for e in events) == 7


def test_iterations_without_roundup(agent):
    """Without a start or a round-up the client would go by time."""
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        agent.capture(pids=[one.pid], iterations=7)
        asked = client.parse(one.wait_for("config")["text"])
        assert "PROFILE_START_ITERATION" in asked or asked.get("PROFILE_START_ITERATION_ROUNDUP", 0) > 0


# What does not end well.


def test_process_that_dies_in_mid_capture(agent):
    with agent.spawn("--die") as one:
        agent.wait_for_processes([one.pid])
        start = time.monotonic()
        row, = agent.wait_for_receipts(agent.capture(pids=[one.pid], duration_ms=5000))
        assert time.monotonic() - start < 4, "it waited for a dead process"
        assert row["state"] == "failed"
        assert_reason(row)


def test_process_that_dies_before_it_gets_the_request(agent):
    with agent.spawn("--polls", 1) as one:
        agent.wait_for_processes([one.pid])
        capture = agent.capture(pids=[one.pid], duration_ms=50)
        one.kill()
        row, = agent.wait_for_receipts(capture)
        assert row["state"] == "failed"
        assert_reason(row)


def test_file_without_events(agent):
    with agent.spawn("--no-events") as one:
        agent.wait_for_processes([one.pid])
        row, = agent.wait_for_receipts(agent.capture(pids=[one.pid], duration_ms=50))
        assert row["state"] == "empty", row
        assert row["file"] == one.wait_for("written")["path"]
        assert_reason(row)


def test_process_that_never_polls_again(agent):
    with agent.spawn("--polls", 1) as one:
        agent.wait_for_processes([one.pid])
        start = time.monotonic()
        row, = agent.wait_for_receipts(agent.capture(pids=[one.pid], duration_ms=50, deadline_ms=700))
        assert 0.5 <= time.monotonic() - start <= 3
        assert row["state"] == "expired"
        assert_reason(row)


def test_expired_config_is_not_delivered(agent):
    """A process that comes back late must not begin what nobody waits for any more."""
    with agent.client() as one:
        assert one.send_poll()
        agent.wait_for_processes([os.getpid()])
        row, = agent.wait_for_receipts(agent.capture(pids=[os.getpid()], duration_ms=50, deadline_ms=300))
        assert row["state"] == "expired"
        assert one.send_poll()
        assert one.receive_within(0.1) is None


def test_process_that_drops_the_request_in_silence(agent):
    with agent.spawn("--ignore") as one:
        agent.wait_for_processes([one.pid])
        row, = agent.wait_for_receipts(agent.capture(pids=[one.pid], duration_ms=50, warmup_ms=0, deadline_ms=8000))
        assert row["state"] in ("failed", "expired"), row
        assert_reason(row)
        # It was asked twice, and is free for the next, as its trace would be over.
        agent.capture(pids=[one.pid], duration_ms=50, deadline_ms=500)
        one.wait_for("reply", nth=2)


def test_one_of_two_fails(agent):
    with agent.spawn() as good, agent.spawn("--die") as bad:
        agent.wait_for_processes([good.pid, bad.pid])
        rows = agent.wait_for_receipts(agent.capture(pids=[good.pid, bad.pid], duration_ms=100))
        assert {row["pid"]: row["state"] for row in rows} == {good.pid: "written", bad.pid: "failed"}


def test_second_request_while_one_runs(agent):
    with agent.spawn() as one:
        agent.wait_for_processes([one.pid])
        first = agent.capture(pids=[one.pid], duration_ms=600)
        one.wait_for("capturing")
        status, document = agent.api("POST", "/v1/captures", {"pids": [one.pid], "output": str(agent.out_dir)})
        assert status == 409
        assert "busy since" in document["error"]["message"], document
        row, = agent.wait_for_receipts(first)
        assert_written(row, one.pid)
        assert len([e for e in one.so_far() if e["event"] == "reply"]) == 1
        row, = agent.wait_for_receipts(agent.capture(pids=[one.pid], duration_ms=50))
        assert_written(row, one.pid)


def test_second_request_while_one_waits_for_its_poll(agent):
    with agent.spawn("--polls", 1) as one:
        agent.wait_for_processes([one.pid])
        agent.capture(pids=[one.pid], duration_ms=50)
        status, document = agent.api("POST", "/v1/captures", {"pids": [one.pid], "output": str(agent.out_dir)})
        assert status == 409 and "busy since" in document["error"]["message"], document


def test_nobody_to_capture(agent):
    for target in ({"pids": [1999999999]}, {"all": True}, {"ranks": [5]}, {"job": "none"}):
        status, document = agent.api("POST", "/v1/captures", {"output": str(agent.out_dir)} | target)
        assert status == 404, (target, document)


def test_unknown_capture(agent):
    assert agent.api("GET", "/v1/captures/no-such-one")[0] == 404


REFUSED = {
    "path with ..": {"output": "/tmp/../tmp/x"},
    "path that ends in ..": {"output": "/tmp/.."},
    "outside": {"output": "/etc"},
    "outside, by a like name": {"output": "/tmpx"},
    "relative": {"output": "x"},
    "line break in the path": {"output": "/tmp/a\nPROFILE_MEMORY=true"},
    "escape in the path": {"output": "/tmp/\x1b[31m"},
    "NUL in the path": {"output": "/tmp/a\0b"},
    "equals sign in the path": {"output": "/tmp/a=b"},
    "comment in the path": {"output": "/tmp/a#b"},
    "path of 100 kB": {"output": "/tmp/" + "a" * 100_000},
    "unknown activity type": {"activities": ["cpu_op", "nothing"]},
    "activity type with a line break": {"activities": ["cpu_op\nPROFILE_MEMORY=true"]},
    "activities a text": {"activities": "cpu_op"},
    "negative duration": {"duration_ms": -1},
    "duration of no time": {"duration_ms": 0},
    "negative iterations": {"iterations": -1},
    "start in the past": {"start_time_ms": 1000},
    "start too near": {"start_in_ms": 1000, "warmup_ms": 5000},
    "shapes a text": {"shapes": "yes"},
}


@pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED.keys())
def test_bad_requests(agent, wrong):
    with agent.client() as one:
        assert one.send_poll()
        agent.wait_for_processes([os.getpid()])
        status, document = agent.api("POST", "/v1/captures",
                                     {"pids": [os.getpid()], "output": str(agent.out_dir), "duration_ms": 50} | wrong)
        assert status in (400, 403), document
        message = document["error"]["message"]
        assert len(message) > 10 and not re.search(r"[\x00-\x1f\x7f]", message), message
        assert one.send_poll()
        assert one.receive_within(0.1) is None, "refused, and delivered all the same"
    assert not list(agent.out_dir.iterdir())


def test_link_out_of_the_allowed_directories(agent):
    """The files are the training process's, but where they may be is the agent's word."""
    (agent.out_dir / "link").symlink_to("/etc")
    with agent.client() as one:
        assert one.send_poll()
        agent.wait_for_processes([os.getpid()])
        status, document = agent.api("POST", "/v1/captures",
                                     {"pids": [os.getpid()], "output": str(agent.out_dir / "link")})
        assert status in (400, 403), document


def test_empty_polls_get_no_reply(agent):
    with agent.spawn("--ctxt-first") as one:
        one.wait_for("poll", nth=6)
        assert not [e for e in one.so_far() if e["event"] == "reply"]


def test_late_reader_is_not_one_behind(agent):
    """A config is one datagram, and nothing stands before it in the queue."""
    with agent.client() as one:
        for _ in range(5):
            assert one.send_poll()
        agent.wait_for_processes([os.getpid()])
        agent.capture(pids=[os.getpid()], duration_ms=50)
        assert one.send_poll()
        assert b"ACTIVITIES_DURATION_MSECS=50" in one.receive_within(1)
        assert one.receive_within(0.1) is None


def test_herd(agent):
    """All ranks of a node poll at once; each gets its config at its very next poll."""
    herd = [agent.spawn("--period", 0.3) for _ in range(16)]
    try:
        pids = [one.pid for one in herd]
        agent.wait_for_processes(pids, seconds=15)
        rows = agent.wait_for_receipts(agent.capture(all=True, duration_ms=50), seconds=15)
        assert {row["pid"]: row["state"] for row in rows} == {pid: "written" for pid in pids}
        for one in herd:
            assert all(e["sent"] for e in one.so_far() if e["event"] == "poll")
    finally:
        for one in herd:
            one.process.stdin.close()
        for one in herd:
            one.end()


# The list of processes.


def test_processes(agent):
    with agent.spawn(RANK=2, WORLD_SIZE=4, SLURM_JOB_ID=9876543210) as ranked, agent.spawn() as alone:
        rows = agent.wait_for_processes([ranked.pid, alone.pid])
        row = rows[ranked.pid]
        assert (row["role"], row["rank"], row["world_size"], row["job"]) == ("rank", 2, 4, "9876543210")
        assert (row["inner_pid"], row["uid"]) == (ranked.pid, os.getuid())
        assert row["polls"] >= 1 and 0 <= row["last_poll_ns"] < 5e9
        assert "client.py" in row["command"] and row["evidence"] and row["host"] and row["state"]
        row = rows[alone.pid]
        assert (row["role"], row["rank"], row["world_size"]) == ("training", None, None)
        alone.kill()
        agent_module.until(lambda: alone.pid not in {r["pid"] for r in agent.processes()}, 2, "the dead is dropped")
        assert ranked.pid in {r["pid"] for r in agent.processes()}

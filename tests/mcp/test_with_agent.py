"""`spotter mcp` with an agent: what it measures and has found, with the rights of who asks; and while it is away."""

import json
import os
import pathlib
import shutil

import pytest

import answers
import arguments
from agent import Agent, tables, until
from answers import check_answer, check_error, rows_of, text_of
from asking import LEGACY, MODERN, Failed, Pipe
from doors import of_agent
from incident import an_incident
from remote import RemoteAgent, certificates, token
from test_citations import shell_with_spotter  # noqa: F401: a fixture

JOB = f"49{os.getpid()}"
WORDS = {"list_incidents": {}, "query_metrics": {"metric": "cpu_user_ns"}, "overview": {}}


@pytest.fixture(name="incident", scope="module")
def agent_with_incident(tmp_path_factory):
    """(the agent, the id)"""
    with an_incident(tmp_path_factory.mktemp("history"), JOB) as made:
        yield made


@pytest.fixture(name="asked", scope="module")
def pipe_to_agent(incident):
    with Pipe("--socket", incident[0].api_socket) as running:
        yield running


def call(pipe, tool, **words):
    return check_answer(tool, pipe.call(tool, **words), pipe.tools(), words.get("detail"))


def test_overview(asked, incident):
    content = call(asked, "overview")
    rows = rows_of(content)
    assert [row for row in rows if row.get("job") == JOB], rows
    assert incident[1] in json.dumps(content)


def test_incidents(asked, incident, shell):
    content = call(asked, "list_incidents")
    [row] = [row for row in rows_of(content) if row["job"] == JOB]
    assert set(row) >= {"id", "job", "family", "state", "severity", "mechanism", "suspects", "opened"}  # as `spotter incidents` calls them
    assert row["id"] == incident[1] and answers.TIME.fullmatch(row["opened"])
    assert [row["id"] for row in rows_of(call(asked, "list_incidents", job=JOB, since="1h", limit=5))] == [incident[1]]
    assert rows_of(call(asked, "list_incidents", job="4711-none")) == []
    check_error(asked.call("list_incidents", state="no-such"))
    assert incident[1] in "".join(shell(source["command"]) for source in content["sources"])


def test_one_incident(asked, incident, shell):
    content = call(asked, "get_incident", id=incident[1])
    record = content["incident"]
    assert record["id"] == incident[1] and JOB in json.dumps(record["job"])
    assert "1" in content["answer"]  # the rank that is gone
    shown = "".join(shell(source["command"]) for source in content["sources"])
    assert incident[1] in shown
    assert "id" in check_error(asked.call("get_incident", id=f"{JOB}-speed-99"))


def test_metrics(asked, shell):
    content = call(asked, "query_metrics", metric="process_threads", since="1m", job=JOB)
    assert content["rows"]
    for agg in ("last", "mean", "min", "max", "p95"):
        assert rows_of(call(asked, "query_metrics", metric=["process_*"], agg=agg, since="1m"))
    assert len(call(asked, "query_metrics", metric="*", since="1m")["rows"]) <= 20 * 60
    assert call(asked, "query_metrics", metric="no_such")["rows"] == []
    for source in content["sources"]:
        assert shell(source["command"])


@pytest.fixture(name="measured", scope="module")
def pipe_to_measuring_agent():
    with Agent("--collect", "cpu:1s,memory:1s") as agent, Pipe("--socket", agent.api_socket) as running:
        until(lambda: len(rows_of(running.call("query_metrics", metric="cpu_user_ns", since="1m", step="1s")["structuredContent"])) > 2, 30, "samples", every=0.5)
        yield running


def test_counters_and_what_is_not_there(measured):
    """A counter has its own name, and is given as what it grows by; what to ask next of nothing is no error."""
    content = call(measured, "query_metrics", metric="cpu_user_ns", since="1m")
    [row] = rows_of(content)
    assert row["metric"] == "cpu_user_ns" and row["unit"] == "count" and 0 <= row["value"] < 1000
    assert "cpu_user_ns as user_cores" in " ".join(content["notes"])
    for answer in (content, call(measured, "query_metrics", metric="no_such")):
        for hint in answer["next"]:
            assert not measured.call(hint["tool"], **hint["arguments"]).get("isError"), hint


def test_ends_of_what_was_measured(measured, shell):
    """Also where a sample is the mean of a span: the least and the greatest of each stand beside it, and are no series."""
    ends = {}
    for agg in ("min", "max"):
        content = call(measured, "query_metrics", metric="memory_free_bytes*", since="7d", agg=agg)
        [row] = rows_of(content)
        [again] = tables(json.loads(shell(content["sources"][0]["command"] + " --format json")))["query_metrics"]
        assert again["metric"] == row["metric"] == "memory_free_bytes"
        ends[agg] = row["value"]
    assert ends["min"] < ends["max"]


def test_more_spans_than_there_is_room_for(measured):
    content = call(measured, "query_metrics", metric="memory_free_bytes", since="1h", step="1s")
    assert any(note.endswith("long here") for note in content["notes"])
    assert len(content["rows"]) <= 60


def test_hints_lead_to_the_incident(asked, incident):
    """And what is asked there is the rank that is gone."""
    tool, words = "overview", {}
    for _ in range(4):
        content = call(asked, tool, **words)
        if tool == "get_incident":
            assert words["id"]
            return
        tool, words = content["next"][0]["tool"], content["next"][0]["arguments"]
    pytest.fail(f"an incident is open, and the hints lead to {tool} {words}")


def test_resources(asked, incident):
    uri = f"spotter://incidents/{incident[1]}"
    assert uri in {one["uri"] for one in asked.ask("resources/list")["resources"]}
    result = asked.ask("resources/read", uri=uri)
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    assert incident[1] in result["contents"][0]["text"] and len(result["contents"][0]["text"].encode()) <= 32 << 10
    assert asked.ask("resources/read", uri="spotter://rules/rank_gone")["contents"][0]["text"]


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_all_arguments(incident, revision):
    with Pipe("--socket", incident[0].api_socket, revision=revision) as pipe:
        tools = pipe.tools()
        for tool, words in arguments.most("c", "c", JOB).items():
            if tool in arguments.OF_AGENTS:
                words = words | ({"id": incident[1]} if "id" in words else {})
                check_answer(tool, pipe.call(tool, **arguments.known_to(tools[tool], words)), tools, "more" if "detail" in tools[tool]["inputSchema"]["properties"] else None)


def test_unknown_jobs(asked):
    sentence = check_error(asked.call("why_slow", job="4712"))
    assert "4712" in sentence and JOB in sentence


# While the agent is away.


def test_an_agent_that_is_away_and_comes_back():
    folder = pathlib.Path("/tmp") / f"sm-{os.getpid()}"
    folder.mkdir()
    try:
        with Pipe("--socket", folder / "api.sock") as pipe:
            assert pipe.ask("server/discover")["supportedVersions"] and pipe.tools()
            for tool, words in WORDS.items():
                assert "agent" in check_error(pipe.call(tool, **words))
            assert check_answer("describe", pipe.call("describe", name="findings"), pipe.tools())
            assert pipe.ask("resources/list")["resources"]
            for _ in range(2):
                with Agent("--collect", "cpu", folder=folder) as agent:
                    def answered():
                        return not pipe.call("query_metrics", metric="cpu_user_ns").get("isError")
                    until(answered, 10, "the agent that has come is asked", every=0.2)
                    assert call(pipe, "overview")["sources"]
                    agent.assert_well()
                assert "agent" in check_error(pipe.call("overview"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# Rights.


def credentials_of(role, folder):
    folder.mkdir()
    (folder / "ca.pem").write_bytes((certificates().tls / "ca.pem").read_bytes())
    (folder / "token").write_text(token(role))
    return folder


REASON = "to see how it is done"


@pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")
def test_rights_are_those_of_the_client(tmp_path):
    with RemoteAgent("--collect", "cpu,process") as agent, agent.spawn(RANK=0, WORLD_SIZE=1, SLURM_JOB_ID=4713) as process:
        agent.wait_for_processes([process.pid])
        host = f"127.0.0.1:{agent.port}"
        with Pipe("--host", host, "--credentials", credentials_of("view", tmp_path / "view"), "--allow-capture") as pipe:
            assert "127.0.0.1" in json.dumps(call(pipe, "overview"))
            assert call(pipe, "query_metrics", metric="cpu_user_ns")["rows"]
            assert "may not trace" in check_error(pipe.call("capture", job="4713", reason=REASON))
        with Pipe("--host", host, "--credentials", credentials_of("no such client", tmp_path / "nobody")) as pipe:
            assert "may not look" in check_error(pipe.call("query_metrics", metric="cpu_user_ns"))
        assert agent.table("/v1/captures", "captures") == []
        with Pipe("--host", host, "--credentials", credentials_of("trace", tmp_path / "trace"), "--allow-capture") as pipe:
            assert rows_of(call(pipe, "capture", job="4713", reason=REASON))
        assert [row["state"] for row in agent.table("/v1/captures", "captures")]


WRONG_CAPTURES = [{}, {"job": "4713"}, {"reason": "x"}, {"job": "4713", "reason": "x", "duration_ms": 2001}, {"job": "4713", "reason": "x", "duration_ms": 0},
                  {"job": "4713", "reason": "x", "ranks": list(range(9))}, {"job": "4713", "reason": "x", "output": "/tmp"}, {"job": "4713", "reason": ""},
                  {"job": "4713", "reason": "x", "ranks": ["all"]}, {"job": "", "reason": "x"}]


def test_captures():
    with Agent("--collect", "process") as agent, agent.spawn(RANK=0, WORLD_SIZE=1, SLURM_JOB_ID=4713) as process:
        agent.wait_for_processes([process.pid])
        with Pipe("--socket", agent.api_socket) as pipe, pytest.raises(Failed) as raised:
            pipe.call("capture", job="4713", reason=REASON)  # is no tool
        assert raised.value.code == -32602
        with Pipe("--socket", agent.api_socket, "--allow-capture") as pipe:
            for words in WRONG_CAPTURES:
                check_error(pipe.call("capture", **words))
            check_error(pipe.call("capture", job="4714", reason=REASON))
            assert agent.table("/v1/captures", "captures") == []
            # What was refused is none of the four of an hour.
            for number in range(4):
                content = call(pipe, "capture", job="4713", ranks=[0], duration_ms=100, reason=f"{REASON} {number}")
                assert [row["state"] for row in rows_of(content)] == ["written"], content
            assert "hour" in check_error(pipe.call("capture", job="4713", reason=REASON))
            assert len(agent.table("/v1/captures", "captures")) == 4
            listed = {one["uri"] for one in pipe.ask("resources/list")["resources"]}
            assert sum(uri.startswith("spotter://captures/") for uri in listed) == 4
        line = next(line for line in agent.log().splitlines() if f"{REASON} 2" in line)
        assert "tests" in line  # who said that he asks


@pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")
def test_what_an_agent_says_by_its_own_door(tmp_path):
    """The same as by the pipe, and on no other terms."""
    with an_incident(tmp_path, f"50{os.getpid()}", kind=RemoteAgent) as (agent, id):
        door = of_agent(agent)
        result = door.result({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_incident", "arguments": {"id": id}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}}})
        assert not result.get("isError"), text_of(result)
        with Pipe("--socket", agent.api_socket) as pipe:
            content = call(pipe, "get_incident", id=id)
        assert result["structuredContent"]["incident"]["id"] == content["incident"]["id"] == id
        assert result["structuredContent"]["answer"] == content["answer"]

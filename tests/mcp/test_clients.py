"""The SDK's own clients: version 2 of the package `mcp` in its three modes, and version 1, by the pipe and by HTTP. They hold
structured content to the schemas of the tools themselves, and refuse messages that are not as their era has them."""

import asyncio
import contextlib
import json
import subprocess

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import arguments
from agent import clean_environment
from asking import LEGACY, MODERN, command
from doors import remote_agent_with_traces
from remote import certificates, token
from schemas import HERE, ROOT, node, suite
from test_serve import Serve

MODES = {"auto": MODERN, "legacy": LEGACY, MODERN: MODERN}
CALLS_PER_SECOND = 4  # of five that are allowed


@contextlib.asynccontextmanager
async def by_pipe(mode, *words, log=None):
    program, *rest = command(*words)
    with open(log or "/dev/null", "w") as errors:
        async with Client(stdio_client(StdioServerParameters(command=program, args=rest, env=clean_environment()), errlog=errors),
                          mode=mode, read_timeout_seconds=60) as client:
            yield client


@contextlib.asynccontextmanager
async def by_http(mode, url, bearer, verify=True):
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    async with httpx2.AsyncClient(headers=headers, verify=verify, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=60) as client:
            yield client


async def captures(client):
    result = await client.call_tool("overview")
    assert not result.is_error, result.content
    content = result.structured_content
    names = [column["name"] for column in content["columns"]]
    return {row[names.index("job")]: row[names.index("capture")] for row in content["rows"]}


async def use_all(client):
    """All tools with the least and with all arguments; lists, resources and prompts. Gives how many answered, and were errors."""
    jobs = await captures(client)
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(listed) >= set(arguments.OF_FOLDERS)
    answered = errors = 0
    for words in (arguments.least(jobs["slow"], jobs["well"]), arguments.most(jobs["slow"], jobs["well"], "slow")):
        for name, values in words.items():
            tool = {"inputSchema": listed[name].input_schema}
            result = await client.call_tool(name, arguments.known_to(tool, values))
            assert result.content[0].type == "text"
            assert result.is_error or result.structured_content["sources"]
            answered += not result.is_error
            errors += bool(result.is_error)
            await asyncio.sleep(1 / CALLS_PER_SECOND)
    resources = (await client.list_resources()).resources
    assert resources
    for resource in resources[:2]:
        assert (await client.read_resource(str(resource.uri))).contents
    assert len((await client.list_resource_templates()).resource_templates) == 4
    assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {"investigate_job", "explain_incident"}
    assert (await client.get_prompt("investigate_job", {"job": "slow"})).messages
    return answered, errors


@pytest.mark.parametrize("mode", MODES)
def test_by_the_pipe(folder, mode):
    async def talk():
        async with by_pipe(mode, folder) as client:
            assert client.protocol_version == MODES[mode]
            if mode != MODERN:  # which asks nobody before it begins
                assert client.server_info.name == "spotter" and client.server_capabilities.tools is not None
            return await use_all(client)

    answered, errors = asyncio.run(talk())
    assert answered == 2 * len(arguments.OF_FOLDERS) and errors == 2 * len(arguments.OF_AGENTS)


@pytest.mark.parametrize("mode", MODES)
def test_errors_by_the_pipe(folder, mode):
    async def talk():
        async with by_pipe(mode, folder) as client:
            for ask in (client.call_tool("no_such"), client.read_resource("spotter://captures/no-such"), client.get_prompt("no_such")):
                with pytest.raises(MCPError) as raised:
                    await ask
                assert raised.value.code == -32602
            result = await client.call_tool("why_slow", {"job": "4712"})
            assert result.is_error and "4712" in result.content[0].text
            # A call comes before the list, which the client then asks for to hold the answer to its schema.
        async with by_pipe(mode, folder) as client:
            assert not (await client.call_tool("overview")).is_error

    asyncio.run(talk())


@pytest.mark.whole
@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_does_not_wait(large_folder, mode):
    """Its time is over, then it asks on."""
    async def talk():
        async with by_pipe(mode, large_folder) as client:
            with pytest.raises(MCPError):
                await client.call_tool("why_slow", {"job": "large"}, read_timeout_seconds=0.2)
            assert not (await client.call_tool("describe", {"name": "findings"})).is_error
            told = []

            async def progress(done, total, message):
                told.append(done)

            assert not (await client.call_tool("why_slow", {"job": "large"}, progress_callback=progress)).is_error
            assert told == sorted(told)

    asyncio.run(talk())


@pytest.fixture(name="server", scope="module")
def server_of_jobs(folder):
    with Serve(folder) as running:
        yield running


@pytest.mark.parametrize("mode", MODES)
def test_by_http(server, mode):
    async def talk():
        async with by_http(mode, f"http://127.0.0.1:{server.port}/mcp", server.token) as client:
            assert client.protocol_version == MODES[mode]
            return await use_all(client)

    answered, errors = asyncio.run(talk())
    assert answered == 2 * len(arguments.OF_FOLDERS) and errors == 2 * len(arguments.OF_AGENTS)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bearer", [None, "wrong"])
def test_by_http_without_a_token(server, mode, bearer):
    async def talk():
        async with by_http(mode, f"http://127.0.0.1:{server.port}/mcp", bearer) as client:
            await client.list_tools()

    with pytest.raises(BaseException):  # a group of them, or one
        asyncio.run(talk())


@pytest.mark.whole
@pytest.mark.parametrize("mode", MODES)
def test_an_agent_by_tls(mode):
    with remote_agent_with_traces() as agent:
        async def talk():
            async with by_http(mode, f"https://localhost:{agent.port}/mcp", token("view"), verify=certificates().context()) as client:
                assert client.protocol_version == MODES[mode]
                assert "capture" not in {tool.name for tool in (await client.list_tools()).tools}
                for tool, words in (("overview", {}), ("list_incidents", {}), ("query_metrics", {"metric": "cpu_*"}), ("describe", {"name": "findings"})):
                    result = await client.call_tool(tool, words)
                    assert not result.is_error, result.content

        asyncio.run(talk())


# The generation before.


def old_python():
    return subprocess.run([ROOT / "tools" / "mcp_python", "old"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def what_a_program_says(program, *words):
    """One that uses a server by another client."""
    plans = json.dumps([arguments.least("CAPTURE", "OTHER"), arguments.most("CAPTURE", "OTHER", "slow")])
    done = subprocess.run([*program, plans, *map(str, words)], capture_output=True, text=True, timeout=120, check=False, env=clean_environment())
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def use_old_client(*words):
    python = old_python()
    if not python:
        pytest.skip("no Python with the client of the generation before (tools/mcp_python old)")
    return what_a_program_says([python, HERE / "old_client.py"], *words)


def check_old(said):
    assert said["version"] == LEGACY and said["server"] == "spotter"
    assert set(said["tools"]) >= set(arguments.OF_FOLDERS)
    assert said["answered"] == 2 * len(arguments.OF_FOLDERS) and said["errors"] == 2 * len(arguments.OF_AGENTS)
    assert said["unknown tool"] == "-32602" and said["unknown resource"] in ("-32602", "-32002")


def test_the_old_client_by_the_pipe(folder):
    check_old(use_old_client("stdio", *command(folder)))


def test_the_old_client_by_http(server):
    check_old(use_old_client("http", f"http://127.0.0.1:{server.port}/mcp", server.token))


# In JavaScript, as most desktop clients are.


def use_javascript(*words):
    if not suite():
        pytest.skip("no conformance suite, which brings the client (tools/mcp_suite)")
    said = what_a_program_says([node(), HERE / "suite" / "client.mjs", suite()], *words)
    assert said["unsafe"] == []
    check_old(said)


def test_the_javascript_client_by_the_pipe(folder):
    use_javascript("stdio", *command(folder))


def test_the_javascript_client_by_http(server):
    use_javascript("http", f"http://127.0.0.1:{server.port}/mcp", server.token)

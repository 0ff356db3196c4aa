"""Uses a server by the client of `mcp` before version 2, and prints as JSON what became of it.

usage: old_client.py PLANS stdio COMMAND... | PLANS http URL TOKEN; PLANS: a list of {tool: arguments}, as JSON
"""

import asyncio
import contextlib
import json
import sys

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


@contextlib.asynccontextmanager
async def streams(how, *words):
    if how == "stdio":
        async with stdio_client(StdioServerParameters(command=words[0], args=list(words[1:]))) as both:
            yield both
    else:
        url, token = words
        async with streamablehttp_client(url, headers={"Authorization": f"Bearer {token}"}) as (read, write, _):
            yield read, write


async def code_of(asked):
    try:
        await asked
    except McpError as error:
        return str(error.error.code)
    return "no error"


async def use(plans, *words):
    async with streams(*words) as (read, write), ClientSession(read, write) as session:
        opened = await session.initialize()
        await session.send_ping()
        listed = {tool.name: tool for tool in (await session.list_tools()).tools}
        said = {"version": opened.protocolVersion, "server": opened.serverInfo.name, "tools": list(listed), "answered": 0, "errors": 0}
        overview = (await session.call_tool("overview", {})).structuredContent
        names = [column["name"] for column in overview["columns"]]
        captures = {row[names.index("job")]: row[names.index("capture")] for row in overview["rows"]}
        actual = {"CAPTURE": captures["slow"], "OTHER": captures["well"]}
        for plan in plans:
            for name, arguments in plan.items():
                known = listed[name].inputSchema.get("properties", {})
                given = {key: actual.get(value, value) if isinstance(value, str) else value for key, value in arguments.items() if key in known}
                result = await session.call_tool(name, given)
                said["errors" if result.isError else "answered"] += 1
                await asyncio.sleep(0.25)  # five calls a second are answered
        said["unknown tool"] = await code_of(session.call_tool("no_such", {}))
        said["unknown resource"] = await code_of(session.read_resource("spotter://captures/no-such"))
        assert (await session.list_resources()).resources
        assert len((await session.list_prompts()).prompts) == 2
        assert (await session.get_prompt("investigate_job", {"job": "slow"})).messages
        return said


print(json.dumps(asyncio.run(use(json.loads(sys.argv[1]), *sys.argv[2:]))))

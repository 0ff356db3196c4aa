"""The specification's JSON schemas, as the conformance suite has them (tools/mcp_suite): what a server sends must fit that of its
revision. Without the suite there are none, and nothing is held to them."""

import functools
import json
import pathlib
import subprocess

import jsonschema

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
RESULTS = {"initialize": "InitializeResult", "ping": "EmptyResult", "server/discover": "DiscoverResult", "tools/list": "ListToolsResult",
           "tools/call": "CallToolResult", "resources/list": "ListResourcesResult", "resources/templates/list": "ListResourceTemplatesResult",
           "resources/read": "ReadResourceResult", "prompts/list": "ListPromptsResult", "prompts/get": "GetPromptResult"}
ERRORS = {-32022: "UnsupportedProtocolVersionError", -32020: "HeaderMismatchError"}


@functools.cache
def suite():
    """The folder of the conformance suite; None without one."""
    found = subprocess.run([ROOT / "tools" / "mcp_suite"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return pathlib.Path(found) if found else None


@functools.cache
def node():
    return pathlib.Path(subprocess.run([ROOT / "tools" / "node"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()) / "node"


@functools.cache
def documents():
    if not suite():
        return {}
    return json.loads(subprocess.run([node(), HERE / "suite" / "schemas.mjs", suite()], stdout=subprocess.PIPE, check=True).stdout)


@functools.cache
def validator(revision, name):
    document = documents().get(revision)
    if document is None:
        return None
    key = "$defs" if "$defs" in document else "definitions"
    if name not in document[key]:
        return None
    schema = {"$schema": document["$schema"], key: document[key], "$ref": f"#/{key}/{name}"}
    return jsonschema.validators.validator_for(schema)(schema)


def check(revision, message, method=None):
    """One message from the server; `method`: of the request that it answers."""
    if "method" in message:
        names = ["ProgressNotification"]
        assert message["method"] == "notifications/progress", f"the server sends {message['method']}"
    elif "error" in message:
        # Before 2025-11-25 the schema wants an id, which JSON-RPC has as null where there is none to be known.
        if message.get("id") is None:
            return
        names = [ERRORS.get(message["error"]["code"], ""), "JSONRPCErrorResponse", "JSONRPCError"]
    else:
        fit(revision, [RESULTS.get(method, "Result")], message["result"])
        names = ["JSONRPCResultResponse", "JSONRPCResponse"]
    fit(revision, names, message)


def fit(revision, names, value):
    known = next((found for name in names if (found := validator(revision, name))), None)
    if known:
        problems = [f"{error.json_path}: {error.message[:300]}" for error in known.iter_errors(value)]
        assert not problems, (revision, names, problems, json.dumps(value)[:1000])

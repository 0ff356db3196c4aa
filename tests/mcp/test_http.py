"""POST /mcp of `spotter serve` and of an agent by TLS: who may ask, what a request has to be, and what each is answered."""

import base64
import contextlib
import http.client
import json
import os
import socket
import ssl
import time

import pytest

import schemas
from asking import LEGACY, MODERN, PREFIX, Pipe, initialize, legacy, meta, modern, told
from doors import of_agent, of_serve, remote_agent_with_traces
from remote import token
from test_serve import Serve

LARGEST = 256 << 10
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="the agent of other hosts' tests is root's")


@pytest.fixture(name="server", scope="module")
def server_of_jobs(folder):
    with Serve(folder) as running:
        yield running


@pytest.fixture(name="agent", scope="module")
def agent_with_tls():
    with remote_agent_with_traces() as running:
        yield running


@pytest.fixture(params=["serve", pytest.param("agent", marks=needs_root)], name="door")
def each_door(request):
    return of_serve(request.getfixturevalue("server")) if request.param == "serve" else of_agent(request.getfixturevalue("agent"))


def expect(door, message, status, code=None, **more):
    """The document that is answered."""
    found, headers, document = door.ask(message, **more)
    assert found == status, (found, document)
    assert "Mcp-Session-Id" not in headers
    if code is not None:
        assert document["error"]["code"] == code and document["jsonrpc"] == "2.0", document
        schemas.check(MODERN, document)
    return document


# Both eras, without a session.


def test_modern(door):
    for method in ("server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        status, headers, document = door.ask(modern(method, method))
        assert (status, document["id"], document["result"]["resultType"]) == (200, method, "complete")
        assert headers["Content-Type"].split(";")[0] == "application/json"
        schemas.check(MODERN, document, method)
    result = door.result(modern("tools/call", name="overview", arguments={}))
    assert result["structuredContent"]["sources"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_legacy(door, version):
    status, headers, document = door.ask(initialize(version))
    assert (status, document["result"]["protocolVersion"]) == (200, version) and "Mcp-Session-Id" not in headers
    assert door.ask(told("notifications/initialized"), MCP_Protocol_Version=version)[::2] == (202, None)
    for method in ("tools/list", "ping", "resources/list", "prompts/list"):
        document = expect(door, legacy(method), 200, MCP_Protocol_Version=version)
        assert "resultType" not in document["result"]
        schemas.check(version, document, method)
    # Without the header it is taken as 2025-03-26, and needs no initialize before it: there is no session.
    assert expect(door, legacy("tools/list"), 200)["result"]["tools"]
    assert "result" in expect(door, legacy("tools/call", name="overview", arguments={}), 200, MCP_Protocol_Version=version)


@pytest.mark.parametrize("version", ["2099-01-01", "x", "2025-11-26"])
def test_unknown_versions(door, version):
    expect(door, legacy("tools/list"), 400, MCP_Protocol_Version=version)
    document = expect(door, modern("tools/list", version=version), 400, -32022)
    assert MODERN in document["error"]["data"]["supported"] and document["error"]["data"]["requested"] == version


def test_sessions_are_ignored(door):
    assert "result" in expect(door, legacy("tools/list"), 200, Mcp_Session_Id="abc", MCP_Protocol_Version=LEGACY)
    assert "result" in expect(door, modern("tools/list"), 200, Mcp_Session_Id="abc", Last_Event_ID="7")


# Methods of HTTP, and what a body is.


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_other_methods(door, method):
    status, headers, _ = door.ask(None, method=method, Accept="text/event-stream")
    assert status == 405
    assert [word.strip() for word in headers["Allow"].split(",")] == ["POST"]


@pytest.mark.parametrize("kind,status", [("application/json", 200), ("application/json; charset=utf-8", 200), ("Application/JSON", 200), ("text/plain", 415),
                                         ("application/x-www-form-urlencoded", 415), ("application/jsonx", 415), ("", 415), (None, 415)])
def test_content_types(door, kind, status):
    assert door.ask(modern("tools/list"), Content_Type=kind)[0] == status


@pytest.mark.parametrize("kinds,status", [("application/json", 200), ("*/*", 200), ("application/json, text/event-stream", 200), ("text/event-stream, application/json;q=0.5", 200),
                                          ("text/event-stream", 406), ("text/html", 406), ("application/xml, text/*", 406)])
def test_kinds_that_are_accepted(door, kinds, status):
    assert door.ask(modern("tools/list"), Accept=kinds)[0] == status


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"ping", b"[" * 50_000], ids=lambda body: repr(body[:10]))
def test_no_json(door, body):
    expect(door, body, 400, -32700, Content_Type="application/json", Accept="application/json", MCP_Protocol_Version=MODERN, Mcp_Method="tools/list")


@pytest.mark.parametrize("body", [b"[]", b"{}", b"5", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}'])
def test_no_request(door, body):
    expect(door, body, 400, -32600, Content_Type="application/json", Accept="application/json", MCP_Protocol_Version=MODERN, Mcp_Method="tools/list")


def test_large_bodies(door):
    message = modern("tools/list")
    message["params"]["pad"] = "x" * (LARGEST - 1000)
    assert door.ask(message)[0] == 200
    message["params"]["pad"] = "x" * LARGEST
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it need not be read to its end
        assert door.ask(message)[0] == 413


def test_a_body_that_is_said_to_be_large(door):
    stream = door.connect()
    with contextlib.closing(stream):
        stream.sendall(f"POST /mcp HTTP/1.1\r\nHost: {door.host}\r\nAuthorization: Bearer {door.bearer}\r\nContent-Type: application/json\r\n"
                       f"Accept: */*\r\nContent-Length: {LARGEST * 100}\r\n\r\n".encode())
        assert stream.recv(65536).startswith(b"HTTP/1.1 413")


def test_notifications(door):
    for message in (told("notifications/initialized"), told("notifications/cancelled", requestId=1), told("notifications/no-such")):
        assert door.ask(message, MCP_Protocol_Version=LEGACY)[::2] == (202, None)
        message = message | {"params": {"_meta": meta()}}
        assert door.ask(message)[::2] == (202, None)


# Headers that say again what the body says.


def base64ed(text):
    return "=?base64?" + base64.b64encode(text.encode()).decode() + "?="


CALL = modern("tools/call", name="overview", arguments={})


@pytest.mark.parametrize("more", [
    {"MCP_Protocol_Version": None}, {"MCP_Protocol_Version": LEGACY}, {"MCP_Protocol_Version": "2026-07-29"}, {"Mcp_Method": None}, {"Mcp_Method": "tools/list"},
    {"Mcp_Method": "TOOLS/CALL"}, {"Mcp_Method": ""}, {"Mcp_Name": None}, {"Mcp_Name": "why_slow"}, {"Mcp_Name": "Overview"}, {"Mcp_Name": base64ed("why_slow")},
    {"Mcp_Name": "=?base64?!!!?="}, {"Mcp_Name": "=?base64?b3ZlcnZpZXc"}], ids=str)
def test_headers_unlike_the_body(door, more):
    expect(door, CALL, 400, -32020, **more)


@pytest.mark.parametrize("more", [{"mcp_protocol_version": MODERN}, {"MCP_METHOD": "tools/call"}, {"mcp_name": "overview"}, {"Mcp_Name": base64ed("overview")}], ids=str)
def test_headers_in_other_words(door, more):
    assert "result" in expect(door, CALL, 200, **more)


def test_names_of_resources_and_prompts(door):
    read = modern("resources/read", uri="spotter://analyses/steps")
    assert "result" in expect(door, read, 200)
    expect(door, read, 400, -32020, Mcp_Name="spotter://analyses/stragglers")
    prompt = modern("prompts/get", name="investigate_job", arguments={"job": "1"})
    assert "result" in expect(door, prompt, 200)
    expect(door, prompt, 400, -32020, Mcp_Name=None)


@pytest.mark.parametrize("gone", [PREFIX + "protocolVersion", PREFIX + "clientCapabilities", None])
def test_meta_that_is_missing(door, gone):
    said = {key: value for key, value in meta().items() if key != gone} if gone else {}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": said} if said else {}}
    expect(door, message, 400, -32602, MCP_Protocol_Version=MODERN, Mcp_Method="tools/list")


@pytest.mark.parametrize("method", ["no/such", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen", "initialize", "tasks/get"])
def test_methods_that_there_are_not(door, method):
    expect(door, modern(method), 404, -32601)
    if method not in ("ping", "initialize"):
        expect(door, legacy(method), 200, -32601, MCP_Protocol_Version=LEGACY)


def test_errors_of_the_protocol_that_are_no_errors_of_http(door):
    for message in (modern("tools/call", name="no_such", arguments={}), modern("resources/read", uri="spotter://captures/no-such"),
                    modern("prompts/get", name="no_such"), modern("tools/list", cursor="x")):
        expect(door, message, 200, -32602)
    assert door.result(modern("tools/call", name="why_slow", arguments={}))["isError"]


# Who asks.


@pytest.mark.parametrize("bearer", [None, "", "wrong", "token of nobody"])
def test_who_is_not_known(door, bearer):
    for message in (modern("tools/list"), initialize(), told("notifications/initialized"), b"{"):
        status, headers, _ = door.ask(message, bearer=bearer, Content_Type="application/json")
        assert status == 401 and headers["WWW-Authenticate"].startswith("Bearer")


def test_tokens_are_not_in_addresses(door):
    assert door.ask(modern("tools/list"), bearer=None, path=f"/mcp?token={door.bearer.replace(' ', '%20')}")[0] == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example", "file://"])
def test_pages_of_others(door, origin):
    assert door.ask(modern("tools/list"), Origin=origin)[0] == 403
    assert door.ask(initialize(), Origin=origin)[0] == 403


def test_a_page_of_its_own(server):
    door = of_serve(server)
    assert door.ask(modern("tools/list"), Origin=f"http://{door.host}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example"])
def test_names_that_are_not_ours(server, host):
    assert of_serve(server).ask(modern("tools/list"), Host=host)[0] == 403
    assert of_serve(server).ask(modern("tools/list"), Host=host, Origin=f"http://{host}")[0] == 403


@pytest.mark.parametrize("host", ["localhost:{}", "127.0.0.1:{}", "[::1]:{}"])
def test_names_that_are_ours(server, host):
    assert of_serve(server).ask(modern("tools/list"), Host=host.format(server.port))[0] == 200


@needs_root
@pytest.mark.parametrize("role", ["view", "trace", "limited", "admin"])
def test_roles_of_an_agent(agent, role):
    assert of_agent(agent, role).result(modern("tools/call", name="overview", arguments={}))["structuredContent"]


@needs_root
def test_a_certificate_is_enough(agent):
    door = of_agent(agent)
    door.connect, door.bearer = (lambda: agent.tls_stream("view", timeout=60)), None
    assert door.result(modern("tools/list"))["tools"]
    door.connect = lambda: agent.tls_stream("unlisted", timeout=60)
    assert door.ask(modern("tools/list"))[0] == 401


@needs_root
def test_what_only_a_role_may(agent):
    """No role has `capture` by the door: nobody allowed it."""
    door = of_agent(agent, "admin")
    assert "capture" not in {tool["name"] for tool in door.result(modern("tools/list"))["tools"]}
    expect(door, modern("tools/call", name="capture", arguments={"job": "1", "reason": "why not"}), 200, -32602)


@needs_root
def test_an_agent_of_this_machine_has_it_by_no_other_door(agent):
    """Rights over the socket are those of its user; /mcp is for other hosts, or for the same user all the same."""
    status, _ = agent.api_bytes("GET", "/mcp")
    assert status.status in (404, 405)


# Connections.


def test_a_connection_that_stays(door):
    opened = http.client.HTTPConnection("localhost", timeout=60)
    opened.sock = door.connect()
    with contextlib.closing(opened):
        for number in range(5):
            body = json.dumps(modern("tools/list", number))
            opened.request("POST", "/mcp", body, {"Host": door.host, "Authorization": f"Bearer {door.bearer}", "Content-Type": "application/json", "Accept": "*/*",
                                                  "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"})
            answer = opened.getresponse()
            assert json.loads(answer.read())["id"] == number


def test_who_goes_away(server):
    """Others are answered meanwhile, and afterwards."""
    door = of_serve(server)
    for _ in range(20):
        stream = door.connect()
        stream.sendall(f"POST /mcp HTTP/1.1\r\nHost: {door.host}\r\nAuthorization: Bearer {door.bearer}\r\nContent-Type: application/json\r\nAccept: */*\r\n"
                       f"Content-Length: 400\r\n\r\n{{".encode())
        stream.close()
    time.sleep(0.5)
    assert door.result(modern("tools/list"))["tools"]


def test_the_same_answer_by_each_way(server, folder):
    """Of the pipe and of the door: tools, and what they say of the same folder."""
    door = of_serve(server)
    with Pipe(folder) as pipe:
        assert door.result(modern("tools/list"))["tools"] == pipe.ask("tools/list")["tools"]
        ask = modern("tools/call", name="why_slow", arguments={"job": "slow"})
        assert door.result(ask)["structuredContent"]["rows"] == pipe.request(ask)["structuredContent"]["rows"]


@needs_root
def test_nothing_is_served_before_tls(agent):
    with socket.create_connection(("127.0.0.1", agent.port), timeout=5) as plain:
        plain.sendall(f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token('view')}\r\nContent-Length: 0\r\n\r\n".encode())
        with contextlib.suppress(ConnectionResetError):
            assert b"HTTP/1.1 2" not in plain.recv(65536)
    with pytest.raises(ssl.SSLError):
        ssl.create_default_context().wrap_socket(socket.create_connection(("127.0.0.1", agent.port), timeout=5), server_hostname="localhost")

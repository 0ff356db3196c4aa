"""POST /mcp, as it is: of `spotter serve` on this machine, and of an agent by TLS."""

import contextlib
import http.client
import json
import socket

from asking import PREFIX
from remote import RemoteAgent, token

NAMED = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
THE_TOKEN = object()


def headers_of(message):
    """Those that a client sends with it."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    params = message.get("params", {}) if isinstance(message, dict) else {}
    version = params.get("_meta", {}).get(PREFIX + "protocolVersion") if isinstance(params, dict) else None
    if version:
        headers |= {"MCP-Protocol-Version": version, "Mcp-Method": message["method"]}
        name = params.get(NAMED.get(message["method"], ""))
        if isinstance(name, str):
            headers["Mcp-Name"] = name
    return headers


class Door:
    """`connect()` gives a socket to where /mcp is."""

    def __init__(self, connect, host, bearer, path="/mcp"):
        self.connect, self.host, self.bearer, self.path = connect, host, bearer, path

    def ask(self, message, method="POST", bearer=THE_TOKEN, without=(), path=None, **more):
        """(status, headers, document or None). `more`: headers, with _ for -; None takes one away."""
        headers = {"Host": self.host, **headers_of(message)}
        bearer = self.bearer if bearer is THE_TOKEN else bearer
        if bearer is not None:
            headers["Authorization"] = f"Bearer {bearer}"
        headers = {name: value for name, value in headers.items() if name not in without}
        for name, value in more.items():
            name = name.replace("_", "-")
            headers = {known: old for known, old in headers.items() if known.lower() != name.lower()}
            if value is not None:
                headers[name] = value
        body = message if isinstance(message, bytes) else None if message is None else json.dumps(message).encode()
        return self.send(method, path or self.path, headers, body)

    def send(self, method, path, headers, body):
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = self.connect()
        with contextlib.closing(connection):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            said = answer.read()
            if said and answer.headers.get_content_type() == "application/json":
                return answer.status, answer.headers, json.loads(said)
            return answer.status, answer.headers, said or None

    def result(self, message, **more):
        status, headers, document = self.ask(message, **more)
        assert status == 200 and headers.get_content_type() == "application/json", (status, document)
        return document["result"]


def of_serve(server):
    return Door(lambda: socket.create_connection(("127.0.0.1", server.port), timeout=60), f"127.0.0.1:{server.port}", server.token)


def of_agent(agent, role="view"):
    return Door(lambda: agent.tls_stream(timeout=60), f"localhost:{agent.port}", token(role))


@contextlib.contextmanager
def remote_agent_with_traces():
    """An agent that measures, and listens with TLS."""
    with RemoteAgent("--collect", "cpu,memory", extra="") as agent:
        yield agent

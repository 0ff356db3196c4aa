"""The page of agents: what an agent serves by itself, and what `spotter serve` passes on to agents with the credentials of
who runs it."""

import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

import pytest

from agent import Agent, clean_environment, program, tables, until
from remote import RemoteAgent, certificates, free_port, token

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")

COLUMNS = "application/x-spotter-columns"
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
           "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin-allow-popups"}


def get(stream, path, method="GET", body=None, **headers):
    """(status, headers, bytes) of one request over that stream."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = stream
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def read_columns(packed):
    """The tables of an answer in columns, rows as JSON has them; written from src/render/columns_binary.h alone."""
    data = gzip.decompress(packed)
    assert data[:4] == b"SPT1"
    (size,) = struct.unpack_from("<I", data, 4)
    header, at = json.loads(data[8:8 + size]), 8 + size

    def take(count):
        nonlocal at
        at += count
        return data[at - count:at]

    def planes(rows, width, signed):
        found = [take(rows) for _ in range(width)]
        return [int.from_bytes(bytes(plane[row] for plane in found), "little", signed=signed) for row in range(rows)]

    def cells(column, rows):
        nulls = take((rows + 7) // 8) if column.get("nulls") else b""
        coding, base = column["coding"], int(column.get("base", "0"))
        if coding == "dictionary":
            values = [column["words"][place] if column["words"] else None for place in planes(rows, column["width"], False)]
        elif coding in ("plain", "delta"):
            values = planes(rows, column["width"], True)
            for row in range(rows if coding == "delta" else 0):
                values[row] += values[row - 1] if row else 0
            values = [base + value for value in values]
        elif coding == "real":
            values = [struct.unpack("<d", value.to_bytes(8, "little"))[0] for value in planes(rows, 8, False)]
        else:
            distinct = struct.unpack(f"<{column['count']}d", take(8 * column["count"]))
            values = [distinct[place] for place in planes(rows, column["width"], False)]
        if column["type"] == "flag":
            values = [bool(value) for value in values]
        return [None if nulls and nulls[row // 8] >> row % 8 & 1 else value for row, value in enumerate(values)]

    found = {}
    for table in header["tables"]:
        columns = {column["name"]: cells(column, table["rows"]) for column in table["columns"]}
        found[table["name"]] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert at == len(data)
    return found, header


class Serve:
    """`spotter serve` of some agents; asks with its token."""

    def __init__(self, *arguments, uid=0):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sl-", dir="/tmp"))
        self.process = subprocess.Popen(
            [str(program()), "serve", "--no-open", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=clean_environment(HOME=self.folder), cwd=self.folder, user=uid)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{32})\n", line)
        assert match, (line, self.process.stderr.read() if self.process.poll() is not None else "")
        self.port, self.token = int(match[1]), match[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            assert self.process.wait(20) == 0
        finally:
            self.process.kill()
            self.process.stdout.close()
            self.process.stderr.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, path, method="GET", body=None, bearer=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Authorization": f"Bearer {bearer or self.token}"} |
                               ({"Content-Type": "application/json"} if body is not None else {}) |
                               {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def hosts(self):
        status, _, body = self.ask("/v1/hosts")
        assert status == 200, body
        return {row["host"]: row for row in tables(json.loads(body))["hosts"]}

    def settled(self):
        """The hosts, once each has answered or is known not to."""
        return until(lambda: (found := self.hosts()) and all(row["state"] != "asked" for row in found.values()) and found, 10,
                     "all hosts are asked", every=0.1)


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """With a history of its own: another test's agent may have the usual one."""
    with RemoteAgent("--collect", "cpu,load", "--history", tmp_path_factory.mktemp("history") / "history.db") as running:
        yield running


@pytest.mark.parametrize("door", ["socket", "tls"])
def test_an_agent_serves_the_page_to_everybody(agent, door):
    def stream():
        return agent.api_stream() if door == "socket" else agent.tls_stream()  # without a certificate

    status, headers, page = get(stream(), "/")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"<div id=\"app\">" in page and b"http-equiv=\"Content-Security-Policy\"" not in page
    for name, value in HEADERS.items():
        assert headers[name] == value, name
    policy = headers["Content-Security-Policy"]
    for part in ("default-src 'none'", "script-src 'sha256-", "require-trusted-types-for 'script'", "connect-src 'self'",
                 "frame-ancestors 'none'"):
        assert part in policy, policy
    assert "unsafe" not in policy
    status, headers, packed = get(stream(), "/", Accept_Encoding="gzip")
    assert headers["Content-Encoding"] == "gzip" and gzip.decompress(packed) == page
    assert get(stream(), "/licences")[0] == 200
    assert get(stream(), "/favicon.ico")[::2] == (204, b"")
    assert get(stream(), "/", "POST", b"{}")[0] == 405


def test_data_are_for_those_who_may(agent):
    for path in ("/v1/hosts", "/v1/jobs", "/v1/status", "/metrics"):
        status, headers, body = get(agent.tls_stream(), path)
        assert (status, json.loads(body)["error"]["code"]) == (401, "denied"), path
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert get(agent.tls_stream(), path, Authorization=f"Bearer {token('view')}")[0] == 200, path


def test_columns_say_what_json_says(agent):
    until(lambda: agent.table("/v1/metrics", "load"), 5, "something is measured")
    for path in ("/v1/hosts", "/v1/jobs", "/v1/processes", "/v1/captures", "/v1/status"):
        found, header = read_columns(get(agent.api_stream(), path, Accept=COLUMNS, Accept_Encoding="gzip")[2])
        status, document = agent.api("GET", path)
        assert status == 200
        expected = tables(document)
        assert found.keys() == expected.keys()
        for name, rows in expected.items():
            changing = {"uptime_ns", "detail"}
            assert [{k: v for k, v in row.items() if k not in changing} for row in found[name]] == \
                [{k: v for k, v in row.items() if k not in changing} for row in rows], path
        assert [column["help"] for column in header["tables"][0]["columns"]] == \
            [column["help"] for column in document["tables"][0]["columns"]]
    found, _ = read_columns(get(agent.api_stream(), "/v1/metrics?metric=load_1m", Accept=COLUMNS, Accept_Encoding="gzip")[2])
    assert 0 <= found["load"][0]["load_1m"] < 10_000 and found["load"][0]["time_ns"] > 10**18
    plain = get(agent.api_stream(), "/v1/hosts", Accept=COLUMNS)
    assert plain[1]["Content-Encoding"] is None and plain[2][:4] == b"SPT1"


def test_what_a_page_may_ask_of_an_agent(agent):
    def asked(origin, site="same-origin", method="POST", host="localhost:8080"):
        return get(agent.api_stream(), "/v1/captures", method, b"{}" if method == "POST" else None, Host=host, Origin=origin,
                   Sec_Fetch_Site=site, Content_Type="application/json")[0]

    assert asked("http://localhost:8080") == 404  # it may, and no process is registered
    assert asked("http://localhost:8080", method="GET") == 200
    for method in ("GET", "POST"):
        for origin in ("http://evil.example", "http://localhost:8081", "https://localhost:8080", "null"):
            assert asked(origin, method=method) == 403, origin
        assert asked("http://localhost:8080", site="cross-site", method=method) == 403
        assert asked("http://evil.example:8080", host="evil.example:8080", method=method) == 403  # DNS rebinding
    assert get(agent.api_stream(), "/", Host="evil.example")[0] == 403


def test_an_agents_page_is_about_itself(agent):
    (row,) = agent.table("/v1/hosts", "hosts")
    assert (row["state"], row["role"], row["prefix"], row["failing"]) == ("up", "admin", "", "")
    assert row["uptime_ns"] > 0
    status, document = agent.https("GET", "/v1/hosts", bearer=token("view"))
    assert tables(document)["hosts"][0]["role"] == "view"
    assert agent.table("/v1/jobs", "jobs") == []


# spotter serve


@pytest.fixture(scope="module")
def dead_port():
    return free_port()


@pytest.fixture(scope="module")
def fleet(agent, dead_port):
    """Two names of one agent, and a port at which nobody listens."""
    with Serve("--host", f"localhost:{agent.port},127.0.0.1:{agent.port},127.0.0.1:{dead_port}", "--credentials",
               certificates().tls / "client") as serve:
        yield serve


def test_a_dead_host_has_a_line(fleet, agent, dead_port):
    hosts = fleet.settled()
    alive, dead = f"127.0.0.1:{agent.port}", f"127.0.0.1:{dead_port}"
    assert list(hosts) == ["localhost", alive, dead]
    assert [row["state"] for row in hosts.values()] == ["up", "up", "down"]
    assert hosts["localhost"]["kind"] == "remote" and hosts["localhost"]["address"] == f"localhost:{agent.port}"
    assert hosts["localhost"]["role"] == "admin" and hosts["localhost"]["message"] is None
    gone = hosts[dead]
    assert f"no agent answers at {dead}" in gone["message"]
    for name in ("role", "version", "uptime_ns", "failing"):
        assert gone[name] is None, "what is not known is null"
    for row in hosts.values():
        status, _, body = fleet.ask(f"/{row['prefix']}status")
        assert status == (502 if row is gone else 200), body
    assert json.loads(body)["error"]["message"].startswith("no agent answers at ")


def test_answers_come_as_they_are(fleet, agent):
    prefix = fleet.settled()["localhost"]["prefix"]
    status, headers, body = fleet.ask(f"/{prefix}metrics?metric=load_1m")
    assert status == 200 and headers["Content-Type"] == "application/json"
    (row,) = tables(json.loads(body))["load"]
    assert row["load_1m"] >= 0
    status, headers, packed = fleet.ask(f"/{prefix}processes", Accept=COLUMNS, Accept_Encoding="gzip")
    assert (headers["Content-Type"], headers["Content-Encoding"]) == (COLUMNS, "gzip")
    assert read_columns(packed)[0]["processes"] == []
    for name, value in HEADERS.items():
        assert headers[name] == value, name
    for path, expected in (("metrics?nonsense=1", 400), ("captures/none", 404), ("nothing", 404)):
        status, _, body = fleet.ask(f"/{prefix}{path}")
        direct = agent.https("GET", f"/v1/{path}", name="admin")
        assert (status, json.loads(body)) == direct and status == expected, path
    status, _, body = fleet.ask(f"/{prefix}captures", "POST", {"pids": [1]})
    assert (status, json.loads(body)) == agent.https("POST", "/v1/captures", {"pids": [1]}, name="admin")
    assert fleet.ask(f"/{prefix}captures", "POST", {}, Content_Type="text/plain")[0] == 400
    assert fleet.ask(f"/{prefix}status", "DELETE")[0] == 405


def test_only_hosts_of_the_list_can_be_reached(fleet, agent):
    for host in ("nowhere", f"localhost:{agent.port}", "127.0.0.1", "..", "%6cocalhost", "localhost%00", "LOCALHOST", ""):
        assert fleet.ask(f"/v1/hosts/{host}/status")[0] == 404, host
    assert fleet.ask("/v1/hosts/localhost")[0] == 404
    assert fleet.ask("/v1/hosts/localhost/../../etc/passwd")[0] == 404
    assert fleet.ask("/v1/hosts", "POST", {})[0] == 405


def test_the_token_of_serve_is_needed(fleet, agent):
    for path in ("/v1/hosts", "/v1/hosts/localhost/status"):
        assert fleet.ask(path, bearer="0" * 32)[0] == 401
        assert fleet.ask(path, bearer=token("admin"))[0] == 401, "an agent's token is none of serve's"
        assert fleet.ask(path, Origin="http://evil.example")[0] == 403
        assert fleet.ask(path, Sec_Fetch_Site="cross-site")[0] == 403
    assert fleet.ask("/")[0] == 200


def credentials(folder, name):
    """A folder of credentials with that client's token."""
    folder.mkdir()
    shutil.copy(certificates().tls / "ca.pem", folder / "ca.pem")
    (folder / "token").write_text(token(name))
    return folder


def test_who_may_look_may_not_trace(agent, tmp_path):
    with Serve("--host", f"localhost:{agent.port}", "--credentials", credentials(tmp_path / "view", "view")) as serve:
        (host,) = serve.settled().values()
        assert (host["state"], host["role"]) == ("up", "view")
        assert serve.ask(f"/{host['prefix']}status")[0] == 200
        status, _, body = serve.ask(f"/{host['prefix']}captures", "POST", {})
        assert (status, json.loads(body)["error"]["code"]) == (403, "denied"), body
        assert "may not trace" in json.loads(body)["error"]["message"]


def test_who_is_nobody_is_denied(agent, tmp_path):
    with Serve("--host", f"localhost:{agent.port}", "--credentials", credentials(tmp_path / "nobody", "nobody")) as serve:
        (host,) = serve.settled().values()
        assert host["state"] == "denied" and host["message"] and host["role"] is None
        assert serve.ask(f"/{host['prefix']}status")[0] == 401


def test_this_hosts_agent_by_its_socket(agent):
    with Serve("--socket", agent.api_socket) as serve:
        ((name, host),) = serve.settled().items()
        assert name == os.uname().nodename
        assert (host["kind"], host["state"], host["role"], host["address"]) == ("local", "up", "admin", str(agent.api_socket))
        parts = [[row["part"] for row in table] for table in (
            tables(json.loads(serve.ask(f"/{host['prefix']}status")[2]))["status"], agent.table("/v1/status", "status"))]
        assert parts[0] == parts[1] != []
        assert tables(json.loads(serve.ask("/v1/jobs")[2]))["jobs"] == []


def test_findings_of_a_capture(agent):
    with Serve("--socket", agent.api_socket) as serve:
        (name,) = serve.settled()
        for captures, status in (({}, 400), ({"nowhere": "a"}, 404), ({name: "none"}, 404)):
            got, _, body = serve.ask("/v1/hosts/findings", "POST", {"captures": captures})
            assert (got, set(json.loads(body))) == (status, {"error"}), body


def test_without_agents_there_are_no_hosts(tmp_path):
    with Serve(tmp_path) as serve:
        assert serve.hosts() == {}
        assert serve.ask("/v1/hosts/localhost/status")[0] == 404


def test_an_agent_that_comes_and_goes(tmp_path):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="se-", dir="/tmp"))
    try:
        with Serve("--socket", folder / "api.sock") as serve:
            (host,) = serve.settled().values()
            assert host["state"] == "down" and "spotter agent" in host["message"]
            with Agent(folder=folder):
                until(lambda: next(iter(serve.hosts().values()))["state"] == "up", 5, "the agent is up", every=0.1)
            until(lambda: next(iter(serve.hosts().values()))["state"] == "down", 5, "the agent is down", every=0.1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)

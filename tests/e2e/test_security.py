"""Who may do what, by each door: what is answered, that nothing was begun where it may not, and what the log keeps of it.

A role is written as the user or client has it: nobody, view, trace, limited (traces one user's processes), admin.
"""

import contextlib
import dataclasses
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import stat
import subprocess
import tempfile
import time

import pytest

import agent as agent_module
import cluster
from agent import Agent, clean_environment, program, run, tables, until
from remote import (NAMES, OWNER, STRANGER, Poller, RemoteAgent, as_user, certificates, configuration, free_port,
                    token)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")

LIMITED_UID = 65534  # of remote.LIMITED


@dataclasses.dataclass
class Host:
    """An agent with processes that were never asked: `mine` of the user that `limited` may trace, `other` of another."""

    agent: RemoteAgent
    mine: Poller
    other: Poller
    capture: str  # over; root's

    def idle(self):
        return all(row["state"] == "idle" for row in self.agent.processes())

    def assert_nothing_was_begun(self):
        assert self.idle()
        assert self.mine.poll() == self.other.poll() == ""

    def body(self, poller):
        return {"pids": [poller.pid], "output": str(self.agent.out_dir), "duration_ms": 50}

    def begin_as_root(self):
        capture = self.agent.capture(pids=[self.other.pid])
        assert capture
        return capture

    def end_as_root(self, capture):
        assert self.agent.api("DELETE", f"/v1/captures/{capture}")[0] == 200
        self.assert_nothing_was_begun()


@contextlib.contextmanager
def running_host(**options):
    with RemoteAgent(**options) as agent, Poller(agent, LIMITED_UID) as mine, Poller(agent, OWNER) as other:
        host = Host(agent, mine, other, "")
        host.capture = host.begin_as_root()
        host.end_as_root(host.capture)
        yield host


@pytest.fixture(scope="module")
def host():
    with running_host() as made:
        yield made


# What each role may do, over HTTP.

GRANTED = {
    "nobody": set(),
    "view": {"look"},
    "limited": {"look", "trace mine", "end own"},
    "trace": {"look", "trace mine", "trace other", "end own"},
    "admin": {"look", "trace mine", "trace other", "end own", "end root's"},
}
LOOKS = ["/v1/status", "/v1/processes", "/v1/metrics", "/v1/captures", "/v1/captures/{}", "/v1/captures/{}?wait_ms=10&seen=0"]
NOWHERE = {  # what is answered to somebody
    404: [("GET", "/"), ("GET", "/v1"), ("GET", "/v1/captures/no-such-one"), ("DELETE", "/v1/captures/no-such-one"),
          ("GET", "/v1/captures/../../etc/passwd"), ("GET", "/etc/passwd"),
          ("GET", "/v1/catalogue?table=jobs")],  # this agent keeps none
    405: [("DELETE", "/v1/captures"), ("DELETE", "/v1/processes"), ("POST", "/v1/status"), ("PUT", "/v1/captures"),
          ("PATCH", "/v1/captures/{}"), ("OPTIONS", "/v1/status")],
}


def hold_to_role(host, ask, role):
    """`ask(method, path, body)` is a client of that role."""
    may = GRANTED[role]
    refused = 401 if role == "nobody" else 403

    def expect(deed, method, path, body=None):
        status, document = ask(method, path, body)
        assert status == (200 if deed in may else refused), (role, deed, path, document)
        return document

    for path in LOOKS:
        document = expect("look", "GET", path.format(host.capture))
        if "look" not in may:
            assert set(document) == {"error"}, "something is told"
    for expected, questions in NOWHERE.items():
        for method, path in questions:
            status, document = ask(method, path.format(host.capture), None)
            assert status == (401 if role == "nobody" else expected), (role, method, path, document)
    for deed, poller in (("trace mine", host.mine), ("trace other", host.other)):
        document = expect(deed, "POST", "/v1/captures", host.body(poller))
        if deed not in may:
            host.assert_nothing_was_begun()
            continue
        assert [row["pid"] for row in tables(document)["receipts"]] == [poller.pid]
        expect("end own", "DELETE", f"/v1/captures/{document['capture']}")
        host.assert_nothing_was_begun()
    status, document = ask("POST", f"/v1/captures/{host.capture}/analyze", {"tables": []})
    if "trace mine" in may:
        assert status in (400, 404), document  # nothing of it was written
    else:
        assert status == refused, document
    capture = host.begin_as_root()
    document = expect("end root's", "DELETE", f"/v1/captures/{capture}")
    state = agent_module.tables(host.agent.api("GET", f"/v1/captures/{capture}")[1])["receipts"][0]["state"]
    assert state == ("failed" if "end root's" in may else "accepted")
    host.end_as_root(capture)


@pytest.mark.parametrize(("uid", "role"), [(0, "admin"), (LIMITED_UID, "limited"), (STRANGER, "nobody's")])
def test_users_over_the_socket(host, uid, role):
    def ask(method, path, body):
        return as_user(uid, lambda: host.agent.api(method, path, body))

    if role == "nobody's":  # it sees, and has no process to trace
        for poller in (host.mine, host.other):
            status, document = ask("POST", "/v1/captures", host.body(poller))
            assert (status, document["error"]["code"]) == (403, "denied")
        host.assert_nothing_was_begun()
        assert ask("GET", "/v1/processes", None)[0] == 200
    else:
        hold_to_role(host, ask, role)


def test_a_user_who_asks_for_all_gets_his_own(host):
    status, document = as_user(OWNER, lambda: host.agent.api(
        "POST", "/v1/captures", {"all": True, "output": str(host.agent.out_dir)}))
    assert status == 200
    assert [row["pid"] for row in tables(document)["receipts"]] == [host.other.pid]
    assert [note["kind"] for note in document["notes"]] == ["other_users"]
    assert host.mine.poll() == ""
    host.end_as_root(document["capture"])


# certificate, token, role
CLIENTS = [(name, None, name) for name in NAMES] + [(None, token(name), name) for name in NAMES] + [
    (None, None, "nobody"),
    (None, "no such token", "nobody"),
    (None, "", "nobody"),
    (None, token("admin") + " ", "admin"),  # HTTP's headers have no spaces at their ends
    (None, token("admin").upper(), "nobody"),
    ("unlisted", None, "nobody"),
    ("unlisted", "no such token", "nobody"),
    ("view", token("admin"), "admin"),
    ("admin", token("view"), "admin"),
    ("admin", "no such token", "admin"),
    ("limited", token("view"), "limited"),
]


@pytest.mark.parametrize(("certificate", "bearer", "role"), CLIENTS)
def test_clients_over_tls(host, certificate, bearer, role):
    with host.agent.tls_stream(certificate) as stream:
        hold_to_role(host, lambda *words: host.agent.https(*words, bearer=bearer, stream=stream), role)


@pytest.mark.parametrize("header", ["Basic YWRtaW46YWRtaW4=", "Bearer", token("admin"), *(
    word + token("admin") for word in ("bearer ", "Bearer\t", "Bearer  "))], ids=repr)
def test_headers_that_are_no_token(host, header):
    with host.agent.tls_stream() as s:
        s.sendall(f"GET /v1/status HTTP/1.1\r\nHost: x\r\nAuthorization: {header}\r\n\r\n".encode())
        assert s.recv(65536).startswith(b"HTTP/1.1 401 ")


def test_a_name_or_address_in_a_header_is_nobody(host):
    with host.agent.tls_stream() as s:
        s.sendall(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 127.0.0.1\r\nFrom: admin\r\n"
                  b"X-Client-Cert-CN: admin\r\n\r\n")
        assert s.recv(65536).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("name", ["foreign", "server", "expired", "self-signed"])
def test_certificates_that_are_refused(host, name):
    """The handshake fails, whatever token comes with it; what is sent along is not read."""
    asked = int(status_rows(host.agent)["api"].rpartition(": ")[2].split()[0])
    with pytest.raises((ssl.SSLError, ConnectionResetError)):  # with TLS 1.3 it shows at the first byte that is read
        with host.agent.tls_stream(name) as s:
            s.sendall(f"GET /v1/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token('admin')}\r\n\r\n".encode())
            assert s.recv(65536) == b"", "it was answered"
            raise ConnectionResetError
    assert int(status_rows(host.agent)["api"].rpartition(": ")[2].split()[0]) == asked + 1


def status_rows(agent):
    return {row["part"]: row["detail"] for row in agent.table("/v1/status", "status")}


# Dynolog's RPC: whoever he is for the kernel.


def rpc_trace(agent, poller, file):
    return agent.rpc({"fn": "setKinetOnDemandRequest", "pids": [poller.pid], "process_limit": 3,
                      "config": f"ACTIVITIES_LOG_FILE={file}\nACTIVITIES_DURATION_MSECS=50"})


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
        else:
            assert reply["status"].startswith(f"failed: user {uid} may not trace process {poller.pid}"), reply
            host.assert_nothing_was_begun()


def end_of(host, poller):
    """Ends what the RPC began, whose id only the log tells."""
    line = host.agent.wait_for_line("audit:", f"processes ({poller.pid})", "setKinetOnDemandRequest", "capture ")
    lines = [one for one in host.agent.log().splitlines() if f"({poller.pid}) by setKinetOnDemandRequest" in one]
    capture = re.search(r": capture (\S+)$", lines[-1])
    assert capture, line
    host.agent.api("DELETE", f"/v1/captures/{capture[1]}")


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


# No door names a file where none may be written.


def bad_places(agent):
    """Of users who may write only where the agent says."""
    out = agent.out_dir
    return {
        "elsewhere": "/etc", "upwards": f"{out}/../../../etc", "upwards inside": f"{out}/../out",
        "upwards at its end": f"{out}/..", "relative": "out", "relative upwards": "../etc", "like name": f"{out}x",
        "not listed": "/tmp", "the folder above": str(agent.folder), "link": f"{out}/link", "below a link": f"{out}/link/x",
        "root": "/", "dot": ".", "the process's own": "/proc/self/cwd", "home": "~", "line break": f"{out}\n/etc",
        "key": f"{out}\nACTIVITIES_LOG_FILE=/etc/x", "comment": f"{out}#", "NUL": f"{out}\0", "url": "file:///etc",
        "escapes": f"{out}/%2e%2e/%2e%2e/x",
    }


@pytest.fixture(scope="module")
def linked(host):
    (host.agent.out_dir / "link").symlink_to("/etc")
    return host


# A user of the host may name other places for processes of his own, which could write there anyway.
OWNERS_WAY = {"elsewhere": "may not write", "root": "may not write", "like name": "cannot be opened",
              "not listed": None, "the folder above": "may not write"}


@pytest.mark.parametrize("who", ["root", "owner", "admin", "trace", "limited"])
def test_places_over_http(linked, who):
    agent, poller = linked.agent, linked.mine
    for name, place in bad_places(agent).items():
        body = linked.body(poller) | {"output": place}
        if who in ("root", "owner"):
            uid = 0 if who == "root" else LIMITED_UID
            status, document = as_user(uid, lambda body=body: agent.api("POST", "/v1/captures", body))
        else:
            status, document = agent.https("POST", "/v1/captures", body, name=who)
        if who == "owner" and name in OWNERS_WAY and OWNERS_WAY[name] is None:
            assert status == 200
            linked.end_as_root(document["capture"])
            continue
        assert status in (400, 403), (name, document)
        if who == "owner" and name in OWNERS_WAY:
            assert OWNERS_WAY[name] in document["error"]["message"], document
        assert linked.idle(), name
    linked.assert_nothing_was_begun()


@pytest.mark.parametrize("uid", [0, LIMITED_UID])
def test_places_over_rpc(linked, uid):
    agent, poller = linked.agent, linked.mine
    for name, place in bad_places(agent).items():
        if uid == LIMITED_UID and name in OWNERS_WAY:
            continue
        if name == "comment":
            place += "/../.."  # what follows is no part of the path, for the process either
            continue
        reply = as_user(uid, lambda place=place: rpc_trace(agent, poller, f"{place}/x.json"))
        assert str(reply.get("status")).startswith("failed"), (name, reply)
        assert linked.idle(), name
    # Of two lines the last one counts.
    for lines in ([f"{agent.out_dir}/x.json", "/etc/x.json"], [f"{agent.out_dir}/x.json", ""]):
        text = "".join(f"ACTIVITIES_LOG_FILE={path}\n" for path in lines)
        request = {"fn": "setKinetOnDemandRequest", "pids": [poller.pid], "config": text}
        reply = as_user(0, lambda request=request: agent.rpc(request))
        assert str(reply.get("status")).startswith("failed"), reply
    linked.assert_nothing_was_begun()


# The log keeps who did what, and from where.


def test_audit_of_what_is_done(host):
    agent, mine, other = host.agent, host.mine, host.other
    for name, words in (("trace", {"name": "trace"}), ("admin", {"bearer": token("admin")})):
        _, document = agent.https("POST", "/v1/captures", host.body(other), **words)
        capture = document["capture"]
        agent.wait_for_line(f"audit: client {name} (127.0.0.1:", f"asks to trace 1 processes ({other.pid}) by "
                            f"POST /v1/captures to {agent.out_dir}: capture {capture}")
        agent.https("DELETE", f"/v1/captures/{capture}", **words)
        agent.wait_for_line(f"audit: client {name} (127.0.0.1:", f"ends capture {capture}: done")
        assert f"ended by client {name}" in agent.receipts(capture)[0]["reason"]

    def as_owner():
        _, document = agent.api("POST", "/v1/captures", host.body(mine))
        agent.api("DELETE", f"/v1/captures/{document['capture']}")
        return [os.getpid(), document["capture"]]

    pid, capture = as_user(LIMITED_UID, as_owner)
    agent.wait_for_line(f"audit: user {LIMITED_UID} (unix, process {pid}) asks to trace 1 processes ({mine.pid})", capture)
    agent.wait_for_line(f"audit: user {LIMITED_UID} (unix, process {pid}) ends capture {capture}: done")

    def by_rpc():
        with agent.rpc_stream() as s:
            body = json.dumps({"fn": "setKinetOnDemandRequest", "pids": [mine.pid], "config":
                               f"ACTIVITIES_LOG_FILE={agent.out_dir}/audit.json\nACTIVITIES_DURATION_MSECS=50"}).encode()
            s.sendall(len(body).to_bytes(4, "little") + body)
            agent_module.read_frame(s)
            return s.getsockname()[1]

    port = as_user(LIMITED_UID, by_rpc)
    agent.wait_for_line(f"audit: user {LIMITED_UID} (Dynolog's RPC, port {port}) asks to trace 1 processes ({mine.pid}) by "
                        f"setKinetOnDemandRequest to {agent.out_dir}/audit.json: capture ")
    end_of(host, mine)
    host.assert_nothing_was_begun()


def refused_deeds(host, of_root):
    """name: (deed, words of its line). Only one of many refusals in ten seconds is logged, so each has its own agent."""
    agent, mine, other = host.agent, host.mine, host.other
    out = agent.out_dir
    post = ("POST", "/v1/captures")
    asks = f"asks to trace 1 processes ({other.pid}) by POST /v1/captures to {out}: refused, "
    ends = f"ends capture {of_root}: refused, "
    return {
        "nobody traces": (lambda: agent.https(*post, host.body(other)),
                          ["audit: an unknown client (127.0.0.1:", "POST /v1/captures: refused, "]),
        "nobody looks": (lambda: agent.https("GET", "/v1/processes", bearer="x"),
                         ["audit: an unknown client (127.0.0.1:", "GET /v1/processes: refused, "]),
        "view traces": (lambda: agent.https(*post, host.body(other), name="view"),
                        ["audit: client view (127.0.0.1:", "POST /v1/captures: refused, client view may not trace"]),
        "limited traces another's": (lambda: agent.https(*post, host.body(other), name="limited"),
                                     ["audit: client limited (127.0.0.1:", asks, "client limited may not trace"]),
        "place": (lambda: agent.https(*post, host.body(other) | {"output": "/etc"}, name="admin"),
                  ["audit: client admin (127.0.0.1:", asks.replace(str(out), "/etc"), "/etc is not in "]),
        "view ends": (lambda: agent.https("DELETE", f"/v1/captures/{of_root}", name="view"),
                      ["audit: client view (127.0.0.1:", ends]),
        "trace ends another's": (lambda: agent.https("DELETE", f"/v1/captures/{of_root}", name="trace"),
                                 ["audit: client trace (127.0.0.1:", ends, "may not end what somebody else began"]),
        "stranger traces": (lambda: as_user(STRANGER, lambda: agent.api(*post, host.body(other))),
                            [f"audit: user {STRANGER} (unix, process ", asks, f"user {STRANGER} may not trace"]),
        "stranger traces all": (lambda: as_user(STRANGER, lambda: agent.api(*post, {"all": True})),
                                [f"audit: user {STRANGER} (unix, process ", "asks for POST /v1/captures: refused, ",
                                 "are other users'"]),
        "stranger traces by RPC": (lambda: as_user(STRANGER, lambda: rpc_trace(agent, other, out / "x.json")),
                                   [f"audit: user {STRANGER} (Dynolog's RPC, port ", f"({other.pid}) by "
                                    f"setKinetOnDemandRequest to {out}/x.json: refused, user {STRANGER} may not trace"]),
        "stranger ends": (lambda: as_user(STRANGER, lambda: agent.api("DELETE", f"/v1/captures/{of_root}")),
                          [f"audit: user {STRANGER} (unix, process ", ends]),
    }


REFUSALS = ["nobody traces", "nobody looks", "view traces", "limited traces another's", "place", "view ends",
            "trace ends another's", "stranger traces", "stranger traces all",
            "stranger traces by RPC", "stranger ends"]


@pytest.mark.parametrize("name", REFUSALS)
def test_audit_of_what_is_refused(name):
    with running_host() as host:
        deed, words = refused_deeds(host, host.capture)[name]
        deed()
        host.agent.wait_for_line(*words)
        host.assert_nothing_was_begun()


def test_a_name_cannot_steer_the_terminal_that_shows_the_log():
    certificates().issue("evil", "\x1b[31m")
    with RemoteAgent() as agent:
        assert agent.https("POST", "/v1/captures", {"all": True}, name="evil")[0] == 401
        assert agent.https("GET", "/%1b[31m", name="evil")[0] == 401
        agent.wait_for_line("audit: ")
        assert not [c for c in agent.log() if ord(c) < 32 and c != "\n"]


# Pages that a browser shows whose user has a way to the agent.


def asked_with(stream, method, path, body, **headers):
    connection = http.client.HTTPConnection("localhost")
    connection.sock = stream
    try:
        connection.request(method, path, json.dumps(body), {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@pytest.mark.parametrize("door", ["socket", "certificate"])
def test_pages_of_other_sites(host, door):
    def ask(*words, **headers):
        stream = host.agent.api_stream() if door == "socket" else host.agent.tls_stream("admin")
        return asked_with(stream, *words, **headers)

    body = host.body(host.other)
    for origin in ("https://evil.example", "null"):
        status, document = ask("POST", "/v1/captures", body, Origin=origin, Content_Type="application/json")
        assert status == 403 and "web page" in document["error"]["message"], document
    status, document = ask("POST", "/v1/captures", body, Content_Type="text/plain")
    assert status == 400 and "Content-Type: application/json" in document["error"]["message"], document
    host.assert_nothing_was_begun()
    capture = host.begin_as_root()
    assert ask("DELETE", f"/v1/captures/{capture}", None, Origin="https://evil.example")[0] == 403
    host.end_as_root(capture)
    # A name for this host that a site made up: by TLS no browser comes so far.
    assert ask("GET", "/v1/status", None, Host="evil.example:8080")[0] == (403 if door == "socket" else 200)


# TLS.


def test_plain_http_on_the_port_of_tls(host):
    for sent in (b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n", b"\0\0\0\x12" + b'{"fn":"getStatus"}', b"\r\n\r\n", b"\x16"):
        with socket.create_connection(("127.0.0.1", host.agent.port), timeout=7) as s:
            s.sendall(sent)
            s.shutdown(socket.SHUT_WR)
            answer = agent_module.read_to_end(s)
            # An alert of TLS at most.
            assert answer == b"" or (answer[0] == 21 and len(answer) == 7), answer


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python's, of the oldest
def test_old_versions_of_tls(host):
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2):
        context = certificates().context("admin")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.set_ciphers("ALL:@SECLEVEL=0")  # else Python itself would not ask for the oldest
        context.maximum_version = version
        with pytest.raises((ssl.SSLError, ConnectionResetError)), host.agent.tls_stream(context=context):
            pass
    with host.agent.tls_stream("admin") as s:
        assert s.version() == "TLSv1.3"


def test_the_client_refuses_a_server_that_is_another(host):
    """The agent's certificate is asked for by name, and by the authority."""
    done = host.agent.command_line("status", credentials=certificates().folder / "foreign" / "client")
    assert done.returncode == 1 and "its certificate is not trusted" in done.stderr, done
    done = run("status", "--host", f"127.0.0.2:{host.agent.port}", "--credentials", certificates().tls / "client")
    assert done.returncode == 1, done


def test_the_command_line_with_each_role(host):
    folder = pathlib.Path(tempfile.mkdtemp(dir=certificates().folder))
    (folder / "ca.pem").write_bytes((certificates().tls / "ca.pem").read_bytes())
    for name in NAMES:
        (folder / "token").write_text(token(name) + "\n")
        assert host.agent.command_line("status", credentials=folder).returncode == 0
        assert host.agent.command_line("ps", credentials=folder).returncode == 0
    (folder / "token").write_text(token("view"))
    done = host.agent.command_line("trace", "--pid", host.mine.pid, credentials=folder)
    assert done.returncode == 1 and "client view may not trace" in done.stderr, done
    (folder / "token").write_text("no such token")
    done = host.agent.command_line("ps", credentials=folder)
    assert done.returncode == 1 and "an unknown client may not look" in done.stderr, done
    host.assert_nothing_was_begun()


# Its configuration.


def refused_start(text, *words):
    with tempfile.TemporaryDirectory(prefix="se-", dir="/tmp") as folder:
        file = pathlib.Path(folder) / "agent.yaml"
        file.write_text(text)
        done = subprocess.run([program(), "agent", "--config", file, "--api-socket", f"{folder}/a", "--ipc-dir", folder,
                               "--rpc-port", "0", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=20, check=False, env=clean_environment())
        assert os.listdir(folder) == ["agent.yaml"], "what it opened before is left behind"
    assert done.returncode == 1, done
    return done.stderr


def test_starts_that_are_refused():
    tls = certificates().tls / "agent"
    files = f"tls:\n  certificate: {tls}/agent.pem\n  key: {tls}/agent-key.pem\n"
    listen, clients = "listen: 127.0.0.1:{}\n".format(free_port()), "clients:\n  - name: a\n    role: view\n"
    cases = {
        listen: '"listen" needs "tls"',
        listen + clients: '"listen" needs "tls"',
        listen + files: '"listen" needs "clients"',
        listen + files + "clients: []\n": '"listen" needs "clients"',
        listen + files + clients: "the client a has no token, and without client_ca",
        listen + files + "clients:\n  - role: admin\n": "line 6: a client needs a name",
        listen + files + "clients:\n  - name: admin\n": "line 6: a client needs a role",
        listen + files + "clients:\n  - name: a\n    role: root\n": "line 7: role: \"root\" is none of view, trace, admin",
        listen + files + "clients:\n  - name: a\n    role: view\n    user: no-such-user\n": "there is no user no-such-user",
        listen + files + "clients:\n  - name: a\n    role: view\n    token_sha256: 12\n": "64 hexadecimal digits",
        listen + files + "clients:\n  - name: a\n    role: view\n    tokens: 12\n": "there is no key tokens",
        # Of an empty token, which is what a script with an unset variable makes.
        listen + files + "clients:\n  - name: a\n    role: view\n    token_sha256: "
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n": "empty token",
        listen + files.replace("agent.pem", "none.pem") + clients + "    token_sha256: " + "0" * 64 + "\n": "none.pem",
        listen + files.replace("agent-key.pem", "ca.pem") + clients + "    token_sha256: " + "0" * 64 + "\n": "the key ",
        "listen: nowhere.example:1\n" + configuration(1).partition("\n")[2]: "is no IP address",
        "rpc_on_all_addresses_without_authentication: yes\n": "neither true nor false",
    }
    for text, told in cases.items():
        assert told in refused_start(text), text


def test_key_of_another_certificate():
    text = configuration(free_port()).replace("agent/agent-key.pem", "client/client-key.pem")
    assert "client-key.pem cannot be used" in refused_start(text)


def test_taken_port_is_named_with_who_has_it(host):
    told = refused_start(configuration(host.agent.port))
    assert f"the port 127.0.0.1:{host.agent.port} is taken by process {host.agent.pid} ({program().name})" in told
    host.agent.assert_well()


def test_clients_are_read_again():
    with running_host() as host, host.agent.tls_stream("trace") as by_certificate, host.agent.tls_stream() as by_token, \
            host.agent.tls_stream("admin") as admin:
        agent = host.agent

        def ask(stream, bearer=None, method="GET", path="/v1/status", body=None):
            return agent.https(method, path, body, stream=stream, bearer=bearer)[0]

        assert ask(by_certificate) == ask(by_token, token("trace")) == ask(admin) == 200
        agent.configure(without=[("trace", False), ("trace", True)])
        agent.reload()
        assert ask(by_certificate) == ask(by_token, token("trace")) == 401
        assert ask(by_certificate, None, "POST", "/v1/captures", host.body(host.mine)) == 401
        assert ask(admin) == 200
        # What cannot be read changes nothing.
        agent.config.write_text("listen: [")
        agent.reload("the configuration stays as it was")
        assert ask(by_certificate) == 401 and ask(admin) == 200
        agent.configure()
        agent.reload()
        assert ask(by_certificate) == ask(by_token, token("trace")) == 200
        # Another role of the same name.
        agent.config.write_text(configuration(agent.port, [agent.out_dir]).replace("role: trace", "role: view"))
        agent.reload()
        assert ask(by_certificate) == 200
        assert ask(by_certificate, None, "POST", "/v1/captures", host.body(host.mine)) == 403
        host.assert_nothing_was_begun()


def test_a_question_that_waits_when_its_client_is_revoked():
    """It was admitted; its answer tells no more than it might have told at once."""
    with running_host() as host, host.agent.tls_stream("view") as s:
        capture = host.begin_as_root()
        s.sendall(f"GET /v1/captures/{capture}?seen=0&wait_ms=60000 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        time.sleep(0.05)
        host.agent.configure(without=[("view", False)])
        host.agent.reload()
        host.end_as_root(capture)
        assert s.recv(65536).startswith(b"HTTP/1.1 ")
        assert host.agent.https("GET", "/v1/status", stream=s)[0] == 401


# Dynolog's RPC for other hosts.


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


# --init-tls


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_init_tls():
    with tempfile.TemporaryDirectory(prefix="st-", dir="/tmp") as name:
        folder = pathlib.Path(name) / "new" / "tls"
        assert run("agent", "--init-tls", folder, "--tls-names", "a,b[1-2],10.0.0.1").returncode == 0
        expected = {"ca.pem": 0o644, "ca-key.pem": 0o600, "agent": 0o700, "client": 0o700,
                    **{f"agent/{n}": 0o644 for n in ("agent.pem", "ca.pem", "agent.yaml")}, "agent/agent-key.pem": 0o600,
                    **{f"client/{n}": 0o644 for n in ("client.pem", "ca.pem")}, "client/client-key.pem": 0o600}
        assert {str(p.relative_to(folder)): mode(p) for p in folder.rglob("*")} == expected
        assert mode(folder) == 0o700

        def contents():
            return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

        before = contents()
        done = run("agent", "--init-tls", folder)
        assert done.returncode == 1 and "is there already" in done.stderr, done
        assert contents() == before
        # Another client's folder alone is in the way, too.
        (folder / "agent").rename(folder / "agent-1")
        assert run("agent", "--init-tls", folder).returncode == 1
        (folder / "client").rename(folder / "client-1")
        assert run("agent", "--init-tls", folder, "--tls-names", "localhost,127.0.0.1").returncode == 0
        assert (folder / "ca.pem").read_bytes() == before[str(folder / "ca.pem")], "another authority"
        # The first client is admitted by the second agent.
        port = free_port()
        config = folder / "agent" / "agent.yaml"
        config.write_text(config.read_text().replace("0.0.0.0:1779", f"127.0.0.1:{port}"))
        with Agent("--config", config):
            done = run("status", "--host", f"localhost:{port}", "--credentials", folder / "client-1")
            assert done.returncode == 0, done
        # Half an authority, or one that is none.
        for broken, told in ((lambda: (folder / "ca-key.pem").unlink(), "only one of"),
                             (lambda: (folder / "ca-key.pem").write_text("nothing"), "do not belong together")):
            broken()
            for made in ("agent", "client"):
                if (folder / made).exists():
                    (folder / made).rename(folder / f"{made}-2")
            done = run("agent", "--init-tls", folder)
            assert done.returncode == 1 and told in done.stderr, done
            assert not (folder / "agent").exists()


@pytest.mark.parametrize("names", ["a b", "a,b:c:d,[x]", "DNS:x", "x\ny", "*", "a/b", ""], ids=repr)
def test_init_tls_names_that_are_none(names):
    with tempfile.TemporaryDirectory(prefix="st-", dir="/tmp") as folder:
        done = run("agent", "--init-tls", f"{folder}/tls", f"--tls-names={names}")
        assert done.returncode in (1, 2), done
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", done.stderr)
        assert not pathlib.Path(f"{folder}/tls/agent").exists()

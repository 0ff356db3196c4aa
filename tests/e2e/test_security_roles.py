"""Who may do what over HTTP: what is answered, and that nothing was begun where it may not.

A role is written as the user or client has it: nobody, view, trace, limited (traces one user's processes), admin.
"""

import http.client
import json
import os
import pathlib
import ssl
import tempfile

import pytest

import agent as agent_module
from agent import tables
from guarded_host import LIMITED_UID
from remote import NAMES, OWNER, STRANGER, as_user, certificates, token

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")

GRANTED = {
    "nobody": set(),
    "view": {"look"},
    "limited": {"look", "trace mine", "end own"},
    "trace": {"look", "trace mine", "trace other", "end own"},
    "admin": {"look", "trace mine", "trace other", "end own", "end root's"},
}
LOOKS = ["/v1/hosts", "/v1/status", "/v1/processes", "/v1/metrics", "/v1/captures", "/v1/captures/{}", "/v1/captures/{}?wait_ms=10&seen=0"]
NOWHERE = {  # what is answered to somebody
    404: [("GET", "/v1"), ("GET", "/v1/captures/no-such-one"), ("DELETE", "/v1/captures/no-such-one"),
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
    for question in (("POST", f"/v1/captures/{host.capture}/analyze", {"tables": []}),
                     ("GET", f"/v1/captures/{host.capture}/file?pid={host.mine.pid}", None)):
        status, document = ask(*question)
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

"""The configuration of who may do what: what is refused, and what is read again while the agent runs."""

import os
import pathlib
import subprocess
import tempfile
import time

import pytest

from agent import clean_environment, program
from guarded_host import running_host
from remote import certificates, configuration, free_port, token

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")


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

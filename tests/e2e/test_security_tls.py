"""What TLS lets in, and the files that --init-tls makes for it."""

import os
import pathlib
import re
import socket
import ssl
import stat
import tempfile

import pytest

import agent as agent_module
from agent import Agent, run
from remote import certificates, free_port

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to be several users one has to be root")


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

"""What the tests of the doors for other hosts and other users share: certificates of every sort, an agent that listens
with TLS, and processes of other users (the tests run as root)."""

import atexit
import contextlib
import functools
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile

import agent as agent_module
import client
from agent import Agent, run, until

OWNER, STRANGER = 12345, 12346  # user ids; nobody has to have them
LIMITED = "nobody"  # whose processes the client `limited` may trace; this user is on every host
NAMES = ("view", "trace", "limited", "admin")  # of clients, and of their roles
ROLES = {name: "trace" if name == "limited" else name for name in NAMES}


def token(name):
    return f"token of {name}"


class Certificates:
    """Those of --init-tls, and what OpenSSL makes beside them: `folder`/NAME.pem with NAME-key.pem."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sr-", dir="/tmp"))
        self.tls = self.folder / "tls"
        for directory in (self.tls, self.folder / "foreign"):
            done = run("agent", "--init-tls", directory, "--tls-names", "localhost,127.0.0.1")
            assert done.returncode == 0, done
        for name in NAMES:
            self.issue(name)
        self.issue("unlisted")
        self.issue("expired", "admin", days=-1)
        self.openssl("req", "-x509", *self.subject("self-signed", "admin"))
        for name, made in {"foreign": "foreign/client/client", "server": "tls/agent/agent"}.items():
            for end in (".pem", "-key.pem"):
                shutil.copy(f"{self.folder}/{made}{end}", f"{self.folder}/{name}{end}")

    def openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=30)

    def subject(self, name, common_name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj", f"/CN={common_name}",
                "-keyout", f"{self.folder}/{name}-key.pem", "-out", f"{self.folder}/{name}.pem"]

    def issue(self, name, common_name=None, days=30):
        self.openssl("req", *self.subject(name, common_name or name))
        (self.folder / "ends").write_text("basicConstraints=critical,CA:FALSE\nextendedKeyUsage=clientAuth\n")
        self.openssl("x509", "-req", "-in", self.folder / f"{name}.pem", "-CA", self.tls / "ca.pem", "-CAkey",
                     self.tls / "ca-key.pem", "-days", days, "-extfile", self.folder / "ends", "-out",
                     self.folder / f"{name}.pem")

    def context(self, name=None):
        """What a client of that name shows; without one, no certificate."""
        context = ssl.create_default_context(cafile=self.tls / "ca.pem")
        if name:
            context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}-key.pem")
        return context

    def server_context(self, certificate="server"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{certificate}.pem", self.folder / f"{certificate}-key.pem")
        return context

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


@functools.cache
def certificates():
    made = Certificates()
    atexit.register(made.remove)
    return made


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def configuration(port, directories=("/tmp",), without=(), extra=""):
    """Each of NAMES with a certificate, and again with a token."""
    tls = certificates().tls / "agent"
    lines = [f"listen: 127.0.0.1:{port}", "tls:", f"  certificate: {tls}/agent.pem", f"  key: {tls}/agent-key.pem",
             f"  client_ca: {tls}/ca.pem", "output_directories:", *(f"  - {d}" for d in directories), "clients:"]
    for name in NAMES:
        for digest in (None, hashlib.sha256(token(name).encode()).hexdigest()):
            if (name, bool(digest)) in without:
                continue
            lines += [f"  - name: {name}", f"    role: {ROLES[name]}"]
            lines += [f"    token_sha256: {digest}"] if digest else []
            lines += [f"    user: {LIMITED}"] if name == "limited" else []
    return "\n".join(lines) + "\n" + extra


class RemoteAgent(Agent):
    """Listens with TLS, too. Users other than root can reach its doors, and write to its output directory alone."""

    def __init__(self, *arguments, extra="", **options):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="se-", dir="/tmp"))
        self.config, self.port = folder / "agent.yaml", free_port()
        self.configure(folder, extra=extra)
        for name in ("ipc", "out"):
            (folder / name).mkdir()
            (folder / name).chmod(0o1777)
        folder.chmod(0o755)
        self.arguments, self.options = ["--config", self.config, *arguments], {"folder": folder} | options
        self.restart()

    def restart(self):
        """After stop(forget=False): another one in its place, at the same doors."""
        super().__init__(*self.arguments, **self.options)
        self.owns_folder = True

    def configure(self, folder=None, **more):
        folder = folder or self.folder
        self.config.write_text(configuration(self.port, [folder / "out"], **more))

    def reload(self, told="are read again"):
        """By SIGHUP, until the log says so."""
        before = self.log().count(told)
        self.process.send_signal(signal.SIGHUP)
        until(lambda: self.log().count(told) > before, 5, f"the log tells that the options {told}")

    def tls_stream(self, name=None, timeout=5.0, context=None):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # http.client writes a request in two parts
        try:
            return (context or certificates().context(name)).wrap_socket(s, server_hostname="localhost")
        except BaseException:
            s.close()
            raise

    def https(self, method, path, body=None, name=None, bearer=None, stream=None):
        """(status, document), as api(). `stream`: of tls_stream(); it stays open."""
        connection = http.client.HTTPConnection("localhost")
        connection.sock = stream or self.tls_stream(name)
        try:
            headers = {"Authorization": f"Bearer {bearer}"} if bearer is not None else {}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            if not stream:
                connection.close()

    def wait_for_line(self, *words):
        """The first line of the log with all of these."""
        def line():
            return next((one for one in self.log().splitlines() if all(str(word) in one for word in words)), None)
        return until(line, 5, f"a line of the log with {words}")

    def command_line(self, *words, credentials=None):
        """The program as somebody on another host runs it."""
        credentials = credentials or certificates().tls / "client"
        return run(*words, "--host", f"127.0.0.1:{self.port}", "--credentials", credentials)


def in_child(uid, function):
    """Starts a child as that user, which calls the function with a socket to us. (pid, our socket)"""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid:
        theirs.close()
        return pid, ours
    status = 1
    try:
        ours.close()
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        function(theirs)
        status = 0
    finally:
        os._exit(status)


def as_user(uid, function):
    """What the function answers when that user calls it; it must fit JSON."""
    def tell(s):
        s.sendall(json.dumps(function()).encode())
    pid, s = in_child(uid, tell)
    with s:
        s.settimeout(20)
        text = agent_module.read_to_end(s)
    _, status = os.waitpid(pid, 0)
    assert status == 0 and text, f"a child of user {uid} ended with {status}"
    return json.loads(text)


class Poller:
    """A process of that user, known to the agent; it asks again only when it is told to. Use it in a `with`."""

    def __init__(self, agent, uid):
        def poll(s):
            with client.Client(str(agent.ipc_dir), tries=5) as one:
                asked = b"?"
                while asked:
                    assert one.send_poll(busy=asked == b"!")
                    reply = one.receive()
                    s.sendall(json.dumps(client.body_of(reply).decode() if reply else "").encode() + b"\n")
                    asked = s.recv(1)

        self.uid = uid
        self.pid, self.socket = in_child(uid, poll)
        self.socket.settimeout(10)
        self.lines = self.socket.makefile("r")
        assert self.lines.readline() == '""\n'
        agent.wait_for_processes([self.pid])

    def poll(self, is_busy=False):
        """The request that waits for it, or ''."""
        self.socket.sendall(b"!" if is_busy else b"?")
        return json.loads(self.lines.readline())

    def trace(self):
        """As if it did what it was asked for: until then it has its request, whoever ends the capture."""
        assert self.poll(is_busy=True) == self.poll() == ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

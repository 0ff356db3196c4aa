"""What the end-to-end tests share: an agent of their own in a temporary folder, and its three doors (IPC, RPC, HTTP).

Every wait has a deadline; where a build runs beside the tests, SPOTTER_BESIDE times as long a one. Limits that depend on the build
(sanitizers are slower and larger) come from the environment, too: SPOTTER_PATIENCE, seconds for one answer; SPOTTER_GROWTH_MB, what an
attack may add to the memory.
"""

import contextlib
import ctypes
import fcntl
import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import pytest

import client

ROOT = pathlib.Path(__file__).resolve().parents[2]
BESIDE = float(os.environ.get("SPOTTER_BESIDE", "1"))
PATIENCE = float(os.environ.get("SPOTTER_PATIENCE", "0.1"))
# One late answer is the machine's fault (two cores, a build beside it); an answer later than this never is.
LATEST = max(1.0, 10 * PATIENCE)
GROWTH_MB = float(os.environ.get("SPOTTER_GROWTH_MB", "16"))
START_DEADLINE = max(5.0, 50 * PATIENCE)
# What would change who a process is taken for, or where the agent listens.
FOREIGN = re.compile(r"KINETO_|SLURM_|OMPI_|PMI|TORCHELASTIC_|RAY_|LSB_|PBS_|JOB_ID$|RANK$|LOCAL_RANK$|WORLD_SIZE$")


def program():
    named = os.environ.get("SPOTTER")
    path = pathlib.Path(named).resolve() if named else ROOT / "build" / "release" / "spotter"
    if not path.is_file():
        pytest.fail(f"no spotter program {path}: build it, or name it in the environment variable SPOTTER")
    return path


def clean_environment(**more):
    return {k: v for k, v in os.environ.items() if not FOREIGN.match(k)} | {k: str(v) for k, v in more.items()}


def run(*arguments, timeout=30):
    """One run of the program, to its end."""
    return subprocess.run([str(program()), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=timeout, check=False, env=clean_environment())


def until(condition, seconds, what, every=0.01):
    """Waits for a true value and gives it back. How long something takes is not what this tests."""
    seconds *= BESIDE
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"after {seconds} s still not: {what}"
        time.sleep(every)


def tables(document):
    """Each table of an answer as a list of {column: value}."""
    found = {}
    for table in document["tables"]:
        columns = [column["name"] for column in table["columns"]]
        found[table["name"]] = [dict(zip(columns, row, strict=True)) for row in table["rows"]]
    return found


class Agent:
    """A running agent. Close it with stop(), which also holds it to a clean end, or use it in a `with`."""

    def __init__(self, *arguments, abstract=False, folder=None, descriptors=None, rpc="0", before=()):
        self.owns_folder = folder is None
        # Short: a client's socket has a name of 52 characters in it, and 108 bytes are all there is.
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="se-", dir="/tmp"))
        self.ipc_dir = None if abstract else self.folder / "ipc"
        if self.ipc_dir:
            self.ipc_dir.mkdir(exist_ok=True)
        self.api_socket = self.folder / "api.sock"
        self.out_dir = self.folder / "out"
        self.out_dir.mkdir(exist_ok=True)
        self.log_file = self.folder / "log"
        command = [*before, str(program()), "agent", "--api-socket", str(self.api_socket), "--rpc-port", rpc,
                   *map(str, arguments)]
        if "--collect" not in arguments:
            command += ["--collect", "off"]  # what is measured has tests of its own (test_metrics.py)
        if self.ipc_dir:
            command += ["--ipc-dir", str(self.ipc_dir)]
        limit = None
        if descriptors:
            def limit():
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        self.log_at = self.log_file.stat().st_size if self.log_file.exists() else 0
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=limit,
                                            env=clean_environment())
        self.pid = self.process.pid
        self.rpc_port = None
        try:
            self.wait_ready(rpc != "off")
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind:
            self.kill()  # what failed is told already
        else:
            self.stop()

    def log(self):
        with self.log_file.open("rb") as log:
            log.seek(self.log_at)
            return log.read().decode(errors="replace")

    def wait_ready(self, with_rpc):
        def ready():
            text = self.log()
            assert self.process.poll() is None, f"the agent ended with {self.process.returncode}: {text[-2000:]}"
            return text if "spotter agent: ready" in text else None

        text = until(ready, START_DEADLINE, "the agent's ready line")
        port = re.search(r"dynolog rpc on 127\.0\.0\.1:(\d+)", text)
        assert bool(port) == with_rpc, f"the RPC's port in the log: {text[-2000:]}"
        self.rpc_port = int(port[1]) if port else None

    # Its end.

    def kill(self, forget=True):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        if forget:
            self.forget()

    def stop(self, by=signal.SIGTERM, forget=True):
        try:
            assert self.process.poll() is None, f"the agent died ({self.process.returncode}): {self.log()[-4000:]}"
            self.process.send_signal(by)
            status = self.process.wait(max(5, 50 * PATIENCE))
            assert status == 0, f"the agent ended with {status}: {self.log()[-4000:]}"
            assert not self.api_socket.exists(), "the API socket is left behind"
            assert not (self.ipc_dir and (self.ipc_dir / "dynolog").exists()), "the IPC socket is left behind"
        finally:
            self.kill(forget)

    def forget(self):
        if self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    # What the kernel says of it.

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    # HTTP.

    def api_stream(self, timeout=5.0):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Python's own timeout makes the socket non-blocking, and such a one does not wait for a place in the queue.
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", *divmod(int(timeout * 1e6), 10**6)))
        s.connect(str(self.api_socket))
        s.settimeout(timeout)
        return s

    def api_bytes(self, method, path, body=None, timeout=10.0):
        """The answer, and its bytes. A body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection("localhost", timeout=timeout)
        connection.sock = self.api_stream(timeout)
        try:
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
            connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def api(self, method, path, body=None, timeout=10.0):
        """(status, document). The answer must be JSON in any case."""
        answer, said = self.api_bytes(method, path, body, timeout)
        document = json.loads(said)
        if answer.status >= 400:
            assert set(document["error"]) >= {"code", "message"}, document
        else:
            assert "tables" in document and "notes" in document, document
        return answer.status, document

    def table(self, path, name, timeout=10.0):
        status, document = self.api("GET", path, timeout=timeout)
        assert status == 200, document
        return tables(document)[name]

    def processes(self):
        return self.table("/v1/processes", "processes")

    def wait_for_processes(self, pids, seconds=5.0):
        """The rows of these pids, once all have polled."""
        def rows():
            found = {row["pid"]: row for row in self.processes()}
            return found if set(pids) <= set(found) else None

        return until(rows, seconds, f"processes {sorted(pids)} are known")

    def capture(self, **request):
        """Starts one and gives back its id."""
        status, document = self.api("POST", "/v1/captures", {"output": str(self.out_dir)} | request)
        assert status in (200, 201, 202), document
        assert tables(document)["receipts"], document
        return document["capture"]

    def receipts(self, capture):
        return self.table(f"/v1/captures/{capture}", "receipts")

    def wait_for_receipts(self, capture, seconds=10.0):
        """The receipts, once each has a final state."""
        def done():
            rows = self.receipts(capture)
            return rows if all(row["state"] in FINAL for row in rows) else None

        return until(done, seconds, f"all of capture {capture} are final", every=0.02)

    # The framed RPC.

    def rpc_stream(self, timeout=5.0, host="127.0.0.1"):
        return socket.create_connection((host, self.rpc_port), timeout=timeout)

    def rpc_raw(self, body, timeout=5.0):
        """The bytes of the answer without their length."""
        with self.rpc_stream(timeout) as s:
            s.sendall(struct.pack("<i", len(body)) + body)
            return read_frame(s)

    def rpc(self, request, timeout=5.0):
        return json.loads(self.rpc_raw(json.dumps(request).encode(), timeout))

    # The IPC.

    def client(self, **options):
        """A simulated client in this process. Its pid is that of the tests."""
        return client.Client(self.ipc_dir and str(self.ipc_dir), **options)

    def spawn(self, *arguments, script="client.py", before=(), **environment):
        """A simulated client in a process of its own; `before`: what starts it, if not we."""
        assert self.ipc_dir, "clients in processes of their own use the folder"
        return client.ClientProcess(str(self.ipc_dir), *arguments, script=pathlib.Path(__file__).parent / script, before=before,
                                    environment=clean_environment(**environment))

    def probe_ipc(self, timeout):
        """Registers as the oldest clients did; the answer is the only one that the agent owes to anybody."""
        with self.client() as prober:
            prober.send(client.registration(0, os.getpid(), 0))
            return prober.receive_within(timeout)

    # Is all well?

    def assert_well(self):
        """Alive, and each door answers in time: every answer before LATEST, the best of three within PATIENCE."""
        assert self.process.poll() is None, f"the agent died ({self.process.returncode}): {self.log()[-4000:]}"

        def ask_ipc():
            answer = self.probe_ipc(LATEST)
            assert answer is not None and len(answer) == 44 and answer[8:13] == b"ctxt\0", answer

        def ask_rpc():
            answer = self.rpc({"fn": "getStatus"}, timeout=LATEST)
            assert answer == {"status": 1}, answer

        def ask_api():
            status, _ = self.api("GET", "/v1/status", timeout=LATEST)
            assert status == 200

        for ask in (ask_ipc, ask_rpc, ask_api):
            took = []
            for _ in range(3):
                start = time.monotonic()
                try:
                    ask()
                except OSError as error:
                    raise AssertionError(f"{ask.__name__}: {error!r}") from error
                took.append(time.monotonic() - start)
                if took[-1] <= PATIENCE:
                    break
            assert max(took) <= LATEST and min(took) <= PATIENCE, f"{ask.__name__} took {took} s, limit {PATIENCE}"

    @contextlib.contextmanager
    def unharmed(self):
        """What is done inside leaves the agent well and not much larger."""
        self.assert_well()  # also brings in what the first use of each door allocates
        before = self.resident_mb()
        yield
        self.assert_well()
        grown = self.resident_mb() - before
        assert grown < GROWTH_MB, f"the agent grew by {grown:.1f} MB"


FINAL = ("written", "empty", "failed", "expired")


def assert_written(row, pid):
    """The receipt is true: the file is there, whole, and it is this process's."""
    assert row["state"] == "written", row
    assert row["pid"] == pid
    path = pathlib.Path(row["file"])
    assert path.stat().st_size == row["size_bytes"] > 0
    assert f"_{pid}." in path.name, path
    assert json.loads(path.read_text())["traceEvents"][-1]["pid"] == pid
    assert row["took_ns"] > 0
    assert not row["reason"]
    return path


def read_exactly(s, count):
    data = b""
    while len(data) < count:
        part = s.recv(count - len(data))
        if not part:
            raise EOFError(f"the connection ended after {len(data)} of {count} bytes")
        data += part
    return data


def read_frame(s):
    return read_exactly(s, struct.unpack("<i", read_exactly(s, 4))[0])


def read_to_end(s):
    """All that comes until the other side closes (or resets, which a close with unread data does)."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while part := s.recv(65536):
            data += part
    return data


def is_failure(reply):
    """Whether the reply to a malformed request is the error object."""
    try:
        status = json.loads(reply)["status"]
    except (ValueError, KeyError, TypeError):
        return False
    return isinstance(status, str) and status.startswith("failed")


def in_private_network(function):
    """Runs a function in a thread with a network namespace of its own: abstract names are free there, and no other
    daemon of this machine can be met. What it starts lives there, too."""
    outcome = []

    def inside():
        libc = ctypes.CDLL(None, use_errno=True)
        clone_newnet = 0x40000000
        if libc.unshare(clone_newnet) != 0:
            outcome.append("unshare: " + os.strerror(ctypes.get_errno()))
            return
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            siocsifflags, iff_up, iff_running = 0x8914, 0x1, 0x40
            fcntl.ioctl(s, siocsifflags, struct.pack("16sh14x", b"lo", iff_up | iff_running))
        try:
            function()
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    for result in outcome:
        if isinstance(result, str):
            pytest.skip(f"no network namespace of our own here ({result})")
        raise result

"""OTLP as a receiver of its own makes it out: a real agent, beside it the same batches as JSON lines, and a receiver
that decodes with OpenTelemetry's generated classes and answers as a test says: well, busy, with nonsense, or not at all.
"""

import contextlib
import json
import os
import subprocess
import sys
import time

import pytest

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "e2e"))

import agent as e2e  # noqa: E402

TABLES = "cpu, load, memory, pressure, vmstat, disk, filesystem, network, uptime, agent"
NS = 10**9


@pytest.fixture(scope="session")
def python():
    found = subprocess.run([harness.ROOT / "tools" / "otlp_python"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    if not found:
        pytest.skip("no Python with opentelemetry-proto (tools/otlp_python says why)")
    return found


class Receiver:
    """Can be stopped and started again at the same port."""

    def __init__(self, python, folder):
        self.python, self.folder, self.port, self.process = python, folder, 0, None
        (folder / "requests").touch()
        self.answer_with("ok")

    def answer_with(self, mode):
        temporary = self.folder / "mode.new"
        temporary.write_text(mode)
        temporary.rename(self.folder / "mode")

    def start(self):
        script = harness.ROOT / "tests" / "conformance" / "otlp_receiver.py"
        self.process = subprocess.Popen([self.python, script, str(self.port), self.folder], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), "the receiver did not start"
        self.port = int(line.split()[1])

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait(10)
            self.process.stdout.close()
            self.process = None

    def requests(self):
        whole = (self.folder / "requests").read_text().rpartition("\n")[0]  # the last line may be under way
        return [json.loads(line) for line in whole.splitlines()]

    def points(self):
        return [point for request in self.requests() for point in request["points"]]


@pytest.fixture
def receiver(python, tmp_path):
    one = Receiver(python, tmp_path)
    yield one
    one.kill()


class Measured:
    """An agent with both sinks, and what its lines say."""

    def __init__(self, agent, lines):
        self.agent, self.file = agent, lines

    def lines(self, table=None):
        if not self.file.exists():
            return []
        whole = self.file.read_text().rpartition("\n")[0]  # the last line may be under way
        all_lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in all_lines if table in (None, line["table"])]

    def sink(self, name="otlp"):
        """How it fares, as the agent itself measured it last."""
        own = [line for line in self.lines("agent_sink") if line["sink"] == name]
        return own[-1] if own else {"delivered": 0, "dropped": 0, "queued": 0, "failures": 0}


@contextlib.contextmanager
def measuring(folder, endpoint, **options):
    os.environ.setdefault("SPOTTER", str(harness.program()))
    lines = folder / "lines"
    settings = {"endpoint": endpoint, "every": "1s", "tables": TABLES} | options
    config = folder / "agent.yaml"
    config.write_text("sinks:\n  - kind: otlp\n"
                      + "".join(f"    {key}: {json.dumps(value)}\n" for key, value in settings.items())
                      + f"  - kind: json_lines\n    path: {lines}\n    every: 1s\n    tables: \"{TABLES}, agent_sink\"\n")
    with e2e.Agent("--config", config, "--collect", "all,agent:1s", "--history", "off") as agent:
        yield Measured(agent, lines)


def cpu_times(points):
    return [point["time"] for point in points if point["name"] == "spotter.cpu.idle"]


def milliseconds(ns):
    """As in the lines."""
    seconds, rest = divmod(ns, NS)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 10**6:03}Z"


def values_by_place(points, prefix):
    """{(time, metric, attributes): value} of one namespace."""
    found = {}
    for point in points:
        if point["name"].startswith(prefix):
            key = (milliseconds(point["time"]), point["name"], tuple(sorted(point["attributes"].items())))
            assert key not in found, f"twice: {key}"
            found[key] = point
    return found


def test_every_number_arrives_as_it_was_measured(receiver, tmp_path):
    receiver.start()
    with measuring(tmp_path, f"http://127.0.0.1:{receiver.port}") as measured:
        e2e.until(lambda: len(set(cpu_times(receiver.points()))) >= 4, 30, "four batches")
        lines = measured.lines()
    points = receiver.points()
    own = values_by_place(points, "spotter.")
    times = {time for time, _, _ in own}
    keys = {"disk": ["device"], "filesystem": ["mount_point"], "network": ["interface"], "pressure": ["resource"]}
    compared = 0
    for line in lines:
        table = line["table"]
        if line["time"] not in times or table == "agent_sink":
            continue
        for column, value in line.items():
            if column in ("time", "host", "table") or isinstance(value, str) or column in keys.get(table, []):
                continue
            name = f"spotter.{table}.{column.removesuffix('_ns')}"
            wanted = {key: line[key] for key in keys.get(table, [])}
            found = [point for (when, metric, attributes), point in own.items()
                     if when == line["time"] and metric == name and wanted.items() <= dict(attributes).items()]
            if not found and column == "rotational":
                continue  # says what the row is
            assert len(found) == 1, f"{name} {wanted} at {line['time']}: {len(found)} points"
            point = found[0]
            if column.endswith("_ns"):
                assert (point["unit"], point["type"]) == ("s", "as_double")
                assert point["value"] == pytest.approx(value / NS, rel=1e-12)
            else:
                assert point["value"] == value
                unit = {"bytes": "By", "ratio": "1"}.get(column.rpartition("_")[2])
                assert unit in (None, point["unit"]), f"{name} {point['unit']}"
            compared += 1
    assert compared > 300
    assert all(point["help"] for point in own.values())


def test_what_the_names_of_opentelemetry_mean(receiver, tmp_path):
    receiver.start()
    boot = next(int(line.split()[1]) for line in open("/proc/stat", encoding="ascii") if line.startswith("btime"))
    with measuring(tmp_path, f"http://127.0.0.1:{receiver.port}/", headers="authorization=Bearer%20secret,x-tenant=a",
                   resource_attributes="cluster=test", service_name="spotter-test"):
        e2e.until(lambda: len(set(cpu_times(receiver.points()))) >= 2, 30, "two batches")
        ticks = next(line for line in open("/proc/stat", encoding="ascii") if line.startswith("cpu ")).split()[1:9]
    request = receiver.requests()[0]
    assert request["path"] == "/v1/metrics"
    assert request["headers"]["content-type"] == "application/x-protobuf"
    assert request["headers"]["content-encoding"] == "gzip"
    assert request["bytes"][0] < request["bytes"][1] / 3, "compressed"
    assert request["headers"]["authorization"] == "Bearer secret"
    assert request["headers"]["x-tenant"] == "a"

    points = receiver.points()
    resource = points[0]["resource"]
    assert resource["service.name"] == "spotter-test"
    assert resource["host.name"] == os.uname().nodename
    assert resource["os.type"] == "linux"
    assert resource["cluster"] == "test"
    assert not resource["service.version"].startswith('"')
    assert resource["service.instance.id"] == resource.get("host.id", resource["host.name"])
    assert all(point["resource"] == resource and point["scope"] == "spotter" for point in points)

    last = max(cpu_times(points))
    now = [point for point in points if point["time"] == last]
    cpu = {point["attributes"]["cpu.mode"]: point for point in now if point["name"] == "system.cpu.time"}
    assert set(cpu) == {"user", "nice", "system", "idle", "iowait", "interrupt", "softirq", "steal", "guest", "guest_nice"}
    assert all((point["unit"], point["kind"]) == ("s", "counter") for point in cpu.values())
    assert all(abs(point["start"] / NS - boot) <= 1 and point["start"] < point["time"] for point in cpu.values())
    since_boot = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    assert sum(point["value"] for point in cpu.values()) == pytest.approx(since_boot, abs=4 * os.cpu_count())
    memory = {point["attributes"]["system.memory.state"]: point for point in now if point["name"] == "system.memory.usage"}
    limit = next(point for point in now if point["name"] == "system.memory.limit")
    assert sum(point["value"] for point in memory.values()) == limit["value"] == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert {point["kind"] for point in memory.values()} == {"updown"}
    network = [point for point in now if point["name"] == "system.network.io" and point["attributes"]["network.interface.name"] == "lo"]
    assert {point["attributes"]["network.io.direction"] for point in network} == {"receive", "transmit"}
    files = [point for point in points if point["name"] == "system.filesystem.usage"
             and point["attributes"]["system.filesystem.mountpoint"] == "/"]
    if files:
        of_root = {point["attributes"]["system.filesystem.state"]: point["value"] for point in files}
        stat = os.statvfs("/")
        assert sum(of_root.values()) == stat.f_blocks * stat.f_frsize
    assert not [point for point in points if point["kind"] == "counter" and point["start"] > point["time"]]


def test_a_receiver_that_is_started_again_has_all(receiver, tmp_path):
    receiver.start()
    with measuring(tmp_path, f"http://127.0.0.1:{receiver.port}") as measured:
        e2e.until(lambda: len(set(cpu_times(receiver.points()))) >= 2, 30, "two batches")
        receiver.kill()
        during = len(measured.lines("cpu"))
        e2e.until(lambda: len(measured.lines("cpu")) >= during + 4, 30, "four batches that nobody receives")
        receiver.start()
        restarted = time.time()
        e2e.until(lambda: max(cpu_times(receiver.points())) > (restarted + 1) * NS, 40, "the newest batch")
        lines = measured.lines("cpu")
    # What was measured until then is there, without a gap.
    arrived = [milliseconds(t) for t in cpu_times(receiver.points())]
    wanted = [line["time"] for line in lines if line["time"] <= max(arrived)]
    assert set(wanted) <= set(arrived)
    # Whoever was killed may have written down what he could not acknowledge: that one comes again.
    repeated = len(arrived) - len(set(arrived))
    assert repeated <= 1
    outage = [request for request in receiver.requests() if len(set(cpu_times(request["points"]))) > 1]
    assert outage, "what had queued up came together"


def test_what_was_acknowledged_never_comes_again_and_what_was_not_does(receiver, tmp_path):
    receiver.answer_with("busy")
    receiver.start()
    with measuring(tmp_path, f"http://127.0.0.1:{receiver.port}") as measured:
        e2e.until(lambda: len(receiver.requests()) >= 2, 30, "two attempts")
        receiver.answer_with("ok")
        e2e.until(lambda: any(request["mode"] == "ok" for request in receiver.requests()), 30, "an answer")
        e2e.until(lambda: measured.sink()["delivered"] >= 3, 30, "deliveries in the agent's own numbers")
        assert measured.sink()["failures"] >= 2
        assert measured.sink()["dropped"] == 0
    requests = receiver.requests()
    tried = {t for request in requests if request["mode"] == "busy" for t in cpu_times(request["points"])}
    acknowledged = [t for request in requests if request["mode"] == "ok" for t in cpu_times(request["points"])]
    assert tried <= set(acknowledged)
    assert len(acknowledged) == len(set(acknowledged))
    attempts = [request["arrived"] for request in requests if request["mode"] == "busy"]
    assert all(after - before >= 1 for before, after in zip(attempts, attempts[1:])), "Retry-After is honoured"


def test_a_dead_endpoint_costs_no_memory_and_no_samples(receiver, tmp_path):
    with measuring(tmp_path, "http://127.0.0.1:9", queue="3") as measured:
        e2e.until(lambda: measured.sink()["dropped"] >= 3, 40, "drops in the agent's own numbers")
        sink = measured.sink()
        resident = measured.agent.resident_mb()
        e2e.until(lambda: measured.sink()["dropped"] >= sink["dropped"] + 5, 40, "more of them")
        assert measured.sink()["queued"] <= 3
        assert measured.sink()["failures"] >= 1
        assert measured.sink()["delivered"] == 0
        assert measured.agent.resident_mb() - resident < 4
        assert_on_time(measured)


def test_an_endpoint_that_never_answers_delays_nothing(receiver, tmp_path):
    receiver.answer_with("silent")
    receiver.start()
    with measuring(tmp_path, f"http://127.0.0.1:{receiver.port}", timeout="1s") as measured:
        e2e.until(lambda: measured.sink()["failures"] >= 3, 40, "failures in the agent's own numbers")
        assert_on_time(measured)
        assert "no answer in 1.0 s" in measured.agent.log()
        began = time.monotonic()
        # The agent ends in time, too: what waits has 3 s.
    assert time.monotonic() - began < 5


def assert_on_time(measured):
    """A sample each second, whatever becomes of them."""
    times = [line["time"] for line in measured.lines("cpu")]
    seconds = [int(t[17:19]) for t in times[1:]]
    gaps = [(after - before) % 60 for before, after in zip(seconds, seconds[1:])]
    assert len(gaps) >= 3 and set(gaps) <= {1}, times


@pytest.mark.parametrize(("mode", "is_dropped"), [("garbage", True), ("redirect", True), ("denied", True), ("short", False)])
def test_an_endpoint_that_lies(receiver, tmp_path, mode, is_dropped):
    receiver.answer_with(mode)
    receiver.start()
    with measuring(tmp_path, f"http://127.0.0.1:{receiver.port}") as measured:
        e2e.until(lambda: measured.sink()["failures"] >= 2, 40, "failures in the agent's own numbers")
        assert measured.sink()["delivered"] == 0
        assert (measured.sink()["dropped"] > 0) == is_dropped
        assert_log = measured.agent.log()
        receiver.answer_with("ok")
        e2e.until(lambda: measured.sink()["delivered"] >= 2, 40, "deliveries once it answers well")
    words = {"garbage": "Sign in to the network", "redirect": "307", "denied": "no such token", "short": "127.0.0.1"}
    assert f"sink otlp: 127.0.0.1:{receiver.port}" in assert_log
    assert words[mode] in assert_log
    assert {request["path"] for request in receiver.requests()} == {"/v1/metrics"}
    refused = {t for request in receiver.requests() if request["mode"] == mode for t in cpu_times(request["points"])}
    taken = {t for request in receiver.requests() if request["mode"] == "ok" for t in cpu_times(request["points"])}
    assert bool(refused & taken) == (not is_dropped)


def test_what_is_rejected_of_a_batch_is_counted(receiver, tmp_path):
    receiver.answer_with("partial")
    receiver.start()
    with measuring(tmp_path, f"http://127.0.0.1:{receiver.port}") as measured:
        e2e.until(lambda: measured.sink()["delivered"] >= 2, 40, "deliveries")
        assert "5 values were rejected: five are too old" in measured.agent.log()
        assert measured.sink()["rejected"] >= 5 and measured.sink()["rejected"] % 5 == 0

"""What the tests of the monitoring have in common: an agent, a Prometheus and a node_exporter of their own on this machine, and
pages of samples as Python values."""

import contextlib
import gzip
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

import harness

os.environ.setdefault("SPOTTER", str(harness.program()))
sys.path.append(str(harness.ROOT / "tests" / "e2e"))
import agent as e2e  # noqa: E402

PATIENCE = 20
SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# Of the page itself; and tables that are not on it, since their rows come and go with processes, are events, or have names of their own.
OURS_EVERYWHERE = {"spotter_sample_timestamp_seconds", "spotter_exposition_rows_left_out", "spotter_build_info"}
NOT_EXPOSED = ("process_", "gpu_event_", "log_event_", "textfile_sample_")


def tool(name):
    """A program of a Debian package; the test is skipped where it is missing."""
    path = shutil.which(name)
    if not path:
        pytest.skip(f"there is no {name} on this machine; tools/packages/test.txt names its package")
    return path


def fetch(url, patience=PATIENCE, **headers):
    """(headers, text) of a page, unpacked."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=patience) as answer:
        body = answer.read()
        if answer.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return answer.headers, body.decode()


def unescaped(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), text)


def samples_of(page):
    """{(name, ((label, value), ...)): number} of a page in the text format; each series only once."""
    found = {}
    for line in page.splitlines():
        if not line or line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        assert match, line
        key = (match[1], tuple(sorted((k, unescaped(v)) for k, v in LABEL.findall(match[2] or ""))))
        assert key not in found, f"twice: {line}"
        found[key] = float(match[3])
    return found


def types_of(page):
    return dict(line.split(" ")[2:4] for line in page.splitlines() if line.startswith("# TYPE "))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Agent(e2e.Agent):
    """`collect`: what it measures; `configuration`: more than its options (JSON is YAML, too)."""

    def __init__(self, folder, collect="all", configuration=None, **more):
        arguments = ("--prometheus", "127.0.0.1:0", "--collect", collect)
        if configuration:
            (folder / "agent.yaml").write_text(json.dumps(configuration))
            (folder / "agent.yaml").chmod(0o600)
            arguments = ("--config", folder / "agent.yaml", *arguments)
        super().__init__(*arguments, folder=folder, rpc="off", **more)
        port = re.search(r"prometheus on (127\.0\.0\.1:\d+)", self.log())
        assert port, self.log()
        self.address = port[1]
        self.url = f"http://{self.address}/metrics"

    def page(self):
        return fetch(self.url)[1]

    def samples(self):
        return samples_of(self.page())


def wait_for(condition, what, seconds=PATIENCE):
    return e2e.until(condition, seconds, what, every=0.05)


@contextlib.contextmanager
def running(command, log):
    """A process of this context, ended with it."""
    with log.open("wb") as out:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE)


class Prometheus:
    def __init__(self, port, pid):
        self.url = f"http://127.0.0.1:{port}"
        self.pid = pid

    def cpu_seconds(self):
        user, system = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def get(self, path, **parameters):
        """The data of an answer; an error is one of the test."""
        try:
            text = fetch(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", patience=6 * PATIENCE)[1]
        except urllib.error.HTTPError as error:
            text = error.read().decode()
        answer = json.loads(text)
        assert answer["status"] == "success", f"{parameters}: {answer}"
        return answer["data"]

    def query(self, expression):
        """{(name, labels): (when, number)} now; without the labels that the scrape adds."""
        found = {}
        for series in self.get("query", query=expression)["result"]:
            labels = {k: v for k, v in series["metric"].items() if k not in ("__name__", "instance", "job")}
            found[(series["metric"].get("__name__", ""), tuple(sorted(labels.items())))] = (series["value"][0], float(series["value"][1]))
        return found


@contextlib.contextmanager
def server(folder, configuration, data):
    """A Prometheus of that configuration, which answers."""
    port = free_port()
    (folder / "prometheus.yml").write_text(json.dumps(configuration))
    command = [tool("prometheus"), f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={data}",
               f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"]
    with running(command, folder / "prometheus.log") as process:
        made = Prometheus(port, process.pid)

        def answers():
            assert process.poll() is None, (folder / "prometheus.log").read_text()
            with contextlib.suppress(OSError, ValueError):  # it refuses in plain words until it is ready
                return made.get("query", query="1")
        wait_for(answers, "Prometheus answers")
        yield made


@contextlib.contextmanager
def prometheus(folder, target, rules):
    """One that scrapes `target` every second."""
    configuration = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "scrape_configs": [{"job_name": "spotter", "static_configs": [{"targets": [target]}]}],
    }
    with server(folder, configuration, folder / "data") as made:
        wait_for(lambda: any(value == 1 for _, value in made.query("up").values()), "Prometheus has scraped the agent")
        yield made


@contextlib.contextmanager
def node_exporter(folder, *options):
    """The URL of its page."""
    port = free_port()
    with running([tool("prometheus-node-exporter"), f"--web.listen-address=127.0.0.1:{port}", *options], folder / "node_exporter.log"):
        url = f"http://127.0.0.1:{port}/metrics"

        def answers():
            with contextlib.suppress(OSError):
                return fetch(url)
        wait_for(answers, "node_exporter answers")
        yield url


# What Prometheus calls our metrics, derived here once more from the list.

BASE_UNITS = {"ns": "seconds", "bytes_per_s": "bytes_per_second", "bytes": "bytes", "ratio": "ratio", "celsius": "celsius",
              "watts": "watts", "joules": "joules", "hertz": "hertz"}


def metric_list():
    """Rows of `spotter metrics --list`; what several collectors can tell (a GPU's numbers) only once."""
    done = subprocess.run([harness.program(), "metrics", "--list", "--format", "json"], stdout=subprocess.PIPE, check=True)
    rows, known = [], set()
    for row in harness.Answer(json.loads(done.stdout))["metrics"]:
        same = tuple(row[column] for column in ("metric", "unit", "kind", "help"))
        if same not in known:
            rows.append(row)
        known.add(same)
    return rows


# What processors' time went to is a label, not a name.
MODES = re.compile(r"^(cpu(?:_node|_core)?|job_cpu)_(?:user|nice|system|idle|iowait|irq|softirq|steal|guest|guest_nice)_ns$")


def exposed_name(row):
    """None for a text, which is a label of its table's _info, and for what is not exposed."""
    if row["kind"] == "text" or row["metric"].startswith(NOT_EXPOSED):
        return None
    name = "spotter_" + MODES.sub(r"\1_ns", row["metric"]).removesuffix("_total")
    if row["unit"] in BASE_UNITS:
        base = "_" + BASE_UNITS[row["unit"]]
        name = name.removesuffix("_" + row["unit"])
        name = name if name.endswith(base) else name + base
    return name + ("_total" if row["kind"] == "counter" else "")


def has_table(name):
    """By a sample of a machine that has nothing."""
    return subprocess.run([harness.program(), "metrics", "--once", "--root", "/nonexistent", "--table", name],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def expanded(text):
    """Each name of "spotter_{a,b}_c", one after the other."""
    braces = re.search(r"([\w]*)\{(\w+(?:,\w+)+)\}((?:\w|\{\w+(?:,\w+)+\})*)", text)
    if not braces:
        return text
    names = " ".join(expanded(braces[1] + word + braces[3]) for word in braces[2].split(","))
    return text[:braces.start()] + names + expanded(text[braces.end():])


def unknown_metrics(text):
    """The names in PromQL that no agent has."""
    known = {exposed_name(row) for row in metric_list()} | OURS_EVERYWHERE
    names = set(re.findall(r"(?<![\w:])spotter_\w+", text))

    def is_info(name):
        table = name.removeprefix("spotter_").removesuffix("_info")
        return name.endswith("_info") and not f"{table}_".startswith(NOT_EXPOSED) and has_table(table)
    return sorted(name for name in names - known if not is_info(name))

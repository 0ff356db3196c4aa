"""Jobs that the tests look at, as `spotter` simulates them and makes reports and servers of them. Each is made once, for
all processes of the tests; their paths are relative to one folder, so that pages do not show where that is."""

import contextlib
import dataclasses
import fcntl
import json
import pathlib
import re
import signal
import subprocess
import urllib.parse
import urllib.request

import harness

JOBS = {
    # All views have something to show.
    "training": ["--ranks", "4", "--steps", "4", "--layers", "4", "--python-stacks", "--memory-events", "--fault", "slow-rank:rank=3,factor=1.5"],
    "faster": ["--ranks", "4", "--steps", "4", "--layers", "4", "--python-stacks", "--memory-events"],
    "two_ranks": ["--ranks", "2", "--steps", "2", "--layers", "1"],
    "two_slow_ranks": ["--ranks", "2", "--steps", "2", "--layers", "1", "--scale", "gemm=2"],
    # More ranks than are asked for their spans unasked.
    "seventeen_ranks": ["--ranks", "17", "--steps", "2", "--layers", "1", "--fault", "slow-rank:rank=3,factor=1.5"],
    # Of the usual size of what is measured (test_speed.py).
    "eight_ranks": ["--ranks", "8", "--steps", "10", "--fault", "slow-rank:rank=3,factor=1.5"],
    # 64 files of 108 MB.
    "many_ranks": ["--ranks", "64", "--events", "390000", "--no-gzip"],
    # More than a million spans.
    "sixty_steps": ["--ranks", "8", "--steps", "60", "--fault", "slow-rank:rank=3,factor=1.5"],
    "forty_steps": ["--ranks", "8", "--steps", "40", "--fault", "slow-rank:rank=3,factor=1.5"],
}


def spotter(*arguments, cwd):
    """What it prints; it must end well."""
    done = subprocess.run([harness.program(), *map(str, arguments)], cwd=cwd, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode()


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a page is: a report's file, or a server."""
    address: str  # without a view
    kind: str = "report"
    token: str = ""

    def at(self, fragment=""):
        return self.address + fragment

    @property
    def path(self):
        """Of a report."""
        return pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(self.address).path))

    def ask(self, path, table):
        """Of a server: a table of its answer, as a list of {column: value}."""
        request = urllib.request.Request(self.at(path), headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request) as answer:
            return harness.Answer(json.load(answer))[table]

    def owns(self, url):
        return url.split("#")[0] == self.address if self.kind == "report" else url.startswith(self.address)


class Jobs:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.running = contextlib.ExitStack()
        self.servers = {}

    def _once(self, name, make):
        """`make(path)`, unless another process of these tests has done that."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.folder / (name.replace("/", "_") + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                make(path)
        return path

    def traces(self, name):
        """The folder of a simulated job, or of one that `put` has made."""
        if name not in JOBS:
            return self.folder / name
        return self._once(name, lambda path: spotter("simulate", "-o", path, *JOBS[name], cwd=self.folder))

    def put(self, name, files):
        """A job of these files: {name: bytes}."""
        def write(path):
            path.mkdir(parents=True)
            for file, data in files.items():
                (path / file).write_bytes(data)
        return self._once(name, write)

    def report(self, name, *options):
        self.traces(name)
        words = "".join(re.sub(r"\W+", "_", str(option)) for option in options)
        path = self._once(f"reports/{name.replace('/', '_')}{words}.html", lambda path: spotter("analyze", name, *options, "-o", path, cwd=self.folder))
        return Place(path.as_uri())

    def json(self, name, table, *options):
        """A table as a list of {column: value}."""
        self.traces(name)
        return harness.Answer(json.loads(spotter("analyze", name, "--table", table, "--format", "json", *options, cwd=self.folder)))[table]

    def server(self, *names):
        """`spotter serve` of these jobs; it runs until the tests end."""
        if names not in self.servers:
            for name in names:
                self.traces(name)
            self.servers[names] = self.running.enter_context(serving(names, self.folder))[0]
        return self.servers[names]


@contextlib.contextmanager
def serving(paths, cwd, *options):
    """A place, and the process."""
    process = subprocess.Popen([harness.program(), "serve", *map(str, paths), "--no-open", "--port", "0", *options], cwd=cwd, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said = ""
        while not (line := re.match(r"(http://[^#]+)#token=(\w+)", last := process.stdout.readline())):
            said += last
            assert last, f"spotter serve printed no address: {said}"
        yield Place(line[1], "server", line[2]), process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0

"""What an agent measures, and what becomes of it when sinks, disks and /proc fail: samples stay on time, memory stays
bounded, and every loss is in the status."""

import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import time
import urllib.request

import pytest

import agent as agent_module
from agent import Agent, program, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANITIZED = bool(os.environ.get("SPOTTER_SANITIZED"))


class Measuring(Agent):
    """An agent that measures this machine, or the one below `root`."""

    def __init__(self, folder, *arguments, collect="all", config="", **more):
        file = folder / "agent.yaml"
        file.write_text(config)
        super().__init__("--config", file, "--collect", collect, "--prometheus", "127.0.0.1:0", *arguments, folder=folder,
                         rpc="off", **more)
        self.port = int(re.search(r"prometheus on 127\.0\.0\.1:(\d+)", self.log())[1])

    def page(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def sample(self, name, **labels):
        """The value of one sample of the page; None where it is not there."""
        for line in self.page().splitlines():
            match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if match and match[1] == name and dict(re.findall(r'(\w+)="([^"]*)"', match[2] or "")) == labels:
                return float(match[3])
        return None

    def run(self, *words):
        return subprocess.run([program(), *map(str, words), "--socket", self.api_socket], capture_output=True, text=True,
                              timeout=30, check=False, env=agent_module.clean_environment())

    def spotter(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tables(self, *words):
        """By name; none where nothing has been measured."""
        answer = json.loads(self.run("metrics", "--format", "json", *words).stdout)
        return {t["name"]: [dict(zip((c["name"] for c in t["columns"]), row)) for row in t["rows"]] for t in answer["tables"]}

    def parts(self):
        """What the status says: part -> (state, detail)."""
        done = self.run("status", "--format", "json")
        parts = {row[1]: (row[2], row[3]) for row in json.loads(done.stdout)["tables"][0]["rows"]}
        assert done.returncode == any(state == "fails" for state, _ in parts.values()), done
        return parts

    def is_on_time(self, collector, least):
        """Whether it has taken so many samples, and skipped none for want of time."""
        taken = self.sample("spotter_agent_collector_samples_total", collector=collector)
        skipped = self.sample("spotter_agent_collector_skipped_total", collector=collector)
        if taken is None:  # not even the first one is there
            return False
        assert skipped == 0, f"{skipped} samples of {collector} were skipped"
        return taken >= least


@pytest.fixture
def folder(tmp_path_factory):
    return pathlib.Path(tmp_path_factory.mktemp("m"))


def unpacked(folder, machine):
    subprocess.run([ROOT / "tools" / "machine", "unpack", machine, folder / machine], check=True)
    return folder / machine


def test_newest_samples_history_and_rates(folder):
    with Measuring(folder, "--history", folder / "history.db", collect="cpu:1s,uptime:1s,agent:1s") as agent:
        until(lambda: agent.is_on_time("cpu", 8), 20, "8 samples")
        newest = agent.tables("--metric", "cpu_*,uptime_*")
        assert len(newest["cpu"]) == 1 and "load" not in newest
        assert abs(newest["cpu"][0]["time_ns"] / 1e9 - time.time()) < 5
        assert newest["cpu"][0]["cpus"] == os.cpu_count()

        kept = agent.tables("--since", "1m", "--raw", "--metric", "uptime_*,cpu_user_ns")
        assert len(kept["cpu"]) >= 6 and set(kept["cpu"][0]) == {"time_ns", "user_ns"}
        times = [row["time_ns"] for row in kept["cpu"]]
        assert times == sorted(times)
        counted = [row["user_ns"] for row in kept["cpu"]]
        assert counted == sorted(counted)

        rates = agent.tables("--since", "1m", "--metric", "cpu_*_ns")["cpu"]
        assert rates[0]["idle_cores"] is None, "the first sample has none"
        modes = [name for name in rates[0] if name.endswith("_cores")]
        whole = [sum(row[name] for name in modes) for row in rates[1:]]
        # The first two are less than a second apart, in ticks of 10 ms.
        whole = whole[1:]
        assert abs(sum(whole) / len(whole) - os.cpu_count()) < 0.1 * os.cpu_count(), "all modes are all the time there is"

        text = agent.spotter("metrics")
        assert "cpu_user_cores" in text and "█" in text


def test_questions_that_cannot_be_answered(folder):
    with Measuring(folder, "--history", "off", collect="cpu") as agent:
        done = subprocess.run([program(), "metrics", "--since", "1m", "--socket", agent.api_socket], capture_output=True,
                              text=True, timeout=20, check=False)
        assert done.returncode == 1 and "--history off" in done.stderr
        for target in ("/v1/metrics?since_ms=-1", "/v1/metrics?since_ms=x", "/v1/metrics?rates=1",
                       "/v1/metrics?since_ms=5&until_ms=6", "/v1/metrics?until_ms=6", "/v1/metrics?format=csv",
                       "/v1/catalogue?table=jobs&since_ms=5", "/v1/metrics?metric=" + "a," * 100):
            status, body = agent.api("GET", target)
            assert status == 400, (target, status, body)
        assert agent.api("GET", "/v1/catalogue?table=jobs")[0] == 404
        assert agent.parts()["history"][0] == "off"


def test_what_is_not_there_is_told(folder):
    with Measuring(folder, "--history", folder / "history.db", collect="cpu:1s,memory:1s,process:1s,agent:1s") as agent:
        until(lambda: agent.is_on_time("cpu", 2), 10, "samples")
        for words, sentence in ((["--metric", "nothing"], 'no metric matches "nothing"'),
                                (["--metric", "CPU_*,spotter_cpu_seconds_total"], 'no metric matches "CPU_*"'),
                                (["--metric", "rdma_*"], "nothing of what was asked for"),
                                (["--job", "nosuch"], 'of a job "nosuch" in this time')):
            for time_words in ([], ["--since", "1d"], ["--format", "csv"]):
                done = agent.run("metrics", *words, *time_words)
                assert done.returncode == 1 and sentence in done.stderr, (words, time_words, done)
        done = agent.run("metrics", "--metric", "nothing,cpu_*", "--since", "1m")
        assert done.returncode == 0 and "no metric matches" in done.stderr and done.stdout, done


def test_without_a_history_the_newest_sample_is_shown(folder):
    with Measuring(folder, "--history", "off", collect="cpu:1s,memory:1s") as agent:
        text = until(lambda: [t for t in [agent.spotter("metrics")] if "memory_available" in t], 10, "the first sample")[0]
        assert "newest sample alone" in text and "--history off" in text, text
        assert "cpu_running_threads" in text and "cpu_user" not in text, "one sample has no rates"
        with subprocess.Popen([program(), "metrics", "--watch", "--socket", agent.api_socket], stdout=subprocess.PIPE,
                              text=True) as watching:
            seen = "".join(watching.stdout.readline() for _ in range(3))
            watching.kill()
        assert "memory_available" in seen or "cpu_running" in seen, seen


def test_the_page_on_loopback_is_not_for_names_of_other_sites(folder):
    with Measuring(folder, collect="agent:1s") as agent:
        for host, status in (("localhost", 200), (f"127.0.0.1:{agent.port}", 200), ("evil.example", 403)):
            connection = http.client.HTTPConnection("127.0.0.1", agent.port, timeout=10)
            connection.request("GET", "/metrics", headers={"Host": host})
            assert connection.getresponse().status == status, host
            connection.close()


def test_processes_of_jobs_are_told(folder):
    with Measuring(folder, "--history", "off", collect="process:1s,agent:1s") as agent:
        environment = agent_module.clean_environment(SLURM_JOB_ID="4711", RANK="5", WORLD_SIZE="8")
        spinner = subprocess.Popen(["python3", "-c", "while True: pass"], env=environment)
        try:
            labels = {"job_id": "4711", "rank": "5", "user": "root"}
            # It may be seen while it is started by another one.
            until(lambda: agent.sample("spotter_job_processes", **labels) == 1, 30, "the job's row")
            until(lambda: agent.sample("spotter_job_cpu_seconds_total", mode="user", **labels), 20, "its time")
            before = agent.sample("spotter_job_cpu_seconds_total", mode="user", **labels)
            until(lambda: agent.sample("spotter_job_cpu_seconds_total", mode="user", **labels) > before + 0.2, 20, "it works")

            def told():  # every ten seconds
                rows = agent.tables("--metric", "process_*,job_*", "--job", "4711").get("process", [])
                return next((row for row in rows if row["pid"] == spinner.pid), None)
            row = until(told, 20, "the process's row")
            assert (row["job"], row["rank"], row["user"]) == ("4711", 5, "root")
            assert "pid=" not in agent.page() and f'"{spinner.pid}"' not in agent.page(), "no process is a series"
        finally:
            spinner.kill()
            spinner.wait()
        until(lambda: agent.sample("spotter_job_processes", **labels) is None, 20, "the job's row has gone")


def test_jobs_and_captures_that_the_history_knows(folder):
    words = "--history", folder / "history.db"
    with Measuring(folder, *words, collect="process:100ms,agent:100ms") as agent:
        with agent.spawn(SLURM_JOB_ID="4711", RANK="5") as one:
            agent.wait_for_processes([one.pid])
            agent.wait_for_receipts(agent.capture(pids=[one.pid], duration_ms=50))
            until(lambda: "process" in agent.tables("--metric", "process_*", "--job", "4711"), 20, "the job's process")
            until(lambda: [c["state"] for c in agent.tables("--catalogue", "captures").get("captures", [])] == ["written"], 20,
                  "the capture is noted")
    # A job is known once its first minute is written, or the agent ends.
    with Measuring(folder, *words, collect="agent:1s") as agent:
        # The machine may have jobs of its own.
        job, = [job for job in agent.tables("--catalogue", "jobs")["jobs"] if job["job"] == "4711"]
        assert (job["job"], job["user"], job["ranks"]) == ("4711", "root", "5")
        assert time.time() - 60 < job["first_seen_ns"] / 1e9 <= job["last_seen_ns"] / 1e9 <= time.time()
        capture, = agent.tables("--catalogue", "captures")["captures"]
        assert (capture["job"], capture["processes"], capture["output"]) == ("4711", 1, str(agent.out_dir))
        assert any(s["table"] == "process" for s in agent.tables("--catalogue", "series")["series"])
        assert agent.tables("--catalogue", "events")["events"] == []
        text = agent.spotter("metrics", "--catalogue", "jobs")
        assert "first_seen" in text and "first_seen_ns" not in text and time.strftime("%m-%d ") in text
        status, body = agent.api("GET", "/v1/catalogue?table=people")
        assert status == 400 and "none of series, jobs" in str(body), body
        assert agent.api("GET", "/v1/catalogue")[0] == 400


def test_dead_and_silent_sinks(folder):
    """Neither a port that nobody listens to nor a server that never answers delays a sample; what is dropped is counted."""
    silent = socket.create_server(("127.0.0.1", 0))
    dead = socket.create_server(("127.0.0.1", 0))
    dead_port = dead.getsockname()[1]
    dead.close()
    config = f"""
sinks:
  - {{kind: otlp, name: dead, endpoint: "http://127.0.0.1:{dead_port}", queue: 5, every: 100ms}}
  - {{kind: otlp, name: silent, endpoint: "http://127.0.0.1:{silent.getsockname()[1]}", queue: 5, every: 100ms}}
  - {{kind: json_lines, path: "{folder}/lines", every: 100ms}}
"""
    with silent, Measuring(folder, "--history", "off", collect="cpu:100ms,agent:100ms", config=config) as agent:
        until(lambda: agent.is_on_time("cpu", 40), 30, "40 samples on time")
        parts = agent.parts()
        assert parts["dead"][0] == "fails" and "refused" in parts["dead"][1], parts["dead"]
        for name in ("dead", "silent"):
            assert " 0 dropped" not in parts[name][1], parts[name]
        assert parts["json_lines"][0] == "works"
        whole = (folder / "lines").read_text().rpartition("\n")[0]  # the last line may be under way
        lines = [json.loads(line) for line in whole.splitlines()]
        assert len([line for line in lines if line["table"] == "cpu"]) >= 20


def test_full_disk(folder):
    """The history on a disk that fills up and is emptied again: the agent goes on, says so, and writes again."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", disk], check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        with Measuring(folder, "--history", disk / "history.db", collect="cpu:100ms,vmstat:100ms,agent:100ms",
                       config="history: {size: 2M}\n") as agent:
            until(lambda: agent.is_on_time("cpu", 5), 20, "first samples")
            with (disk / "ballast").open("wb", buffering=0) as ballast:
                try:
                    while True:
                        os.write(ballast.fileno(), b"x" * 4096)
                except OSError:
                    pass
            # It writes at the end of each minute, and tries again every ten seconds.
            until(lambda: agent.parts()["history"][0] == "fails" and "full" in agent.parts()["history"][1], 90,
                  "the history says that it cannot write")
            until(lambda: agent.is_on_time("cpu", 30), 20, "samples go on")
            (disk / "ballast").unlink()
            until(lambda: agent.parts()["history"][0] == "works", 30, "it writes again")
            assert agent.tables("--since", "1m", "--metric", "cpu_user_ns")["cpu"], "what is in memory is still told"
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def test_history_that_cannot_be_opened_at_first(folder):
    (folder / "taken").write_text("no folder")
    with Measuring(folder, "--history", folder / "taken" / "history.db", collect="cpu:1s,agent:1s") as agent:
        state, detail = until(lambda: agent.parts().get("history"), 10, "the history is among the parts")
        assert state == "fails" and "no history is kept" in detail, detail
        until(lambda: agent.sample("spotter_agent_sink_failures_total", sink="history"), 20, "it is counted")
        (folder / "taken").unlink()
        (folder / "taken").mkdir()
        until(lambda: agent.parts()["history"][0] == "works", 70, "it is tried again")
        assert agent.tables("--since", "5m", "--metric", "cpu_user_ns")["cpu"]


def test_history_that_is_removed(folder):
    file = folder / "history.db"
    with Measuring(folder, "--history", file, collect="cpu:1s,agent:1s") as agent:
        until(lambda: agent.is_on_time("cpu", 3), 20, "first samples")
        for name in ("history.db", "history.db-wal"):
            (folder / name).unlink()
        until(file.exists, 90, "it begins anew with the next minute")
        assert agent.tables("--since", "5m", "--metric", "cpu_user_ns")["cpu"]
        assert "was removed or replaced" in agent.log()


def test_proc_that_vanishes_and_is_garbage(folder):
    root = unpacked(folder, "small_vm")
    with Measuring(folder, "--history", "off", collect="cpu:100ms,load:100ms,memory:100ms,agent:100ms",
                   config=f"root: {root}\n") as agent:
        until(lambda: agent.is_on_time("cpu", 3), 20, "samples")
        (root / "proc/stat").write_bytes(os.urandom(5000))
        (root / "proc/loadavg").write_text("")
        until(lambda: agent.parts()["collector cpu"][0] == "fails", 10, "garbage is told")
        until(lambda: agent.parts()["collector load"][0] == "fails", 10, "the empty file is told")
        assert "proc/loadavg" in agent.parts()["collector load"][1]
        assert agent.parts()["collector memory"][0] == "works"
        newest = until(lambda: [t for t in [agent.tables("--metric", "cpu_*,memory_*")] if "cpu" not in t], 10,
                       "what is measured no more is no newest sample")
        assert newest[0]["memory"]
        (root / "proc/stat").write_text("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n")
        (root / "proc/loadavg").write_text("0.50 0.40 0.30 1/200 12345\n")
        until(lambda: agent.parts()["collector cpu"][0] == "works", 10, "it works again")
        until(lambda: agent.parts()["collector load"][0] == "works", 10, "it works again")
        until(lambda: agent.is_on_time("memory", 10), 20, "the others are on time")


@pytest.mark.parametrize("have_jobs", [False, True])
def test_ten_thousand_processes(folder, have_jobs):
    """Nobody's processes cost next to nothing; those of jobs are read in turns."""
    count = 2000 if SANITIZED else 10_000
    root = folder / "root"
    for pid in range(1000, 1000 + count):
        one = root / "proc" / str(pid)
        one.mkdir(parents=True)
        (one / "stat").write_text(f"{pid} (python) S 1 1 1 0 -1 0 1 0 0 0 500 60 0 0 20 0 9 0 100 1 25 0 0\n")
        (one / "status").write_text("Uid:\t0\t0\t0\t0\n")
        (one / "cmdline").write_bytes(b"python\0train.py\0")
        (one / "environ").write_bytes(b"SLURM_JOB_ID=7\0RANK=%d\0" % (pid % 8) if have_jobs else b"HOME=/\0")
    with Measuring(folder, "--history", "off", collect="process:1s,agent:100ms", config=f"root: {root}\n") as agent:
        until(lambda: agent.is_on_time("agent", 50) and agent.is_on_time("process", 5), 60, "samples on time")
        assert agent.resident_mb() < 64 + agent_module.GROWTH_MB
        assert (agent.sample("spotter_job_processes", job_id="7", rank="3", user="0") is not None) == have_jobs

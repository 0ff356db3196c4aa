#!/usr/bin/env python3
"""What the agent costs beside jobs: processor time of its process in a minute, by the kernel's count of its threads.

usage: agent_cost.py SPOTTER [SPOTTER ...] [--scenario NAME ...] [--seconds 60]. As root. Collectors, history and the
endpoint for Prometheus as an agent has them by default, with a scrape every 15 s; a private network namespace. Several
programs run side by side, so that they can be compared; the figures of one run depend on what else the machine does.
Prints a line of JSON for each scenario: cpu_ms of a minute and resident_mb at its end, for each program.
"""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

CLONE_NEWNET = 0x40000000
SETTLING = 70  # seconds: until every process has been looked up, and those that are no job's are left alone
SCRAPE = 15
# Ranks of a job, the further processes of each (loaders), threads of each process, and processes of nobody's job.
SCENARIOS = {
    "idle": (0, 0, 0, 0),
    "job": (8, 16, 24, 0),
    "job and 1000 others": (8, 16, 24, 1000),
    "208 ranks": (208, 0, 8, 0),
}
# Threads wait; the process itself works a little each second, as one that feeds a GPU does.
PROCESS = """
import sys, threading, time
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
while True:
    sum(range(2000))
    time.sleep(1)
"""


def start_processes(ranks: int, workers: int, threads: int, others: int) -> list:
    started = []
    for rank in range(ranks):
        environment = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": "4711", "RANK": str(rank), "WORLD_SIZE": str(ranks)}
        for _ in range(1 + workers):
            started.append(subprocess.Popen([sys.executable, "-S", "-c", PROCESS, str(threads)], env=environment))
    for _ in range(others):
        started.append(subprocess.Popen(["sleep", "100000"]))
    return started


def cpu_ns(pid: int) -> int:
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total


def resident_mb(pid: int) -> float:
    fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024


def measure(programs: list, seconds: int, folder: pathlib.Path) -> list:
    agents = []
    for i, program in enumerate(programs):
        home = folder / str(i)
        home.mkdir(exist_ok=True)
        agents.append(subprocess.Popen(
            [program, "agent", "--api-socket", home / "api.sock", "--ipc-dir", home, "--rpc-port", "off",
             "--history", home / "history.db", "--prometheus", f"127.0.0.1:{9464 + i}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    try:
        time.sleep(SETTLING)
        before = [cpu_ns(agent.pid) for agent in agents]
        begin = time.monotonic()
        while (left := begin + seconds - time.monotonic()) > 0:
            for i in range(len(agents)):
                with urllib.request.urlopen(f"http://127.0.0.1:{9464 + i}/metrics") as page:
                    page.read()
            time.sleep(min(SCRAPE, max(left, 0)))
        took = time.monotonic() - begin
        return [{"program": str(program), "cpu_ms": round((cpu_ns(agent.pid) - was) / 1e6 * 60 / took, 1),
                 "resident_mb": round(resident_mb(agent.pid), 1)} for program, agent, was in zip(programs, agents, before)]
    finally:
        for agent in agents:
            agent.terminate()
            agent.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="+", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--scenario", action="append", choices=SCENARIOS)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        sys.exit(f"a network namespace cannot be had: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name in options.scenario or SCENARIOS:
        processes = start_processes(*SCENARIOS[name])
        try:
            with tempfile.TemporaryDirectory() as folder:
                os.chmod(folder, 0o755)
                print(json.dumps({"scenario": name, "programs": measure(options.program, options.seconds, pathlib.Path(folder))}),
                      flush=True)
        finally:
            for process in processes:
                process.kill()
            for process in processes:
                process.wait()


if __name__ == "__main__":
    main()

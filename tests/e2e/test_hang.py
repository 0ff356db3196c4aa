"""A job of unmodified PyTorch that hangs, since one of its ranks is stopped from outside: the agent says who, and traces nobody.
Needs SPOTTER_TORCH_PYTHON, and the right to probe processes."""

import json
import os
import pathlib
import shutil
import signal
import socketserver
import threading
import time

import pytest

from agent import Agent, until
from test_closed_loop import incidents, our_incidents, pytestmark, rank_of, steps_seen  # noqa: F401: the mark is of this module, too
from test_pytorch import training

RANKS = 4
DUMPS = pathlib.Path(__file__).parents[1] / "fixtures" / "flight_recorder" / "lost_rank"  # in which rank 3 does not arrive
LATEST = 40  # s: of which 5 have to pass without a step


class Nccl(socketserver.ThreadingTCPServer):
    """Says what NCCL's RAS says of a job one rank of which has not launched what the others have."""

    daemon_threads = True

    def __init__(self):
        self.behind = None
        self.asked = 0
        super().__init__(("127.0.0.1", 0), Connection)

    def answer(self):
        self.asked += 1
        ranks = [{"rank": rank, "host": "127.0.0.1", "pid": 1000 + rank, "nvml_dev": rank,
                  "collective_counts": {"AllReduce": 4 if rank == self.behind else 5}} for rank in range(RANKS)]
        return {"nccl_version": "2.28.9", "ras": {"timeouts_count": 0},
                "communicators": [{"hash": "0x27a0", "size": RANKS, "ranks": ranks, "missing_ranks": []}]}


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            if line.strip() == b"STATUS":
                self.wfile.write(json.dumps(self.server.answer()).encode() + b"\n")
                return
            self.wfile.write(b"OK\n")


@pytest.fixture
def nccl():
    with Nccl() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_rank_that_is_stopped_is_named_once_and_nobody_is_traced(tmp_path, nccl):
    messages, traces, dumps = tmp_path / "messages", tmp_path / "traces", tmp_path / "dumps"
    traces.mkdir(mode=0o777)
    dumps.mkdir()
    config = tmp_path / "agent.yaml"
    config.write_text(f"""
collect: step,process
history: off
output_directories: [{traces}]
respond: {{captures: automatic, min_age: 0s, min_steps: 0, canary: false, least_free: 0}}
rules: {{progress_stopped: {{least: 5s, min_age: 5s}}, collective_stuck: {{apart: 5s}}}}
notifiers:
  - {{name: file, type: file, path: {messages}}}
""")
    with Agent("--config", config, "--collect", "step,process") as agent, \
            training(agent, RANKS, NCCL_RAS_ADDR=f"127.0.0.1:{nccl.server_address[1]}",
                     TORCH_FR_DUMP_TEMP_FILE=dumps / "nccl_trace_rank_") as pids:
        agent.job = agent.wait_for_processes(pids)[pids[0]]["job"]
        until(lambda: len(seen := steps_seen(agent)) == RANKS and min(seen) > 200, 60, "it steps", every=0.5)
        assert nccl.asked == 0 and our_incidents(agent) == []
        rank = nccl.behind = 3
        victim = next(pid for pid in pids if rank_of(pid) == rank)
        os.kill(victim, signal.SIGSTOP)
        try:
            time.sleep(1)
            for each in range(RANKS):
                shutil.copyfile(DUMPS / f"nccl_trace_rank_{each}", dumps / f"nccl_trace_rank_{each}")
            began = time.monotonic()
            until(lambda: messages.exists() and f"{agent.job}-progress-" in messages.read_text(), LATEST, "it is told", every=0.1)
            assert time.monotonic() - began <= LATEST
            text = messages.read_text()
            print(text)
            assert f"Rank {rank} on " in text and "is stopped (T)" in text and "ritical" in text
            assert "flight recorders: Rank 3 never called all_reduce 3" in text and "high confidence" in text

            def told_by_nccl():
                [row] = our_incidents(agent)
                record = incidents(agent, row["id"])
                return record if any("(AllReduce 5): it has not arrived" in e["says"] for e in record["evidence"]) else None

            record = until(told_by_nccl, LATEST, "NCCL has said the same", every=1)
        finally:
            os.kill(victim, signal.SIGCONT)
        assert record["verdict"]["cause"] == "hang" and record["captures"] == []
        assert [suspect["rank"] for suspect in record["verdict"]["suspects"]] == [rank]
        assert messages.read_text().count(f"Z {agent.job}-progress-1.") == 1, "it is told once"
        assert list(traces.iterdir()) == []
        until(lambda: incidents(agent, record["id"])["state"] == "recovering", 30, "it goes on", every=0.5)

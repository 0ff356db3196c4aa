"""An agent that is killed, or told to end, in each state of a capture, and one that begins in its place. Who waits for the
capture hears of it in bounded time, receipts and the history say what became of it, and the next capture works."""

import contextlib
import http.client
import json
import pathlib
import signal
import sqlite3
import subprocess
import threading
import time

import pytest

from agent import PATIENCE, Agent, clean_environment, program, until
from analyses import LARGE, ask, lives, stuck_ones, written

NOTICED = 20 + 50 * PATIENCE  # seconds in which a client notices that its agent has gone
ENDS = {"killed": signal.SIGKILL, "told to end": signal.SIGTERM}
# State: (what the simulated process does, the states that its receipts then have).
STATES = {
    "accepted": (["--polls", 1], {"accepted"}),
    "delivered": (["--lead", 30], {"delivered"}),
    "capturing": (["--warmup", 0], {"capturing"}),
}


class Tracing:
    """`spotter trace` under way."""

    def __init__(self, agent, pids, *words):
        self.output = agent.out_dir
        self.process = subprocess.Popen(
            [str(program()), "trace", "--socket", str(agent.api_socket), "--pid", ",".join(map(str, pids)), "--output",
             str(agent.out_dir), "--format", "json", *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def end(self):
        """(exit status, receipts), once it has ended; the receipts are in the file that it leaves, too."""
        out, err = self.process.communicate(timeout=NOTICED)
        receipts = rows_of(json.loads(out))
        kept, = self.output.glob("capture*.json")
        assert rows_of(json.loads(kept.read_text())) == receipts, err
        kept.unlink()
        return self.process.returncode, receipts


def rows_of(document):
    table, = [t for t in document["tables"] if t["name"] == "receipts"]
    columns = [c["name"] for c in table["columns"]]
    return [dict(zip(columns, row, strict=True)) for row in table["rows"]]


def only_capture(agent):
    return until(lambda: agent.table("/v1/captures", "captures"), 10, "there is a capture")[0]["id"]


def end_of(agent, by):
    """Its end, whatever is under way; the folder stays for the next one."""
    if by == signal.SIGKILL:
        agent.kill(forget=False)
    else:
        agent.stop(by, forget=False)


@contextlib.contextmanager
def one_after_another():
    """A function that starts an agent where the one before was."""
    agents = []

    def start(*arguments):
        agents.append(Agent(*arguments, folder=agents[0].folder if agents else None))
        return agents[-1]
    try:
        yield start
    finally:
        for agent in agents:
            agent.kill(forget=False)
        agents[0].forget()


@pytest.mark.parametrize(("state", "by", "comes_back"),
                         [("delivered", signal.SIGKILL, False),
                          *((state, by, True) for state in STATES for by in ENDS.values())])
def test_the_agent_ends_in_a_state_of_a_capture(state, by, comes_back):
    words, states = STATES[state]
    with one_after_another() as start:
        agent = start()
        with agent.spawn(*words) as one:
            agent.wait_for_processes([one.pid])
            with Tracing(agent, [one.pid], "--duration", "60s", "--warmup", "0s") as tracing:
                capture = only_capture(agent)
                until(lambda: {row["state"] for row in agent.receipts(capture)} == states, 10, f"the capture is {state}")
                end_of(agent, by)
                if comes_back:
                    agent = start()
                status, (row,) = tracing.end()
        assert status == 4 and row["state"] == "failed" and row["pid"] == one.pid, row
        assert (("no capture of that id" if comes_back else "agent") in row["reason"]), row
        agent = agent if comes_back else start()
        assert not agent.table("/v1/captures", "captures"), "nothing is known of what was before"
        assert agent.api("GET", f"/v1/captures/{capture}")[0] == 404
        with agent.spawn() as another:
            written(agent, another)
        agent.stop(forget=False)


def test_one_of_two_had_written():
    """What was known before the agent's end stays true."""
    with one_after_another() as start:
        agent = start()
        with agent.spawn(RANK=0) as quick, agent.spawn("--ignore", RANK=1) as slow:
            agent.wait_for_processes([quick.pid, slow.pid])
            with Tracing(agent, [quick.pid, slow.pid], "--duration", "100ms") as tracing:
                capture = only_capture(agent)
                until(lambda: agent.receipts(capture)[0]["state"] == "written", 10, "the first has written")
                time.sleep(1.5)  # the command asks again half a second after the first answer, and then hears news at once
                agent.kill(forget=False)
                status, rows = tracing.end()
        assert status == 3 and [row["state"] for row in rows] == ["written", "failed"], rows
        assert pathlib.Path(rows[0]["file"]).stat().st_size == rows[0]["size_bytes"]


@pytest.mark.parametrize("by", ENDS.values(), ids=ENDS.keys())
def test_during_an_analysis(by):
    with one_after_another() as start:
        agent = start()
        with agent.spawn(*LARGE) as one:
            capture, _ = written(agent, one)
            stuck, = stuck_ones(agent, capture, 1)
            end_of(agent, by)
            assert isinstance(stuck.end(), (OSError, http.client.HTTPException)), "who asked hears that it is over"
            until(lambda: not lives(stuck.pid), 5, "the reader ends with its agent")
            agent = start()
            assert ask(agent, capture)[0] == 404


def captures_in(file):
    """Of a history: id -> state. By SQLite, as an agent that cannot be asked left it."""
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        return dict(database.execute("SELECT id, state FROM captures"))


@pytest.mark.parametrize("by", ENDS.values(), ids=ENDS.keys())
def test_the_history_tells_of_captures_that_were_lost(by):
    with one_after_another() as start:
        agent = start("--collect", "cpu:1s", "--history", "/dev/null")
        agent.kill(forget=False)
        history = agent.folder / "history.db"
        agent = start("--collect", "cpu:1s", "--history", history)
        with agent.spawn("--ignore") as one, agent.spawn() as another:
            agent.wait_for_processes([one.pid])
            done, _ = written(agent, another)
            lost = agent.capture(pids=[one.pid], duration_ms=60_000)
            if by == signal.SIGKILL:  # it is written with the next samples
                until(lambda: history.exists() and lost in captures_in(history), 20, "the history has it")
            end_of(agent, by)
            agent = start("--collect", "cpu:1s", "--history", history)
            rows = {row["id"]: row["state"] for row in agent.table("/v1/catalogue?table=captures", "captures")}
            assert rows == {done: "written", lost: "lost"}


def test_again_and_again():
    """Killed at any moment, with clients that poll and capture all the time: each agent finds the same place usable."""
    with one_after_another() as start:
        agent = start()
        with agent.spawn() as one, agent.spawn("--never-read"), agent.spawn("--ctxt-first"):
            for n in range(8):
                over = threading.Event()

                def capture(agent=agent, over=over):
                    while not over.is_set():
                        with contextlib.suppress(OSError, http.client.HTTPException, AssertionError, ValueError):
                            agent.api("POST", "/v1/captures", {"all": True, "duration_ms": 10, "output": str(agent.out_dir)})
                thread = threading.Thread(target=capture)
                thread.start()
                time.sleep(0.03 * n)
                agent.kill(forget=False)
                over.set()
                thread.join()
                agent = start()
            agent.wait_for_processes([one.pid])
            agent.assert_well()
            until(lambda: not [row for row in agent.processes() if row["pid"] == one.pid and row["state"] != "idle"], 10, "it is idle")

"""The pipe of `spotter mcp` itself: its end, what is called off, what takes long, and what is too much at once."""

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest

from agent import clean_environment, run
from asking import INITIALIZED, LEGACY, MODERN, Pipe, command, exchange, initialize, legacy, line_of, modern, told
from jobs import capture_of

ENDS_WITHIN = 4.0  # s: two of them for what still runs


def started(*words, **more):
    return subprocess.Popen(command(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(), **more)


def test_the_end_of_input(folder):
    assert exchange([], folder) == []
    process = started(folder)
    process.stdin.close()
    assert process.wait(ENDS_WITHIN) == 0
    process.stdout.close()
    process.stderr.close()


def test_a_closed_output_ends_it(folder):
    process = started(folder)
    process.stdout.close()
    for _ in range(3):
        try:
            process.stdin.write(line_of(modern("tools/list")))
            process.stdin.flush()
        except BrokenPipeError:
            break
        time.sleep(0.1)
    assert process.wait(ENDS_WITHIN) >= 0, "by a signal"  # SIGPIPE would be one
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.stderr.close()


def test_a_closed_output_ends_it_though_nothing_is_asked(folder):
    with started(folder) as process:
        process.stdin.write(line_of(modern("tools/list")))
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(ENDS_WITHIN) >= 0


def test_who_reads_nothing_is_not_waited_for(folder):
    with started(folder) as process:
        for n in range(12):
            process.stdin.write(line_of(modern("tools/list", n)))
        process.stdin.close()
        process.wait(ENDS_WITHIN)


def test_who_reads_late_gets_all(folder):
    """Its input has ended, and more is to be said than a pipe holds."""
    with started(folder) as process:
        for n in range(40):
            process.stdin.write(line_of(modern("tools/list", n)))
        process.stdin.close()
        time.sleep(1)
        assert len(process.stdout.read().splitlines()) == 40
        assert process.wait(ENDS_WITHIN) == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it(folder, how):
    process = started(folder)
    process.stdin.write(line_of(modern("tools/list")))
    process.stdin.flush()
    assert process.stdout.readline()
    process.send_signal(how)
    assert process.communicate(timeout=ENDS_WITHIN)[0] == b""


def test_what_it_says_besides_is_not_on_its_output(tmp_path):
    for words in ([tmp_path / "no-such"], ["--no-such-option"], ["--socket"], [tmp_path, "--socket", tmp_path / "s"]):
        done = subprocess.run(command(*words), stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False, env=clean_environment())
        assert done.returncode != 0 and done.stdout == b"" and done.stderr, words


def test_an_empty_folder(tmp_path):
    with Pipe(tmp_path) as pipe:
        result = pipe.call("overview")
        assert not result.get("isError") and result["structuredContent"]["rows"] == []
        assert pipe.ask("resources/list")["resources"]  # never empty


def test_a_folder_that_gets_a_job_later(tmp_path):
    with Pipe(tmp_path) as pipe:
        assert pipe.call("overview")["structuredContent"]["rows"] == []
        done = run("simulate", "-o", tmp_path / "late", "--ranks", 2, "--steps", 3, "--layers", 2)
        assert done.returncode == 0
        assert "late" in json.dumps(pipe.call("overview")["structuredContent"]["rows"])


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_what_is_called_off_that_is_not_there(folder, revision):
    with Pipe(folder, revision=revision) as pipe:
        for id in (77, "x", None, 1.5, {}):
            pipe.send(told("notifications/cancelled", requestId=id, reason="too late"))
        pipe.send(told("notifications/cancelled"))
        assert pipe.ask("tools/list")["tools"]


@pytest.mark.whole
@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_a_call_that_is_called_off(large_folder, revision):
    """Nothing is sent for it any more; others are answered."""
    make = modern if revision == MODERN else legacy
    with Pipe(large_folder, revision=revision) as pipe:
        pipe.send(make("tools/call", "long", name="why_slow", arguments={"job": "large"}))
        time.sleep(0.3)
        pipe.send(told("notifications/cancelled", requestId="long", reason="the user no longer wants it"))
        assert pipe.ask("tools/list")["tools"]  # also says that nothing else came before it
        time.sleep(8)
        assert pipe.lines.empty()
        assert not pipe.call("why_slow", job="large").get("isError")


@pytest.mark.whole
@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_progress(large_folder, revision):
    with Pipe(large_folder, revision=revision) as pipe:
        began = time.monotonic()
        assert not pipe.call("why_slow", progress="token 1", job="large").get("isError")
        took = time.monotonic() - began
        assert all(one["progressToken"] == "token 1" for one in pipe.progress)
        told_of = [one["progress"] for one in pipe.progress]
        assert told_of == sorted(set(told_of)) and all(one["progress"] <= one.get("total", one["progress"]) for one in pipe.progress)
        assert (1 if took > 2 else 0) <= len(told_of) <= took + 1, (took, told_of)
    with Pipe(large_folder, revision=revision) as pipe:
        pipe.call("why_slow", job="large")
        assert pipe.progress == []


@pytest.mark.whole
def test_the_end_of_input_while_something_runs(large_folder):
    process = started(large_folder)
    process.stdin.write(line_of(modern("tools/call", name="why_slow", arguments={"job": "large"})))
    began = time.monotonic()
    process.stdin.close()
    process.stdin = None
    process.communicate(timeout=30)
    assert process.returncode == 0 and time.monotonic() - began < ENDS_WITHIN


def answered_all(pipe, ids):
    answers = {}
    while len(answers) < len(ids):
        message = pipe.receive()
        assert message["id"] in ids and message["id"] not in answers, message
        answers[message["id"]] = message
    return answers


def test_many_at_once(folder):
    """Each is answered, once: or with an error that says to ask again."""
    with Pipe(folder) as pipe:
        ids = list(range(1000, 1200))
        pipe.send(b"".join(line_of(modern("tools/list", id)) for id in ids))
        answers = answered_all(pipe, ids)
        for answer in answers.values():
            assert "result" in answer or (answer["error"]["code"] == -32603 and "again" in answer["error"]["message"]), answer
        assert sum("result" in answer for answer in answers.values()) >= 30
        capture = capture_of(pipe, "well")
        ids = list(range(2000, 2100))
        pipe.send(b"".join(line_of(modern("tools/call", id, name="query_table", arguments={"capture": capture, "table": "steps"})) for id in ids))
        answers = answered_all(pipe, ids)
        refused = [answer["result"] for answer in answers.values() if answer["result"].get("isError")]
        assert len(refused) < len(ids)
        assert all("again" in json.dumps(result["content"]) for result in refused)
        time.sleep(1.1)
        assert not pipe.call("overview").get("isError")


def test_five_calls_a_second(folder):
    """Those beyond are errors of the tool, which say to ask again."""
    with Pipe(folder) as pipe:
        began = time.monotonic()
        ids = list(range(50))
        pipe.send(b"".join(line_of(modern("tools/call", id, name="overview", arguments={})) for id in ids))
        answers = answered_all(pipe, ids)
        answered = sum(not answer["result"].get("isError") for answer in answers.values())
        assert 5 <= answered <= 10 + 5 * (time.monotonic() - began)


def test_deterministic(folder):
    """The same questions, the same bytes: also of another process."""
    def said():
        with Pipe(folder) as pipe:
            capture = capture_of(pipe, "slow")
            texts = [json.dumps(pipe.ask("tools/list")), json.dumps(pipe.call("query_table", capture=capture, table="kernel_breakdown"))]
            return [*texts, json.dumps(pipe.call("why_slow", job="slow")), json.dumps(pipe.call("overview"))]
    assert said() == said()


def test_threads_and_descriptors_stay_few(folder):
    with Pipe(folder) as pipe:
        pipe.call("why_slow", job="slow")
        pid = pipe.process.pid
        before = len(os.listdir(f"/proc/{pid}/fd"))
        for _ in range(20):
            pipe.call("overview")
            time.sleep(0.1)
        assert len(os.listdir(f"/proc/{pid}/fd")) <= before + 2


def test_initialize_twice(folder):
    answers = exchange([initialize(), INITIALIZED, initialize("2025-06-18", 1), legacy("tools/list", 2)], folder)
    assert {answer["id"] for answer in answers} == {0, 1, 2}

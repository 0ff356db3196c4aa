"""Ctrl-C (SIGINT) and SIGTERM: every command ends with 128 + the signal and one sentence of what is whole."""

import contextlib
import fcntl
import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest

from agent import ROOT, clean_environment, program, run, until

TRACE = ROOT / "tests/fixtures/traces/gpu_training/rank0.json.gz"
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
LATEST = 30


@contextlib.contextmanager
def running(*words, cwd, **how):
    """The program under way; it has installed what signals do once it reads its command line."""
    process = subprocess.Popen([str(program()), *map(str, words)], cwd=cwd, text=True, env=clean_environment(),
                               **({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def ended(process, by):
    """(exit status, standard output, standard error) after the signal."""
    process.send_signal(by)
    out, err = process.communicate(timeout=LATEST)
    return process.returncode, out, err


@pytest.fixture(name="stalled")
def stalled_trace(tmp_path):
    """A named pipe that holds the beginning of a trace, and whose rest never comes."""
    path = tmp_path / "stalled.json"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR)
    os.write(descriptor, b'{"traceEvents": [\n')
    yield path
    os.close(descriptor)


def wait_until_read(path):
    """Somebody else has the pipe open, and has taken what was in it."""
    def readers():
        found = 0
        for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
            with contextlib.suppress(OSError):
                found += os.readlink(link) == str(path) and link.parts[2] != str(os.getpid())
        return found
    until(readers, LATEST, f"{path} is being read")
    time.sleep(0.1)


@pytest.mark.parametrize(("by", "status"), SIGNALS)
@pytest.mark.parametrize("words", [["analyze", "{}", "-o", "r.csv"], ["diff", "{}", TRACE, "-o", "r.csv"]],
                         ids=["analyze", "diff"])
def test_a_file_stays_as_it_was(tmp_path, stalled, words, by, status):
    (tmp_path / "r.csv").write_text("before")
    with running(*[str(word).format(stalled) for word in words], cwd=tmp_path) as process:
        wait_until_read(stalled)
        assert ended(process, by) == (
            status, "", "spotter: interrupted; r.csv was not written, what was there is untouched\n")
    assert (tmp_path / "r.csv").read_text() == "before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.csv", "stalled.json"]


def test_a_file_that_was_not_there(tmp_path, stalled):
    with running("analyze", stalled, "-o", "r.csv", cwd=tmp_path) as process:
        wait_until_read(stalled)
        assert ended(process, signal.SIGINT) == (130, "", "spotter: interrupted; r.csv was not written\n")
    assert [p.name for p in tmp_path.iterdir()] == ["stalled.json"]


def test_standard_output(tmp_path, stalled):
    with running("analyze", stalled, cwd=tmp_path) as process:
        wait_until_read(stalled)
        assert ended(process, signal.SIGINT) == (130, "", "spotter: interrupted; nothing was written\n")


def test_a_reader_that_does_not_read(tmp_path):
    """Nothing is left to do but to write; whoever reads has a part."""
    with running("metrics", "--list", "--format", "json", cwd=tmp_path) as process:
        time.sleep(1)  # it fills the pipe, and waits
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LATEST)
        assert process.returncode == 130 and err == "spotter: interrupted; standard output does not hold all of it\n"
        assert out.startswith("{") and not out.rstrip().endswith("}")


@pytest.fixture(name="job", scope="module")
def simulated_job(tmp_path_factory):
    """Traces that take a while."""
    folder = tmp_path_factory.mktemp("simulated") / "job"
    assert run("simulate", "-o", folder, "--ranks", 16, "--steps", 40).returncode == 0
    return folder


def writes_below(process, folder):
    with contextlib.suppress(OSError):
        return any(os.readlink(link).startswith(f"{folder}/") for link in pathlib.Path(f"/proc/{process.pid}/fd").iterdir())


@pytest.mark.parametrize(("by", "status"), SIGNALS)
@pytest.mark.parametrize("words", [["analyze", TRACE], ["diff", TRACE, TRACE], ["export", TRACE]], ids=lambda w: w[0])
@pytest.mark.parametrize("is_read", [True, False], ids=["slow", "nobody"])
def test_a_pipe_that_nobody_empties(tmp_path, words, by, status, is_read):
    """Whoever should read it is slow, or has not come yet."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with contextlib.ExitStack() as stack:
        if is_read:
            reader = os.open(pipe, os.O_RDWR)
            stack.callback(os.close, reader)
            fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
            os.write(reader, bytes(4096))
        process = stack.enter_context(running(*words, "-o", pipe, "--format" if words[0] != "export" else "--ranks",
                                              "json" if words[0] != "export" else "0", cwd=tmp_path))
        time.sleep(1)
        assert process.poll() is None
        assert ended(process, by) == (status, "", f"spotter: interrupted; {pipe} does not hold all of it\n")


@pytest.mark.parametrize(("by", "status"), SIGNALS)
def test_export(tmp_path, job, by, status):
    with running("export", job, "-o", "job.json", cwd=tmp_path) as process:
        until(lambda: writes_below(process, tmp_path), LATEST, "it writes")  # under another name, or none
        assert ended(process, by) == (status, "", "spotter: interrupted; job.json was not written\n")
    assert list(tmp_path.iterdir()) == []


def test_export_to_standard_output(tmp_path, job):
    with running("export", job, "-o", "-", cwd=tmp_path) as process:
        assert len(process.stdout.read(1000)) == 1000
        status, out, err = ended(process, signal.SIGINT)
        assert (status, err) == (130, "spotter: interrupted; standard output does not hold all of it\n")
        assert not out.rstrip().endswith("]}")


@pytest.mark.parametrize(("by", "status"), SIGNALS)
def test_simulate(tmp_path, by, status):
    with running("simulate", "-o", "job", "--ranks", 8, "--steps", 200, cwd=tmp_path) as process:
        until((tmp_path / "job").is_dir, LATEST, "it has begun")
        assert ended(process, by) == (status, "", "spotter: interrupted; job does not hold the whole job\n")
    assert not (tmp_path / "job" / "truth.json").exists()


def test_the_second_signal_ends_at_once(tmp_path, stalled):
    """Also where the first one is not heard in time: the process is stopped, and both come when it goes on."""
    with running("analyze", stalled, "-o", "r.csv", cwd=tmp_path) as process:
        wait_until_read(stalled)
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=LATEST)
        assert process.returncode in (130, 143) and err == "spotter: interrupted; r.csv was not written\n"


@pytest.fixture(name="silent")
def silent_agent(tmp_path):
    """A socket that takes requests and never answers."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "agent.sock"))
        door.listen()
        door.settimeout(LATEST)
        yield door


@pytest.mark.parametrize(("by", "status"), SIGNALS)
@pytest.mark.parametrize("words", [["ps"], ["captures"], ["status"], ["metrics"], ["metrics", "--watch"]], ids=" ".join)
def test_questions_to_agents(tmp_path, silent, words, by, status):
    with running(*words, "--socket", "agent.sock", cwd=tmp_path) as process:
        connection, _ = silent.accept()
        with connection:
            assert ended(process, by) == (status, "", "spotter: interrupted; nothing was written\n")


def test_watch_between_two_looks(tmp_path):
    """No agent is there, which it says each second."""
    with running("metrics", "--watch", "--socket", tmp_path / "nobody.sock", cwd=tmp_path) as process:
        assert "nobody.sock" in process.stdout.read(40 + len(str(tmp_path)))
        time.sleep(0.1)
        status, _, err = ended(process, signal.SIGINT)
        assert (status, err) == (130, "spotter: interrupted; each look was shown whole\n")


def test_a_signal_that_is_to_be_ignored_is(tmp_path, stalled):
    """As with nohup, or behind `&` in a script: Ctrl-C is for others."""
    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    with running("analyze", stalled, cwd=tmp_path, preexec_fn=ignore) as process:
        wait_until_read(stalled)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        assert ended(process, signal.SIGTERM)[0] == 143

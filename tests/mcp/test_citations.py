"""The command of each source gives the rows of the answer on a terminal."""

import datetime
import gzip
import json
import math
import os
import shutil
import subprocess

import pytest

from agent import clean_environment, program, tables
from answers import MOST_CELL, TIME, UNSEEN, check_answer, rows_of
from asking import Pipe
from jobs import capture_of, simulate


@pytest.fixture(name="shell", scope="module")
def shell_with_spotter(tmp_path_factory):
    """Runs a command as somebody types it."""
    folder = tmp_path_factory.mktemp("bin")
    os.symlink(program(), folder / "spotter")

    def run(command):
        done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
                              env=clean_environment(PATH=f"{folder}:{os.environ['PATH']}"))
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout

    return run


def is_cell(cell, shown):
    """Whether a cell of an answer is this one of --format json: times are texts, texts have nothing unseen, and an end."""
    if isinstance(cell, str) and isinstance(shown, int) and TIME.fullmatch(cell):
        whole, _, digits = cell[:-1].partition(".")
        return shown == int(datetime.datetime.fromisoformat(whole + "+00:00").timestamp()) * 10**9 + int((digits + "0" * 9)[:9])
    if isinstance(cell, str) and isinstance(shown, str):
        seen = UNSEEN.sub("", shown)
        return cell == seen or (len(seen) > MOST_CELL == len(cell) and cell.endswith("…") and seen.startswith(cell[:-1]))
    if isinstance(cell, float) and isinstance(shown, float):
        return math.isclose(cell, shown, rel_tol=1e-12)
    return cell == shown


def is_row(row, shown):
    return all(name in shown and is_cell(cell, shown[name]) for name, cell in row.items())


def check_sources(shell, content):
    """Each row is one of those that a command gives."""
    assert content["sources"]
    shown = []
    for source in content["sources"]:
        command = source["command"]
        if "--format" not in command:
            command += " --format json"
        text = shell(command)
        try:
            document = json.loads(text)
        except ValueError:
            continue  # of a command that prints one thing, as text
        found = tables(document) if "tables" in document else {}
        if source.get("table"):
            assert source["table"] in found, (source, list(found))
            found = {source["table"]: found[source["table"]]}
        shown += [row for rows in found.values() for row in rows]
    missing = [row for row in rows_of(content) if not any(is_row(row, one) for one in shown)]
    assert not missing, (missing[:2], [source["command"] for source in content["sources"]], shown[:2])


@pytest.mark.parametrize("job", ["slow", "well"])
def test_findings(pipe, tools, shell, job):
    check_sources(shell, check_answer("why_slow", pipe.call("why_slow", job=job), tools))


TABLES = ["steps", "operators", "kernel_breakdown", "stragglers", "summary", "findings", "collectives", "critical_path", "step_budget", "mfu"]
QUERIES = [{}, {"limit": 5}, {"where": "rank=2"}, {"where": "rank=1-3", "sort": "-rank"}, {"columns": ["rank"]}]


@pytest.mark.parametrize("table,query", [*((table, {}) for table in TABLES), *(("kernel_breakdown", query) for query in QUERIES[1:]),
                                         ("kernel_breakdown", {"where": "name=*gemm* and sum_ns>1000", "sort": "-sum_ns", "columns": "name,sum_ns,rank"})], ids=str)
def test_tables(pipe, tools, shell, table, query):
    content = check_answer("query_table", pipe.call("query_table", capture=capture_of(pipe, "slow"), table=table, **query), tools)
    assert content["rows"]
    check_sources(shell, content)


@pytest.mark.parametrize("what", ["operators", "kernels", "steps", None])
def test_comparisons(pipe, tools, shell, what):
    content = check_answer("compare", pipe.call("compare", before=capture_of(pipe, "well"), after=capture_of(pipe, "slow"), **({"what": what} if what else {})), tools)
    check_sources(shell, content)
    if what != "steps":
        return
    sides = [tables(json.loads(shell(source["command"])))["step_budget"] for source in content["sources"][1:]]
    for row in rows_of(content):  # means over the steps that the commands show
        for name, steps in zip(("before_ns", "after_ns"), sides):
            assert row[name] == pytest.approx(sum(step[row["part"]] for step in steps) / len(steps))


def test_a_page_of_rows(pipe, tools, shell):
    """Also what a cursor leads to."""
    capture = capture_of(pipe, "slow")
    first = check_answer("query_table", pipe.call("query_table", capture=capture, table="operators", where="rank=1"), tools)
    second = check_answer("query_table", pipe.call("query_table", capture=capture, table="operators", where="rank=1", cursor=first["next_cursor"]), tools)
    assert second["rows"] and second["rows"] != first["rows"]
    check_sources(shell, first)
    check_sources(shell, second)


def test_overview(pipe, tools, shell):
    check_sources(shell, check_answer("overview", pipe.call("overview"), tools))


@pytest.mark.parametrize("tool,words", [("describe", {"name": "stragglers"}), ("describe", {"name": "cpu_user_ns"}), ("describe", {"name": "progress_stopped"})], ids=str)
def test_commands_of_the_others(pipe, tools, shell, tool, words):
    """They run; what they print is text."""
    for source in check_answer(tool, pipe.call(tool, **words), tools)["sources"]:
        assert shell(source["command"]).strip()


@pytest.mark.parametrize("shell_of", ["sh", "bash", "zsh", "fish"])
def test_names_that_end_a_quote(tmp_path, shell_of):
    """In no shell does a name do what it says."""
    if not shutil.which(shell_of):
        pytest.skip(f"no {shell_of}")
    name = "x\n'; touch PWNED; echo % \\#"
    simulate(tmp_path / name, "--ranks", 2, "--steps", 3, "--layers", 2)
    with Pipe(tmp_path) as pipe:
        [row] = rows_of(pipe.call("overview")["structuredContent"])
        command = pipe.call("why_slow", capture=row["capture"])["structuredContent"]["sources"][0]["command"]
    bin = tmp_path / "bin"
    bin.mkdir()
    os.symlink(program(), bin / "spotter")
    done = subprocess.run([shell_of, "-c", command], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                          env=clean_environment(PATH=f"{bin}:{os.environ['PATH']}"))
    assert not (tmp_path / "PWNED").exists()
    assert done.returncode == 0 and "findings" in done.stdout, done.stderr


def test_recordings_of_one_folder(tmp_path, shell):
    """As TensorBoard's handler leaves them: each is a capture, whose command names it in a few words."""
    job = tmp_path / "log"
    for place, time in enumerate(("1700000000000000", "1700000100000000")):
        made = tmp_path / f"made{place}"
        simulate(made, "--ranks", 40, "--steps", 2, "--layers", 1, "--seed", place + 1)
        job.mkdir(exist_ok=True)
        for path in made.glob("*rank*.json.gz"):
            events = json.loads(gzip.decompress(path.read_bytes()))
            if place:
                events["traceEvents"] = [event | ({"ts": float(event["ts"]) + 1e8} if "ts" in event else {}) for event in events["traceEvents"]]
            worker = "w" * 60 + path.name.split(".")[0]
            (job / f"{worker}.{time}.pt.trace.json.gz").write_bytes(gzip.compress(json.dumps(events).encode(), 1))
        shutil.rmtree(made)
    with Pipe(job) as pipe:
        rows = rows_of(pipe.call("overview")["structuredContent"])
        assert [row["job"] for row in rows] == ["log#2", "log#1"]
        for row in rows:
            content = pipe.call("query_table", capture=row["capture"], table="steps", limit=5)["structuredContent"]
            assert len(content["sources"][0]["command"]) < 300
            check_sources(shell, content)


def test_names_that_a_shell_would_take_apart(tmp_path, shell):
    name = "a b'c$(touch injected);&\"d"
    simulate(tmp_path / name, "--ranks", 2, "--steps", 3, "--layers", 2)
    with Pipe(tmp_path) as pipe:
        [row] = rows_of(pipe.call("overview")["structuredContent"])
        content = check_answer("why_slow", pipe.call("why_slow", capture=row["capture"]), pipe.tools())
        check_sources(lambda command: shell(f"cd '{tmp_path}' && {command}"), content)
        content = check_answer("query_table", pipe.call("query_table", capture=row["capture"], table="steps"), pipe.tools())
        check_sources(lambda command: shell(f"cd '{tmp_path}' && {command}"), content)
    assert not (tmp_path / "injected").exists()

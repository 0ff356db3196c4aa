"""Folders of many jobs, of broken ones, and of what is none."""

import gzip
import json
import shutil

import pytest

from agent import run
from answers import check_answer, check_error, rows_of, text_of
from asking import Pipe
from jobs import simulate

COUNT = 45


@pytest.fixture(name="many", scope="module")
def folder_of_many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    simulate(folder / "job00", "--ranks", 1, "--steps", 3, "--layers", 2)
    for number in range(1, COUNT):
        shutil.copytree(folder / "job00", folder / f"job{number:02}")
    return folder


def test_twenty_at_a_time(many):
    with Pipe(many) as pipe:
        tools = pipe.tools()
        content = check_answer("overview", pipe.call("overview"), tools)
        assert (len(content["rows"]), content["total_rows"], content["left_out"]) == (20, COUNT, COUNT - 20)
        names = {row["job"] for row in rows_of(content)}
        while "next_cursor" in content:
            content = check_answer("overview", pipe.call("overview", cursor=content["next_cursor"]), tools)
            names |= {row["job"] for row in rows_of(content)}
        assert names == {f"job{number:02}" for number in range(COUNT)}
        uris = [one["uri"] for one in pipe.ask("resources/list")["resources"]]
        assert len(uris) == len(set(uris)) and sum(uri.startswith("spotter://captures/") for uri in uris) == 20
        check_error(pipe.call("why_slow", job="no-such"))


def test_jobs_that_cannot_be_read(tmp_path):
    """Each is told, and the others are answered."""
    simulate(tmp_path / "well", "--ranks", 2, "--steps", 3, "--layers", 2)
    whole = next((tmp_path / "well").glob("rank_0000*"))
    broken = {"empty": b"", "cut": whole.read_bytes()[:5000], "text": gzip.compress(b"not a trace"), "no-events": gzip.compress(b'{"traceEvents": []}'),
              "other": gzip.compress(json.dumps({"traceEvents": [{"ph": "X", "name": "x", "ts": "x"}]}).encode())}
    for name, data in broken.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / whole.name).write_bytes(data)
    (tmp_path / "nothing").mkdir()
    (tmp_path / "notes.txt").write_text("not a trace")
    with Pipe(tmp_path) as pipe:
        tools = pipe.tools()
        content = check_answer("overview", pipe.call("overview"), tools)
        captures = {row["job"]: row["capture"] for row in rows_of(content)}
        assert "well" in captures and "nothing" not in captures
        for name, capture in captures.items():
            for tool, words in (("why_slow", {}), ("query_table", {"table": "summary"}), ("query_table", {"table": "steps"})):
                result = pipe.call(tool, capture=capture, **words)
                if result.get("isError"):
                    assert name != "well"
                    check_error(result)
                else:
                    content = check_answer(tool, result, tools)
                    # Of what could not be read, something is said.
                    assert name in ("well", "no-events", "other") or content["notes"] or not content["rows"], (name, text_of(result))
                    if name != "well":
                        assert not [row for row in rows_of(content) if row.get("kind") == "fault"]


def test_ranks_that_are_missing_are_said(tmp_path):
    """What is known of half a job is not said without saying so."""
    simulate(tmp_path / "half", "--ranks", 8, "--steps", 3, "--layers", 2, "--omit-ranks", "2-5")
    with Pipe(tmp_path) as pipe:
        [row] = rows_of(pipe.call("overview")["structuredContent"])
        content = check_answer("why_slow", pipe.call("why_slow", capture=row["capture"]), pipe.tools())
        said = json.dumps([content["notes"], content["rows"], content["answer"], content["sources"]])
        assert "4 of 8" in said or "2-5" in said or "4 ranks" in said, said


def test_losses_are_said(tmp_path):
    """A note of the command is one of the answer."""
    simulate(tmp_path / "job", "--ranks", 2, "--steps", 3, "--layers", 2)
    cut = next((tmp_path / "job").glob("rank_0001*"))
    text = gzip.decompress(cut.read_bytes())
    cut.write_bytes(gzip.compress(text[:len(text) // 2]))
    document = json.loads(run("analyze", tmp_path / "job", "--table", "kernel_breakdown", "--format", "json").stdout)
    assert document["notes"]
    with Pipe(tmp_path) as pipe:
        [row] = rows_of(pipe.call("overview")["structuredContent"])
        content = check_answer("query_table", pipe.call("query_table", capture=row["capture"], table="kernel_breakdown"), pipe.tools())
        assert content["notes"]


@pytest.mark.parametrize("words", [{"where": "rank=0 and " * 2000 + "rank=0"}, {"where": "name=" + "*a" * 50_000}, {"where": "rank=" + ",".join(map(str, range(20_000)))},
                                   {"sort": "x" * 100_000}, {"columns": ["rank"] * 5000}, {"columns": ",".join(["rank"] * 5000)}, {"cursor": "A" * 100_000}], ids=lambda words: next(iter(words)))
def test_long_arguments(many, words):
    """Each is answered soon, with an answer or an error."""
    with Pipe(many) as pipe:
        capture = rows_of(pipe.call("overview")["structuredContent"])[0]["capture"]
        result = pipe.request({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": {"name": "query_table", "arguments": {
            "capture": capture, "table": "kernel_breakdown"} | words, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                                                                                "io.modelcontextprotocol/clientCapabilities": {}}}}, timeout=10)
        if result.get("isError"):
            check_error(result)
        else:
            check_answer("query_table", result, pipe.tools())


@pytest.mark.parametrize("where,names", [("name=*a*a*a*a*a*a*a*a*a*a*a*b", False), ("name=" + "*a" * 200 + "*b", False), ("rank = 0", True), ("rank=0 and rank=1", False),
                                         ("name=null", False), ("name!=null", True), ("count>=0 and count<=1e9", True), ("sum_ns>-1", True), ("sum_ns>0.5", True)])
def test_conditions(many, where, names):
    """Globs that a naive matcher takes for ever for, and others; `names`: whether there are rows."""
    with Pipe(many) as pipe:
        capture = rows_of(pipe.call("overview")["structuredContent"])[0]["capture"]
        content = check_answer("query_table", pipe.call("query_table", capture=capture, table="kernel_breakdown", where=where), pipe.tools())
        assert bool(content["rows"]) == names

"""A job of 1,024 ranks: how much each tool answers, and after how long."""

import json
import time

import pytest

import arguments
from answers import check_answer, rows_of
from asking import Pipe
from jobs import capture_of

pytestmark = pytest.mark.whole
LATEST = 2.0  # s, after what had to be read the first time


@pytest.fixture(name="large", scope="module")
def pipe_of_large(large_folder):
    with Pipe(large_folder) as running:
        running.call("why_slow", job="large")
        yield running


@pytest.mark.parametrize("detail", [None, "more"])
@pytest.mark.parametrize("tool,words", [
    ("overview", {}), ("why_slow", {"job": "large"}), ("compare", {"before": "?", "after": "?"}), ("compare", {"before": "?", "after": "?", "what": "operators"}),
    ("describe", {"name": "findings"}), *(("query_table", {"capture": "?", "table": table} | more)
                                          for table in ("stragglers", "kernel_breakdown", "operators", "steps", "collectives", "findings", "comm_steps")
                                          for more in ({}, {"limit": 200}))], ids=str)
def test_answers_stay_small_and_quick(large, tool, words, detail):
    tools = large.tools()
    capture = capture_of(large, "large")
    words = arguments.known_to(tools[tool], {name: capture if value == "?" else value for name, value in words.items()})
    more = {"detail": detail} if detail and "detail" in tools[tool]["inputSchema"]["properties"] else {}
    large.call(tool, **words, **more)  # reads what it needs
    began = time.monotonic()
    result = large.call(tool, **words, **more)
    took = time.monotonic() - began
    content = check_answer(tool, result, tools, detail if more else None)
    assert took <= LATEST
    if detail == "more" and content["left_out"] and len(content["rows"]) < words.get("limit", 20):
        assert len(json.dumps(result)) > 16 << 10, "there was room for more rows"


def test_the_list_stays_small(large):
    listed = large.ask("tools/list")
    assert len(json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode()) <= 12 << 10
    began = time.monotonic()
    assert json.dumps(large.ask("tools/list")) == json.dumps(listed)
    assert time.monotonic() - began < 0.5


def test_what_was_left_out_is_found_by_asking_narrower(large):
    capture = capture_of(large, "large")
    content = large.call("query_table", capture=capture, table="stragglers")["structuredContent"]
    assert content["left_out"] > 900 and content["next"]
    narrow = large.call("query_table", capture=capture, table="stragglers", where="rank=437")["structuredContent"]
    assert {row["rank"] for row in rows_of(narrow)} == {437}

"""What each answer of a tool is held to, whatever it answers."""

import json
import re

import jsonschema

MOST = {None: 16 << 10, "more": 32 << 10}
MOST_TEXT = 8 << 10
MOST_CELL = 200
MOST_NUMBER = 2**53 - 1
UNITS = {"none", "ns", "bytes", "ratio", "count", "bytes_per_s", "celsius", "watts", "joules", "hertz", "per_s"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
CITATION = re.compile(r"\[(s\d+)(?: rows? (\d+)(?:[-–](\d+))?)?\]")
# Controls (a text may have lines), marks that turn the direction of writing, and what is not seen.
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2028\u2029\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")


def check_answer(tool, result, tools, detail=None):
    """The structured content. `tools`: the list of the server, by name."""
    assert not result.get("isError"), text_of(result)
    check_size(result, detail)
    content = result["structuredContent"]
    jsonschema.Draft202012Validator(tools[tool]["outputSchema"]).validate(content)
    assert content["answer"].strip()
    assert content["answer"] in text_of(result)
    assert len({column["name"] for column in content["columns"]}) == len(content["columns"])
    assert {column["unit"] for column in content["columns"]} <= UNITS
    for row in content["rows"]:
        assert len(row) == len(content["columns"])
        for column, cell in zip(content["columns"], row, strict=True):
            check_cell(column, cell)
    assert 0 <= content["left_out"] <= content["total_rows"] - len(content["rows"])
    assert ("next_cursor" in content) <= (content["left_out"] > 0)
    assert content["sources"]
    for source in content["sources"]:
        assert source["command"].startswith("spotter ")
    for hint in content["next"]:
        jsonschema.Draft202012Validator(tools[hint["tool"]]["inputSchema"]).validate(hint["arguments"])
    if "as_of" in content:
        assert TIME.fullmatch(content["as_of"]), content["as_of"]
    return content


def check_size(result, detail=None):
    size = len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode())
    assert size <= MOST[detail], f"{size} bytes"
    text = text_of(result)
    assert len(text.encode()) <= MOST_TEXT
    assert not text.lstrip().startswith(("{", "[{")), "the text is the structured content again"
    for string in strings_of(result):
        assert not UNSEEN.search(string), ascii(UNSEEN.search(string)[0]) + " in " + ascii(string)
    for number in numbers_of(result):
        assert abs(number) <= MOST_NUMBER, number


def check_cell(column, cell):
    assert cell is None or isinstance(cell, (bool, int, float, str)), cell
    if isinstance(cell, str):
        assert len(cell) <= MOST_CELL and "\n" not in cell, cell
    elif cell is not None and not isinstance(cell, bool):
        if column["name"].endswith("_ns"):
            assert column["unit"] == "ns", column


def check_citations(content):
    """Each sentence of the answer says which rows it speaks of, and they are there."""
    sources = {source["id"] for source in content["sources"]}
    assert len(sources) == len(content["sources"])
    for source, first, last in CITATION.findall(content["answer"]):
        assert source in sources, (source, content["answer"])
        assert 1 <= int(first or 1) <= int(last or first or 1) <= max(1, content["total_rows"]), content["answer"]
    assert CITATION.search(content["answer"]), f"no source in {content['answer']!r}"


def check_error(result):
    """The sentence of a tool error."""
    assert result.get("isError") is True, text_of(result)
    check_size(result)
    sentence = text_of(result)
    assert sentence.strip() and "\n" not in sentence.strip() and len(sentence) < 1000, sentence
    return sentence


def text_of(result):
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def rows_of(content):
    names = [column["name"] for column in content["columns"]]
    return [dict(zip(names, row, strict=True)) for row in content["rows"]]


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from strings_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings_of(one)


def numbers_of(value):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers_of(one)

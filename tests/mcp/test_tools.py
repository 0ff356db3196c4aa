"""The nine tools on a folder of traces: what they take, what they answer, and what they refuse."""

import json
import re

import jsonschema
import pytest

import answers
import arguments
from agent import program, run, tables
from answers import check_answer, check_citations, check_error, rows_of
from asking import LEGACY, MODERN, Pipe
from jobs import SLOW_RANK, capture_of

READ_ONLY = ["overview", "list_incidents", "get_incident", "why_slow", "query_table", "query_metrics", "compare", "describe"]
# What only says which rows are wanted, and how many, does not count: argument, value.
WRONG = [
    ("overview", {"no_such": 1}, "no_such"), ("overview", {"Limit": 5}, "Limit"),
    ("why_slow", {}, "job"), ("why_slow", {"job": 4711}, "job"), ("why_slow", {"job": ""}, "job"), ("why_slow", {"capture": "no-such"}, "capture"),
    ("query_table", {"table": "steps"}, "capture"), ("query_table", {"capture": "?"}, "table"), ("query_table", {"capture": "?", "table": "no_such"}, "table"),
    ("query_table", {"capture": "?", "table": "steps", "limit": 201}, "limit"), ("query_table", {"capture": "?", "table": "steps", "limit": 0}, "limit"),
    ("query_table", {"capture": "?", "table": "steps", "limit": -1}, "limit"), ("query_table", {"capture": "?", "table": "steps", "limit": "many"}, "limit"),
    ("query_table", {"capture": "?", "table": "steps", "limit": 1e300}, "limit"), ("query_table", {"capture": "?", "table": "steps", "limit": 2.5}, "limit"),
    ("query_table", {"capture": "?", "table": "steps", "columns": "no_such"}, "no_such"), ("query_table", {"capture": "?", "table": "steps", "columns": [5]}, "columns"),
    ("query_table", {"capture": "?", "table": "steps", "where": "no_such=1"}, "no_such"), ("query_table", {"capture": "?", "table": "steps", "where": "rank"}, "where"),
    ("query_table", {"capture": "?", "table": "steps", "where": "rank=x"}, "rank"), ("query_table", {"capture": "?", "table": "steps", "where": "rank=1 or rank=2"}, ""),
    ("query_table", {"capture": "?", "table": "steps", "sort": "no_such"}, "no_such"), ("query_table", {"capture": "?", "table": "steps", "cursor": "AAAA"}, "cursor"),
    ("query_table", {"capture": "?", "table": "steps", "detail": "most"}, "detail"), ("query_table", {"capture": "?", "table": "steps", "ranks": None}, "ranks"),
    ("compare", {"before": "?"}, "after"), ("compare", {"before": "?", "after": "no-such"}, "after"), ("compare", {"before": "?", "after": "?", "what": "all"}, "what"),
    ("describe", {}, "name"), ("describe", {"name": "no_such"}, "name"), ("describe", {"name": ["findings"]}, "name"),
    ("get_incident", {}, "id"), ("list_incidents", {"state": 5}, "state"), ("query_metrics", {}, "metric"),
    ("query_metrics", {"metric": ["a", "b", "c", "d", "e", "f"]}, "metric"), ("query_metrics", {"metric": "cpu_user_ns", "since": "8d"}, "since"),
    ("query_metrics", {"metric": "cpu_user_ns", "agg": "median"}, "agg"), ("query_metrics", {"metric": "cpu_user_ns", "since": "yesterday"}, "since")]


@pytest.fixture(name="slow", scope="module")
def capture_slow(pipe):
    return capture_of(pipe, "slow")


@pytest.fixture(name="well", scope="module")
def capture_well(pipe):
    return capture_of(pipe, "well")


def call(pipe, tools, tool, **more):
    return check_answer(tool, pipe.call(tool, **more), tools, more.get("detail"))


# The list.


def test_the_list(pipe, folder):
    listed = pipe.ask("tools/list")
    assert sorted(tool["name"] for tool in listed["tools"]) == sorted(READ_ONLY)
    assert len(json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode()) <= 12 << 10
    assert (listed["ttlMs"], listed["cacheScope"]) == (3600000, "public")
    with Pipe(folder) as other:
        assert json.dumps(other.ask("tools/list")) == json.dumps(listed) == json.dumps(pipe.ask("tools/list"))
    for tool in listed["tools"]:
        assert 0 < len(tool["description"]) <= 300
        assert tool["title"]
        hints = tool["annotations"]
        assert hints["readOnlyHint"] is True and hints["openWorldHint"] is False
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            check_schema(schema)
        known = tool["inputSchema"].get("properties", {})
        named = set(arguments.most("c", "c", "j")[tool["name"]]) | set(arguments.least("c", "c")[tool["name"]]) | {"cursor"}
        named |= {"query_table": {"path"}, "why_slow": {"capture"}}.get(tool["name"], set())
        assert set(known) <= named | set(arguments.ROWS), "a new argument: arguments.py has to know it"
        for name, schema in known.items():
            assert schema.get("description"), (tool["name"], name)


def test_capture_is_listed_where_it_is_allowed(folder):
    with Pipe("--socket", folder / "no-such.sock", "--allow-capture") as pipe:
        hints = pipe.tools()["capture"]["annotations"]
        assert (hints["readOnlyHint"], hints["destructiveHint"], hints["idempotentHint"]) == (False, False, False)
    with Pipe("--socket", folder / "no-such.sock") as pipe:
        assert "capture" not in pipe.tools()
        assert "isError" in pipe.call("overview")  # of the agent, which is not there


def check_schema(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    text = json.dumps(schema)
    assert "$ref" not in text and "$dynamicRef" not in text and "http" not in text.replace("https://json-schema.org/", "")
    assert schema["type"] == "object" and schema["additionalProperties"] is False

    def depth(one):
        inner = [*one.get("properties", {}).values(), *([one["items"]] if "items" in one else []), *one.get("anyOf", []), *one.get("oneOf", [])]
        return 1 + max(map(depth, inner), default=0)

    assert depth(schema) <= 4
    for one in schema.get("properties", {}).values():
        if one.get("type") == "object" and "properties" in one:
            assert one["additionalProperties"] is False


# What all answer.


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
@pytest.mark.parametrize("tool", arguments.OF_FOLDERS)
@pytest.mark.parametrize("how", ["least", "most"])
def test_answers(folder, slow, well, revision, tool, how):
    with Pipe(folder, revision=revision) as pipe:
        tools = pipe.tools()
        words = arguments.least(slow, well)[tool] if how == "least" else arguments.known_to(tools[tool], arguments.most(slow, well, "slow")[tool])
        content = call(pipe, tools, tool, **words)
        assert content["rows"]
        result = pipe.call(tool, **words)
        assert ("resultType" in result) == (revision == MODERN)
        assert result["structuredContent"] == content  # the same, asked twice


@pytest.mark.parametrize("tool", arguments.OF_FOLDERS)
def test_sentences_cite(pipe, tools, slow, well, tool):
    content = call(pipe, tools, tool, **arguments.least(slow, well)[tool])
    check_citations(content)


@pytest.mark.parametrize("how", ["least", "most"])
@pytest.mark.parametrize("tool", arguments.OF_AGENTS)
def test_without_an_agent(pipe, tools, slow, well, tool, how):
    words = arguments.least(slow, well)[tool] if how == "least" else arguments.known_to(tools[tool], arguments.most(slow, well, "slow")[tool])
    assert "agent" in check_error(pipe.call(tool, **words))


@pytest.mark.parametrize("tool,words,names", WRONG, ids=lambda value: json.dumps(value)[:70])
def test_arguments_that_are_wrong(pipe, slow, tool, words, names):
    sentence = check_error(pipe.call(tool, **{name: slow if value == "?" else value for name, value in words.items()}))
    assert names in sentence, sentence


def test_an_unknown_job_is_answered_with_those_that_there_are(pipe):
    sentence = check_error(pipe.call("why_slow", job="4712"))
    assert "4712" in sentence and "slow" in sentence and "well" in sentence


def test_missing_arguments_are_none(pipe):
    """`arguments` may be left out."""
    assert not pipe.ask("tools/call", name="overview").get("isError")


# What each answers.


def test_overview(pipe, tools):
    content = call(pipe, tools, "overview")
    rows = {row["job"]: row for row in rows_of(content)}
    assert set(rows) == {"slow", "well"}
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,128}", row["capture"]) for row in rows.values())
    assert len({row["capture"] for row in rows.values()}) == 2


def test_why_slow(pipe, tools, folder, slow):
    content = call(pipe, tools, "why_slow", job="slow")
    document = tables(json.loads(run("analyze", folder / "slow", "--table", "findings", "--format", "json").stdout))["findings"]
    assert [column["name"] for column in content["columns"]] == list(document[0])
    rows = rows_of(content)
    assert len(rows) == len(document) and rows[0]["mechanism"] == "slow_device" and rows[0]["ranks"] == str(SLOW_RANK)
    assert str(SLOW_RANK) in content["answer"]
    assert call(pipe, tools, "why_slow", capture=slow)["rows"] == content["rows"]


def test_why_slow_of_a_healthy_job(pipe, tools):
    content = call(pipe, tools, "why_slow", job="well")
    assert not [row for row in rows_of(content) if row["kind"] == "fault"]
    assert not re.search(r"\brank \d", content["answer"])


# table, query, and the same of the command's rows
QUERIES = [
    ({}, lambda rows: rows), ({"where": "rank=2"}, lambda rows: [row for row in rows if row["rank"] == 2]),
    ({"where": "rank=0-1,3"}, lambda rows: [row for row in rows if row["rank"] in (0, 1, 3)]),
    ({"where": "rank!=0 and sum_ns>1000000"}, lambda rows: [row for row in rows if row["rank"] != 0 and row["sum_ns"] > 1_000_000]),
    ({"where": "rank<=1 and sum_ns<3000000"}, lambda rows: [row for row in rows if row["rank"] <= 1 and row["sum_ns"] < 3_000_000]),
    ({"where": "rank>=3 and count<50"}, lambda rows: [row for row in rows if row["rank"] >= 3 and row["count"] < 50]),
    ({"where": "name=*gemm*"}, lambda rows: [row for row in rows if "gemm" in row["name"]]),
    ({"where": "name!=*gemm* and rank=1"}, lambda rows: [row for row in rows if "gemm" not in row["name"] and row["rank"] == 1]),
    ({"where": "kind=comput?"}, lambda rows: [row for row in rows if row["kind"] == "compute"]),
    ({"where": "rank=77"}, lambda rows: []),
    ({"sort": "-sum_ns"}, lambda rows: sorted(rows, key=lambda row: -row["sum_ns"])),
    ({"sort": "count", "where": "rank=0"}, lambda rows: sorted((row for row in rows if row["rank"] == 0), key=lambda row: row["count"])),
    ({"sort": "-name"}, lambda rows: sorted(rows, key=lambda row: row["name"], reverse=True))]


@pytest.mark.parametrize("query,expected", QUERIES, ids=lambda value: json.dumps(value) if isinstance(value, dict) else "")
def test_rows_that_are_wanted(pipe, tools, folder, slow, query, expected):
    rows = tables(json.loads(run("analyze", folder / "slow", "--table", "kernel_breakdown", "--top", "0", "--format", "json").stdout))["kernel_breakdown"]
    content = call(pipe, tools, "query_table", capture=slow, table="kernel_breakdown", limit=200, detail="more", **query)
    wanted = expected(rows)
    found = rows_of(content)
    assert content["total_rows"] == len(wanted) and content["left_out"] == len(wanted) - len(found)
    assert len(found) == min(len(wanted), 200) or len(json.dumps(content)) > 20_000
    assert [row_key(row) for row in found] == [row_key(row) for row in wanted[:len(found)]]
    assert wanted or rows  # what matches no row is no error


def row_key(row):
    return (row["rank"], row["sum_ns"], row["name"][:100])


def test_columns_that_are_wanted(pipe, tools, slow):
    for columns in ("rank,sum_ns", ["rank", "sum_ns"]):
        content = call(pipe, tools, "query_table", capture=slow, table="kernel_breakdown", columns=columns)
        assert [column["name"] for column in content["columns"]] == ["rank", "sum_ns"]
        assert [column["unit"] for column in content["columns"]] == ["none", "ns"]


def test_twenty_rows_unless_told_otherwise(pipe, tools, slow):
    content = call(pipe, tools, "query_table", capture=slow, table="operators")
    assert len(content["rows"]) == 20 and content["left_out"] == content["total_rows"] - 20 > 0
    assert len(call(pipe, tools, "query_table", capture=slow, table="operators", limit=3)["rows"]) == 3


def test_rows_beyond_those_that_an_analysis_lists(pipe, tools, folder, slow):
    """What takes little time is there as well."""
    listed = tables(json.loads(run("analyze", folder / "slow", "--table", "operators", "--format", "json").stdout))["operators"]
    rows = tables(json.loads(run("analyze", folder / "slow", "--table", "operators", "--top", "0", "--format", "json").stdout))["operators"]
    hidden = sorted({row["name"] for row in rows} - {row["name"] for row in listed})
    assert hidden
    for _ in range(2):  # the second time from memory
        content = call(pipe, tools, "query_table", capture=slow, table="operators", where=f"name={hidden[0]}", limit=200)
        assert [row["rank"] for row in rows_of(content)] == [row["rank"] for row in rows if row["name"] == hidden[0]] != []
    assert " --top 0 " in content["sources"][0]["command"]
    assert call(pipe, tools, "query_table", capture=slow, table="operators")["total_rows"] == len(rows)
    assert "--top" not in call(pipe, tools, "query_table", capture=slow, table="steps")["sources"][0]["command"]


def test_all_rows_by_cursors(pipe, tools, folder, slow):
    rows = tables(json.loads(run("analyze", folder / "slow", "--table", "kernel_breakdown", "--top", "0", "--format", "json").stdout))["kernel_breakdown"]
    found, more = [], {}
    while True:
        content = call(pipe, tools, "query_table", capture=slow, table="kernel_breakdown", columns=["rank", "sum_ns", "name"], **more)
        found += rows_of(content)
        assert content["total_rows"] == len(rows)
        if "next_cursor" not in content:
            break
        more = {"cursor": content["next_cursor"]}
    assert [row_key(row) for row in found] == [row_key(row) for row in rows]


def test_cursors_of_others(pipe, tools, slow, well):
    cursor = call(pipe, tools, "query_table", capture=slow, table="operators")["next_cursor"]
    assert re.fullmatch(r"[A-Za-z0-9_=-]+", cursor)
    for words in ({"capture": well, "table": "operators"}, {"capture": slow, "table": "kernel_breakdown"}, {"capture": slow, "table": "operators", "where": "rank=1"}):
        assert "cursor" in check_error(pipe.call("query_table", cursor=cursor, **words))
    for place in (0, len(cursor) // 2, len(cursor) - 2):
        changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1:]
        assert "cursor" in check_error(pipe.call("query_table", capture=slow, table="operators", cursor=changed))


def test_a_cursor_of_data_that_changed(tmp_path):
    def simulate(seed):
        assert run("simulate", "-o", tmp_path / "job", "--ranks", 2, "--steps", 3, "--layers", 3, "--seed", seed, "--force").returncode == 0

    simulate(1)
    with Pipe(tmp_path) as pipe:
        capture = capture_of(pipe, "job")
        cursor = pipe.call("query_table", capture=capture, table="operators")["structuredContent"]["next_cursor"]
        simulate(2)
        sentence = check_error(pipe.call("query_table", capture=capture_of(pipe, "job"), table="operators", cursor=cursor))
        assert "changed" in sentence and "anew" in sentence


@pytest.mark.whole
def test_every_table(pipe, tools, slow):
    """Of all that `spotter analyses` lists; some have nothing to say of such a job, and say why."""
    names = re.findall(r"^  ([a-z_]+) ", run("analyses").stdout, re.MULTILINE)
    assert len(names) > 30
    answered = 0
    for name in names:
        result = pipe.call("query_table", capture=slow, table=name)
        if result.get("isError"):
            check_error(result)
        else:
            check_answer("query_table", result, tools)
            answered += 1
    assert answered > 25


@pytest.mark.parametrize("what", [None, "operators", "kernels", "steps"])
def test_compare(pipe, tools, slow, well, what):
    content = call(pipe, tools, "compare", before=well, after=slow, **({"what": what} if what else {}))
    assert content["rows"]
    same = call(pipe, tools, "compare", before=well, after=well, **({"what": what} if what else {}))
    assert not re.search(r"\brank \d", same["answer"])


def test_describe(pipe, tools):
    names = re.findall(r"^  ([a-z_]+) ", run("analyses").stdout, re.MULTILINE)
    content = call(pipe, tools, "describe", name="stragglers")
    assert content["rows"] and "stragglers" in names
    said = json.dumps(content)
    assert "caused_wait_ns" in said
    for metric in ("cpu_user_ns", "gpu_power_w"):
        result = pipe.call("describe", name=metric)
        if not result.get("isError"):
            check_answer("describe", result, tools)


def test_paths(pipe, tools, folder, slow):
    content = call(pipe, tools, "query_table", path=str(folder / "slow"), table="steps")
    assert content["rows"] == call(pipe, tools, "query_table", capture=slow, table="steps")["rows"]


# Resources and prompts.


def test_resources(pipe, slow):
    listed = pipe.ask("resources/list")["resources"]
    assert listed and all(one["uri"].startswith("spotter://") and one["name"] for one in listed)
    for one in listed[:5]:
        [content] = pipe.ask("resources/read", uri=one["uri"])["contents"]
        assert content["uri"] == one["uri"] and content["mimeType"] in ("application/json", "text/markdown")
        assert 0 < len(content["text"].encode()) <= 32 << 10 and not answers.UNSEEN.search(content["text"])
        if content["mimeType"] == "application/json":
            json.loads(content["text"])
    templates = {one["uriTemplate"] for one in pipe.ask("resources/templates/list")["resourceTemplates"]}
    assert templates == {"spotter://incidents/{id}", "spotter://captures/{id}", "spotter://analyses/{name}", "spotter://rules/{name}"}
    result = pipe.ask("resources/read", uri="spotter://analyses/stragglers")
    assert (result["ttlMs"], result["cacheScope"]) == (3600000, "public")
    assert "caused_wait_ns" in result["contents"][0]["text"]
    result = pipe.ask("resources/read", uri=f"spotter://captures/{slow}")
    assert result["cacheScope"] == "private"
    assert pipe.ask("resources/list")["cacheScope"] == "private"  # it names jobs


def test_prompts(pipe):
    listed = {prompt["name"]: prompt for prompt in pipe.ask("prompts/list")["prompts"]}
    assert set(listed) == {"investigate_job", "explain_incident"}
    for name, argument in (("investigate_job", "job"), ("explain_incident", "id")):
        assert listed[name]["description"]
        assert [(one["name"], one["required"]) for one in listed[name]["arguments"]] == [(argument, True)]
        prompt = pipe.ask("prompts/get", name=name, arguments={argument: "4711"})
        [message] = prompt["messages"]
        assert message["role"] == "user" and "4711" in message["content"]["text"] and prompt["description"]
        assert "overview" in message["content"]["text"] or "why_slow" in message["content"]["text"] or "get_incident" in message["content"]["text"]
        assert "source" in message["content"]["text"]


def test_configurations_that_are_printed(folder):
    """For each client that the help names, one that can be pasted: JSON with this program and mcp."""
    clients = re.findall(r"[a-z][a-z-]+", re.search(r"--print-config\b(.*?)(?=\n  -|\n\n)", run("mcp", "--help").stdout, re.DOTALL)[1])
    done = run("mcp", "--print-config", "no-such-client")
    assert done.returncode != 0 and done.stdout == ""
    known = [client for client in re.findall(r"[a-z][a-z-]+", done.stderr) if run("mcp", "--print-config", client).returncode == 0]
    assert known and set(known) & set(clients), (known, clients)
    for client in known:
        for words in ([], [folder], ["--socket", "/run/x.sock", "--allow-capture"]):
            printed = run("mcp", *words, "--print-config", client)
            assert printed.returncode == 0, printed
            assert "mcp" in printed.stdout and program().name in printed.stdout
            assert all(str(word) in printed.stdout for word in words), printed.stdout

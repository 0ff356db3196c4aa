"""Lines in and lines out of `spotter mcp`: every message of both eras, and what is none."""

import json

import pytest

import schemas
from agent import run
from asking import INITIALIZED, LEGACY, MODERN, PREFIX, exchange, initialize, legacy, meta, modern, told

OPENED = [initialize(), INITIALIZED]
OLD = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
CAPABILITIES = {"tools": {}, "resources": {}, "prompts": {}}
# With what a modern answer says of how long it may be kept, and for whom.
LISTS = {"tools/list": (3600000, "public"), "resources/list": (None, "private"), "resources/templates/list": (3600000, "public"), "prompts/list": (3600000, "public")}
METHODS = list(LISTS)
REMOVED = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen",
           "completion/complete", "tasks/list", "roots/list", "sampling/createMessage", "no/such"]


def by_id(messages):
    """Answers come in any order."""
    found = {}
    for message in messages:
        assert isinstance(message, dict), message
        key = json.dumps(message.get("id", "absent"))
        assert key not in found, f"two answers for {key}"
        found[key] = message
    return found


def ask(folder, *lines):
    return by_id(exchange(lines, folder))


def one(folder, *lines, id=1):
    """The answer with this id."""
    return ask(folder, *lines)[json.dumps(id)]


def code(answer):
    return answer["error"]["code"]


# Both eras.


def test_discover(folder):
    result = one(folder, modern("server/discover"))["result"]
    version = run("--version").stdout.split()[-1]
    assert result["resultType"] == "complete"
    assert result["supportedVersions"][0] == MODERN and set(result["supportedVersions"]) >= {MODERN, "2025-11-25", "2025-06-18"}
    assert result["capabilities"] == CAPABILITIES
    assert (result["ttlMs"], result["cacheScope"]) == (3600000, "public")
    server = result["_meta"][PREFIX + "serverInfo"]
    assert (server["name"], server["version"]) == ("spotter", version)
    assert "data" in result["instructions"] and "instruction" in result["instructions"]  # what cells are, and are not
    schemas.check(MODERN, {"jsonrpc": "2.0", "id": 1, "result": result}, "server/discover")


@pytest.mark.parametrize("version", OLD)
def test_initialize(folder, version):
    answers = ask(folder, initialize(version), INITIALIZED, legacy("ping", "p"), legacy("tools/list", 7))
    result = answers["0"]["result"]
    assert set(result) == {"protocolVersion", "capabilities", "serverInfo", "instructions"}
    assert (result["protocolVersion"], result["capabilities"]) == (version, CAPABILITIES)
    assert result["serverInfo"]["name"] == "spotter"
    assert answers['"p"']["result"] == {}
    assert "resultType" not in answers["7"]["result"] and "ttlMs" not in answers["7"]["result"]
    for message, method in ((answers["0"], "initialize"), (answers["7"], "tools/list")):
        schemas.check(version, message, method)


@pytest.mark.parametrize("version", ["2099-01-01", "1.0", "", MODERN])
def test_another_version_is_answered_with_ours(folder, version):
    assert one(folder, initialize(version), id=0)["result"]["protocolVersion"] == LEGACY


@pytest.mark.parametrize("params", [{"capabilities": {}}, {"protocolVersion": 1, "capabilities": {}}])
def test_initialize_without_a_version(folder, params):
    assert code(one(folder, legacy("initialize", **params))) == -32602


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("era", [modern, legacy])
def test_lists(folder, method, era):
    result = one(folder, *OPENED, era(method))["result"]
    assert [value for value in result.values() if isinstance(value, list) and value], result
    if era is modern:
        kept, scope = LISTS[method]
        assert (result["resultType"], result["cacheScope"]) == ("complete", scope) and result["ttlMs"] >= 0
        assert kept is None or result["ttlMs"] == kept
        assert result["_meta"][PREFIX + "serverInfo"]["name"] == "spotter"
    schemas.check(MODERN if era is modern else LEGACY, {"jsonrpc": "2.0", "id": 1, "result": result}, method)


def test_both_eras_on_one_pipe(folder):
    answers = ask(folder, modern("tools/list", 1), legacy("ping", 2), initialize(id=3), modern("server/discover", 4), INITIALIZED,
                  legacy("tools/list", 5), modern("tools/call", 6, name="overview", arguments={}),
                  legacy("tools/call", 7, name="overview", arguments={}), modern("tools/list", 8))
    assert set(answers) == set("12345678")
    assert all("result" in answer for answer in answers.values()), answers
    modern_ones = {key for key, answer in answers.items() if "resultType" in answer["result"]}
    assert modern_ones == set("1468")
    assert answers["1"]["result"] == answers["8"]["result"]
    assert answers["6"]["result"]["structuredContent"] == answers["7"]["result"]["structuredContent"]


@pytest.mark.parametrize("method", REMOVED)
def test_methods_that_there_are_not(folder, method):
    assert code(one(folder, modern(method))) == -32601
    if method not in ("initialize", "ping"):
        assert code(one(folder, *OPENED, legacy(method))) == -32601


def test_legacy_requests_before_initialize(folder):
    answers = ask(folder, *(legacy(method, number) for number, method in enumerate(METHODS)), legacy("ping", 9))
    for number in range(len(METHODS)):
        assert code(answers[str(number)]) == -32600 and "initialize" in answers[str(number)]["error"]["message"]
    assert answers["9"]["result"] == {}


# What modern requests must say about themselves.


@pytest.mark.parametrize("version", ["2025-11-25", "2099-01-01", "", "2026-07-29"])
@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call"])
def test_versions_that_are_not_spoken(folder, version, method):
    error = one(folder, modern(method, version=version, name="overview"))["error"]
    assert error["code"] == -32022
    assert MODERN in error["data"]["supported"] and error["data"]["requested"] == version
    schemas.check(MODERN, {"jsonrpc": "2.0", "id": 1, "error": error})


@pytest.mark.parametrize("what", [{}, {PREFIX + "clientCapabilities": None}, {PREFIX + "clientCapabilities": []}, {PREFIX + "clientCapabilities": "{}"}])
@pytest.mark.parametrize("method", ["server/discover", "tools/list"])
def test_capabilities_that_are_missing(folder, what, method):
    said = {PREFIX + "protocolVersion": MODERN} | what
    assert code(one(folder, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": said}})) == -32602


def test_a_version_that_is_no_text(folder):
    said = meta() | {PREFIX + "protocolVersion": 20260728}
    assert code(one(folder, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": said}})) in (-32602, -32022)


def test_who_asks_need_not_say_his_name(folder):
    said = meta()
    del said[PREFIX + "clientInfo"]
    assert "result" in one(folder, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": said}})


def test_what_is_not_known_is_ignored(folder):
    more = modern("tools/list", x=[1, {"y": None}])
    more["extra"] = "?"
    more["params"]["_meta"] |= {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", PREFIX + "logLevel": "debug", "vendor/x": 1}
    assert one(folder, more)["result"] == one(folder, modern("tools/list"))["result"]


# Ids and notifications.


@pytest.mark.parametrize("id", [0, -1, "", "x" * 10_000, 2**53 - 1, "1", "\u2028\u0085 \U0001f600", 10**17])
@pytest.mark.parametrize("era", [modern, legacy])
def test_ids(folder, id, era):
    answers = exchange([initialize(id="first"), INITIALIZED, era("tools/list", id)], folder)
    answer = next(answer for answer in answers if answer["id"] != "first")
    assert answer["id"] == id and type(answer["id"]) is type(id) and "result" in answer


@pytest.mark.parametrize("id", [None, 1.5, True, [], {}])
@pytest.mark.parametrize("era", [modern, legacy])
def test_ids_that_are_none(folder, id, era):
    answers = exchange([initialize(id="first"), era("tools/list", id), era("tools/list", "last")], folder)
    rest = [answer for answer in answers if answer.get("id") not in ("first", "last")]
    assert len(answers) == 3 and [code(answer) for answer in rest] == [-32600]
    assert rest[0].get("id") is None


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/no-such", "tools/list", "ping", "no/such"])
def test_notifications_get_nothing(folder, method):
    modern_one = modern(method)
    del modern_one["id"]
    answers = ask(folder, initialize(), told(method), told(method, requestId=99), modern_one, modern("server/discover", "last"))
    assert set(answers) == {"0", '"last"'}


# Batches, which one revision has.


def test_batches(folder):
    batch = [legacy("tools/list", 1), told("notifications/no-such"), legacy("ping", 2), legacy("no/such", 3), 5]
    answers = exchange([initialize("2025-03-26"), INITIALIZED, json.dumps(batch).encode() + b"\n", json.dumps([INITIALIZED]).encode() + b"\n",
                        b"[]\n", legacy("ping", "last")], folder)
    arrays = [answer for answer in answers if isinstance(answer, list)]
    single = by_id([answer for answer in answers if isinstance(answer, dict)])
    assert len(arrays) == 1
    found = by_id(arrays[0])
    assert len(found["1"]["result"]["tools"]) > 1 and found["2"]["result"] == {} and code(found["3"]) == -32601
    assert len(arrays[0]) == 4 and [code(answer) for key, answer in found.items() if key not in "123"] == [-32600]
    assert single.keys() - {"null", '"absent"'} == {"0", '"last"'}
    assert [code(answer) for key, answer in single.items() if key in ("null", '"absent"')] == [-32600]  # the empty array


@pytest.mark.parametrize("version", [None, *(version for version in OLD if version != "2025-03-26")])
def test_no_other_revision_has_batches(folder, version):
    before = [initialize(version)] if version else []
    answers = exchange([*before, json.dumps([legacy("ping", 1), modern("tools/list", 2)]).encode() + b"\n", modern("server/discover", "last")], folder)
    assert len(answers) == len(before) + 2
    assert [code(answer) for answer in answers if answer.get("id") not in (0, "last")] == [-32600]


# What is no request.


@pytest.mark.parametrize("line", [b"{}", b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"1.0","id":1,"method":"ping"}', b'{"id":1,"method":"ping"}',
                                  b'{"jsonrpc":2.0,"id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":5}', b"5", b'"ping"', b"null", b"true"])
def test_no_requests(folder, line):
    answers = exchange([initialize(), line + b"\n", modern("server/discover", "last")], folder)
    assert [code(answer) for answer in answers if answer.get("id") not in (0, "last")] == [-32600]
    assert len(answers) == 3


@pytest.mark.parametrize("line", [b"{", b"{]", b"ping", b'{"jsonrpc":"2.0","id":1,"method":"ping"', b'{"jsonrpc":"2.0","id":1,"method":"ping"}}',
                                  b"{'jsonrpc':'2.0'}", b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', b"\xff\xfe{}", b'{"jsonrpc":"2.0","id":"\xc3\x28","method":"ping"}',
                                  b'{"jsonrpc":"2.0","id":"\xed\xa0\x80","method":"ping"}', b'{"jsonrpc":"2.0","id":"a\x00b","method":"ping"}', b"\x00", b"[" * 10_000,
                                  b'{"a":' * 10_000, b"[" * 10_000 + b"]" * 10_000], ids=lambda line: repr(line[:40]))
def test_no_json(folder, line):
    answers = exchange([line + b"\n", modern("server/discover", "last")], folder)
    rest = [answer for answer in answers if answer.get("id") != "last"]
    assert [code(answer) for answer in rest] == [-32700] and len(answers) == 2
    assert "id" not in rest[0]
    answers = exchange([initialize(), line + b"\n", legacy("ping", "last")], folder)
    rest = [answer for answer in answers if answer.get("id", 0) is None]
    assert [code(answer) for answer in rest] == [-32700] and len(answers) == 3


def test_nesting_within_params(folder):
    deep = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":' + b"[" * 10_000 + b"]" * 10_000 + b',"_meta":' + json.dumps(meta()).encode() + b"}}\n"
    answers = exchange([deep, modern("server/discover", "last")], folder)
    assert [code(answer) for answer in answers if answer.get("id") != "last"] == [-32700]


def test_duplicate_keys(folder):
    line = b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/list","params":{"_meta":' + json.dumps(meta()).encode() + b'},"jsonrpc":"2.0"}\n'
    answers = exchange([line, modern("server/discover", "last")], folder)
    assert len(answers) == 2


@pytest.mark.parametrize("end", [b"\r\n", b" \n", b"\t\r\n"])
def test_white_space_around_a_message(folder, end):
    answers = ask(folder, b"  " + json.dumps(modern("tools/list")).encode() + end)
    assert "result" in answers["1"]


MOST_LINE = 1 << 20


def padded(length, id=1):
    """A request whose line has so many bytes, without the newline."""
    request = modern("tools/list", id, pad="")
    request["params"]["pad"] = "x" * (length - len(json.dumps(request)))
    line = json.dumps(request).encode()
    assert len(line) == length
    return line


def test_long_lines(folder):
    answers = ask(folder, padded(MOST_LINE - 1) + b"\n", modern("tools/list", 2))
    assert answers["1"]["result"] == answers["2"]["result"]
    for length in (MOST_LINE + 1, 5 * MOST_LINE):
        answers = exchange([padded(length) + b"\n", modern("server/discover", "last")], folder)
        assert [code(answer) for answer in answers if answer.get("id") != "last"] == [-32700] and len(answers) == 2
        assert all("id" not in answer for answer in answers if "error" in answer)


def test_a_long_line_that_does_not_end(folder):
    answers = exchange([modern("server/discover", 1), b"x" * (3 * MOST_LINE)], folder)
    assert [code(answer) for answer in answers if answer.get("id") != 1] in ([], [-32700])
    assert any(answer.get("id") == 1 for answer in answers)


# Params that are wrong, beside what tools are called with.


@pytest.mark.parametrize("method,params", [
    ("tools/call", {}), ("tools/call", {"name": 5}), ("tools/call", {"name": ""}), ("tools/call", {"name": "no_such"}), ("tools/call", {"name": "Overview"}),
    ("tools/call", {"name": "overview", "arguments": []}), ("tools/call", {"name": "overview", "arguments": "x"}),
    ("tools/list", {"cursor": "no such cursor"}), ("tools/list", {"cursor": 5}), ("resources/list", {"cursor": "AAAA"}), ("prompts/list", {"cursor": ""}),
    ("resources/templates/list", {"cursor": "x"}), ("resources/read", {}), ("resources/read", {"uri": 5}),
    ("prompts/get", {}), ("prompts/get", {"name": "no_such"}), ("prompts/get", {"name": "investigate_job"}), ("prompts/get", {"name": "investigate_job", "arguments": []}),
    ("prompts/get", {"name": "explain_incident", "arguments": {"id": 5}})], ids=lambda value: str(value)[:50])
@pytest.mark.parametrize("era", [modern, legacy])
def test_params_that_are_wrong(folder, method, params, era):
    assert code(one(folder, *OPENED, era(method, **params))) == -32602


@pytest.mark.parametrize("params", [[], [1], "x", 5, True])
def test_params_that_are_no_object(folder, params):
    answer = one(folder, *OPENED, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})
    assert code(answer) in (-32602, -32600)


@pytest.mark.parametrize("uri", ["spotter://incidents/no-such", "spotter://captures/no-such", "spotter://analyses/no_such", "spotter://rules/no-such", "spotter://",
                                 "spotter://incidents/", "spotter://incidents/../../etc/passwd", "spotter://captures/%2e%2e%2fslow", "file:///etc/passwd",
                                 "http://127.0.0.1/", "spotter://no/such", "spotter://analyses/" + "x" * 200, "spotter://incidents/a b"])
@pytest.mark.parametrize("era", [modern, legacy])
def test_resources_that_there_are_not(folder, uri, era):
    error = one(folder, *OPENED, era("resources/read", uri=uri))["error"]
    assert error["code"] == -32602 or (era is legacy and error["code"] == -32002)
    assert error["data"] == {"uri": uri}


def test_no_codes_of_our_own(folder):
    """In the range that the specification keeps."""
    answers = exchange([modern("no/such", 1), modern("tools/call", 2), modern("tools/list", 3, "x"), b"{\n", b"[]\n"], folder)
    assert all(code(answer) in (-32700, -32600, -32601, -32602, -32022) for answer in answers)
    assert all(isinstance(answer["error"]["message"], str) and answer["error"]["message"] for answer in answers)

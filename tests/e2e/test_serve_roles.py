"""The roles of `spotter serve`: whoever has the token of --view-token-file sees everything and changes nothing."""

import contextlib
import http.client
import json
import pathlib
import re
import ssl
import urllib.parse

import pytest

from agent import Agent, run, tables, until
from simulated_job import simulate
from test_serve import DEADLINE, Serve

SOURCE = pathlib.Path(__file__).parents[2] / "src"
VIEW, ADMIN = "a-token-of-viewers", "a-token-of-admins"
SAID = "the role view"  # of each refusal
RANKS = 2

# What reads although it is asked by POST, and how it is asked. All else that is not GET is refused.
READS = {
    "/mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "/v1/hosts/findings": {"captures": {"nowhere": "a"}},
    "/v1/hosts/{}/captures/{}/analyze": {"analyses": ["summary"]},
}

PARAMETERS = {"/v1/catalogue": "?table=series", "/v1/captures/{id}/file": "?pid=1&from=0"}  # that routes of agents need

# How each route of the server itself is asked.
ASKED = {
    "/v1/jobs": "/v1/jobs", "/v1/jobs/{}": "/v1/jobs/{job}", "/v1/jobs/{}/tables/{}": "/v1/jobs/{job}/tables/summary",
    "/v1/jobs/{}/spans": "/v1/jobs/{job}/spans?rank=0", "/v1/jobs/{}/events/{}/{}": "/v1/jobs/{job}/events/0/1",
    "/v1/jobs/{}/search": "/v1/jobs/{job}/search?q=gemm", "/v1/jobs/{}/export": "/v1/jobs/{job}/export",
    "/v1/jobs/{}/report": "/v1/jobs/{job}/report", "/v1/diff": "/v1/diff?before={job}&after={job}", "/v1/analyses": "/v1/analyses",
}


def list_in(file, name):
    """The text of an array in a source file."""
    return re.search(rf"{name}\[\] = {{\n(.*?)\n}};", (SOURCE / file).read_text(), re.S)[1]


def routes_of_agents():
    """[(method, path), ...] of what is below /v1 at an agent, all that `serve` passes on."""
    text = list_in("api/routes.cc", "kRoutes")
    found = re.findall(r'{"([A-Z]+)", ("[^"]+"|mcp::Endpoint::kPath),\s*agent::AccessRole::\w+', text)
    assert len(found) == text.count("agent::AccessRole::") > 20, "each route is read"
    return [(method, path.strip('"')) for method, path in found if path.startswith('"/v1/')]


CHANGES = [route for route in routes_of_agents() if route[0] not in ("GET", "HEAD") and route[1] != "/v1/captures/{id}/analyze"]


def secret(path, text, mode=0o600):
    path.write_text(text + "\n")
    path.chmod(mode)
    return path


class Both(Serve):
    """A server with both tokens."""

    def __init__(self, folder, *words):
        self.view_file, self.file = secret(folder / "view", VIEW), secret(folder / "admin", ADMIN)
        super().__init__(*words, "--token-file", self.file, "--view-token-file", self.view_file)
        self.second_line = self.process.stdout.readline()

    def status(self, bearer, path, method="GET", body=None):
        """(status, what the body says in words)"""
        got, _, said = self.ask(path, method, token=False, body=None if body is None else json.dumps(body),
                                headers={"Authorization": f"Bearer {bearer}"} | ({"Content-Type": "application/json"} if body is not None else {}))
        return got, said.decode(errors="replace")

    def document(self, bearer, path, method="GET", body=None):
        status, said = self.status(bearer, path, method, body)
        assert status == 200, said
        return json.loads(said)

    def only_host(self, bearer):
        """The only one, once it has answered."""
        return until(lambda: (rows := tables(self.document(bearer, "/v1/hosts"))["hosts"])[0]["state"] == "up" and rows[0], 10, "the agent has answered")


@pytest.fixture(scope="module", name="runs")
def simulated(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("runs") / "job", RANKS, 1)


@pytest.fixture(scope="module", name="agent")
def an_agent_with_ranks(runs):
    with Agent("--collect", "load") as agent, contextlib.ExitStack() as ranks:
        processes = [ranks.enter_context(agent.spawn("--traces", runs, RANK=rank, WORLD_SIZE=RANKS)) for rank in range(RANKS)]
        agent.wait_for_processes([process.pid for process in processes])
        yield agent


@pytest.fixture(scope="module", name="server")
def server_with_both(runs, agent, tmp_path_factory):
    with Both(tmp_path_factory.mktemp("tokens"), runs, "--socket", agent.api_socket) as server:
        yield server


def assert_refused(got):
    status, said = got
    assert status == 403, said
    error = json.loads(said)["error"]
    assert error["code"] == "denied" and SAID in error["message"] and "first address" in error["message"], error


def test_the_lines_that_are_printed(server):
    assert server.token == ADMIN
    assert server.second_line == f"role view: {server.line.replace(ADMIN, VIEW)}"


def test_a_viewer_reads_what_the_server_says_itself(server):
    of_server = {path for path in re.findall(r'{"([^"]+)", \w+_route}', list_in("serve/routes.cc", "kRoutes")) if path.startswith("/v1/")}
    assert of_server == set(ASKED)
    [job] = tables(server.document(VIEW, "/v1/jobs"))["jobs"]
    for path in ASKED.values():
        path = path.format(job=job["id"])
        got = server.status(VIEW, path)
        assert got[0] == 200, (path, got[1][:300])
        assert server.status(ADMIN, path)[0] == 200


def test_a_viewer_reads_what_agents_say(server):
    prefix = "/" + server.only_host(VIEW)["prefix"]
    read = [path for method, path in routes_of_agents() if method == "GET"]
    assert "/v1/status" in read
    for path in read:
        path = prefix + path.removeprefix("/v1/").replace("{id}", "none") + PARAMETERS.get(path, "")
        viewer, admin = server.status(VIEW, path), server.status(ADMIN, path)
        assert viewer[0] == admin[0] in (200, 404), (path, viewer, admin)
        assert SAID not in viewer[1]
    for path in ("status", "processes", "captures", "metrics", "rules", "incidents", "silences", "changes"):
        assert server.status(VIEW, prefix + path)[0] == 200, path


def test_what_reads_by_post_is_allowed(server):
    listed = list_in("serve/routes.cc", "kReadByPost")
    assert set(re.findall(r'"([^"]+)"', listed)) | {"/mcp"} == set(READS)
    assert listed.count(",") == len(READS) and "kPath," in listed
    word = server.only_host(VIEW)["prefix"].split("/")[2]
    for path, body in READS.items():
        path = path.replace("{}", word, 1).replace("{}", "none")
        viewer, admin = server.status(VIEW, path, "POST", body), server.status(ADMIN, path, "POST", body)
        assert viewer == admin and viewer[0] in (200, 404), (path, viewer, admin)
        for method in ("PUT", "DELETE", "PATCH"):
            assert_refused(server.status(VIEW, path, method))


@pytest.mark.parametrize(("method", "path"), CHANGES, ids=[f"{method} {path}" for method, path in CHANGES])
def test_a_viewer_changes_nothing(server, method, path):
    path = "/" + server.only_host(VIEW)["prefix"] + path.removeprefix("/v1/").replace("{id}", "none")
    assert_refused(server.status(VIEW, path, method, {"pids": [1]}))
    status, said = server.status(ADMIN, path, method, {"pids": [1]})
    assert SAID not in said and status in (400, 404), "the agent is asked, and finds something wrong"


def test_methods_that_no_route_has(server):
    for path in (*ASKED, "/v1/hosts", "/v1/hosts/x/y", "/v1/nothing"):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            assert_refused(server.status(VIEW, path.replace("{}", "none"), method))
        assert server.status(ADMIN, path.replace("{}", "none"), "PUT")[0] in (404, 405)
    assert server.ask("/v1/jobs", "HEAD", token=False, headers={"Authorization": f"Bearer {VIEW}"})[0] == 405


def test_the_role_is_the_lower_of_both(server):
    assert (server.only_host(ADMIN)["role"], server.only_host(VIEW)["role"]) == ("admin", "view")
    assert server.document(VIEW, "/v1/hosts")["viewer"] is True
    assert "viewer" not in server.document(ADMIN, "/v1/hosts")


def test_a_capture_of_which_a_viewer_sees_all(server, agent):
    host = server.only_host(VIEW)
    captures = f"/{host['prefix']}captures"
    wish = {"output": str(agent.out_dir), "duration_ms": 100, "warmup_ms": 0}
    before = len(agent.table("/v1/captures", "captures"))
    assert_refused(server.status(VIEW, captures, "POST", wish))
    assert len(agent.table("/v1/captures", "captures")) == before, "no capture has begun"
    id = server.document(ADMIN, captures, "POST", wish)["capture"]
    one = f"{captures}/{urllib.parse.quote(id, safe='')}"
    assert_refused(server.status(VIEW, one, "DELETE"))
    rows = agent.wait_for_receipts(id, 30)
    assert [row["state"] for row in rows] == ["written"] * RANKS
    assert tables(server.document(VIEW, one))["receipts"] == rows
    status, said = server.status(VIEW, f"{one}/analyze", "POST", {"analyses": ["summary", "steps"]})
    assert status == 200 and "summary" in said, said[:300]
    found = server.document(VIEW, "/v1/hosts/findings", "POST", {"captures": {host["host"]: id}})
    assert tables(found)["findings"], found
    got, _, file = server.ask(f"{one}/file?pid={rows[0]['pid']}&from=0", token=False, headers={"Authorization": f"Bearer {VIEW}"})
    assert got == 200 and pathlib.Path(rows[0]["file"]).read_bytes().startswith(file) and file


def test_tokens_that_are_none(server):
    for bearer in ("", "nobody", VIEW[:-1], VIEW + "x", VIEW + ADMIN, VIEW.upper()):
        for path in ("/v1/jobs", "/v1/hosts", "/mcp"):
            assert server.status(bearer, path)[0] == 401, (bearer, path)
        assert server.status(bearer, "/v1/hosts/x/captures", "POST", {})[0] == 401
    assert server.ask("/v1/jobs", token=False)[0] == 401


def test_pages_of_other_sites_are_refused_also_with_the_token_of_viewers(server):
    for more in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}):
        assert server.ask("/v1/jobs", token=False, headers={"Authorization": f"Bearer {VIEW}"} | more)[0] == 403, more


def test_without_the_option_there_is_one_line_and_one_token(runs, tmp_path):
    with Serve(runs, "--token-file", secret(tmp_path / "admin", ADMIN)) as server:
        for bearer, status in ((ADMIN, 200), (VIEW, 401), ("", 401)):
            assert server.ask("/v1/jobs", token=False, headers={"Authorization": f"Bearer {bearer}"})[0] == status, bearer
        assert server.stop() == 0
        assert server.process.stdout.read() == ""


def test_beside_a_token_of_each_start(runs, tmp_path):
    with Serve(runs, "--view-token-file", secret(tmp_path / "view", VIEW), "--base-path", "/me") as server:
        assert re.fullmatch("[0-9a-f]{32}", server.token)
        assert server.process.stdout.readline() == f"role view: {server.line.replace(server.token, VIEW)}"
        said = {"Authorization": f"Bearer {VIEW}"}
        assert server.ask("/me/v1/jobs", token=False, headers=said)[0] == 200
        assert server.ask("/me/v1/jobs", "POST", token=False, headers=said)[0] == 403
        assert server.ask("/me/v1/jobs", "POST")[0] == 405


def test_both_tokens_have_to_differ(runs, tmp_path):
    refused = run("serve", runs, "--token-file", secret(tmp_path / "admin", ADMIN), "--view-token-file", secret(tmp_path / "view", ADMIN))
    assert refused.returncode == 1 and not refused.stdout
    assert "--view-token-file" in refused.stderr and "another one" in refused.stderr and ADMIN not in refused.stderr


@pytest.mark.parametrize(("text", "mode"), [(VIEW, 0o640), (VIEW, 0o604), ("too short", 0o600), ("not a token of letters", 0o600), (None, 0)])
def test_its_file_is_held_to_what_the_other_one_is(runs, tmp_path, text, mode):
    path = tmp_path / "file"
    if text is not None:
        secret(path, text, mode)
    said = [run("serve", runs, option, path) for option in ("--token-file", "--view-token-file")]
    assert said[0].stderr == said[1].stderr and str(path) in said[0].stderr
    assert [done.returncode for done in said] == [1, 1]


def test_tls_on_another_address(runs, tmp_path):
    made = run("agent", "--init-tls", tmp_path / "tls", "--tls-names", "localhost,127.0.0.1")
    assert made.returncode == 0, made.stderr
    own = tmp_path / "tls" / "agent"
    context = ssl.create_default_context(cafile=tmp_path / "tls" / "ca.pem")
    with Both(tmp_path, runs, "--address", "0.0.0.0", "--certificate", own / "agent.pem", "--key", own / "agent-key.pem") as server:
        assert server.line.startswith("https://") and server.second_line == f"role view: {server.line.replace(ADMIN, VIEW)}"
        for bearer, method, status in ((VIEW, "GET", 200), (VIEW, "POST", 403), (ADMIN, "GET", 200), (ADMIN, "POST", 405), ("x" * 16, "GET", 401)):
            connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=DEADLINE, context=context)
            with contextlib.closing(connection):
                connection.request(method, "/v1/jobs", headers={"Authorization": f"Bearer {bearer}"})
                assert connection.getresponse().status == status, (bearer, method)

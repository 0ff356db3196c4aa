"""`spotter serve`: jobs below a folder, their tables as the command prints them, and who may ask for them."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import zlib

import pytest

from agent import clean_environment, program, run, tables, until

LINE = re.compile(r"(https?)://([^/:]+|\[[^]]+\]):(\d+)(/[^#]*)#token=(\S+)\n")
DEADLINE = 20
COLUMNS, ARROW = "application/x-spotter-columns", "application/vnd.apache.arrow.stream"


class Serve:
    """A server of its own, and requests to it as they are."""

    def __init__(self, *words, log=None, **environment):
        more = {"DISPLAY": "", "WAYLAND_DISPLAY": ""} | environment
        self.process = subprocess.Popen([program(), "serve", *map(str, words)], stdout=subprocess.PIPE, text=True,
                                        stderr=log, env=clean_environment(**more))
        self.line = self.process.stdout.readline()
        match = LINE.fullmatch(self.line)
        assert match, self.line
        self.scheme, self.host, port, self.path, self.token = match.groups()
        self.port = int(port)

    def ask(self, path, method="GET", token=True, headers=None, body=None):
        """status, headers, body"""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=DEADLINE)
        with contextlib.closing(connection):
            bearer = {"Authorization": f"Bearer {self.token}"} if token else {}
            connection.request(method, path, body=body, headers=bearer | (headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def get(self, path, **more):
        status, _, body = self.ask(path, **more)
        assert status == 200, body
        return json.loads(body)

    def jobs(self):
        return {row["folder"]: row for row in tables(self.get("/v1/jobs"))["jobs"]}

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(DEADLINE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(name="runs", scope="module")
def simulated_runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for name, more in {"a": [], "b": ["--seed", 2]}.items():
        done = run("simulate", "-o", root / name, "--ranks", 2, "--layers", 2, "--steps", 3, *more)
        assert done.returncode == 0, done.stderr
    old = time.time() - 3600
    for path in root.rglob("*.json*"):
        os.utime(path, (old, old))
    return root


@pytest.fixture(name="server", scope="module")
def server_of_runs(runs):
    with Serve(runs) as server:
        yield server
        assert server.stop() == 0


@pytest.fixture(name="job", scope="module")
def job_a(server):
    return server.jobs()["a"]["id"]


def test_jobs(server, runs):
    jobs = server.jobs()
    assert list(jobs) == ["a", "b"]
    row = jobs["a"]
    files = list((runs / "a").glob("*.pt.trace.json*"))
    assert (row["ranks"], row["files"], row["state"]) == ("0-1", 2, "ready")
    assert row["bytes"] == sum(f.stat().st_size for f in files)
    assert re.fullmatch("[0-9a-f]{16}", row["id"]) and row["title"] == "a"
    with Serve(runs / "a") as alone:
        (row,) = tables(alone.get("/v1/jobs"))["jobs"]
        assert (row["folder"], row["title"]) == (".", "a")


def test_one_job(server, runs, job):
    document = tables(server.get(f"/v1/jobs/{job}"))
    facts = {row["name"]: row["value"] for row in document["facts"]}
    summary = tables(json.loads(run("analyze", runs / "a", "--table", "spans", "--format", "json").stdout))["spans"]
    assert int(facts["start_ns"]) == min(row["start_ns"] for row in summary)
    assert facts["command"] == f"spotter analyze {runs}/a"
    assert [row["rank"] for row in document["ranks"]] == [0, 1]
    assert all(pathlib.Path(row["path"]).is_file() for row in document["ranks"])


@pytest.mark.parametrize("table,query,words", [
    ("summary", "", []), ("findings", "", []), ("operators", "?top=3", ["--top", 3]), ("steps", "?ranks=1", ["--ranks", 1]),
    ("kernel_breakdown", "?ranks=0-1&steps=4-5", ["--ranks", "0-1", "--steps", "4-5"]),
    ("critical_path", "?what_if=gemm%3D0.5", ["--what-if", "gemm=0.5"]), ("step_breakdown", "?compat=tb_plugin", ["--compat", "tb_plugin"]),
    ("findings", "?sensitivity=0.1", ["--sensitivity", 0.1]), ("device_busy_series", "", []), ("comm_steps", "", [])])
def test_a_table_is_what_the_command_prints(server, runs, job, tmp_path, table, query, words):
    status, headers, body = server.ask(f"/v1/jobs/{job}/tables/{table}{query}")
    done = run("analyze", runs / "a", "--table", table, *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert (status, body.decode()) == (200, done.stdout)
    assert headers["Content-Type"] == "application/json"
    status, headers, body = server.ask(f"/v1/jobs/{job}/tables/{table}{query}", headers={"Accept": ARROW})
    assert run("analyze", runs / "a", "--table", table, *words, "-o", tmp_path / "t.arrow").returncode == 0
    assert (status, body, headers["Content-Type"]) == (200, (tmp_path / "t.arrow").read_bytes(), ARROW)


def ask_at_once(server, paths):
    connections = []
    for path in paths:
        connection = http.client.HTTPConnection(server.host, server.port, timeout=DEADLINE)
        connection.request("GET", path, headers={"Authorization": f"Bearer {server.token}"})
        connections.append(connection)
    for path, connection in zip(paths, connections, strict=True):
        with contextlib.closing(connection):
            answer = connection.getresponse()
            yield path, answer.status, answer.read().decode()


def test_tables_at_once_are_what_the_command_prints(runs):
    """Those of one job are made in one reading, those with parameters, too."""
    with Serve(runs) as server:
        job = server.jobs()["b"]["id"]
        names = [row["name"] for row in tables(server.get("/v1/analyses"))["analyses"] if not row["on_request"]]
        asked = [(name, []) for name in names] + [("operators", ["--top", 1]), ("operators", ["--top", 2]), ("kernel_groups", ["--top", 3]),
                                                  ("kernel_groups", ["--top", 3, "--by-launch", 1]), ("findings", [])]
        paths = []
        for name, words in asked:
            pairs = [f"{key[2:].replace('-', '_')}={value}" for key, value in zip(words[::2], words[1::2], strict=True)]
            paths.append(f"/v1/jobs/{job}/tables/{name}?" + "&".join(pairs))
        for _ in range(2):
            for (name, words), (path, status, body) in zip(asked, ask_at_once(server, paths), strict=True):
                expected = run("analyze", runs / "b", "--table", name, *words, "--format", "json").stdout
                assert (path, status, body) == (path, 200, expected)


def test_damaged_traces_are_noted_as_the_command_does(runs, tmp_path):
    shutil.copytree(runs / "a", tmp_path / "cut")
    path = next((tmp_path / "cut").glob("*.json*"))
    path.write_bytes(path.read_bytes()[:-2000])
    with Serve(tmp_path) as server:
        job = server.jobs()["cut"]["id"]
        server.get(f"/v1/jobs/{job}")
        for table in ("summary", "operators", "findings"):
            body = server.ask(f"/v1/jobs/{job}/tables/{table}")[2].decode()
            assert body == run("analyze", tmp_path / "cut", "--table", table, "--format", "json").stdout


def test_wrong_parameters(server, job):
    for path, status, word in [(f"/v1/jobs/{job}/tables/nonsense", 404, "nonsense"), (f"/v1/jobs/{job}/tables/summary?top=1", 400, "top"),
                               (f"/v1/jobs/{job}/tables/operators?top=x", 400, "top"), (f"/v1/jobs/{job}/tables/steps?ranks=x", 400, "ranks"),
                               (f"/v1/jobs/{job}/tables/steps?ranks=7", 404, "rank"), (f"/v1/jobs/{job}/search", 400, "q"),
                               (f"/v1/jobs/{job}/export?from=9&to=3", 400, "to"), (f"/v1/diff?before={job}&after=x", 404, "no job")]:
        answer, _, body = server.ask(path)
        assert answer == status, (path, body)
        assert word in json.loads(body)["error"]["message"]


def test_etag(server, job):
    path = f"/v1/jobs/{job}/tables/summary"
    _, headers, body = server.ask(path)
    etag = headers["ETag"]
    assert headers["Cache-Control"] == "private, no-cache"
    assert server.ask(path, headers={"If-None-Match": etag})[::2] == (304, b"")
    assert server.ask(path, headers={"If-None-Match": f'"other", W/{etag}'})[0] == 304
    assert server.ask(path, headers={"If-None-Match": '"other"'})[::2] == (200, body)
    for other in (f"/v1/jobs/{job}/tables/steps", path + "?ranks=0"):
        assert server.ask(other, headers={"If-None-Match": etag})[0] == 200
    assert server.ask(path, headers={"If-None-Match": etag, "Accept": COLUMNS})[0] == 200
    for path in ("/", "/licences", "/v1/jobs", f"/v1/jobs/{job}", "/v1/analyses"):
        _, headers, _ = server.ask(path)
        assert server.ask(path, headers={"If-None-Match": headers["ETag"]})[0] == 304, path


def test_packed_and_columns(server, job):
    assert server.ask(f"/v1/jobs/{job}", headers={"Accept": ARROW})[0] == 400, "it is of one table"
    path = f"/v1/jobs/{job}/spans?rank=0"
    _, headers, packed = server.ask(path, headers={"Accept": COLUMNS, "Accept-Encoding": "gzip, br"})
    assert (headers["Content-Type"], headers["Content-Encoding"]) == (COLUMNS, "gzip")
    plain = server.ask(path, headers={"Accept": COLUMNS})[2]
    assert zlib.decompress(packed, 31) == plain
    assert plain[:4] == b"SPT1"
    length = int.from_bytes(plain[4:8], "little")
    head = json.loads(plain[8:8 + length])
    rows = tables(server.get(path))["spans"]
    assert head["tables"][0]["rows"] == len(rows) and {row["rank"] for row in rows} == {0}


def test_an_event_and_its_links(server, runs, job):
    spans = tables(server.get(f"/v1/jobs/{job}/spans?rank=1"))["spans"]
    kernel = next(row for row in spans if row["side"] == "device" and row["kind"] == "compute" and row["link"] is not None)

    def event(number):
        rows = tables(server.get(f"/v1/jobs/{job}/events/1/{number}"))["event"]
        return {row["name"]: row for row in reversed(rows)}, rows
    found, _ = event(kernel["event"])
    assert found["name"]["value"] == kernel["name"]
    assert found["launch"]["event"] == kernel["link"]
    text = json.loads(found["json"]["value"])
    assert text["name"] == kernel["name"] and "args" in text
    launch, rows = event(kernel["link"])
    assert kernel["event"] in [row["event"] for row in rows if row["name"] == "launched"]
    parents = [row["event"] for row in rows if row["name"] == "parent"]
    outer = event(parents[-1])[1]
    assert kernel["event"] in [row["event"] for row in outer if row["name"] == "launched"]
    backward = next(row for row in spans if row["kind"] == "operator" and row["link"] is not None)
    forward = event(backward["event"])[0]["forward"]
    assert forward["event"] == backward["link"]
    assert backward["event"] in [row["event"] for row in event(forward["event"])[1] if row["name"] == "backward"]
    for wrong in ("events/1/999999999", "events/9/0", "events/1/x", "events/x/1"):
        assert server.ask(f"/v1/jobs/{job}/{wrong}")[0] == 404, wrong


def test_search(server, job):
    rows = tables(server.get(f"/v1/jobs/{job}/search?q=ALLREDUCE"))["search"]
    spans = [row for rank in (0, 1) for row in tables(server.get(f"/v1/jobs/{job}/tables/spans?ranks={rank}"))["spans"]]
    assert rows and all("allreduce" in row["name"].lower() for row in rows)
    for row in rows:
        same = [span for span in spans if span["name"] == row["name"]]
        assert row["count"] >= len(same) > 0
        assert row["start_ns"] == min(span["start_ns"] for span in same)
    assert tables(server.get(f"/v1/jobs/{job}/search?q=no+such+name"))["search"] == []


def test_export_is_what_the_command_writes(server, runs, job, tmp_path):
    for query, words in [("", []), ("?ranks=1&from=1000000&to=900000000", ["--ranks", 1, "--from", "1ms", "--to", "900ms"])]:
        _, headers, body = server.ask(f"/v1/jobs/{job}/export{query}")
        written = tmp_path / "out.json"
        assert run("export", runs / "a", "-o", written, *words).returncode == 0
        assert body == written.read_bytes()
        assert "attachment" in headers["Content-Disposition"]


def test_report_is_what_the_command_writes(server, runs, job, tmp_path):
    for query, words in [("", []), ("?ranks=1&steps=4&max_size=1M", ["--ranks", 1, "--steps", 4, "--max-size", "1M"]), ("?redact=1", ["--redact"])]:
        status, headers, body = server.ask(f"/v1/jobs/{job}/report{query}")
        written = tmp_path / "report.html"
        assert run("analyze", runs / "a", "-o", written, *words).returncode == 0
        assert (status, body) == (200, written.read_bytes())
        assert headers["Content-Type"].startswith("text/html") and "attachment" in headers["Content-Disposition"]


def test_diff_is_what_the_command_prints(server, runs):
    jobs = server.jobs()
    a, b = jobs["a"]["id"], jobs["b"]["id"]
    for query, words in [("", []), ("&table=path_diff", ["--by-path"]), ("&by_rank=1&steps=4", ["--by-rank", "--steps", 4])]:
        body = server.ask(f"/v1/diff?before={a}&after={b}{query}")[2].decode()
        assert body == run("diff", runs / "a", runs / "b", "--top", 0, *words, "--format", "json").stdout


def test_diff_says_why_in_the_words_of_the_command(server, runs):
    jobs = server.jobs()
    a, b = jobs["a"]["id"], jobs["b"]["id"]
    for query, words in [("", []), ("&steps=4", ["--steps", 4])]:
        said = run("diff", runs / "a", runs / "b", *words).stdout.split("\n\n")[0]
        sentences = [" ".join(each.split()) for each in ("\n" + said).split("\n- ")[1:]]
        answer = tables(server.get(f"/v1/diff?before={a}&after={b}&table=causes{query}"))
        assert sentences and [row["cause"] for row in answer["causes"]] == sentences
    status, _, body = server.ask(f"/v1/diff?before={a}&after={b}&table=causes&by_rank=1")
    assert status == 400 and b"by_rank" in body


def test_analyses(server):
    rows = tables(server.get("/v1/analyses"))["analyses"]
    assert rows[0]["name"] == "findings"
    operators = next(row for row in rows if row["name"] == "operators")
    params = json.loads(operators["params"])
    assert any(param["name"] == "top" and param["fallback"] == 20 and param["help"] for param in params)


def test_the_page(server):
    status, headers, body = server.ask("/", token=False)
    assert status == 200 and headers["Content-Type"].startswith("text/html") and b"<!doctype html" in body[:100].lower()
    policy = headers["Content-Security-Policy"]
    assert "connect-src 'self'" in policy and "frame-ancestors 'none'" in policy and "sha256-" in policy
    assert b'http-equiv="Content-Security-Policy"' not in body
    assert server.ask("/licences", token=False)[0] == 200
    assert server.token.encode() not in body


def test_headers_of_every_answer(server, job):
    for path, more in [("/", {}), ("/v1/jobs", {}), ("/v1/jobs", {"token": False}), ("/nothing", {}), (f"/v1/jobs/{job}/tables/x", {}),
                       ("/", {"headers": {"Host": "evil.example"}}), ("/v1/jobs", {"method": "POST"})]:
        _, headers, _ = server.ask(path, **more)
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin-allow-popups"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "Permissions-Policy" in headers and "Access-Control-Allow-Origin" not in headers and "Set-Cookie" not in headers


def test_who_may_ask(runs, tmp_path):
    with open(tmp_path / "log", "w", encoding="utf-8") as log, Serve(runs, "--allow-host", "hub.example.com", log=log) as server:
        own = f"127.0.0.1:{server.port}"

        def status(path="/v1/jobs", **headers):
            token = headers.pop("token", True)
            return server.ask(path, token=token, headers={k.replace("_", "-"): v for k, v in headers.items()})[0]
        assert status() == status(Host="localhost:99") == status(Host="hub.example.com") == 200
        assert status(Origin=f"http://{own}", Host=own) == status("/", Origin=f"http://{own}", Host=own) == 200
        assert status(Host="hub.example.com", Origin="https://hub.example.com") == 200
        for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example", "hub.example.com.evil.example"):
            assert status(Host=host) == status("/", Host=host, token=False) == 403, host
        for origin in ("http://evil.example", "null", "http://127.0.0.1", f"https://{own}", f"http://localhost:{server.port}"):
            assert status(Origin=origin) == status("/", Origin=origin, token=False) == 403, origin
        assert status(Sec_Fetch_Site="cross-site") == 403
        assert status(Sec_Fetch_Site="same-origin") == status("/", Sec_Fetch_Site="cross-site", token=False) == 200
        assert status(token=False) == status(token=False, Authorization="Bearer " + "0" * 32) == 401
        assert status(token=False, Authorization=f"Bearer {server.token}0") == status("/v1/nothing", token=False) == 401
        assert status(f"/v1/jobs?token={server.token}", token=False) == 401
        assert server.ask("/v1/jobs", method="POST", body=b"{}")[0] == server.ask("/", method="OPTIONS")[0] == 405
        assert server.stop() == 0
    text = (tmp_path / "log").read_text()
    assert text.count("refused") >= 10 and "evil.example" in text and server.token not in text


def test_ids_are_no_paths(server, runs):
    for path in ("..", "../a", "..%2fa", "%2e%2e", "a", f"{runs}/a", "....//", "../../etc/passwd", "%00", "0" * 16, "x" * 5000, ""):
        for tail in ("", "/tables/summary", "/spans?rank=0", "/events/0/0", "/export", "/search?q=a"):
            assert server.ask(f"/v1/jobs/{path}{tail}")[0] == 404 or (path, tail) == ("", "")
    for path in ("/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/static/x", "/v1", "/v1/"):
        assert server.ask(path)[0] == 404, path
    connection = socket.create_connection((server.host, server.port), timeout=DEADLINE)
    with contextlib.closing(connection):
        connection.sendall(b"nonsense\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")


def test_jobs_come_and_go(runs, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    with Serve(root) as server:
        document = server.get("/v1/jobs")
        assert tables(document)["jobs"] == []
        shutil.copytree(runs / "a", tmp_path / "new")
        os.rename(tmp_path / "new", root / "new")
        news = server.get(f"/v1/jobs?wait_ms=10000&seen={document['revision']}")
        job, = tables(news)["jobs"]
        assert (job["folder"], job["state"]) == ("new", "ready")
        etag = server.ask(f"/v1/jobs/{job['id']}/tables/summary")[1]["ETag"]
        path = next((root / "new").glob("*rank_0001*"))
        path.unlink()
        until(lambda: server.jobs()["new"]["files"] == 1, 10, "the file is gone")
        status, headers, body = server.ask(f"/v1/jobs/{job['id']}/tables/summary", headers={"If-None-Match": etag})
        assert status == 200 and headers["ETag"] != etag and len(tables(json.loads(body))["summary"]) == 1
        shutil.rmtree(root / "new")
        until(lambda: server.jobs() == {}, 10, "the job is gone")
        assert server.ask(f"/v1/jobs/{job['id']}")[0] == 404


def test_jobs_say_what_stands_out_once_they_are_read(runs, tmp_path):
    shutil.copytree(runs / "a", tmp_path / "well")
    done = run("simulate", "-o", tmp_path / "slow", "--ranks", 4, "--layers", 2, "--steps", 4, "--fault", "slow-rank:rank=3,factor=2")
    assert done.returncode == 0, done.stderr
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "rank0.pt.trace.json").write_text('{"traceEvents": [')
    old = time.time() - 3600
    for path in tmp_path.rglob("*.json*"):
        os.utime(path, (old, old))
    with Serve(tmp_path) as server:
        jobs = until(lambda: (found := server.jobs()) and len(found) == 3 and found, DEADLINE, "they are found")
        assert {(job["worst"], job["finding"]) for job in jobs.values()} == {(None, None)}, "nobody has looked yet"
        for job in jobs.values():
            server.ask(f"/v1/jobs/{job['id']}")
        jobs = server.jobs()
        assert jobs["slow"]["worst"] == "fault" and "Rank 3" in jobs["slow"]["finding"]
        for name in ("slow", "well"):
            rows = tables(server.get(f"/v1/jobs/{jobs[name]['id']}/tables/findings"))["findings"]
            assert (jobs[name]["worst"], jobs[name]["finding"], jobs[name]["share"]) == (
                (rows[0]["kind"], rows[0]["finding"], rows[0]["share"]) if rows else ("none", None, None))
        assert jobs["cut"]["worst"] == "caveat"


def test_a_job_says_where_its_source_is(runs, tmp_path):
    shutil.copytree(runs / "a", tmp_path / "a")
    commit = "a" * 40
    names = sorted(path.name for path in (tmp_path / "a").glob("*.json*"))
    columns = [{"name": name} for name in ("file", "state", "source", "source_root")]
    rows = [[name, "written", f"https://github.com/o/r@{commit}", "/work"] for name in names]

    def source_url():
        (tmp_path / "a" / "capture.json").write_text(json.dumps({"tables": [{"name": "receipts", "columns": columns, "rows": rows}], "notes": []}))
        with Serve(tmp_path / "a") as server:
            (job,) = until(lambda: server.jobs().values(), DEADLINE, "it is found")
            facts = {row["name"]: row["value"] for row in tables(server.get(f"/v1/jobs/{job['id']}"))["facts"]}
            return facts.get("source_url")

    web = f"https://github.com/o/r/blob/{commit}"
    assert source_url() == f"/work={web} {web}"
    rows[1][2] = None
    assert source_url() is None, "one rank does not tell"


def test_one_job_is_read_before_somebody_looks(runs):
    def news(server):
        return server.get("/v1/jobs")["revision"]

    with Serve(runs) as several:
        until(lambda: len(several.jobs()) > 1, DEADLINE, "they are found")
        time.sleep(1)
        found = news(several)
    with Serve(runs / "a") as alone:
        until(lambda: news(alone) > found, DEADLINE, "it is read")


def test_what_is_still_written_is_new(runs, tmp_path):
    with Serve(tmp_path) as server:
        whole = zlib.decompress(next((runs / "a").glob("*.json.gz")).read_bytes(), 31)
        (tmp_path / "job").mkdir()
        path = tmp_path / "job" / "rank0.json"
        path.write_bytes(whole[:len(whole) // 2])
        until(lambda: server.jobs().get("job", {}).get("state") == "new", 10, "it is there")
        time.sleep(3)
        assert server.jobs()["job"]["state"] == "new"
        path.write_bytes(whole)
        until(lambda: server.jobs()["job"]["state"] == "ready", 10, "it is whole")


def test_no_link_is_followed(runs, tmp_path):
    root = tmp_path / "root"
    shutil.copytree(runs / "a", root / "a")
    (root / "linked").symlink_to(runs / "b", target_is_directory=True)
    (root / "only").mkdir()
    (root / "only" / "rank0.json.gz").symlink_to(next((runs / "b").glob("*.json.gz")))
    (root / "a" / "rank_0005.json.gz").symlink_to(next((runs / "b").glob("*.json.gz")))
    with Serve(root) as server:
        jobs = server.jobs()
        assert list(jobs) == ["a"] and jobs["a"]["files"] == 2
        rows = tables(server.get(f"/v1/jobs/{jobs['a']['id']}/tables/summary"))["summary"]
        assert [row["rank"] for row in rows] == [0, 1]
        # A file that was found, and becomes a link before it is read.
        path = next((root / "a").glob("*rank_0000*"))
        path.unlink()
        path.symlink_to(next((runs / "b").glob("*rank_0001*")))
        body = json.loads(server.ask(f"/v1/jobs/{jobs['a']['id']}/tables/kernel_launch_stats")[2])
        assert {row["rank"] for row in tables(body)["kernel_launch_stats"]} == {1}
        until(lambda: server.jobs()["a"]["files"] == 1, 10, "the link is passed over")


def test_recordings_of_a_worker_are_spans(runs, tmp_path):
    folder = tmp_path / "log" / "resnet"
    folder.mkdir(parents=True)
    for stamp, source in (("1623143089861", "a"), ("1623143566756", "b")):
        text = json.loads(zlib.decompress(next((runs / source).glob("*rank_0000*")).read_bytes(), 31))
        text.pop("distributedInfo", None)
        text["baseTimeNanoseconds"] = int(text.get("baseTimeNanoseconds", 0)) + (10**12 if source == "b" else 0)
        (folder / f"worker0.{stamp}.pt.trace.json").write_text(json.dumps(text))
    with Serve(tmp_path / "log") as server:
        assert list(server.jobs()) == ["resnet#1", "resnet#2"]
        for name, stamp in (("resnet#1", "1623143089861"), ("resnet#2", "1623143566756")):
            body = server.ask(f"/v1/jobs/{server.jobs()[name]['id']}/tables/summary")[2].decode()
            path = folder / f"worker0.{stamp}.pt.trace.json"
            assert body == run("analyze", path, "--table", "summary", "--format", "json").stdout
        time.sleep(3)
        assert list(server.jobs()) == ["resnet#1", "resnet#2"]


def test_a_job_that_cannot_be_read(runs, tmp_path):
    """Two files are the same rank."""
    (tmp_path / "bad").mkdir()
    source = next((runs / "a").glob("*rank_0000*"))
    for name in ("x.json.gz", "y.json.gz"):
        shutil.copy2(source, tmp_path / "bad" / name)
    with Serve(tmp_path) as server:
        job = server.jobs()["bad"]["id"]
        facts = {row["name"]: row["value"] for row in tables(server.get(f"/v1/jobs/{job}"))["facts"]}
        assert "both say that they are rank 0" in facts["failure"] and "start_ns" not in facts
        assert server.jobs()["bad"]["state"] == "failed"
        status, headers, body = server.ask(f"/v1/jobs/{job}/tables/summary")
        assert status == 400 and "ETag" not in headers
        assert json.loads(body)["error"]["message"] == facts["failure"]


def test_base_path(runs):
    with Serve(runs, "--base-path", "/user/me/spotter/") as server:
        assert server.path == "/user/me/spotter/"
        assert server.ask("/user/me/spotter/", token=False)[0] == 200
        status, headers, _ = server.ask("/user/me/spotter", token=False)
        assert (status, headers["Location"]) == (301, "/user/me/spotter/")
        assert server.ask("/user/me/spotter/v1/jobs")[0] == 200
        assert server.ask("/user/me/spotter/v1/jobs", token=False)[0] == 401
        for path in ("/", "/v1/jobs", "/user/me/spotterx/", "/user/me/spotter/../v1/jobs"):
            assert server.ask(path)[0] == 404, path


def test_ends_well_and_its_ports(runs):
    with Serve(runs) as first, Serve(runs) as second:
        assert first.port != second.port and first.token != second.token and len(first.token) == 32
        assert (first.host, first.scheme) == ("127.0.0.1", "http")
        assert first.stop(signal.SIGTERM) == 0 and second.stop(signal.SIGINT) == 0
        assert first.process.stdout.read() == ""
        with Serve(runs, "--port", first.port) as third:
            assert third.port == first.port
            taken = run("serve", runs, "--port", third.port)
            assert taken.returncode == 1 and str(third.port) in taken.stderr


def test_ends_while_it_analyses(runs):
    with Serve(runs) as server:
        job = server.jobs()["a"]["id"]
        connection = http.client.HTTPConnection(server.host, server.port, timeout=DEADLINE)
        with contextlib.closing(connection):
            connection.request("GET", f"/v1/jobs/{job}/tables/replay", headers={"Authorization": f"Bearer {server.token}"})
            assert server.stop() == 0


def test_token_file(runs, tmp_path):
    path = tmp_path / "token"
    path.write_text("a-fixed-token-of-mine\n")
    path.chmod(0o600)
    with Serve(runs, "--token-file", path) as server:
        assert server.token == "a-fixed-token-of-mine"
        assert server.ask("/v1/jobs")[0] == 200
    path.chmod(0o644)
    refused = run("serve", runs, "--token-file", path)
    assert refused.returncode == 1 and "chmod 600" in refused.stderr


def test_another_address_needs_tls(runs):
    refused = run("serve", runs, "--address", "0.0.0.0")
    assert refused.returncode == 1 and "TLS" in refused.stderr


def test_tls(runs, tmp_path):
    made = run("agent", "--init-tls", tmp_path / "tls", "--tls-names", "localhost,127.0.0.1")
    assert made.returncode == 0, made.stderr
    own = tmp_path / "tls" / "agent"
    context = ssl.create_default_context(cafile=tmp_path / "tls" / "ca.pem")
    with Serve(runs, "--address", "0.0.0.0", "--certificate", own / "agent.pem", "--key", own / "agent-key.pem") as server:
        assert server.scheme == "https"
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=DEADLINE, context=context)
        with contextlib.closing(connection):
            connection.request("GET", "/v1/jobs", headers={"Authorization": f"Bearer {server.token}"})
            assert connection.getresponse().status == 200


def test_a_browser_is_opened_without_the_token_in_its_words(runs, tmp_path):
    words = tmp_path / "words"
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/page.html\necho "$@" > {words}\n')
    opener.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": tmp_path}
    with Serve(runs, DISPLAY=":0", **environment) as server:
        text = until(lambda: words.exists() and words.read_text(), 10, "the browser is opened")
        assert server.token not in text
        page = pathlib.Path(text.strip())
        assert page.stat().st_mode & 0o777 == 0o600
        assert server.line.strip() in (tmp_path / "page.html").read_text()
        assert server.stop() == 0 and not page.exists()
    words.unlink()
    for more in ({"DISPLAY": ":0", "words": ["--no-open"]}, {"words": []}):
        with Serve(runs, *more.pop("words"), **environment, **more):
            time.sleep(0.3)
    assert not words.exists()


def test_who_goes_is_worked_for_no_more(runs, tmp_path):
    """A closed connection gives its analysis up: the next one is not behind it."""
    done = run("simulate", "-o", tmp_path / "large", "--ranks", 4, "--events", 200000, timeout=120)
    assert done.returncode == 0, done.stderr
    with Serve(tmp_path) as server:
        job = server.jobs()["large"]["id"]
        server.get(f"/v1/jobs/{job}/tables/summary")  # what comes with the first look is made
        began = time.monotonic()
        server.get(f"/v1/jobs/{job}/tables/operators?top=60")
        one = time.monotonic() - began
        began = time.monotonic()
        for top in range(40):
            connection = http.client.HTTPConnection(server.host, server.port, timeout=DEADLINE)
            connection.request("GET", f"/v1/jobs/{job}/tables/operators?top={top + 1}",
                               headers={"Authorization": f"Bearer {server.token}"})
            connection.close()
        server.get(f"/v1/jobs/{job}/tables/operators?top=50")
        alone = time.monotonic() - began
        assert alone < min(5, 20 * one + 1), f"{alone:.1f} s: forty of {one:.1f} s that nobody waits for went before it"

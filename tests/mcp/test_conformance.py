"""The official conformance suite, against POST /mcp of `spotter serve` with its token: the scenarios that need none of the
suite's own test tools. What may fail is in suite/expected_failures.yml, with the reason; what passes again must leave it."""

import http.client
import http.server
import json
import subprocess
import threading

import pytest

from schemas import HERE, node, suite
from test_serve import Serve

# revision: scenarios, those of every run first
SCENARIOS = {
    "2025-11-25": ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"],
    "2026-07-28": ["server-stateless", "http-header-validation", "caching", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection",
                   "sep-2164-resource-not-found", "server-sse-multiple-streams"],
}
needs_suite = pytest.mark.skipif(not suite(), reason="no conformance suite (tools/mcp_suite)")


class Proxy(http.server.ThreadingHTTPServer):
    """Passes all on as it comes, with the token, which the suite cannot send."""

    daemon_threads = True

    def __init__(self, server):
        self.server = server
        super().__init__(("127.0.0.1", 0), Passing)

    def handle_error(self, request, client_address):
        pass  # who asked has gone


class Passing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *arguments):
        pass

    def pass_on(self):
        to = self.server.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection("127.0.0.1", to.port, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                connection.putheader(name, value)
        connection.putheader("Authorization", f"Bearer {to.token}")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in ("connection", "content-length", "transfer-encoding", "keep-alive"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = do_DELETE = do_OPTIONS = do_PUT = pass_on


@pytest.fixture(name="url", scope="module")
def url_of_proxy(folder):
    with Serve(folder) as server, Proxy(server) as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}/mcp"
        proxy.shutdown()
        thread.join()


@needs_suite
@pytest.mark.parametrize("revision,scenario", [(revision, scenario) for revision, names in SCENARIOS.items() for scenario in names])
def test_scenario(url, tmp_path, revision, scenario):
    done = subprocess.run([node(), suite() / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js", "server", "--url", url,
                           "--scenario", scenario, "--spec-version", revision, "--expected-failures", HERE / "suite" / "expected_failures.yml", "-o", tmp_path],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    results = [json.loads(path.read_text()) for path in tmp_path.rglob("checks.json")]
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert results and any(check["status"] == "SUCCESS" for checks in results for check in checks), done.stdout[-2000:]
    warned = [(check["id"], check.get("errorMessage")) for checks in results for check in checks if check["status"] == "WARNING"]
    assert not warned, warned

"""What goes wrong is a sentence that can be copied, and the rest goes on; and what the policy refuses is refused."""

import contextlib
import http.server
import json
import pathlib
import re
import sys
import threading
import urllib.error
import urllib.request

import harness
import pytest

import jobs as jobs_module
import watched

sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))

from agent import Agent  # noqa: E402

CLIPBOARD = ["clipboard-read", "clipboard-write"]
CAN_COPY = {"permissions": CLIPBOARD}


def assert_can_be_copied(page, alert):
    alert.get_by_role("button", name="Copy", exact=True).click()
    assert page.evaluate("() => navigator.clipboard.readText()") == alert.locator("p").inner_text()


def test_a_mistake_of_the_page_is_a_sentence(jobs, open_page):
    page = open_page(jobs.server("training"), allow=["made by the test"], **CAN_COPY)
    page.evaluate("() => void setTimeout(() => { throw new Error('made by the test'); })")
    alert = page.get_by_role("alert")
    assert "Something went wrong in the page: " in alert.inner_text() and "made by the test" in alert.inner_text()
    assert_can_be_copied(page, alert)
    assert page.locator("#view .card").count() > 0
    alert.get_by_role("button", name="Try again").click()
    alert.wait_for(state="detached")


def columns_without(table):
    """x-spotter-columns of a table that has a row and no columns."""
    head = json.dumps({"tables": [{"name": table, "rows": 1, "notes": [], "columns": []}], "notes": []}).encode()
    return b"SPT1" + len(head).to_bytes(4, "little") + head


def test_a_view_that_cannot_be_drawn_leaves_the_others(jobs, open_page):
    place = jobs.server("training")
    page = open_page(place, **CAN_COPY)
    page.route("**/tables/kernel_breakdown*", lambda route: route.fulfill(body=columns_without("kernel_breakdown")))
    watched.show(page, place, "#/kernels?v=1")
    alert = page.get_by_role("alert").first
    assert re.search(r"Kernels cannot be shown: .*kernel_breakdown has no column", alert.inner_text())
    assert_can_be_copied(page, alert)
    page.locator('nav.views a[href^="#/operators?"]').click()
    watched.until_ready(page, "operators")
    assert page.get_by_role("alert").count() == 0 and page.locator("#view table").count() > 0
    page.go_back()
    alert.wait_for()
    page.unroute("**/tables/kernel_breakdown*")
    alert.get_by_role("button", name="Try again").click()
    page.locator("#view table[data-table]").first.wait_for()
    assert page.get_by_role("alert").count() == 0


@contextlib.contextmanager
def breaking_off(place, path):
    """The place of a server before that server, which of answers to that path sends half while `is_broken` holds an item."""
    is_broken = [True]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            headers = {name: self.headers[name] for name in ("Accept", "Authorization", "If-None-Match") if name in self.headers}
            try:
                answer = urllib.request.urlopen(urllib.request.Request(place.at(self.path[1:]), headers=headers))
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                body = answer.read()
            self.send_response(answer.status)
            for name in ("Content-Type", "Content-Security-Policy"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:len(body) // 2] if is_broken and path in self.path else body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield jobs_module.Place(f"http://127.0.0.1:{server.server_port}/", "server", place.token), is_broken
        server.shutdown()


def test_an_answer_that_breaks_off(jobs, open_page):
    with breaking_off(jobs.server("training"), "/tables/operators") as (place, is_broken):
        page = open_page(place, None, allow=["ERR_CONTENT_LENGTH_MISMATCH"], **CAN_COPY)
        watched.show(page, place, "#/tables?v=1&table=operators")
        alert = page.get_by_role("alert").first
        assert "answer broke off" in alert.inner_text()
        assert_can_be_copied(page, alert)
        is_broken.clear()
        alert.get_by_role("button", name="Try again").click()
        page.locator('table[data-table="operators"]').wait_for()
        assert page.get_by_role("alert").count() == 0
        page.context.close()  # before the server


def test_a_timeline_whose_spans_do_not_come_asks_for_them_again(jobs, open_page):
    place = jobs.server("training")
    page = open_page(place, allow=["status of 500"])
    page.route("**/spans?*", lambda route: route.fulfill(status=500, json={"error": {"code": "io", "message": "made by the test"}}))
    watched.show(page, place, "#/timeline?v=1&open=0")
    alert = page.get_by_role("alert")
    assert "The spans of rank 0 are not shown: made by the test" in alert.inner_text()
    page.unroute("**/spans?*")
    alert.get_by_role("button", name="Try again").click()
    alert.wait_for(state="detached")
    page.locator('[data-track^="0/d0/"]').first.wait_for()


def test_a_view_that_one_job_breaks_is_drawn_of_another(jobs, open_page):
    place = jobs.server("two_ranks", "two_slow_ranks")
    page = open_page(place)
    first = place.ask("v1/jobs", "jobs")[0]["id"]
    page.route(f"**/v1/jobs/{first}/tables/kernel_breakdown*", lambda route: route.fulfill(body=columns_without("kernel_breakdown")))
    watched.show(page, place, "#/kernels?v=1")
    assert "Kernels cannot be shown: " in page.get_by_role("alert").inner_text()
    page.locator("label.job select").select_option(index=1)
    page.locator("#view table[data-table]").first.wait_for()
    assert page.get_by_role("alert").count() == 0


def says(status):
    return lambda route: route.fulfill(status=status, json={"error": {"code": "io", "message": "made by the test"}})


def test_communication_of_which_nobody_knows_what_hides_it(jobs, open_page):
    page = open_page(jobs.server("training"), None, allow=["status of 500"])
    page.route("**/tables/comm_comp_overlap*", says(500))
    watched.show(page, jobs.server("training"), "#/overview?v=1")
    of_ranks = page.locator("section[aria-labelledby=of-ranks]")
    parts = of_ranks.locator(".legend li")
    assert "made by the test" in of_ranks.get_by_role("alert").inner_text()
    known = {"communication, copies and sets", "only moving or setting memory"}
    assert known & set(parts.all_inner_texts()) == {"communication, copies and sets"}
    page.unroute("**/tables/comm_comp_overlap*")
    of_ranks.get_by_role("button", name="Try again").click()
    of_ranks.locator(".legend li", has_text="only moving or setting memory").wait_for()
    assert known & set(parts.all_inner_texts()) == {"only moving or setting memory"} and page.get_by_role("alert").count() == 0


@pytest.fixture(name="agents", scope="module")
def served_agent(tmp_path_factory):
    with Agent("--collect", "cpu") as agent, jobs_module.serving(["--socket", agent.api_socket], tmp_path_factory.mktemp("serve")) as (place, _):
        yield place


def test_agents_that_could_not_be_asked_for(agents, open_page):
    """They come by themselves; and nobody is called well while nobody tells."""
    page = watched.hurried(open_page(agents, None, allow=["status of 502"]))
    page.route("**/v1/hosts", says(502))
    watched.show(page, agents, "#/hosts?v=1")
    assert "made by the test" in page.get_by_role("alert").inner_text()
    assert "Live" not in page.locator("nav.views a").all_inner_texts()
    page.unroute("**/v1/hosts")
    page.locator(".answer", has_text="The agent works.").wait_for()
    assert "Live" in page.locator("nav.views a").all_inner_texts()
    page.route("**/v1/hosts", says(502))
    page.get_by_role("alert").filter(has_text="when the server last told: made by the test").wait_for()
    assert page.locator(".answer").count() == 0 and page.locator("[data-table=hosts] tbody tr").count() == 1
    page.unroute("**/v1/hosts")
    page.locator(".answer", has_text="The agent works.").wait_for()
    assert page.get_by_role("alert").count() == 0


def test_a_live_view_that_one_answer_breaks_comes_again(agents, open_page):
    page = watched.hurried(open_page(agents, None))
    page.route("**/metrics?*", lambda route: route.fulfill(body=columns_without("cpu")), times=1)
    page.goto(agents.at(f"#token={agents.token}"))
    page.get_by_role("alert").filter(has_text="Live cannot be shown: ").wait_for()
    page.locator("[data-table=hosts_now] tbody tr").wait_for()
    assert page.get_by_role("alert").count() == 0


TRIED = """() => {
  const tried = (act) => { try { act(); return "done"; } catch (error) { return error.name; } };
  const markup = "<b id=made>x</b>";
  const script = document.createElement("script");
  script.append("window.pwned = 1");
  document.body.append(script);
  const eager = document.createElement("a");
  eager.setAttribute("href", "#");
  const results = [
    () => (document.body.innerHTML = markup), () => (document.body.outerHTML = markup),
    () => document.body.insertAdjacentHTML("beforeend", markup), () => document.write(markup),
    () => (document.createElement("script").text = "window.pwned = 2"), () => eager.setAttribute("onclick", "window.pwned = 3"),
    () => (document.createElement("iframe").srcdoc = markup), () => new DOMParser().parseFromString(markup, "text/html"),
    () => trustedTypes.createPolicy("other", {}), () => trustedTypes.createPolicy("page", {}),
    () => setTimeout("window.pwned = 4"),
  ].map(tried);
  return [results.filter((one) => one === "done").length, window.pwned, document.getElementById("made")];
}"""


def test_no_text_becomes_markup_or_script(place, open_page):
    """Where the sources had a mistake, the browser would refuse."""
    page = open_page(place, allow=["refused: ", "requires 'Trusted", "Content Security Policy", "TrustedTypePolicy"])
    assert page.evaluate(TRIED) == [0, None, None]
    assert page.locator("#view .card").count() > 0


def test_the_sources_make_no_markup_of_text():
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|"
                           r"document\.write|srcdoc|parseFromString|\beval\(|new Function")
    sources = list((harness.ROOT / "web" / "src").rglob("*.ts*"))
    assert len(sources) > 100
    assert [f"{path.name}:{number}" for path in sources
            for number, line in enumerate(path.read_text().splitlines(), 1) if forbidden.search(line)] == []

"""What the page asks of its server, and what it says where that is gone."""

import csv
import json
import subprocess

import jobs as jobs_module
import watched
from test_address import STATE

TOKEN = "0123456789abcdef0123456789abcdef"
GONE = "[role=status]:has-text('The server does not answer')"


def asked_for_jobs(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/v1/jobs") else None)
    return asked


def test_jobs_are_asked_for_once(jobs, open_page):
    place = jobs.server("training")
    page = open_page(place, None)
    asked = asked_for_jobs(page)
    page.goto(place.at(f"#token={place.token}"))
    watched.until_ready(page, "overview")
    page.locator('nav.views a[href^="#/operators?"]').click()
    watched.until_ready(page, "operators")
    watching = page.evaluate("() => Math.floor(performance.now() / 3000)")
    assert 1 <= len(asked) <= 1 + watching


def test_what_is_saved_is_what_the_command_writes(jobs, open_page, tmp_path):
    fragment = "#/tables?v=1&table=kernel_breakdown&ranks=1-2&filter=gemm"
    page = open_page(jobs.server("training"), fragment)
    for button, name, words in [("Arrow", "kernel_breakdown.arrow", ["--table", "kernel_breakdown"]), ("Save report", "training.html", [])]:
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        assert download.value.suggested_filename == name
        jobs_module.spotter("analyze", "training", "--ranks", "1-2", *words, "-o", tmp_path / name, cwd=jobs.folder)
        assert download.value.path().read_bytes() == (tmp_path / name).read_bytes()
    # Who reads a report has no program that would write them.
    page = open_page(jobs.report("training"), fragment)
    assert [page.get_by_role("button", name=name).count() for name in ("CSV", "Arrow", "Save report")] == [1, 0, 0]


def test_what_is_copied_and_downloaded_is_what_the_command_prints(jobs, open_page):
    """Of the rows and columns that are shown, in their order; numbers with all their digits."""
    fragment = "#/tables?v=1&table=memory_events&ranks=1&filter=addmm&sort=-allocated_ns"
    page = open_page(jobs.server("training"), fragment, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="device_type").uncheck()
    shown = page.locator("table[data-table] th button").evaluate_all("(all) => all.map((one) => one.title.split(':')[0])")
    rows = [row for row in jobs.json("training", "memory_events", "--ranks", "1") if "addmm" in " ".join(map(str, row.values()))]
    assert len(rows) > 10 and "allocated_ns" in shown and "device_type" not in shown
    rows.sort(key=lambda row: (row["allocated_ns"] is None, -(row["allocated_ns"] or 0)))
    page.get_by_role("button", name="Copy", exact=True).click()
    page.wait_for_function("async () => (await navigator.clipboard.readText()).startsWith('rank')")
    copied = [line.split("\t") for line in page.evaluate("() => navigator.clipboard.readText()").splitlines()]
    assert copied == [shown, *[["" if row[name] is None else str(row[name]) for name in shown] for row in rows]]
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    assert jobs_module.harness.Answer(json.loads(download.value.path().read_text()))["memory_events"] == [{name: row[name] for name in shown} for row in rows]
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert list(csv.reader(download.value.path().read_text().splitlines())) == copied


def test_a_copied_link_shows_the_same(jobs, open_page):
    """Also where the server comes to have another first job; who gets it needs the token."""
    place = jobs.server("training", "faster")
    page = open_page(place, "#/tables?v=1&table=kernel_breakdown&ranks=1", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#view th button").last.click()
    page.get_by_role("button", name="Copy link").click()
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert place.owns(link) and place.token not in link
    assert "job=" in link and "sort=" in link
    again = page.context.new_page()
    again.goto(link)
    watched.until_ready(again, "tables")
    page.wait_for_function("() => /sort=/.test(location.hash)")
    seen, wanted = again.evaluate(STATE), page.evaluate(STATE)
    assert (seen["text"], seen["sorted"]) == (wanted["text"], wanted["sorted"])


def test_a_server_that_is_gone_is_told(jobs, open_page, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    options = ["--token-file", tmp_path / "token"]
    with jobs_module.serving([jobs.traces("training"), *options], jobs.folder) as (place, process):
        page = open_page(place, allow=["ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE"])
        assert page.locator(GONE).count() == 0
        process.terminate()
        process.wait(10)
    page.wait_for_selector(GONE, timeout=12_000)
    assert page.locator("#view .card").count() > 0, "what it had is shown"
    page.get_by_role("link", name="Modules").click()  # and what it had not is not
    page.locator("#view [role=alert]").first.wait_for()
    port = place.address.rstrip("/").rsplit(":", 1)[1]
    again = subprocess.Popen([jobs_module.harness.program(), "serve", jobs.traces("training"), "--no-open", "--port", port, *map(str, options)],
                             stdout=subprocess.DEVNULL)
    try:
        page.wait_for_selector(GONE, state="detached", timeout=12_000)
        page.wait_for_selector("#view table", timeout=12_000)
        assert page.locator("#view [role=alert]").count() == 0, "what failed is asked for anew"
    finally:
        again.terminate()
        again.wait(10)


def test_a_new_servers_address_in_the_old_ones_tab(jobs, open_page):
    with jobs_module.serving([jobs.traces("training")], jobs.folder) as (place, _):
        refused = "status of 401"
        page = open_page(place, None, allow=[refused, "ERR_CONNECTION_REFUSED"])
        page.goto(place.at("#token=not-the-token"))
        page.wait_for_selector("text=the server wants its token")
        page.evaluate("(token) => (location.hash = `#token=${token}`)", place.token)
        page.wait_for_selector("#view .card")
        assert "token" not in page.url and place.token not in page.inner_text("body")


def test_the_list_of_jobs_says_which_has_a_fault(jobs, open_page):
    for name in ("training", "faster"):
        jobs.traces(name)
    with jobs_module.serving([jobs.traces("faster"), jobs.traces("training")], jobs.folder) as (place, _):
        page = open_page(place)
        rows = page.locator('#view table[data-table="jobs"] tbody tr')
        fault = rows.filter(has_text="training")
        fault.get_by_text("▲ fault").wait_for(timeout=20_000)
        assert "Rank 3" in fault.inner_text() and "training" in rows.first.inner_text(), "the worst is first"
        assert "faster" in page.locator("#view tr.picked").inner_text(), "the first of the server is shown"
        fault.get_by_role("link").click()
        watched.until_ready(page, "overview")
        assert "training" in page.locator("#view tr.picked").inner_text()
        page.locator("#view .card.fault").first.wait_for()

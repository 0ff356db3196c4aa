"""The views of agents: a host that is measured, a process that is traced from the page, a host that does not answer."""

import os
import pathlib
import sys
import time

import pytest

import jobs as jobs_module
from watched import NARROW, show, until_ready

sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))

from agent import Agent, tables, until  # noqa: E402
from remote import RemoteAgent, token  # noqa: E402


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    history = tmp_path_factory.mktemp("agent") / "history.db"
    with Agent("--collect", "cpu,memory,load,network", "--history", history) as running:
        until(lambda: "cpu" in tables(running.api("GET", "/v1/metrics?since_ms=60000&step_ms=1000")[1]), 20, "the history has something")
        yield running


@pytest.fixture(scope="module")
def live(agent, tmp_path_factory):
    """`spotter serve` of that agent."""
    with jobs_module.serving(["--socket", agent.api_socket], tmp_path_factory.mktemp("serve")) as (place, _):
        yield place


def texts(page, selector):
    return page.locator(selector).all_inner_texts()


def cells(page, table, column):
    return texts(page, f'[data-table="{table}"] td[data-column="{column}"]')


def test_without_traces_the_first_view_is_live(live, open_page):
    page = open_page(live, fragment=None)
    page.goto(live.at(f"#token={live.token}"))
    until_ready(page, "live")
    assert texts(page, "nav.views a") == ["Live", "Incidents", "Captures", "Hosts"]
    assert "token" not in page.url


def test_how_a_host_is(live, agent, open_page):
    page = open_page(live, "#/live?v=1")
    assert cells(page, "hosts_now", "host") == [os.uname().nodename]
    assert cells(page, "hosts_now", "state") == ["✓ up"]
    # Nothing here looks for GPUs: how many there are is not known.
    assert cells(page, "hosts_now", "gpus") in ([], [""])
    page.wait_for_function("() => document.querySelector('.small-chart .now .exact')?.textContent.endsWith(' %')")
    titles = texts(page, ".small-chart figcaption")
    assert any(title.startswith("Processors busy") for title in titles) and any(title.startswith("Memory in use") for title in titles)
    # No collector tells of disks here: that is said, and nothing is drawn in its place.
    assert not any(title.startswith("Disks") for title in titles)
    assert "Not known here: " in page.locator(".host-charts").inner_text() and "Disks" in page.locator(".host-charts").inner_text()
    show(page, live, "#/live?v=1&metric=memory&range=1h")
    assert [title.split("\n")[0][:13] for title in texts(page, ".small-chart figcaption")] == ["Memory in use"]


def test_the_charts_of_a_host_are_a_table_too(live, agent, open_page):
    page = open_page(live, "#/live?v=1")
    page.locator(".host-charts summary", has_text="Show as table").click()
    page.locator('[data-table="points"] tbody tr').first.wait_for()
    total, = {row["total_bytes"] for row in tables(agent.api("GET", "/v1/metrics?since_ms=60000&step_ms=1000")[1])["memory"]}
    titles = page.locator('[data-table="points"] td[data-column="memory_in_use_of"]').evaluate_all("(all) => all.map((one) => one.title)")
    assert set(titles) <= {str(total), "not known"} and str(total) in titles
    assert cells(page, "points", "time") == sorted(cells(page, "points", "time"), reverse=True)


def test_a_time_that_is_marked_is_in_the_address(live, open_page):
    page = open_page(live, "#/live?v=1")
    box = page.locator(".small-chart .u-over").first.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.3, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, y, steps=4)
    page.mouse.up()
    page.wait_for_function("() => /from=\\d+&to=\\d+/.test(location.hash)")
    page.get_by_role("link", name="captures of this time").click()
    until_ready(page, "captures")
    assert "from=" in page.url and "to=" in page.url


@pytest.mark.parametrize("range_name", ["7d", pytest.param("10m", marks=pytest.mark.whole)])
def test_now_is_the_time_of_the_agent(live, open_page, range_name):
    page = open_page(live, None)
    page.add_init_script("const own = Date.now; Date.now = () => own() + 60_000;")
    show(page, live, f"#/live?v=1&range={range_name}")
    page.wait_for_function("() => document.querySelector('[data-table=hosts_now] td[data-column=memory]')?.textContent.endsWith('%')")
    assert cells(page, "hosts_now", "state") == ["✓ up"] and cells(page, "hosts_now", "processors")[0].endswith("%")


def test_a_marked_time_has_its_day(live, open_page):
    from_ns = (int(time.time()) - 3 * 86400) * 10**9
    page = open_page(live, f"#/live?v=1&range=7d&from={from_ns}&to={from_ns + 3600 * 10**9}")
    day = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(from_ns / 1e9))
    assert page.locator(".marked").inner_text().startswith(f"{day} to ")


def test_a_capture_from_the_page(live, agent, open_page):
    with agent.spawn() as process:
        agent.wait_for_processes([process.pid])
        page = open_page(live, "#/captures?v=1")
        page.wait_for_function("(pid) => document.querySelector('[data-table=processes] td[data-column=pid]')?.textContent === pid", arg=str(process.pid))
        page.get_by_label("warm-up, ms").fill("0")
        page.get_by_label("Folder", exact=True).fill(str(agent.out_dir))
        page.get_by_role("button", name="Begin", exact=True).click()
        page.wait_for_selector("section[aria-label=Capture]")
        page.wait_for_selector("text=1 of 1 processes have written their trace")
        assert cells(page, "receipts", "state") == ["written"]
        assert "capture=" in page.url
        with page.expect_download() as download:
            page.get_by_role("button", name="Download ").click()
        [file] = agent.out_dir.glob(f"*{process.pid}*.json*")
        assert pathlib.Path(download.value.path()).read_bytes() == file.read_bytes()
        assert download.value.suggested_filename == file.name
        # Another tab shows it by its address.
        other = open_page(live, page.url[page.url.index("#"):])
        other.wait_for_selector("text=1 of 1 processes have written their trace")
        assert len(cells(other, "captures", "id")) >= 1


def test_all_parts_of_an_agent(live, agent, open_page):
    page = open_page(live, "#/hosts?v=1", size=NARROW)
    page.wait_for_selector('[data-table="status"]')
    assert page.locator(".answer").inner_text() == "The agent works."
    assert cells(page, "status", "part") == [row["part"] for row in agent.table("/v1/status", "status")]
    assert cells(page, "hosts", "failing") == ["none"]


def test_an_agent_serves_its_own_page(open_page):
    """By TLS, to who has a token; one that may look may not trace."""
    with RemoteAgent("--collect", "cpu") as agent, agent.spawn() as process:
        agent.wait_for_processes([process.pid])
        for name, may in (("view", False), ("trace", True)):
            place = jobs_module.Place(f"https://localhost:{agent.port}/", "server", token(name))
            # The agent ends before its pages do.
            page = open_page(place, "#/captures?v=1", ignore_https_errors=True, allow=["ERR_CONNECTION_REFUSED"])
            page.wait_for_selector("text=Begin a capture")
            begin = page.get_by_role("button", name="Begin", exact=True)
            assert begin.is_enabled() == may
            assert page.locator("text=You may look here and not trace").count() == (0 if may else 1)
        page.get_by_label("warm-up, ms").fill("0")
        begin.click()
        page.wait_for_selector("text=1 of 1 processes have written their trace")
        show(page, place, "#/hosts?v=1")
        assert page.locator(".answer").inner_text() == "The agent works."


def test_an_agent_that_does_not_answer(open_page, tmp_path):
    with jobs_module.serving(["--socket", tmp_path / "nobody"], tmp_path) as (place, _):
        # The server ends before its pages do.
        page = open_page(place, "#/hosts?v=1", allow=["ERR_CONNECTION_REFUSED"])
        page.wait_for_selector("text=The agent cannot be asked.")
        assert cells(page, "hosts", "state") == ["✗ down"]
        assert "start one with `spotter agent`" in cells(page, "hosts", "message")[0]
        for column in ("version", "uptime_ns", "failing"):
            assert cells(page, "hosts", column) == [""], "what is not known is no 0"
        show(page, place, "#/live?v=1")
        assert cells(page, "hosts_now", "state") == ["✗ down"]
        for column in ("processors", "memory", "gpus"):
            assert cells(page, "hosts_now", column) in ([], [""])


def test_a_report_has_no_agents(jobs, open_page):
    page = open_page(jobs.report("training"), "#/live?v=1")
    assert "No agents are shown here" in page.locator("main#view").inner_text()
    assert not {"Live", "Incidents", "Captures", "Hosts"} & set(texts(page, "nav.views a"))

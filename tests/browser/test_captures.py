"""A capture in the page: what its files say where they are, and its end before it is over."""

import contextlib
import json
import pathlib
import sys
import time

import pytest

import jobs as jobs_module
import watched

sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))

import agent as agent_module  # noqa: E402
from agent import Agent  # noqa: E402
from remote import RemoteAgent, certificates  # noqa: E402
from simulated_job import simulate  # noqa: E402

RANKS, SLOW = 4, 2


@pytest.fixture(name="traces", scope="module")
def simulated(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("simulated") / "job", RANKS, SLOW)


@pytest.fixture(name="shown", scope="module")
def an_agent_with_ranks(traces, tmp_path_factory):
    """(an agent that knows a job's ranks, `spotter serve` of it)"""
    with Agent() as agent, contextlib.ExitStack() as ranks:
        agent.wait_for_processes([ranks.enter_context(agent.spawn("--traces", traces, RANK=rank, WORLD_SIZE=RANKS)).pid for rank in range(RANKS)])
        with jobs_module.serving(["--socket", agent.api_socket], tmp_path_factory.mktemp("serve")) as (place, _):
            yield agent, place


def begin(page, agent, duration_ms):
    page.get_by_label("warm-up, ms").fill("0")
    page.get_by_label("ms", exact=True).fill(str(duration_ms))
    page.get_by_label("Folder", exact=True).fill(str(agent.out_dir))
    page.get_by_role("button", name="Begin", exact=True).click()
    page.wait_for_selector("section[aria-label=Capture]")


def cells(page, table, column):
    return page.locator(f'[data-table="{table}"] td[data-column="{column}"]').all_inner_texts()


def said_by_program(traces, *names):
    words = [word for name in names for word in ("--table", name)]
    done = agent_module.run("analyze", traces, *words, "--format", "json")
    assert done.returncode == 0, done
    return agent_module.tables(json.loads(done.stdout))


def test_what_the_files_say_is_what_the_program_says_of_them(shown, traces, open_page):
    agent, place = shown
    page = open_page(place, "#/captures?v=1")
    begin(page, agent, 100)
    page.wait_for_selector(f"text={RANKS} of {RANKS} processes have written their trace")
    page.get_by_role("button", name="Analyse where the files are").click()
    page.wait_for_selector("h3:has-text('What stands out')")
    said = said_by_program(traces, "findings", "steps", "summary")
    cards = page.locator("section[aria-label=Capture] .card")
    assert cards.locator(".said").all_inner_texts() == [row["finding"] for row in said["findings"]] != []
    assert [card.get_attribute("data-mechanism") for card in cards.all()] == [row["mechanism"] for row in said["findings"]]
    assert said["findings"][0]["ranks"] == str(SLOW) and cards.first.locator("h3").inner_text().startswith("fault: slow device")
    assert cards.first.locator(".stake").get_attribute("title") == f"{said['findings'][0]['time_ns']} ns"
    expected = []
    for rank in range(RANKS):
        lengths = [row["dur_ns"] for row in said["steps"] if row["rank"] == rank]
        busy = sum(row["device_busy_ns"] for row in said["steps"] if row["rank"] == rank)
        expected.append({"rank": rank, "steps": len(lengths), "mean_step_ns": sum(lengths) / len(lengths), "longest_step_ns": max(lengths),
                         "device_busy": busy / sum(lengths), "events": next(row["events"] for row in said["summary"] if row["rank"] == rank)})
    assert not watched.differences(page, "capture_steps", expected)


def test_a_capture_under_way_is_ended(shown, open_page):
    agent, place = shown
    before = set(agent.out_dir.glob("*.json"))
    page = open_page(place, "#/captures?v=1")
    begin(page, agent, 30_000)
    page.wait_for_selector("text=Under way: 0 of 4 processes are done.")
    assert page.get_by_role("button", name="Analyse where the files are").count() == 0
    begun = time.monotonic()
    page.get_by_role("button", name="End it").click()
    page.wait_for_selector(f"text=0 of {RANKS} processes have written their trace; {RANKS} failed.")
    assert time.monotonic() - begun < 10, "it was waited for"
    assert cells(page, "receipts", "state") == ["failed"] * RANKS
    # Of what has no trace nothing can be analysed, and what is over is not ended again.
    for name in ("Analyse where the files are", "End it"):
        assert page.get_by_role("button", name=name).count() == 0
    row, *_ = agent.table("/v1/captures", "captures")
    assert (row["state"], row["written"], row["processes"]) == ("failed", 0, RANKS)
    assert cells(page, "receipts", "reason") == [each["reason"] for each in agent.receipts(row["id"])]
    assert set(agent.out_dir.glob("*.json")) == before


@pytest.mark.whole
def test_a_form_stays_as_it_is_when_another_agent_stops(open_page, tmp_path):
    wish = {"Ranks": "3", "Folder": "/somewhere/else", "warm-up, ms": "7"}
    with RemoteAgent() as agent, agent.spawn(RANK=3) as process, contextlib.ExitStack() as ending:
        ending.callback((other := RemoteAgent()).kill)
        agent.wait_for_processes([process.pid])
        hosts = f"localhost:{agent.port},127.0.0.1:{other.port}"
        with jobs_module.serving(["--host", hosts, "--credentials", certificates().tls / "client"], tmp_path) as (place, _):
            page = watched.hurried(open_page(place, None, allow=["status of 502"]))
            watched.show(page, place, "#/captures?v=1")
            for label, text in wish.items():
                page.get_by_label(label, exact=True).fill(text)
            page.evaluate("() => (window.form = document.querySelector('form.begin'))")
            other.kill()
            page.wait_for_selector("text=Not all agents can be asked")
            with page.expect_response("**/v1/hosts/localhost/processes"):
                pass
            watched.until_ready(page)
            assert {label: page.get_by_label(label, exact=True).input_value() for label in wish} == wish
            assert page.evaluate("() => form.isConnected")
            page.context.close()  # before the server

"""The views of agents as all views are: axe finds nothing in either theme, nothing is wider than the window, a link shows the same again,
and the names of a job are text."""

import os
import pathlib
import sys
import urllib.parse

import pytest

import jobs as jobs_module
import views
import watched
from test_accessibility import AXE, RUN_AXE, needs_axe

sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))

from agent import Agent, tables, until  # noqa: E402
from incident import an_incident  # noqa: E402

HOSTILE = "<img src=x onerror=alert(1)>"


def measuring_agent(*words):
    """One that also has something for charts."""
    return Agent("--collect", "cpu,memory,load,network,process", *words[2:])


@pytest.fixture(name="shown", scope="module")
def an_agent_with_all(tmp_path_factory):
    """(place, fragments by name): of each view of agents, and of an incident and a capture."""
    folder = tmp_path_factory.mktemp("agents")
    with an_incident(folder, HOSTILE, measuring_agent) as (agent, incident), \
            agent.spawn(RANK=0, WORLD_SIZE=1, TORCHELASTIC_RUN_ID=f"{HOSTILE}\u202e") as process, \
            jobs_module.serving(["--socket", agent.api_socket], folder) as (place, _):
        agent.wait_for_processes([process.pid])
        capture = agent.capture(pids=[process.pid], duration_ms=100, warmup_ms=0)
        until(lambda: agent.table(f"/v1/captures/{capture}", "receipts")[0]["state"] == "written", 30, "it is written")
        until(lambda: "cpu" in tables(agent.api("GET", "/v1/metrics?since_ms=60000&step_ms=1000")[1]), 20, "the history has something")
        of_agents = [name for name, of in views.ALL if of == "agents"]
        assert {"live", "incidents", "captures", "hosts"} == set(of_agents), of_agents
        yield place, {name: f"#/{name}?v=1" for name in of_agents} | {
            "memory": "#/live?v=1&metric=memory&range=1h", "incident": f"#/incidents?v=1&id={urllib.parse.quote(incident)}",
            "capture": f"#/captures?v=1&capture={urllib.parse.quote(f'{os.uname().nodename}={capture}', safe='')}"}


def show(page, place, name, fragment):
    watched.show(page, place, fragment)
    if name == "incident":
        page.wait_for_selector('[data-table="transitions"]')
    if name == "capture":
        page.wait_for_selector('[data-table="receipts"]')


@needs_axe
@pytest.mark.parametrize(("size", "theme"), [
    (watched.NARROW, "dark"), *[pytest.param(*each, marks=pytest.mark.whole) for each in
                                [(watched.WIDE, "light"), (watched.WIDE, "dark"), (watched.NARROW, "light")]]],
    ids=["narrow-dark", "wide-light", "wide-dark", "narrow-light"])
def test_are_whole_and_axe_finds_nothing(shown, open_page, size, theme):
    place, fragments = shown
    # What injects axe is not the page's: its policy is off here.
    page = open_page(place, "#/hosts?v=1", size=size, theme=theme, bypass_csp=True)
    page.evaluate(AXE.read_text())
    found = []
    for name, fragment in fragments.items():
        show(page, place, name, fragment)
        found += [f"{name}: {violation}" for violation in page.evaluate(RUN_AXE)]
        if (width := page.evaluate("() => document.documentElement.scrollWidth")) > size[0]:
            found.append(f"{name}: {width} pixels wide")
        if page.locator("h1:visible").count() != 1 or page.locator("#view [role=alert]").count() != 0:
            found.append(f"{name}: {page.locator('main').inner_text()[:300]}")
    assert not found, "\n".join(found)


def test_a_link_shows_the_same_again(shown, open_page):
    place, fragments = shown
    first, again = open_page(place, "#/hosts?v=1"), open_page(place, "#/hosts?v=1")
    for name in ("memory", "incident", "capture"):
        show(first, place, name, fragments[name])
        address = first.evaluate("() => location.hash")
        show(again, place, name, address)
        assert again.evaluate("() => location.hash") == address
        assert again.locator("#view h2").all_inner_texts() == first.locator("#view h2").all_inner_texts() != []
        for key in ("metric", "id", "capture"):
            assert (f"{key}=" in address) == (f"{key}=" in fragments[name]), address


def test_names_are_text(shown, open_page):
    place, fragments = shown
    page = open_page(place, "#/hosts?v=1")
    for name, fragment in fragments.items():
        show(page, place, name, fragment)
        assert page.locator("#view img").count() == 0, name
        assert "\u202e" not in page.locator("#view").inner_text(), name
    show(page, place, "captures", fragments["captures"])
    assert "<img src=x onerror=alert(1)>" in page.locator('[data-table="processes"]').inner_text()

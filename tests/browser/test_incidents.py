"""The view of incidents: a job of which a rank has ended, as the agent sees it, and what is done about it from the page."""

import json
import os
import pathlib
import sqlite3
import sys
import time
import urllib.parse

import pytest

import jobs as jobs_module
from watched import NARROW, WIDE, show, until_ready

sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))

from agent import Agent, until  # noqa: E402
from incident import an_incident, incidents  # noqa: E402
from remote import RemoteAgent, token  # noqa: E402

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """(the agent, the incident's id)"""
    with an_incident(tmp_path_factory.mktemp("incident"), HOSTILE) as known:
        yield known


@pytest.fixture(scope="module")
def live(found, tmp_path_factory):
    with jobs_module.serving(["--socket", found[0].api_socket], tmp_path_factory.mktemp("serve")) as (place, _):
        yield place


def one(id):
    return f"#/incidents?v=1&id={urllib.parse.quote(id)}"


def cells(page, table, column):
    return page.locator(f'[data-table="{table}"] td[data-column="{column}"]').all_inner_texts()


def test_what_is_wrong_is_in_a_list(live, found, open_page):
    agent, id = found
    page = open_page(live, "#/incidents?v=1")
    row = cells(page, "incidents", "id").index(id)
    assert cells(page, "incidents", "severity")[row] == "■ critical"
    assert cells(page, "incidents", "job")[row] == HOSTILE
    assert cells(page, "incidents", "sentence")[row].startswith("rank 1 on")
    assert cells(page, "incidents", "confidence")[row] == "medium"
    assert str(time.gmtime().tm_year) in cells(page, "incidents", "opened")[row]
    assert " open" in page.locator(".answer").inner_text()
    # By its keyboard.
    page.get_by_role("link", name=id).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"section.incident h2:has-text({json.dumps(id)})")
    assert "id=" in page.url


def test_one_is_shown_whole(live, found, open_page):
    agent, id = found
    record = json.loads(agent.api_bytes("GET", f"/v1/incidents/{urllib.parse.quote(id, safe='')}")[1])
    page = open_page(live, one(id))
    page.wait_for_selector('[data-table="transitions"]')
    headline = page.locator("[data-message] .headline").inner_text()
    assert headline.startswith("■ Critical · Job <img") and "rank 1" in page.locator("[data-message]").inner_text()
    assert (cells(page, "transitions", "before")[0], cells(page, "transitions", "after")[-1]) == ("pending", "verdict")
    text = page.locator("section.incident").inner_text()
    for sentence in [*record["against"], *record["not_known"]]:
        assert sentence in text
    # Nobody tells of steps here, and nothing was traced: that is said, and nothing is 0.
    assert "How long its steps took around then is not known here." in text
    assert "Nothing was traced for it." in text
    assert "spotter incidents '" in text  # quoted for a shell
    assert page.locator("section.incident img").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_it(live, found, open_page, theme):
    page = open_page(live, one(found[1]), size=(400, NARROW[1]), theme=theme)
    page.wait_for_selector('[data-table="transitions"]')
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_incident_that_nobody_has(live, open_page):
    page = open_page(live, "#/incidents?v=1&id=nothing")
    assert "No agent here has an incident nothing" in page.locator("[role=alert]").inner_text()


def test_people_act_from_the_page(live, found, open_page):
    agent, id = found
    page = open_page(live, one(id), size=WIDE)
    silence = page.get_by_role("button", name="Silence 2 h")
    assert silence.is_disabled(), "without a reason nothing is silenced"
    page.get_by_label("because").fill("the node is drained at noon")
    silence.click()
    page.wait_for_selector("text=Nobody is told of it for 2 hours.")
    [kept] = [row for row in agent.table("/v1/silences", "silences") if row["job"] == HOSTILE]
    assert kept["reason"] == "the node is drained at noon" and kept["rule"] == "rank_gone"
    page.wait_for_selector("text=Silenced until")
    page.get_by_role("button", name="Acknowledge").click()
    page.wait_for_selector("text=Acknowledged by")
    assert page.get_by_role("button", name="Acknowledge").is_disabled()
    page.get_by_role("button", name="Resolve").click()
    page.wait_for_selector("section.incident h2:has-text('resolved')")
    # Whoever resolves it says that it is mended; it was not seen to end, so that nothing ticks it off.
    page.wait_for_selector("text=resolved by hand, not seen to end")
    assert "✓" not in page.locator("section.incident h2").first.inner_text()
    until(lambda: incidents(agent, HOSTILE)[0]["state"] == "resolved", 5, "the agent knows")
    assert page.get_by_role("button", name="Resolve").is_disabled()


def test_who_may_look_alone_may_not_act(open_page, tmp_path):
    with an_incident(tmp_path, "4712", kind=RemoteAgent) as (agent, id):
        place = jobs_module.Place(f"https://localhost:{agent.port}/", "server", token("view"))
        page = open_page(place, one(id), ignore_https_errors=True, allow=["ERR_CONNECTION_REFUSED"])
        page.wait_for_selector("text=You may look here and not act")
        assert all(page.get_by_role("button", name=name).is_disabled() for name in ("Acknowledge", "Resolve"))
        show(page, place, "#/incidents?v=1")
        until_ready(page, "incidents")
        assert id in cells(page, "incidents", "id")


def test_a_report_is_downloaded(open_page, tmp_path):
    """As an agent that has traced a job left it."""
    with an_incident(tmp_path, HOSTILE) as (agent, id):
        until(lambda: kept_record(tmp_path, id), 10, "it is on the disk")
    record = kept_record(tmp_path, id)
    record["report"] = {"host": os.uname().nodename, "uid": None}
    with sqlite3.connect(tmp_path / "incidents.db") as file:
        file.execute("UPDATE incidents SET text = ? WHERE id = ?", [json.dumps(record), id])
    (tmp_path / "incidents-reports").mkdir()
    kept = tmp_path / "incidents-reports" / (urllib.parse.quote(id, safe="*") + ".html")
    kept.write_text("<!doctype html>rank 1")
    with Agent("--collect", "process", "--history", tmp_path / "history.db") as agent, \
            jobs_module.serving(["--socket", agent.api_socket], tmp_path) as (place, _):
        page = open_page(place, one(id), allow=["status of 404"])
        button = page.get_by_role("button", name="Download the report")
        with page.expect_download() as download:
            button.click()
        assert pathlib.Path(download.value.path()).read_text() == kept.read_text()
        assert download.value.suggested_filename.endswith("-progress-1.html")
        kept.unlink()
        button.click()
        page.wait_for_selector("text=its report was removed")


def kept_record(folder, id):
    with sqlite3.connect(folder / "incidents.db") as file:
        [text] = file.execute("SELECT text FROM incidents WHERE id = ?", [id]).fetchone() or [None]
    return text and json.loads(text)

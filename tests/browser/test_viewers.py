"""What the page shows to a viewer, who has the token of `spotter serve --view-token-file`: all of a capture, and no way to begin or end one."""

import contextlib
import dataclasses
import os
import pathlib
import sys
import urllib.parse

import pytest

import jobs as jobs_module
import watched

sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))

from agent import Agent  # noqa: E402
from simulated_job import simulate  # noqa: E402

RANKS = 2
TOKEN = "a-token-of-viewers"


@pytest.fixture(name="shown", scope="module")
def an_agent_with_ranks(tmp_path_factory):
    """(an agent that knows a job's ranks, the place of an admin, that of a viewer)"""
    folder = tmp_path_factory.mktemp("serve")
    (folder / "view").write_text(TOKEN)
    (folder / "view").chmod(0o600)
    traces = simulate(folder / "traces", RANKS, 1)
    with Agent() as agent, contextlib.ExitStack() as ranks:
        agent.wait_for_processes([ranks.enter_context(agent.spawn("--traces", traces, RANK=rank, WORLD_SIZE=RANKS)).pid for rank in range(RANKS)])
        with jobs_module.serving(["--socket", agent.api_socket], folder, "--view-token-file", str(folder / "view")) as (place, _):
            yield agent, place, dataclasses.replace(place, token=TOKEN)


def address_of(capture):
    return f"#/captures?v=1&capture={urllib.parse.quote(f'{os.uname().nodename}={capture}', safe='')}"


def begins(page):
    page.wait_for_selector('[data-table="processes"]')
    return page.get_by_role("button", name="Begin", exact=True)


def test_there_is_no_way_to_begin_a_capture(shown, open_page):
    agent, admin, viewer = shown
    assert begins(open_page(admin, "#/captures?v=1")).is_enabled()
    page = open_page(viewer, "#/captures?v=1")
    assert begins(page).is_disabled()
    page.get_by_text("You may look here and not trace: that needs the role trace.").wait_for()
    page.locator("form.begin input").first.press("Enter")  # which sends a form that may be sent
    watched.show(page, viewer, "#/hosts?v=1")
    [row] = watched.plain_rows(page, "hosts")
    assert (row["state"], row["role"]) == ("✓ up", "view")
    assert agent.table("/v1/captures", "captures") == []


def test_what_its_files_say_is_told(shown, open_page):
    agent, _, viewer = shown
    capture = agent.capture(duration_ms=100, warmup_ms=0)
    rows = agent.wait_for_receipts(capture, 30)
    page = open_page(viewer, address_of(capture))
    page.wait_for_selector(f"text={RANKS} of {RANKS} processes have written their trace")
    page.get_by_role("button", name="Analyse where the files are").click()
    page.wait_for_selector("h3:has-text('What stands out')")
    assert watched.shown_rows(page, "capture_steps")[1] == RANKS
    assert page.locator("#view [role=alert]").count() == 0
    file = pathlib.Path(rows[0]["file"])
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Download {file.name}").click()
    assert pathlib.Path(download.value.path()).read_bytes() == file.read_bytes()


def test_one_under_way_is_seen_and_not_ended(shown, open_page):
    agent, admin, viewer = shown
    capture = agent.capture(duration_ms=30_000, warmup_ms=0)
    for place, ways in ((viewer, 0), (admin, 1)):
        page = open_page(place, address_of(capture))
        page.wait_for_selector(f"text=Under way: 0 of {RANKS} processes are done.")
        assert page.get_by_role("button", name="End it").count() == ways
    page.get_by_role("button", name="End it").click()
    page.wait_for_selector(f"text=0 of {RANKS} processes have written their trace; {RANKS} failed.")

"""A served page follows its folder: nobody has to load it anew when jobs come, change and go."""

import shutil

import pytest

import jobs as jobs_module
import watched

SOON_MS = 15_000  # two looks of the page and one of the server, on a machine that has more to do


@pytest.fixture
def runs(jobs, tmp_path):
    """A folder that is served, and a way to put the files of a simulated job in it, each as a whole."""
    served = tmp_path / "served"
    served.mkdir()

    def put(name, *patterns, to):
        made, folder = jobs.traces(name), served / to
        folder.mkdir(exist_ok=True)
        for pattern in patterns:
            for file in sorted(made.glob(pattern)):
                shutil.copy(file, tmp_path / "coming")
                (tmp_path / "coming").rename(folder / file.name)
        return folder
    with jobs_module.serving([served], tmp_path) as (place, _):
        yield place, put


def until_it_shows(page, jobs, table, folder):
    expected = jobs.json(folder, table)
    page.wait_for_function("([name, count]) => document.querySelector(`table[data-table=${name}]`)?.getAttribute('aria-rowcount') == count + 1",
                           arg=[table, len(expected)], timeout=SOON_MS)
    wrong = []
    for _ in range(SOON_MS // 500):
        watched.until_ready(page, "tables")
        if not (wrong := watched.differences(page, table, expected)):
            return
        page.wait_for_timeout(500)
    assert not wrong


def test_of_one_job(jobs, open_page, runs):
    place, put = runs
    page = open_page(place, None)
    page.goto(place.at(f"#token={place.token}"))
    page.wait_for_selector("#view :text('no folder with traces was found')")
    page.evaluate("() => (window.isTheSame = true)")
    folder = put("two_ranks", "rank_0000*", to="first")
    page.wait_for_selector("#of-ranks", timeout=SOON_MS)
    assert page.locator("[role=alert]").count() == 0
    watched.show(page, place, "#/tables?v=1&table=kernel_breakdown")
    until_it_shows(page, jobs, "kernel_breakdown", folder)
    put("two_ranks", "rank_0001*", to="first")
    until_it_shows(page, jobs, "kernel_breakdown", folder)
    before = jobs.json(folder, "kernel_breakdown")
    put("two_slow_ranks", "rank_0001*", to="first")
    until_it_shows(page, jobs, "kernel_breakdown", folder)
    after = jobs.json(folder, "kernel_breakdown")
    assert len(before) == len(after) and before != after, "another file of the same name"
    assert page.evaluate("() => window.isTheSame")


@pytest.mark.whole
def test_of_jobs_that_come_and_go(jobs, open_page, runs):
    place, put = runs
    first = put("two_ranks", "rank*", to="first")
    page = open_page(place, None, allow=["status of 404"])
    page.goto(place.at(f"#token={place.token}"))
    page.wait_for_selector("#of-ranks", timeout=SOON_MS)
    page.evaluate("() => (window.isTheSame = true)")
    assert page.locator("label.job select").count() == 0
    second = put("two_slow_ranks", "rank*", to="second")
    choice = page.locator("label.job select")
    choice.wait_for(timeout=SOON_MS)
    assert choice.locator("option").all_inner_texts() == ["first", "second"]
    assert page.locator('#view table[data-table="jobs"] tbody tr').count() == 2
    choice.select_option(label="second")
    watched.until_ready(page, "overview")
    assert "job=" in page.url
    # What is shown goes: it is said, and the other one is chosen where they are.
    shutil.rmtree(second)
    page.wait_for_selector("#view [role=alert]:has-text('job')", timeout=SOON_MS)
    page.wait_for_function("() => document.querySelector('label.job select')?.options.length === 1", timeout=SOON_MS)
    choice.select_option(label="first")
    page.wait_for_selector("#of-ranks")
    assert page.locator("[role=alert]").count() == 0
    # Without any it is what it was in the beginning.
    shutil.rmtree(first)
    page.evaluate("() => (location.hash = '#/overview?v=1')")
    page.wait_for_selector("#view :text('no folder with traces was found')", timeout=SOON_MS)
    put("two_ranks", "rank*", to="third")
    page.wait_for_selector("#of-ranks", timeout=SOON_MS)
    assert page.locator("[role=alert]").count() == 0
    assert page.evaluate("() => window.isTheSame")

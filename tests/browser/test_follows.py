"""A served page follows its folder: nobody has to load it anew when jobs come, change and go."""

import shutil

import pytest

import jobs as jobs_module
import odd_jobs
import watched

SOON_MS = 15_000  # two looks of the page and one of the server, on a machine that has more to do


@pytest.fixture(name="put")
def into_a_folder(jobs, tmp_path):
    """A way to put the files of a simulated job below the folder `served`, each as a whole."""
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
    return put


@pytest.fixture
def runs(put, tmp_path):
    """That folder is served, with nothing in it at first."""
    with jobs_module.serving([tmp_path / "served"], tmp_path) as (place, _):
        yield place, put


@pytest.fixture
def two(put, tmp_path):
    """It is served with two equal jobs: `a` and `b`."""
    for job in "ab":
        put("two_ranks", "rank*", to=job)
    with jobs_module.serving([tmp_path / "served"], tmp_path) as (place, _):
        yield place


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


def write_b_twice(page, put):
    """A job that comes after each tells that the page knows of it."""
    for rank, other in enumerate("cd"):
        put("two_slow_ranks", f"rank_000{rank}*", to="b")
        put("two_ranks", "rank_0000*", to=other)
        page.wait_for_function("(count) => document.querySelector('label.job select')?.options.length === count", arg=3 + rank, timeout=SOON_MS)
        watched.until_ready(page)


def test_a_timeline_stays_while_another_job_is_written(two, put, open_page):
    page = watched.hurried(open_page(two, None))
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/spans" in request.url else None)
    watched.show(page, two, "#/timeline?v=1&open=0,1")
    page.locator(".timeline-lanes").evaluate("(box) => (box.scrollTop = 60)")
    box = page.locator(".timeline canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.6, steps=3)
    page.mouse.up()
    page.wait_for_selector("h2:has-text('Selected time') ~ table")

    def seen():
        return len(asked), page.evaluate("""() => [document.querySelector(".timeline-lanes").scrollTop, document.querySelector(".timeline-panel dl").innerText,
          document.querySelectorAll(".timeline-heading").length]""")
    before = seen()
    assert before[0] == 2 and before[1][0] == 60, before
    write_b_twice(page, put)
    assert seen() == before


@pytest.mark.whole
def test_what_changed_from_a_job_is_renewed_with_it(two, put, open_page):
    first, second = (row["id"] for row in two.ask("v1/jobs", "jobs"))
    page = watched.hurried(open_page(two, None))
    watched.show(page, two, f"#/diff?v=1&base={second}&job={first}")
    tree = "document.querySelector('section[aria-labelledby=paths]').innerText"
    before = page.evaluate(tree)
    page.evaluate("() => (window.select = document.querySelector('#view select'))")
    write_b_twice(page, put)
    page.wait_for_function(f"(before) => {tree} !== before && !{tree}.includes('Loading')", arg=before)
    assert page.evaluate("() => select.isConnected"), "the view was out of sight"
    assert page.evaluate(tree) == open_page(two, f"#/diff?v=1&base={second}&job={first}").evaluate(tree)


@pytest.fixture(name="many")
def many_jobs(tmp_path):
    for number in range(60):
        (tmp_path / f"job{number:02}").mkdir()
        (tmp_path / f"job{number:02}" / "rank0.json").write_bytes(odd_jobs.trace([], 0))
    with jobs_module.serving([tmp_path], tmp_path) as (place, _):
        yield place


def test_a_list_of_jobs_leaves_its_reader_where_he_is(many, open_page):
    page = watched.hurried(open_page(many, None))
    watched.show(page, many, "#/overview?v=1")
    region = page.get_by_role("region", name="What stands out in each job")
    region.evaluate("(region) => (region.scrollTop = 480)")
    for _ in range(3):  # the first may have been under way
        with page.expect_response("**/v1/jobs"):
            pass
    watched.until_ready(page)
    assert region.evaluate("(region) => region.scrollTop") == 480
    page.get_by_label("Filter the table jobs").fill("job")
    page.wait_for_function("() => document.querySelector('.jobs .scroll').scrollTop === 0")
    assert page.locator("[data-table=jobs] tbody tr").count() == 60

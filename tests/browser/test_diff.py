"""What changed from one job to another: in the words of the command, of jobs that have names."""

import pytest

import jobs as jobs_module
import watched

LATER = ["--seed", "2", "--fault", "slow-rank:rank=1,factor=1.5"]


@pytest.fixture(name="runs", scope="module")
def nested_runs(tmp_path_factory):
    """A folder that is a job, and has another one in it."""
    root = tmp_path_factory.mktemp("nested") / "monday"
    for folder, more in [(root, []), (root / "later", LATER)]:
        jobs_module.spotter("simulate", "-o", folder, "--ranks", "2", "--layers", "2", "--steps", "3", *more, cwd=root.parent)
    return root


@pytest.fixture(name="server", scope="module")
def server_of_runs(runs):
    with jobs_module.serving([runs], runs.parent) as (place, _):
        yield place


def test_begins_with_why_as_the_command_does(runs, server, open_page):
    page = open_page(server, "#/diff?v=1")
    before, after = [page.get_by_label(label).locator("option:checked").inner_text() for label in ("Before", "After")]
    paths = {"monday": "monday/*.json*", "later": "monday/later"}
    said = jobs_module.spotter("diff", paths[before], paths[after], cwd=runs.parent).split("\n\n")[0]
    sentences = [" ".join(each.split()) for each in ("\n" + said).split("\n- ")[1:]]
    named = [each.replace("--table ", "table ") for each in sentences]
    assert sentences and page.locator("ul.causes li").all_inner_texts() == named
    links = page.locator("ul.causes li a").evaluate_all("(all) => all.map((each) => each.getAttribute('href'))")
    assert links and all(link.startswith("#/tables?v=1&") for link in links) and len(links) == sum(each != other for each, other in zip(named, sentences))
    assert page.locator("#view section h2").all_inner_texts()[1] == "Why"


def test_the_root_has_its_name(server, open_page):
    page = open_page(server, "#/diff?v=1")
    for choice in (page.get_by_label("Before"), page.get_by_label("After"), page.locator("label.job select")):
        assert choice.locator("option").all_inner_texts() == ["monday", "later"]
    assert "monday" in page.locator("h2#jobs").inner_text()


def test_one_job_has_its_name(runs, open_page):
    with jobs_module.serving([runs / "later"], runs) as (place, _):
        # The server ends before its pages do.
        page = open_page(place, "#/diff?v=1", allow=["ERR_CONNECTION_REFUSED"])
        assert "There is one job only, later:" in page.locator("#view").inner_text()
        watched.show(page, place, "#/overview?v=1")
        assert page.locator("header .job").inner_text() == "later"


def test_each_column_has_a_heading_of_its_own(server, open_page):
    page = open_page(server, "#/diff?v=1")
    heads = page.locator('table[data-table="trace_diff"] thead th').all_inner_texts()
    assert len(heads) == len(set(heads)) and {"change, time", "change, %"} <= set(heads)
    assert "These two were chosen as the first" in page.locator("#view section").first.inner_text()

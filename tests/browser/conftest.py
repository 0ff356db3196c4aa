"""Fixtures of the tests in a browser. `tools/browser` prints the Python that has what they need; `make browser` runs all."""

import contextlib
import pathlib
import sys

import playwright.sync_api
import pytest

sys.path += [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "conformance")]

pytest.register_assert_rewrite("jobs", "watched", "screenshots")

import jobs as jobs_module  # noqa: E402
import watched  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--renew", action="store_true", help="store the screenshots that this run makes (tools/screenshots)")


def pytest_configure(config):
    config.addinivalue_line("markers", "whole: only in `make browser`, not in each run of all tests")
    config.addinivalue_line("markers", "measure: of times; it needs the machine for itself")


@pytest.fixture(scope="session")
def jobs(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base  # of all processes of pytest-xdist
    (shared / "jobs").mkdir(exist_ok=True)
    made = jobs_module.Jobs(shared / "jobs")
    with made.running:
        yield made


@pytest.fixture(scope="session")
def chromium():
    with playwright.sync_api.sync_playwright() as driver:
        yield driver.chromium


@pytest.fixture(scope="session")
def browser(chromium):
    running = chromium.launch(executable_path="/usr/bin/chromium", args=watched.FLAGS)
    yield running
    running.close()


@pytest.fixture
def open_page(browser):
    """open_page(place, fragment="#/overview?v=1", …): a page that shows the view whole; see watched_page for the rest."""
    with contextlib.ExitStack() as pages:
        def opened(place, fragment="#/overview?v=1", **options):
            page = pages.enter_context(watched.watched_page(browser, place, **options))
            if fragment is not None:
                watched.show(page, place, fragment)
            return page
        yield opened


@pytest.fixture(params=["report", "server"])
def place(request, jobs):
    """The job `training`, as a report and from a server."""
    return jobs.report("training") if request.param == "report" else jobs.server("training")

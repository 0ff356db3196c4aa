"""Every view, of a report and of a server, in both themes and at two widths: whole, within the window, as it looked before."""

import pytest

import jobs as jobs_module
import screenshots
import views
import watched

EACH = pytest.mark.parametrize("kind,view", [(kind, view) for kind in ("report", "server") for view in views.of(kind)])


def place_of(jobs, kind, view):
    if kind == "report":
        return jobs.report("training")
    return jobs.server("training", "faster") if view == "diff" else jobs.server("training")


@EACH
def test_is_whole(jobs, open_page, kind, view):
    page = open_page(place_of(jobs, kind, view), f"#/{view}?v=1")
    assert page.locator("h1:visible").count() == 1
    assert page.locator("#view").inner_text().strip()
    assert page.locator("#view [role=alert]").count() == 0, page.locator("#view [role=alert]").first.inner_text()
    assert page.locator(f'nav.views a[href^="#/{view}?"]').get_attribute("aria-current") == "page"
    assert page.evaluate("() => document.documentElement.scrollWidth") <= watched.WIDE[0]


@pytest.mark.whole
def test_all_are_whole_below_a_prefix(jobs, open_page):
    """What a page asks for is below the prefix, else the page would say that it asked somebody else (watched.py)."""
    with jobs_module.serving([jobs.traces("training"), "--base-path", "/user/me/"], jobs.folder) as (place, _):
        assert place.address.endswith("/user/me/")
        page = open_page(place, permissions=["clipboard-read", "clipboard-write"])
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        for view in views.of("server"):
            page.locator(f'nav.views a[href^="#/{view}?"]').click()
            watched.until_ready(page, view)
            assert page.locator("#view [role=alert]").count() == 0, page.locator("#view [role=alert]").first.inner_text()
            assert page.locator("#view").inner_text().strip()
        assert len(asked) > 20
        page.get_by_role("button", name="Copy link").click()
        page.wait_for_function("async () => (await navigator.clipboard.readText()) !== ''")
        assert page.evaluate("() => navigator.clipboard.readText()").startswith(place.address + "#/tables?")
        with page.expect_download() as download:
            page.get_by_role("button", name="Save report").click()
        assert download.value.path().stat().st_size > 100_000
        page.reload()
        watched.until_ready(page, "tables")
        assert page.locator("#view table[data-table] tbody tr").count() == 4


@pytest.mark.whole
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [watched.WIDE, watched.NARROW], ids=["wide", "narrow"])
@EACH
def test_looks(jobs, open_page, request, kind, view, size, theme):
    page = open_page(place_of(jobs, kind, view), f"#/{view}?v=1", size=size, theme=theme)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= size[0]
    screenshots.keep(page, f"{view}.{kind}.{theme}.{size[0]}", request.config.getoption("renew"))


@pytest.mark.parametrize("kind", ["report", "server"])
def test_each_view_is_a_link(jobs, open_page, kind):
    page = open_page(jobs.report("training") if kind == "report" else jobs.server("training"))
    links = page.locator("nav.views a")
    hrefs = [link.get_attribute("href") for link in links.all()]
    assert [href.removeprefix("#/").split("?")[0] for href in hrefs] == views.of(kind)
    for link, view in zip(links.all(), views.of(kind)):
        link.click()
        watched.until_ready(page, view)


def test_theme_is_chosen_and_kept(jobs, open_page):
    place = jobs.report("training")
    page = open_page(place)

    def background():
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    light = background()
    page.emulate_media(color_scheme="dark")
    dark = background()
    assert dark != light
    page.get_by_role("button", name="Light", exact=True).click()
    assert background() == light
    page.reload()
    watched.until_ready(page)
    assert background() == light
    page.get_by_role("button", name="Dark", exact=True).click()
    assert background() == dark


def test_a_view_that_is_none_is_said(jobs, open_page):
    page = open_page(jobs.report("training"), "#/no-such-view?v=1")
    assert "no-such-view" in page.get_by_role("alert").inner_text()

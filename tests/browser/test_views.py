"""Every view, of a report and of a server, in both themes and at two widths: whole, within the window, as it looked before."""

import contextlib
import dataclasses
import http.client
import http.server
import threading
import urllib.error
import urllib.parse

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


def walk(page):
    """Through all views of a server by its menu. Who is asked for something is watched (watched.py)."""
    for view in views.of("server"):
        page.locator(f'nav.views a[href^="#/{view}?"]').click()
        watched.until_ready(page, view)
        assert page.locator("#view [role=alert]").count() == 0, page.locator("#view [role=alert]").first.inner_text()
        assert page.locator("#view").inner_text().strip()


@pytest.mark.whole
def test_all_are_whole_below_a_prefix(jobs, open_page):
    with jobs_module.serving([jobs.traces("training"), "--base-path", "/user/me/"], jobs.folder) as (place, _):
        assert place.address.endswith("/user/me/")
        page = open_page(place, permissions=["clipboard-read", "clipboard-write"])
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        walk(page)
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


@contextlib.contextmanager
def stripping_proxy(place, prefix, host):
    """As JupyterHub has it: what is below the prefix is asked for without it, in the name of another host. It gives the place there."""
    class Proxy(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if not self.path.startswith(prefix):
                return self.send_error(404)
            server = http.client.HTTPConnection(urllib.parse.urlparse(place.address).netloc)
            server.request("GET", "/" + self.path.removeprefix(prefix), headers={**self.headers, "Host": host, "Connection": "close"})
            answer = server.getresponse()
            body = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield dataclasses.replace(place, address=f"http://127.0.0.1:{proxy.server_address[1]}{prefix}")
        finally:
            proxy.shutdown()
            thread.join()


@pytest.mark.whole
def test_all_are_whole_behind_a_proxy_that_takes_a_prefix_away(jobs, open_page):
    with jobs_module.serving([jobs.traces("training"), "--allow-host", "hub.example.org"], jobs.folder) as (place, _):
        with stripping_proxy(place, "/user/me/proxy/8080/", "other.example.org") as other, pytest.raises(urllib.error.HTTPError):
            other.ask("v1/jobs", "jobs")
        with stripping_proxy(place, "/user/me/proxy/8080/", "hub.example.org") as hub:
            page = open_page(hub)
            walk(page)
            assert page.url.startswith(hub.address)
            page.context.close()  # before the proxy


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


def test_views_in_which_a_fault_is_seen_have_a_flag(jobs, open_page):
    page = open_page(jobs.report("training"))
    flagged = page.locator("nav.views a", has=page.locator(".flag"))
    assert [link.get_attribute("href").removeprefix("#/").split("?")[0] for link in flagged.all()] == ["kernels", "distributed", "critical-path"]
    assert {link.get_attribute("title") for link in flagged.all()} == {"A fault is seen here: " + page.locator(".card.fault .said").inner_text()}
    for name in ("Distributed", "Critical path"):
        page.locator(".card.fault .links").get_by_role("link", name=name, exact=True).wait_for()
    page = open_page(jobs.report("faster"))
    assert page.locator("nav.views .flag").count() == 0


def test_the_legend_of_the_call_tree_has_what_is_drawn(jobs, open_page):
    page = open_page(jobs.report("training"), None)
    for time in ("host", "device"):
        watched.show(page, jobs.report("training"), f"#/call-tree?v=1&time={time}")
        drawn = page.locator(".icicle rect").evaluate_all("(all) => all.map((each) => each.getAttribute('class'))")
        kinds = page.locator(".icicle .legend li").all_inner_texts()
        assert "operator" in kinds and ("compute" in kinds) == (time == "device")
        assert set(kinds) == set(drawn[1:]), "the first is the rank"


def test_on_a_narrow_screen_the_head_leaves_room(jobs, open_page):
    page = open_page(jobs.server("training", "faster"), "#/tables?v=1", size=watched.NARROW)
    assert page.locator("#view").bounding_box()["y"] <= 100
    link = page.locator("nav.views [aria-current]").bounding_box()
    assert 0 <= link["x"] and link["x"] + link["width"] <= watched.NARROW[0], "the view's own link is in sight"


def test_the_menu_of_a_table_leads_to_its_definition(jobs, open_page):
    place = jobs.server("training")
    page = open_page(place, "#/kernels?v=1&ranks=1-2")
    definitions = {row["name"]: row["doc"] for row in place.ask("v1/analyses", "analyses")}
    links = page.locator("figcaption a", has_text="Definition")
    assert links.count() == 2
    for at, name in enumerate(["kernel_breakdown", "kernel_launch_stats"]):
        links.nth(at).click()
        watched.until_ready(page, "tables")
        assert page.locator("#view h2").inner_text() == name and "ranks=1-2" in page.url
        assert page.locator("#view .doc").is_visible() and page.locator("#view .doc").inner_text() == definitions[name] != ""
        assert links.count() == 0 and page.get_by_role("button", name="CSV").count() == 1
        page.locator("nav.list a", has_text="comm_comp_overlap").click()
        watched.until_ready(page, "tables")
        assert not page.locator("#view .doc").is_visible()
        page.go_back()
        page.go_back()
        watched.until_ready(page, "kernels")


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

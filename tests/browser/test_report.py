"""A report as a file: without script, without a network, printed, damaged; its size, its policy."""

import base64
import gzip
import hashlib
import html
import re
import shutil
import subprocess

import harness
import pytest

import jobs as jobs_module
import views
import watched

PAGE = harness.ROOT / "web" / "dist" / "page.html"


def changed(place, tmp_path, change):
    """A report whose text `change` has changed."""
    path = tmp_path / "changed.html"
    path.write_text(change(place.path.read_text()))
    return jobs_module.Place(path.as_uri())


def test_without_script(jobs, open_page):
    place = jobs.report("training")
    page = open_page(place, None, script=False)
    page.goto(place.at())
    text = " ".join(page.inner_text("body").split())
    findings = jobs.json("training", "findings")
    assert findings
    for row in findings:
        assert " ".join(row["finding"].split()) in text
        assert not row["remedy"] or " ".join(row["remedy"].split()) in text
    # A row for each rank, with its device time.
    for rank in range(4):
        assert page.locator("tr").filter(has=page.locator(f'th:text-is("{rank}"), td:text-is("{rank}")')).count() >= 1
    sums = {}
    for row in jobs.json("training", "kernel_breakdown"):
        sums[row["name"]] = sums.get(row["name"], 0) + row["sum_ns"]
    content = html.unescape(place.path.read_text().split("application/octet-stream")[0])
    for name, total in sorted(sums.items(), key=lambda item: -item[1])[:5]:
        assert name in content and f'title="{total}' in content, (name, total)
    assert page.locator("svg rect").count() >= 4
    assert page.locator("svg").first.get_attribute("role") == "img"
    assert page.locator("#app").inner_text() == ""


def test_offline(jobs, chromium, tmp_path):
    """Elsewhere, in a network namespace that has not even loopback."""
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine allows no network namespace")
    copy = tmp_path / "somewhere else" / "räport.html"
    copy.parent.mkdir()
    shutil.copy(jobs.report("training").path, copy)
    alone = tmp_path / "chromium"
    alone.write_text('#!/bin/sh\nexec unshare -rn /usr/bin/chromium "$@"\n')
    alone.chmod(0o755)
    place = jobs_module.Place(copy.as_uri())
    browser = chromium.launch(executable_path=alone, args=watched.FLAGS)
    with watched.watched_page(browser, place) as page:
        for view in views.of("report"):
            watched.show(page, place, f"#/{view}?v=1")
            assert page.locator("#view [role=alert]").count() == 0, view
    browser.close()


def test_it_is_the_page_that_was_built(jobs):
    """The report's scripts and style are just the committed page's, and its policy their hashes."""
    text = jobs.report("training").path.read_text()
    built = PAGE.read_text()
    policy = r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">'
    assert re.search(policy, text)[1] == re.search(policy, built)[1]
    assert re.search(r"<head>\s*<meta http-equiv=\"Content-Security-Policy\"", text), "what is before the policy is not under it"
    directives = {one.split()[0]: one.split()[1:] for one in re.search(policy, text)[1].split(";")}
    assert directives["default-src"] == ["'none'"] and directives["require-trusted-types-for"] == ["'script'"]
    assert "connect-src" not in directives

    def hashed(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    scripts = re.findall(r'<script(?: type="module")?>(.*?)</script>', text, re.S)
    packed = re.search(r'<script type="application/octet-stream" id="page-script">([^<]*)</script>', text)[1]
    assert {*map(hashed, scripts), hashed(gzip.decompress(base64.b64decode(packed)).decode())} == set(directives["script-src"])
    assert list(map(hashed, re.findall(r"<style>(.*?)</style>", text, re.S))) == directives["style-src"]
    assert not re.search(r'<[^>]+ style="', text.split("<script type=\"module\">")[0])


def test_same_input_same_bytes(jobs, tmp_path):
    first = jobs.report("training").path.read_bytes()
    jobs_module.spotter("analyze", "training", "-o", tmp_path / "again.html", cwd=jobs.folder)
    assert (tmp_path / "again.html").read_bytes() == first


@pytest.mark.parametrize("block", ["tables", "spans/0", "job"])
@pytest.mark.parametrize("damage", ["cut", "other version", "no base64", "gone"])
def test_damage_is_a_sentence(jobs, open_page, tmp_path, block, damage):
    def change(text):
        start = text.index(f'<script type="application/octet-stream" id="{block}">')
        begin = text.index(">", start) + 1
        end = text.index("</script>", begin)
        data = text[begin:end]
        if damage == "cut":
            data = data[:len(data) // 2]
        elif damage == "other version":
            data = base64.b64encode(gzip.compress(b"SPT9" + gzip.decompress(base64.b64decode(data))[4:])).decode()
        elif damage == "no base64":
            data = "*" * 40
        return text[:start] + text[end + len("</script>"):] if damage == "gone" else text[:begin] + data + text[end:]

    if block == "job" and damage == "gone":
        pytest.skip("without it the page is a server's")
    place = changed(jobs.report("training"), tmp_path, change)
    page = open_page(place, None)
    page.goto(place.at("#/timeline?v=1&open=0" if block.startswith("spans") else "#/tables?v=1&table=summary"))
    watched.until_ready(page)
    alert = page.get_by_role("alert").first.inner_text()
    assert len(alert.split()) >= 4 and "undefined" not in alert
    assert page.get_by_role("button", name="Copy").count() >= 1
    if block != "job":
        page.locator('nav.views a[href^="#/timeline?"]' if block == "tables" else 'nav.views a[href^="#/tables?"]').click()
        watched.until_ready(page, "timeline" if block == "tables" else "tables")
        assert page.locator("#view").inner_text().strip()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95, 0.999, 1])
def test_a_file_that_is_cut_off_says_so(jobs, open_page, tmp_path, share):
    """Where the rest of it would be are the data and the script; what is there without them stays."""
    whole = jobs.report("training").path.read_bytes()
    path = tmp_path / "cut.html"
    path.write_bytes(whole[:int(len(whole) * share)])
    place = jobs_module.Place(path.as_uri())
    page = open_page(place, None, allow=["style-src"] if share < 0.1 else [])  # half a style sheet is not the one that may be there
    page.goto(place.at())
    sentence = page.get_by_text("cut off", exact=False)
    if share == 1:
        watched.until_ready(page)
        assert sentence.count() == 0
    else:
        assert sentence.is_visible() and page.get_by_role("alert").count() == 1
    if 0.1 < share < 1:
        assert page.get_by_role("heading", name="What stands out").is_visible()


def test_a_browser_that_cannot_inflate_is_told(jobs, open_page):
    """The part that is plain HTML stays."""
    place = jobs.report("training")
    page = open_page(place, None)
    page.add_init_script("delete window.DecompressionStream")
    page.goto(place.at())
    page.wait_for_function("() => /browser/i.test(document.body.innerText)")
    finding = jobs.json("training", "findings")[0]["finding"].split(".")[0][:40]
    assert finding in page.inner_text("body")


def test_server_gone(jobs, open_page):
    with jobs_module.serving([jobs.traces("faster").name], jobs.folder) as (place, process):
        page = open_page(place, allow=["Failed to load resource", "ERR_CONNECTION"])
        process.terminate()
        assert process.wait(10) == 0
        page.evaluate("() => (location.hash = '#/tables?v=1&table=operators')")
        alert = page.get_by_role("alert").first
        alert.wait_for()
        assert "serve" in alert.inner_text() and page.get_by_role("button", name="Try again").count() == 1


def pages_of(pdf, folder):
    subprocess.run(["pdftoppm", "-r", "50", "-png", pdf, folder / "page"], check=True)
    return sorted(folder.glob("page*.png"))


def text_of(pdf):
    return " ".join(subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, check=True).stdout.decode().split())


def assert_is_paper(pictures):
    """White, and something on each of them; no dark picture."""
    from PIL import Image
    for picture in pictures:
        with Image.open(picture) as image:
            grey = image.convert("L")
            assert grey.getpixel((2, 2)) > 250 and grey.getextrema()[0] < 128, picture
            assert sum(grey.histogram()[:64]) < 0.1 * grey.width * grey.height, picture


needs_poppler = pytest.mark.skipif(not shutil.which("pdftotext"), reason="no poppler-utils")


# Words of up to 13 letters, thus also communication, that are in more than one line.
WRAPPED = r"""(cells) => cells.map((one) => one.firstChild).filter((text) => {
  const range = document.createRange();
  if (text !== null) range.selectNodeContents(text);
  return text !== null && /^\w{1,13}$/.test(text.textContent) && range.getClientRects().length > 1;
}).map((text) => text.textContent)"""


@needs_poppler
@pytest.mark.parametrize("script", [True, False], ids=["page", "without-script"])
def test_print(jobs, open_page, script):
    """On paper: light, whole rows, findings and charts; no buttons. The pages lie in build/screenshots to be looked at."""
    import screenshots
    place = jobs.report("training")
    page = open_page(place, None, script=script, theme="dark")
    page.goto(place.at())
    if script:
        watched.until_ready(page)
    folder = screenshots.MADE / f"print{'' if script else '_without_script'}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    page.pdf(path=folder / "report.pdf", format="A4")
    # No table is wider than what A4 has between the margins.
    page.set_viewport_size({"width": 700, "height": 1000})
    page.emulate_media(media="print")
    assert page.locator("#static table:visible").count() > 5
    assert page.locator("#static table").evaluate_all("(tables) => tables.filter((one) => one.getBoundingClientRect().right > 700.5).map((one) => one.caption.innerText)") == []
    text = text_of(folder / "report.pdf")
    for row in jobs.json("training", "findings"):
        assert row["finding"].split()[0] in text
    assert jobs.json("training", "findings")[0]["finding"].split(":")[0][:30] in text
    assert "Copy link" not in text
    made = pages_of(folder / "report.pdf", folder)
    assert 1 <= len(made) <= 30
    assert f"1/{len(made)}" in text.replace(" ", ""), "pages have numbers"
    assert not page.locator("#static tbody td:not(.number)").evaluate_all(WRAPPED), "usual words are whole"
    assert_is_paper(made)


@needs_poppler
def test_print_of_a_server(jobs, open_page, tmp_path):
    """Of a long table the rows in sight, and how many there are; where the page was."""
    place = jobs.server("training")
    page = open_page(place, "#/tables?v=1&table=spans&ranks=1", theme="dark")
    count = watched.shown_rows(page, "spans")[1]
    assert count > 1000
    page.locator("#view .scroll").evaluate("(region) => (region.scrollTop = 0)")
    page.wait_for_selector("tr[aria-rowindex='2']", state="attached")
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    text = text_of(tmp_path / "page.pdf")
    assert f"Rows 1 to 50 of {count};" in text
    assert place.address in text and "ranks=1" in text.replace(" ", "") and place.token not in text
    for word in ("Copy link", "Save report", "Filter", "Critical path", "kernel_breakdown"):
        assert word not in text
    made = pages_of(tmp_path / "page.pdf", tmp_path)
    assert len(made) <= 4
    assert_is_paper(made)


@needs_poppler
@pytest.mark.whole
@pytest.mark.parametrize("view", views.of("server"))
def test_print_of_every_view(jobs, open_page, view):
    import screenshots
    page = open_page(jobs.server("training"), f"#/{view}?v=1", theme="dark")
    folder = screenshots.MADE / f"print_{view}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    page.pdf(path=folder / "page.pdf", format="A4")
    made = pages_of(folder / "page.pdf", folder)
    assert len(made) <= 10
    assert_is_paper(made)


def test_sizes(jobs):
    assert PAGE.stat().st_size <= 220e3
    assert jobs.report("eight_ranks").path.stat().st_size <= 1.2e6


LEFT_OUT = r"leaves out [^`]+; `spotter analyze \S+ --max-size 0 -o report.html` writes one with everything"
STATIC_TEXT = "() => document.getElementById('static').textContent"


def test_what_there_was_no_room_for_is_said(jobs, open_page):
    """Where it is missed, and with the command that has it."""
    place = jobs.report("training", "--max-size", "320000")
    text = place.path.read_text()
    assert len(text) <= 320e3
    without = [rank for rank in range(4) if f'id="spans/{rank}"' not in text]
    assert without
    page = open_page(place, f"#/timeline?v=1&open={without[0]}")
    assert re.search(LEFT_OUT, page.evaluate(STATIC_TEXT))
    alert = page.get_by_role("alert").inner_text()
    assert alert.startswith(f"The spans of rank {without[0]} are not shown: ") and re.search(LEFT_OUT, alert)
    assert re.search(LEFT_OUT, page.locator(".timeline-panel").evaluate("(panel) => panel.textContent"))
    whole = open_page(jobs.report("training"), "#/timeline?v=1")
    assert not re.search(LEFT_OUT, whole.evaluate("() => document.body.textContent"))


@pytest.mark.whole
def test_size_of_forty_steps(jobs, open_page):
    place = jobs.report("forty_steps")
    assert place.path.stat().st_size <= 3e6
    page = open_page(place, "#/timeline?v=1")
    assert page.locator("#view [role=alert]").count() == 0
    assert re.search(LEFT_OUT, page.evaluate(STATIC_TEXT))
    assert re.search(LEFT_OUT, page.locator(".timeline-panel").evaluate("(panel) => panel.textContent"))

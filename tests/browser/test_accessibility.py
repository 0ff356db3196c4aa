"""Everybody can use the page: axe finds nothing, and all can be done with the keyboard."""

import re

import harness
import pytest

import views
import watched

AXE = harness.ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
RUN_AXE = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map((one) =>
  `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`)"""

needs_axe = pytest.mark.skipif(not AXE.exists(), reason="no web/node_modules; `make web` fetches it")


@needs_axe
@pytest.mark.parametrize(("kind", "theme"), [
    ("report", "dark"), ("server", "light"), pytest.param("report", "light", marks=pytest.mark.whole), pytest.param("server", "dark", marks=pytest.mark.whole)])
def test_axe_finds_nothing(jobs, open_page, kind, theme):
    place = jobs.report("training") if kind == "report" else jobs.server("training", "faster")
    # What injects axe is not the page's: its policy is off here.
    page = open_page(place, theme=theme, bypass_csp=True)
    page.evaluate(AXE.read_text())
    found = []
    for view in [f"{name}?v=1" for name in views.of(kind)] + ["timeline?v=1&ranks=3&steps=4"]:
        watched.show(page, place, f"#/{view}")
        if violations := page.evaluate(RUN_AXE):
            found += [f"{view}: {violation}" for violation in violations]
    assert not found, "\n".join(found)


@needs_axe
@pytest.mark.parametrize("options", [[], ["--table", "steps", "--table", "operators"]], ids=["report", "tables"])
def test_axe_finds_nothing_without_script(jobs, browser, options):
    """What is written as HTML, where nothing runs. axe itself needs script, so that only the page's is taken out."""
    path = jobs.report("training", *options).path
    still = path.with_suffix(".still.html")
    still.write_text(re.sub(r'<script type="module">.*?</script>', "", path.read_text(), flags=re.S))
    page = browser.new_page(bypass_csp=True)
    page.goto(still.as_uri())
    page.evaluate(AXE.read_text())
    violations = page.evaluate(RUN_AXE)
    page.close()
    assert not violations, "\n".join(violations)


def focused(page):
    return page.evaluate("""() => {
      const one = document.activeElement;
      return { tag: one.tagName, text: (one.innerText ?? "").trim(), href: one.getAttribute("href") ?? "", label: one.getAttribute("aria-label") ?? "", role: one.getAttribute("role") ?? "",
        fault: one.closest(".card.fault") !== null };
    }""")


def tab_to(page, wanted, most=200):
    """Presses Tab until `wanted(focus)`; what has focus must be seen to have it."""
    for _ in range(most):
        page.keyboard.press("Tab")
        focus = focused(page)
        if wanted(focus):
            return focus
    pytest.fail("Tab leads to nothing that is wanted")


def test_by_keyboard_alone(jobs, open_page):
    """Open, a finding, its place in the timeline, a span, its stack."""
    page = open_page(jobs.report("training"))
    page.keyboard.press("Tab")
    assert focused(page)["text"] == "Skip to the view"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "view"
    tab_to(page, lambda focus: focus["fault"] and focus["href"].startswith("#/timeline"))
    page.keyboard.press("Enter")
    watched.until_ready(page, "timeline")
    page.locator('[data-track^="3/"]').first.wait_for()
    # The timeline has a role and a label, takes focus, and goes from span to span by keys.
    tab_to(page, lambda focus: focus["tag"] == "CANVAS" or focus["role"] in ("application", "group", "grid", "img"))
    page.keyboard.press("Period")
    page.wait_for_function("() => /[?&]sel=3:/.test(decodeURIComponent(location.hash))")
    assert page.locator("#view [aria-live]").first.inner_text().strip(), "what is selected is not told"
    # Along the lane, and from a kernel to its launch, there is a span with a stack of Python functions.
    copies = page.locator("#view ol > li .source button.copy")
    for key in ["Period"] * 10 + ["BracketLeft", "Period"] * 5:
        page.keyboard.press(key)
        page.wait_for_timeout(50)
        if copies.count() > 0:
            break
    label = copies.first.get_attribute("aria-label")
    assert re.fullmatch(r"Copy .+\.py:\d+", label)
    tab_to(page, lambda focus: focus["label"] == label)
    page.keyboard.press("Enter")
    page.locator("#view ol > li .source button[aria-label=Copied]").wait_for()


def test_focus_is_seen(jobs, open_page):
    page = open_page(jobs.report("training"))
    page.keyboard.press("Tab")
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate("""() => {
          const style = getComputedStyle(document.activeElement);
          return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 || style.boxShadow !== "none";
        }"""), focused(page)


def test_targets_are_large_enough(jobs, open_page):
    """24 px, of buttons, fields and what is chosen in the frame (WCAG 2.5.8; links within text are exempt)."""
    page = open_page(jobs.report("training"))
    small = page.evaluate("""() => [...document.querySelectorAll("button, select, input, nav.views a")]
      .map((one) => one.type === "checkbox" || one.type === "radio" ? one.closest("label") ?? one : one)
      .map((one) => [one.outerHTML.slice(0, 120), one.getBoundingClientRect()])
      .filter(([, box]) => box.width > 0 && (box.height < 24 || box.width < 24)).map(([html, box]) => `${html} ${box.width} x ${box.height}`)""")
    assert not small, "\n".join(small)

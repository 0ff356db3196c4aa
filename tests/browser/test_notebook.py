"""A report in a notebook's page: neither changes how the other looks."""

import os
import pathlib
import subprocess
import sys

import pytest

import watched

PACKAGE = pathlib.Path(os.environ.get("SPOTTER", "spotter")).parent / "python"
MAKE = """
import spotter, sys
job = spotter.simulate(sys.argv[1], ranks=6, steps=4, layers=3, fault="slow-rank:rank=3,factor=1.4", seed=1)
sys.stdout.write(spotter.report(job, progress=False)._repr_html_())
"""
# As Jupyter's style sheets have rules for all tables, and worse.
RULES = """
* { border: 2px solid red; } svg * { fill: red; stroke: red; } rect { width: 3px; } p { font-size: 40px; } li::before { content: "x"; }
table, figure, section, .wide, .points { display: none; }
.cell table td, .cell table th { text-align: center; padding: 30px; font-weight: bold; } .cell tbody tr:nth-child(odd) { background: orange; }
.cell ul { list-style: square; margin: 40px; } .cell { text-align: right; white-space: pre; text-transform: uppercase; }
"""
AROUND = """<div id="around"><h3>h</h3><ul class="points" id="static"><li class="finding fault">x</li></ul><p class="about">p</p><code>c</code>
<table class="static wide"><caption>c</caption><tr><th>a</th><td class="number">1</td></tr></table><svg class="picture"><text>t</text></svg></div>"""
STYLES = """(selector) => [...document.querySelectorAll(selector)].map((element) => {
  const style = getComputedStyle(element), before = getComputedStyle(element, "::before");
  return element.outerHTML.slice(0, 60) + [...style].map((name) => name + ":" + style.getPropertyValue(name)).join(";") + before.content;
})"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    if not (PACKAGE / "spotter" / "functions.py").exists():
        pytest.skip("the program was built without its Python package")
    done = subprocess.run([sys.executable, "-c", MAKE, tmp_path_factory.mktemp("job")], stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)})  # fmt: skip
    return done.stdout


def styles(page, selector, body, rules="", dark=False):
    colours = "background: #111; color: #ddd" if dark else "background: #fff; color: #222"
    page.set_content(f'<meta charset="utf-8"><style>body {{ {colours} }} {rules}</style><div class="cell">{body}</div>{AROUND}')
    return page.evaluate(STYLES, selector)


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": watched.WIDE[0], "height": watched.WIDE[1]})
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    assert not asked


@pytest.mark.parametrize("rules", ["", RULES])
def test_the_notebook_stays_as_it_is(page, report, rules):
    bare = styles(page, "#around, #around *", "", rules)
    assert len(bare) > 10 and bare == styles(page, "#around, #around *", report, rules)


def test_the_report_stays_as_it_is(page, report):
    inside = ".spotter-report :not(style)"
    bare = styles(page, inside, report)
    assert len(bare) > 200 and bare == styles(page, inside, report, RULES)


@pytest.mark.parametrize("dark", [False, True])
def test_it_has_the_notebooks_colours(page, report, dark):
    styles(page, "x", report, dark=dark)
    want = "rgb(221, 221, 221)" if dark else "rgb(34, 34, 34)"
    colour = "(selector) => { const style = getComputedStyle(document.querySelector('.spotter-report ' + selector)); return [style.color, style.fill]; }"
    assert page.evaluate(colour, "td")[0] == want
    assert page.evaluate(colour, "svg text:not([class])")[1] == want
    assert page.evaluate(colour, "svg rect.compute")[1] == "rgb(0, 114, 178)"
